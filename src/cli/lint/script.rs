//! The scripts that are checked, and what each is for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use clap::ArgMatches;

use super::super::args::given;
use super::super::bundle_cmds::read_bundle;
use super::live::Live;
use crate::dialect::Dialect;
use crate::lint::{Config, Knowledge, release_of, told};
use crate::manifest::Manifests;
use crate::sql::{Client, split};
use crate::{Error, Result};

/// A script that is checked.
pub(super) struct Script {
    /// What to call it; `-` is standard input.
    pub name: String,
    /// The script.
    pub text: String,
    /// What it says of itself: scheduler, release, dialect, table prefix.
    told: BTreeMap<String, String>,
    /// The scheduler and the release as a bundle's plan names them: the release may be a span.
    planned_for: Option<String>,
}

impl Script {
    /// A file, standard input, or what apply runs of a bundle's directory.
    pub fn read(file: &Path, manifests: &Manifests) -> Result<Self> {
        if file.is_dir() {
            return Self::of_bundle(file, manifests);
        }
        let name = if file.as_os_str() == "-" { "-".to_owned() } else { file.display().to_string() };
        let text = read(file)?;
        // Comments are found alike by every client, but for `#`. Most scripts say nothing.
        let told = match text.contains("flowmend:") {
            true => told(&text, &split(&text, Client::Psql)),
            false => BTreeMap::new(),
        };
        Ok(Self { name, text, told, planned_for: None })
    }

    fn of_bundle(dir: &Path, manifests: &Manifests) -> Result<Self> {
        let mut bundle = read_bundle(dir)?;
        let file = format!("apply.{}", Dialect::load(&bundle.plan.target.dialect)?.client);
        let text = bundle.files.remove(&file);
        let text = text.ok_or_else(|| Error::refused(format!("{} has no {file}", dir.display())))?;
        let release = release_of(&bundle.plan, manifests)?.to_owned();
        let from = bundle.plan.from;
        let planned_for = Some(format!("{} {}", from.title, from.release));
        let told = [
            ("scheduler", Some(from.scheduler)),
            ("release", Some(release)),
            ("dialect", Some(bundle.plan.target.dialect)),
            ("table-prefix", from.table_prefix),
        ];
        let told = told.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        Ok(Self { name: dir.join(file).display().to_string(), text, told, planned_for })
    }

    /// The plan that it was made by, if that is what it was checked for: scheduler and release in
    /// the plan's words. A bundle can be checked for another release, too.
    pub fn as_planned(&self, knowledge: &Knowledge<'_>) -> Option<&str> {
        let own = self.told.get("release") == Some(&knowledge.release);
        self.planned_for.as_deref().filter(|_| own)
    }
}

fn read(file: &Path) -> Result<String> {
    let bytes = if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let bytes = bytes.map_err(|e| Error::usage(format!("{}: {e}", file.display())))?;
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = e.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
        Error::usage(format!("{}, line {line}: not UTF-8", file.display()))
            .hint("convert it, for example: iconv -f LATIN1 -t UTF-8")
    })
}

/// What a script will run on.
pub(super) struct Target {
    pub scheduler: String,
    pub release: String,
    pub dialect: Dialect,
    prefix: Option<String>,
}

impl Target {
    /// From the command line, else from the database, the script itself, the configuration.
    pub fn of(m: &ArgMatches, config: &Config, script: &Script, live: Option<&Live>) -> Result<Self> {
        let find = |flag: &str, configured: Option<&String>| {
            let said = given(m, flag).map(ToOwned::to_owned).or_else(|| live.and_then(|l| l.says(flag)));
            said.or_else(|| script.told.get(flag).cloned()).or_else(|| configured.cloned())
        };
        let missing = |what: &str, example: &str| {
            Error::usage(format!("{}: which {what} the script is for is not said", script.name)).hint(format!(
                "give --{what} {example} or --url, or write `-- flowmend: {what}={example}` into the script, or put it under [lint] in flowmend.toml"
            ))
        };
        let scheduler = find("scheduler", config.scheduler.as_ref()).ok_or_else(|| missing("scheduler", "NAME"))?;
        let release = find("release", config.release.as_ref()).ok_or_else(|| missing("release", "VERSION"))?;
        let dialect = find("dialect", config.dialect.as_ref()).ok_or_else(|| missing("dialect", "mysql"))?;
        let prefix = find("table-prefix", config.table_prefix.as_ref());
        Ok(Self { scheduler, release, dialect: Dialect::load(&dialect)?, prefix })
    }

    /// The manifests, with the tables' names as they are here.
    ///
    /// # Errors
    /// A manifest with a mistake.
    pub fn manifests<'m>(&self, manifests: &'m Manifests) -> Result<Cow<'m, Manifests>> {
        manifests.prefixed(&self.scheduler, self.prefix.as_deref())
    }
}

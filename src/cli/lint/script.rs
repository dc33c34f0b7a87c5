//! The scripts that are checked, and what each is for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ArgMatches;

use super::super::args::given;
use super::super::bundle_cmds::read_bundle;
use super::live::Live;
use crate::bundle::Bundle;
use crate::dialect::Dialect;
use crate::lint::{Config, Knowledge, release_of, told};
use crate::manifest::Manifests;
use crate::sql::{Client, split};
use crate::{Error, Result, ui};

/// A script that is checked.
pub(super) struct Script {
    /// What to call it; `-` is standard input.
    pub name: String,
    /// The script.
    pub text: String,
    /// What it says of itself: scheduler, release, dialect, table prefix. More than one value is
    /// one too many.
    told: BTreeMap<String, Vec<String>>,
    /// The scheduler and the release as a bundle's plan names them: the release may be a span.
    planned_for: Option<String>,
}

impl Script {
    /// A file, standard input, what apply runs of a bundle's directory, or the scripts below
    /// another directory. `dialect` is what the command line or the configuration says.
    pub fn read(file: &Path, manifests: &Manifests, dialect: Option<&str>) -> Result<Vec<Self>> {
        if Bundle::is_in(file) {
            return Ok(vec![Self::of_bundle(file, manifests)?]);
        }
        let files = if file.is_dir() { scripts_below(file)? } else { vec![file.to_owned()] };
        files.iter().map(|file| Self::of_file(file, dialect)).collect()
    }

    fn of_file(file: &Path, dialect: Option<&str>) -> Result<Self> {
        let name = if file.as_os_str() == "-" { "-".to_owned() } else { file.display().to_string() };
        let text = read(file)?;
        // Most scripts say nothing.
        let speaks = text.to_ascii_lowercase().contains("flowmend");
        let told = if speaks { self_told(&text, dialect) } else { BTreeMap::new() };
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
        let told = told.into_iter().filter_map(|(key, value)| Some((key.to_owned(), vec![value?]))).collect();
        Ok(Self { name: dir.join(file).display().to_string(), text, told, planned_for })
    }

    /// The plan that it was made by, if that is what it was checked for: scheduler and release in
    /// the plan's words. A bundle can be checked for another release, too.
    pub fn as_planned(&self, knowledge: &Knowledge<'_>) -> Option<&str> {
        let own = self.told.get("release").is_some_and(|told| told.contains(&knowledge.release));
        self.planned_for.as_deref().filter(|_| own)
    }
}

/// What a script says of itself. What is a comment hangs on the dialect, which the script may say.
fn self_told(text: &str, dialect: Option<&str>) -> BTreeMap<String, Vec<String>> {
    let client = |name: &str| Dialect::load(name).ok().map(|d| Client::of(d.engine));
    if let Some(client) = dialect.and_then(client) {
        return told(text, &split(text, client));
    }
    let clients = [Client::Psql, Client::Mysql, Client::Sqlite3];
    let all = clients.map(|client| (client, told(text, &split(text, client))));
    let names_itself = |(own, told): &&(Client, BTreeMap<String, Vec<String>>)| {
        told.get("dialect").is_some_and(|names| names.iter().any(|name| client(name) == Some(*own)))
    };
    let (_, told) = all.iter().find(names_itself).unwrap_or(&all[0]);
    told.clone()
}

/// The `.sql` files below a directory.
///
/// # Errors
/// It cannot be read, or holds none.
pub(in crate::cli) fn scripts_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let is_sql = |p: &PathBuf| p.extension().is_some_and(|e| e.eq_ignore_ascii_case("sql"));
    let found: Vec<PathBuf> = crate::data::files_below(dir)?.into_iter().filter(is_sql).collect();
    if found.is_empty() {
        return Err(Error::usage(format!("{}: no .sql file is below it", dir.display())));
    }
    Ok(found)
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
    pub fn of<'c>(m: &ArgMatches, config: &'c Config, script: &Script, live: Option<&Live>) -> Result<Self> {
        let engine = |name: &str| Dialect::load(name).ok().map(|d| d.engine);
        let said = |flag: &str| {
            let named = given(m, flag).map(|value| (format!("--{flag}"), value.to_owned()));
            named.or_else(|| live.and_then(|l| Some(("the database".to_owned(), l.says(flag)?))))
        };
        let find = |flag: &str, configured: Option<&String>| -> Result<Option<String>> {
            let told = script.told.get(flag).map_or(&[][..], Vec::as_slice);
            if let Some((who, value)) = said(flag) {
                // Scripts for MariaDB say mysql, and mean it.
                let same = |other: &str| other == value || flag == "dialect" && engine(other) == engine(&value);
                if let Some(other) = told.iter().find(|other| !same(other.as_str())) {
                    let text = format!(
                        "{}: its comment says {flag}={other}, but {who} says {value}, which counts",
                        script.name
                    );
                    ui::note(text);
                }
                return Ok(Some(value));
            }
            match told {
                [] => Ok(configured.cloned()),
                [value] => Ok(Some(value.clone())),
                several => {
                    let all: Vec<String> = several.iter().map(|value| format!("{flag}={value}")).collect();
                    let message = format!("{}: its comments say {}", script.name, all.join(" and "));
                    Err(Error::usage(message).hint(format!("leave one, or say with --{flag} which counts")))
                }
            }
        };
        let missing = |what: &str, example: &str| {
            Error::usage(format!("{}: which {what} the script is for is not said", script.name)).hint(format!(
                "give --{what} {example} or --url, or write `-- flowmend: {what}={example}` into the script, or put it under [lint] in the flowmend.toml of this folder"
            ))
        };
        let scheduler = find("scheduler", config.scheduler.as_ref())?.ok_or_else(|| missing("scheduler", "NAME"))?;
        // What a file says of another scheduler is not for this one.
        let same = config.scheduler.as_ref().is_none_or(|s| *s == scheduler);
        let own = |value: &'c Option<String>| value.as_ref().filter(|_| same);
        let release = find("release", own(&config.release))?.ok_or_else(|| missing("release", "VERSION"))?;
        let dialect = find("dialect", config.dialect.as_ref())?.ok_or_else(|| missing("dialect", "mysql"))?;
        let prefix = find("table-prefix", own(&config.table_prefix))?;
        let dialect = Dialect::load(&dialect).map_err(|e| e.context(&script.name))?;
        Ok(Self { scheduler, release, dialect, prefix })
    }

    /// The manifests, with the tables' names as they are here.
    ///
    /// # Errors
    /// A manifest with a mistake.
    pub fn manifests<'m>(&self, manifests: &'m Manifests) -> Result<Cow<'m, Manifests>> {
        manifests.prefixed(&self.scheduler, self.prefix.as_deref())
    }
}

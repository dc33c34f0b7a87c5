//! Which rules speak, and how loud: `[lint]` of `flowmend.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::finding::{Finding, Level};
use crate::manifest::glob;
use crate::near::near;
use crate::{Error, Result};

/// The part of `flowmend.toml` that the linter reads.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The scheduler that scripts are for, unless the command line or the script says.
    pub scheduler: Option<String>,
    /// The release.
    pub release: Option<String>,
    /// The dialect.
    pub dialect: Option<String>,
    /// What the scheduler's table names begin with, where that can be chosen.
    #[serde(rename = "table-prefix")]
    pub table_prefix: Option<String>,
    /// Rule → `off`, `info`, `warning` or `error`.
    pub rules: BTreeMap<String, String>,
    /// Other levels for some files; the last that fits wins.
    pub paths: Vec<PathConfig>,
    /// What comments allow is found all the same: they were written for another release.
    #[serde(skip)]
    pub comments_allow_nothing: bool,
}

/// Levels for the files that a pattern names.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConfig {
    /// A path; `*` stands for anything.
    pub path: String,
    /// Rule → level.
    pub rules: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    lint: Config,
}

impl Config {
    /// Reads a `flowmend.toml`.
    ///
    /// # Errors
    /// The file has a mistake, or names a rule or level that there is not.
    pub fn read(text: &str, origin: &str, codes: &[&str]) -> Result<Self> {
        let file: File =
            toml::from_str(text).map_err(|e| Error::usage(format!("{origin}: {}", e.to_string().trim())))?;
        let config = file.lint;
        let levels = config.paths.iter().map(|p| &p.rules).chain([&config.rules]);
        for (rule, level) in levels.flatten() {
            if !codes.contains(&rule.as_str()) {
                let hint = near(rule, codes, 1)
                    .first()
                    .map_or("flowmend lint --rules lists them".to_owned(), |n| format!("did you mean {n}?"));
                return Err(Error::usage(format!("{origin}: [lint]: there is no rule `{rule}`")).hint(hint));
            }
            if level != "off" && Level::of(level).is_none() {
                return Err(Error::usage(format!("{origin}: [lint]: {rule} = \"{level}\" is no level"))
                    .hint("write off, info, warning or error"));
            }
        }
        Ok(config)
    }

    /// The levels that hold for one file: a path as somebody wrote it, which may begin with `./` or
    /// with the folder that `here` names.
    #[must_use]
    pub fn for_path(&self, path: &str, here: Option<&std::path::Path>) -> Self {
        let mut own = self.clone();
        let path = std::path::Path::new(path);
        let path = here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
        let path = path.strip_prefix(".").unwrap_or(path).to_string_lossy();
        for levels in self.paths.iter().filter(|p| glob(p.path.trim_start_matches("./"), &path)) {
            own.rules.extend(levels.rules.clone());
        }
        own
    }

    /// Findings with the levels that were asked for.
    #[must_use]
    pub fn levelled(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let one = |mut finding: Finding| match self.rules.get(&finding.rule).map(String::as_str) {
            Some("off") => None,
            Some(level) => {
                finding.level = Level::of(level).unwrap_or(finding.level);
                Some(finding)
            }
            None => Some(finding),
        };
        findings.into_iter().filter_map(one).collect()
    }
}

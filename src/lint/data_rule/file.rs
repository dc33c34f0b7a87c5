//! A rule's file, and what must be right in it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::manifest::{Manifests, Role, version_order};
use crate::{Error, Result};

/// What stands in a rule's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleFile {
    /// `info`, `warning` or `error`.
    pub level: String,
    /// The sentence, a template: `table`, `from`, `to`, `release`, and `col.<role column>`.
    pub message: String,
    /// Why.
    #[serde(default)]
    pub why: Vec<String>,
    /// The ways out.
    #[serde(default)]
    pub help: Vec<String>,
    /// Where the fact was read.
    pub source: Vec<String>,
    /// Roles whose tables it is about; all of the scheduler's if none is named.
    #[serde(default)]
    pub on: Vec<String>,
    /// `update`, `delete`, `insert`; all if none is named.
    #[serde(default)]
    pub does: Vec<String>,
    /// The first release that it is about.
    pub since: Option<String>,
    /// The first release that it is no longer about.
    pub before: Option<String>,
    /// Columns that are all written.
    #[serde(default)]
    pub sets: Vec<String>,
    /// Columns of which an update writes one at least.
    #[serde(default)]
    pub sets_any: Vec<String>,
    /// Columns none of which is written.
    #[serde(default)]
    pub sets_none: Vec<String>,
    /// Columns that the condition all binds to a value, a join or a query.
    #[serde(default)]
    pub binds: Vec<String>,
    /// Columns none of which the condition binds to a value, a join or a query.
    #[serde(default)]
    pub binds_none: Vec<String>,
    /// The condition names rows by these columns and by nothing else.
    #[serde(default)]
    pub binds_only: Vec<String>,
    /// Columns of none of which a delete asks that it be older than a limit: that makes room.
    #[serde(default)]
    pub older_none: Vec<String>,
    /// Columns of none of which the condition says anything.
    #[serde(default)]
    pub asks_none: Vec<String>,
    /// The rows' states before: column → states, of which the condition may select one.
    #[serde(default)]
    pub from: BTreeMap<String, Vec<String>>,
    /// The same, where the condition speaks of the column.
    #[serde(default)]
    pub from_said: BTreeMap<String, Vec<String>>,
    /// The states that are written: column → states, of which one is.
    #[serde(default)]
    pub to: BTreeMap<String, Vec<String>>,
    /// Literals that are written: column → values, of which one is.
    #[serde(default)]
    pub gets: BTreeMap<String, Vec<String>>,
    /// The states after: column → states, of which one is written, or may be there as nothing is.
    #[serde(default)]
    pub after: BTreeMap<String, Vec<String>>,
    /// Roles none of whose tables the statement reads: who asks them has thought of it.
    #[serde(default)]
    pub reads_none: Vec<String>,
    /// Roles of whose tables the statement does not ask that there be no row.
    #[serde(default)]
    pub not_without: Vec<String>,
    /// Another change of the script that makes this one right.
    pub unless: Option<Unless>,
}

/// A change that answers what a rule objects to, anywhere in the script.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Unless {
    /// Roles whose tables the update is of; the rule's own if none is named.
    #[serde(default)]
    pub on: Vec<String>,
    /// The rows' states before: column → states, of which the condition selects one.
    #[serde(default)]
    pub from: BTreeMap<String, Vec<String>>,
    /// The states that are written: column → states, of which one is.
    #[serde(default)]
    pub to: BTreeMap<String, Vec<String>>,
    /// Roles, from one of whose tables rows are deleted.
    #[serde(default)]
    pub deletes: Vec<String>,
}

impl RuleFile {
    /// Whether the rule is about a release.
    pub fn covers(&self, release: &[u64]) -> bool {
        let at_least = self.since.as_ref().is_none_or(|since| release >= version_order(since).as_slice());
        at_least && self.before.as_ref().is_none_or(|before| release < version_order(before).as_slice())
    }

    /// Whether the rule can find something in the table of a role.
    pub fn can_speak_of(&self, name: &str, role: &Role) -> bool {
        let needed = self
            .sets
            .iter()
            .chain(&self.binds)
            .chain(self.from.keys())
            .chain(self.from_said.keys())
            .chain(self.to.keys())
            .chain(self.after.keys());
        let has = |column: &String| role.columns.contains_key(column);
        let is_on = self.on.is_empty() || self.on.iter().any(|r| r == name);
        // What none of its columns is there for cannot be missed.
        let mut missed = [&self.sets_any, &self.sets_none, &self.binds_none].into_iter();
        let can_miss = missed.all(|list| list.is_empty() || list.iter().any(has));
        is_on && can_miss && needed.chain(self.gets.keys()).all(has)
    }

    /// The role columns that it names.
    fn columns(&self) -> impl Iterator<Item = &String> {
        let unless = self.unless.iter().flat_map(|u| u.from.keys().chain(u.to.keys()));
        let lists = [
            &self.sets,
            &self.sets_any,
            &self.sets_none,
            &self.binds,
            &self.binds_none,
            &self.binds_only,
            &self.older_none,
            &self.asks_none,
        ];
        lists
            .into_iter()
            .flatten()
            .chain(self.from.keys())
            .chain(self.from_said.keys())
            .chain(self.to.keys())
            .chain(self.after.keys())
            .chain(self.gets.keys())
            .chain(unless)
    }

    /// An answer that asks for nothing would be given by every script.
    pub fn check_unless(&self) -> Result<()> {
        let Some(unless) = &self.unless else { return Ok(()) };
        match (unless.from.is_empty() && unless.to.is_empty(), unless.deletes.is_empty()) {
            (true, true) => Err(Error::usage("unless: names no change")),
            (false, false) => Err(Error::usage("unless: names an update (from, to) and deletes; one of them is meant")),
            _ => Ok(()),
        }
    }

    /// Every role, column and release must be one that some generation has.
    pub fn check_names(&self, scheduler: &str, manifests: &Manifests) -> Result<()> {
        let all = manifests.of(scheduler)?;
        let releases = [&self.since, &self.before].into_iter().flatten();
        for release in releases {
            manifests.release(scheduler, release)?;
        }
        let deleted = self.unless.iter().flat_map(|u| u.deletes.iter().chain(&u.on));
        for role in self.on.iter().chain(&self.reads_none).chain(&self.not_without).chain(deleted) {
            if !all.iter().any(|m| m.has(role)) {
                return Err(Error::usage(format!("no generation has a role `{role}`")));
            }
        }
        for column in self.columns() {
            let known = |m: &&crate::manifest::Manifest| {
                let asked = |name: &String| self.unless.as_ref().is_some_and(|u| u.on.contains(name));
                let is_on = |name: &String| self.on.is_empty() || self.on.contains(name) || asked(name);
                let roles = m.roles.iter().filter(|(name, _)| is_on(name));
                roles.into_iter().any(|(_, r)| r.columns.contains_key(column))
            };
            if !all.iter().any(known) {
                return Err(Error::usage(format!("no role of the rule has a column `{column}`")));
            }
        }
        Ok(())
    }
}

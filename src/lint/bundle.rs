//! The linter on flowmend's own bundles: what it would not let a person write, flowmend
//! does not write either.

use std::fmt;

use super::{Config, DataRules, Knowledge, Level, lint};
use crate::Result;
use crate::dialect::Dialect;
use crate::manifest::Manifests;
use crate::plan::Plan;
use crate::sql::Places;

/// An error in a bundle's script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFault {
    /// The rule's code.
    pub rule: String,
    /// The line of the script.
    pub line: usize,
    /// The sentence.
    pub message: String,
}

impl fmt::Display for OwnFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {} ({})", self.line, self.message, self.rule)
    }
}

/// What a plan knows better: it read the names of tables and columns from the database,
/// where people add columns of their own; and it orders rows, not tables, for the run of a
/// sub-workflow comes before the task that waits for it.
const THE_PLAN_KNOWS: [&str; 3] = ["unknown-table", "unknown-column", "parent-before-child"];

/// The errors in the script of a plan, against the release that it was made for.
///
/// # Errors
/// The plan's release or dialect is not known.
pub fn faults_of(plan: &Plan, script: &str, manifests: &Manifests, data: &DataRules) -> Result<Vec<OwnFault>> {
    let manifests = manifests.prefixed(plan.from.table_prefix.as_deref());
    let engine = Dialect::load(&plan.target.dialect)?.engine;
    let knowledge = Knowledge::of(&manifests, &plan.from.scheduler, release_of(plan, &manifests)?, engine)?;
    let places = Places::of(script);
    let findings = lint(script, &knowledge, data, &Config::default())?.findings;
    let errors = findings.into_iter().filter(|f| f.level == Level::Error);
    let errors = errors.filter(|f| !THE_PLAN_KNOWS.contains(&f.rule.as_str()));
    Ok(errors.map(|f| OwnFault { rule: f.rule, line: places.place(f.range.start).line, message: f.message }).collect())
}

/// The release that a plan is checked against: its own, or the first of its generation
/// where more was not known of it.
///
/// # Errors
/// The plan's scheduler or generation is not known.
pub fn release_of<'p>(plan: &'p Plan, manifests: &'p Manifests) -> Result<&'p str> {
    Ok(manifests.generation(&plan.from.scheduler, &plan.from.generation)?.listed(&plan.from.release))
}

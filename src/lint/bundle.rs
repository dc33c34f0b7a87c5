//! The linter on flowmend's own bundles: what it would not let a person write, flowmend
//! does not write either.

use std::fmt;

use super::{Config, DataRules, Finding, Knowledge, Level, lint};
use crate::Result;
use crate::dialect::Dialect;
use crate::manifest::Manifests;
use crate::plan::Plan;
use crate::sql::{Client, Places, split};
use crate::ui::safe;

/// What is wrong in a bundle's script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFault {
    /// The rule's code.
    pub rule: String,
    /// The bundle's file in which it stands.
    pub file: String,
    /// The line of that file.
    pub line: usize,
    /// The sentence.
    pub message: String,
    /// The statement, in one line and cut short.
    pub statement: String,
}

impl fmt::Display for OwnFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}, line {}: {}", self.rule, self.file, self.line, self.message)
    }
}

/// How many characters of a statement are shown.
const SHOWN: usize = 300;

/// What a plan knows better: it read the names of tables and columns from the database,
/// where people add columns of their own; and it orders rows, not tables, for the run of a
/// sub-workflow comes before the task that waits for it.
const THE_PLAN_KNOWS: [&str; 3] = ["unknown-table", "unknown-column", "parent-before-child"];

/// Warnings that a plan has answered: it read every row that it names, and each statement takes
/// them by their keys, as they were read. A condition beside may be NULL (the row then stays, and the
/// bundle stops) or use no index; states that the release never writes are looked for on purpose;
/// an end in success was worked out from the rows; whoever refers to a row that is to go was looked
/// for, table by table; and what a recipe allows is not needed on every release.
const THE_PLAN_ASKED: [&str; 6] =
    ["null-blind", "function-on-column", "unknown-state", "hides-failure", "foreign-key-effect", "unused-allow"];

/// Whether a finding in a bundle's script is one that the plan knows better, or has asked about.
#[must_use]
pub fn the_plan_knows(finding: &Finding) -> bool {
    let among = |rules: &[&str]| rules.contains(&finding.rule.as_str());
    among(&THE_PLAN_KNOWS) || finding.level < Level::Error && among(&THE_PLAN_ASKED)
}

/// What is wrong in a script of a plan, at a level or worse, against the release that it was made for.
///
/// # Errors
/// The plan's release or dialect is not known.
pub fn faults_of(
    plan: &Plan,
    name: &str,
    script: &str,
    manifests: &Manifests,
    data: &DataRules,
    least: Level,
) -> Result<Vec<OwnFault>> {
    let manifests = manifests.prefixed(&plan.from.scheduler, plan.from.table_prefix.as_deref())?;
    let engine = Dialect::load(&plan.target.dialect)?.engine;
    let knowledge = Knowledge::of(&manifests, &plan.from.scheduler, release_of(plan, &manifests)?, engine)?;
    let places = Places::of(script);
    let pieces = split(script, Client::of(engine)).pieces;
    let fault = |finding: Finding| {
        let at = finding.range.start;
        let (file, line) = place(script, name, places.place(at).line);
        let piece = pieces.partition_point(|p| p.range.start <= at).checked_sub(1).map(|n| &pieces[n]);
        let words = piece.map(|p| script[p.range.clone()].split_whitespace().collect::<Vec<_>>().join(" "));
        let statement = safe(&words.unwrap_or_default(), SHOWN);
        OwnFault { rule: finding.rule, file, line, message: finding.message, statement }
    };
    let findings = lint(script, &knowledge, data, &Config::default())?.findings;
    let faults = findings.into_iter().filter(|f| f.level >= least && !the_plan_knows(f));
    Ok(faults.map(fault).collect())
}

/// The numbered file that a line of the whole script comes from, and the line there.
fn place(script: &str, name: &str, line: usize) -> (String, usize) {
    let heads = script.lines().take(line).enumerate();
    let heads = heads.filter_map(|(at, text)| Some((at, text.strip_prefix("-- ==== ")?.strip_suffix(" ====")?)));
    heads.last().map_or((name.to_owned(), line), |(at, file)| (file.to_owned(), line - at - 1))
}

/// The release that a plan is checked against: its own, or the first of its generation
/// where more was not known of it.
///
/// # Errors
/// The plan's scheduler or generation is not known.
pub fn release_of<'p>(plan: &'p Plan, manifests: &'p Manifests) -> Result<&'p str> {
    Ok(manifests.generation(&plan.from.scheduler, &plan.from.generation)?.listed(&plan.from.release))
}

//! Rows whose code the new release cannot read, or reads as something else.

use super::{About, Finding, Upgrade, source_of};
use crate::lint::Level;
use crate::manifest::{Manifest, State, StateSet};

/// Rows of one table that hold one code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeRows {
    /// The role column.
    pub column: String,
    /// The code; `None` is SQL NULL.
    pub code: Option<String>,
    /// The value of the column on which the code's meaning hangs, where it hangs on one.
    pub with: Option<String>,
    /// How many rows.
    pub rows: u64,
    /// Keys of some of them.
    pub sample: Vec<String>,
}

/// What the new release does with a value that the old one wrote.
enum Reading {
    /// The column has no states any more.
    Gone,
    /// It has no such code.
    Unreadable,
    /// It has the code, but never in this column.
    Illegal(String),
    /// It takes it for something else.
    Other(String),
    /// It counts it as finished, or no longer does.
    Finished { was: bool },
    /// It goes on waiting for such a row, although nothing runs under it; or no longer does.
    Counted { was: bool },
    /// It has another name for it.
    Renamed(String),
}

/// What breaks in rows, before any row is counted: every state that the old release may write.
pub(super) fn foreseen(upgrade: &Upgrade<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (column, set) in &upgrade.from.states {
        let null = set.null.iter().map(|state| (None, state));
        let other = set.other.iter().map(|state| (Some(OTHER), state));
        let listed = set.states.iter().map(|s| (Some(s.code.as_str()), s));
        for (code, state) in listed.chain(null).chain(other) {
            let with = state.when.first().map(String::as_str);
            let Some(reading) = reading(upgrade.to, column, code, with, Some(state)) else { continue };
            let is_lost = matches!(reading, Reading::Unreadable | Reading::Other(_));
            if !state.legal && !is_lost {
                continue;
            }
            let mut finding = finding(upgrade, column, code, Some(state), reading);
            // Whether there are such rows is not known.
            finding.level = finding.level.min(if state.legal { Level::Warning } else { Level::Info });
            if !state.legal {
                finding.message +=
                    "; releases until now never write it here, but rows that were repaired by hand may hold it";
            }
            findings.push(finding);
        }
    }
    findings
}

/// What breaks in rows that were counted: leftovers of earlier upgrades among them.
#[must_use]
pub fn of_rows(upgrade: &Upgrade<'_>, counted: &[CodeRows]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for rows in counted {
        let set = upgrade.from.states.get(&rows.column).or_else(|| upgrade.to.states.get(&rows.column));
        let state = set.and_then(|set| set.of(rows.code.as_deref(), rows.with.as_deref()));
        let Some(reading) = reading(upgrade.to, &rows.column, rows.code.as_deref(), rows.with.as_deref(), state) else {
            continue;
        };
        let found = finding(upgrade, &rows.column, rows.code.as_deref(), state, reading);
        findings.push(found.counted(rows.rows, rows.sample.clone()));
    }
    findings
}

/// The command that repairs all rows for whose code a state is surely known, where there are several.
#[must_use]
pub fn in_one_bundle(upgrade: &Upgrade<'_>, counted: &[CodeRows]) -> Option<Finding> {
    let mut confirmed: Vec<String> = Vec::new();
    for rows in counted {
        let Some(legacy) = rows.code.as_deref().and_then(|code| upgrade.to.legacy(&rows.column, code)) else {
            continue;
        };
        let flag = upgrade.to.confirmation(legacy);
        if legacy.sure && !confirmed.contains(&flag) {
            confirmed.push(flag);
        }
    }
    let mapping = upgrade.mapping.as_ref().filter(|_| confirmed.len() > 1)?;
    let when = if upgrade.is_done { "" } else { "after the upgrade, " };
    let message =
        format!("{when}all codes whose state is not in doubt, in one bundle: {}", mapping.command(&confirmed));
    Some(Finding::new(About::Repairs, "legacy-states-at-once", Level::Info, "legacy-states", message))
}

/// Stands for every code that a manifest does not list.
const OTHER: &str = "other";

fn reading(
    to: &Manifest,
    column: &str,
    code: Option<&str>,
    with: Option<&str>,
    was: Option<&State>,
) -> Option<Reading> {
    let Some(set) = to.states.get(column) else { return Some(Reading::Gone) };
    let Some(is) = state_in(set, code, with) else { return Some(Reading::Unreadable) };
    if !is.legal {
        return Some(Reading::Illegal(is.name.clone()));
    }
    let was = was?;
    if is.phase != was.phase {
        return Some(Reading::Other(is.name.clone()));
    }
    if is.finished != was.finished {
        return Some(Reading::Finished { was: was.finished });
    }
    if is.upstream_finished != was.upstream_finished {
        return Some(Reading::Counted { was: was.upstream_finished });
    }
    (is.name != was.name).then(|| Reading::Renamed(is.name.clone()))
}

fn state_in<'s>(set: &'s StateSet, code: Option<&str>, with: Option<&str>) -> Option<&'s State> {
    if code == Some(OTHER) {
        return set.other.as_ref();
    }
    set.of(code, with)
}

fn finding(upgrade: &Upgrade<'_>, column: &str, code: Option<&str>, was: Option<&State>, reading: Reading) -> Finding {
    let goal = upgrade.goal();
    let code = code.unwrap_or("NULL");
    let subject = format!("{} {code}", upgrade.from.real_name(column));
    let from = &upgrade.releases.0;
    let unknown = format!("(no code of {from} either)");
    let name = was.map_or(unknown.as_str(), |s| s.name.as_str());
    // Some schedulers' codes are their names.
    let what = if name.eq_ignore_ascii_case(code) { code.to_owned() } else { format!("{code} {name}") };
    let (id, level, message) = match &reading {
        Reading::Gone => ("states-gone", Level::Info, format!("{what}: {goal} has no such column")),
        Reading::Unreadable => ("unreadable-state", Level::Error, format!("{what}: {goal} cannot read this code")),
        Reading::Illegal(is) => {
            let message = format!(
                "{what}: {goal} knows the code as {is}, but not in this column, so nothing goes on with such a row"
            );
            ("illegal-state", Level::Error, message)
        }
        Reading::Other(is) => ("read-as-another-state", Level::Error, format!("{what}: {goal} reads it as {is}")),
        Reading::Finished { was: true } => {
            ("unfinished-again", Level::Warning, format!("{what}: finished so far, unfinished for {goal}"))
        }
        Reading::Finished { was: false } => {
            ("finished-now", Level::Warning, format!("{what}: unfinished so far, finished for {goal}"))
        }
        Reading::Counted { was: true } => {
            ("waited-for", Level::Warning, format!("{what}: over, but {goal} does not count it as finished and waits"))
        }
        Reading::Counted { was: false } => {
            ("counted-now", Level::Info, format!("{what}: {goal} counts it as finished, which was not so before"))
        }
        Reading::Renamed(is) => ("state-renamed", Level::Info, format!("{what}: {goal} calls it {is}")),
    };
    let mut finding = Finding::new(About::Rows, id, level, subject, message);
    finding.since = match reading {
        Reading::Other(_) | Reading::Finished { .. } | Reading::Counted { .. } | Reading::Renamed(_) => {
            upgrade.became(column, code)
        }
        _ => upgrade.lost(column, code),
    };
    add_facts(&mut finding, upgrade, (column, code), was);
    finding
}

/// The source, and the way out.
fn add_facts(finding: &mut Finding, upgrade: &Upgrade<'_>, (column, code): (&str, &str), was: Option<&State>) {
    if let Some(set) = upgrade.to.states.get(column) {
        let codes: Vec<&str> = set.states.iter().filter(|s| s.legal).map(|s| s.code.as_str()).collect();
        finding.why.push(format!("{} of {} holds {}", set.type_name, upgrade.releases.1, codes.join(", ")));
        finding.why.extend(source_of(upgrade.to, &set.type_name));
    }
    if finding.level < Level::Error {
        return;
    }
    let Some(legacy) = upgrade.to.legacy(column, code) else {
        finding.help.push(way_out(upgrade, was).to_owned());
        return;
    };
    let (to, caveat) = (upgrade.to.proposed(legacy), legacy.caveat());
    finding.why.push(format!("{to} is proposed for {code}{caveat}: {}", legacy.why));
    let repair = upgrade.mapping.as_ref().map(|mapping| mapping.command(&[upgrade.to.confirmation(legacy)]));
    if upgrade.is_done {
        finding.help.extend(repair);
        return;
    }
    if was.is_some_and(|s| !s.finished) {
        finding.help.push(BEFORE.to_owned());
    }
    finding.help.extend(repair.map(|repair| format!("for what is left after it: {repair}")));
}

/// The way out where nothing is proposed for a code.
fn way_out(upgrade: &Upgrade<'_>, was: Option<&State>) -> &'static str {
    match was {
        _ if upgrade.is_done => AFTER,
        Some(state) if !state.finished => BEFORE,
        Some(_) => OVER,
        None => AFTER,
    }
}

/// The way out of rows that are over, and whose code is not read any more.
const OVER: &str = "such rows are over: keep a copy of them, or give them a code that both releases read";
/// The way out while the old release still runs.
const BEFORE: &str = "finish such rows with the release that runs, before the upgrade";
/// The way out where nothing is proposed for a code.
const AFTER: &str = "flowmend inspect says which repair, if any, is for such rows";

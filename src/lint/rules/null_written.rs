//! NULL where the scheduler expects a value.

use crate::lint::finding::Level;
use crate::lint::reading::{After, Assignment, Before, Change, Reading, Scalar};
use crate::lint::report::{Report, listed};
use crate::manifest::{NeverNull, State};

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in &reading.changes {
        for set in &change.sets {
            state(report, change, set);
            value(report, change, set);
        }
    }
}

fn is_null(set: &Assignment) -> bool {
    set.value.literals().contains(&Scalar::Null)
}

/// Whether a CASE makes NULL of one of the states that the condition selects.
fn falls(change: &Change, set: &Assignment) -> bool {
    let selected = change.filter.state(&set.column);
    let taken = |before: &Before| match before {
        Before::Code(code) => selected.is_none_or(|s| s.codes.contains(code)),
        Before::Null | Before::Other => false,
    };
    set.outcome.iter().flatten().any(|(before, ends)| taken(before) && ends.contains(&After::Null))
}

/// A state that is none.
fn state(report: &mut Report<'_>, change: &Change, set: &Assignment) {
    let Some((_, states)) = report.knowledge.states(&change.table, &set.column) else { return };
    if states.null.is_some() || !(set.outcome.is_none() && is_null(set) || falls(change, set)) {
        return;
    }
    let message = format!("NULL is not a state of {}.{} in {}", change.table, set.column, report.knowledge.title());
    let legal: Vec<&State> = states.states.iter().filter(|s| s.legal).collect();
    report
        .at(set.value_span, Level::Error, message)
        .why("the scheduler reads it as no state at all, and conditions with <> and NOT IN pass the row by")
        .help(format!("states of this column: {}", listed(&legal)))
        .help("a CASE without ELSE gives NULL: end it with ELSE and the column itself");
}

/// A column of another kind in which NULL breaks the scheduler.
fn value(report: &mut Report<'_>, change: &Change, set: &Assignment) {
    let knowledge = report.knowledge;
    if !is_null(set) {
        return;
    }
    let Some(name) = knowledge.role_column(&change.table, &set.column) else { return };
    let Some(NeverNull { why, default, .. }) = knowledge.manifest.never_null.iter().find(|n| n.column == name) else {
        return;
    };
    let message = format!("NULL in {}.{} breaks {}", change.table, set.column, knowledge.title());
    report
        .at(set.value_span, Level::Error, message)
        .why(why.clone())
        .help(format!("leave the column as it is; the scheduler itself writes {default}"));
}

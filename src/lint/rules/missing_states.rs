//! Some unfinished states are named, others are forgotten.

use crate::lint::finding::Level;
use crate::lint::report::{Report, Transition, listed};
use crate::manifest::State;

pub(super) fn check(report: &mut Report<'_>, t: &Transition<'_, '_>) {
    // Only the row's own state says whether somebody works on it.
    if !report.knowledge.is_own_state(&t.change.table, &t.column) {
        return;
    }
    if !t.spoken || !t.to.iter().any(|s| s.finished) || report.knowledge.names_rows(&t.change.table, &t.change.filter) {
        return;
    }
    // Who closes rows in a state that waits for nobody means just that one.
    if !t.from.iter().any(|s| runs(s)) {
        return;
    }
    let missed = |s: &&State| s.legal && runs(s) && !t.from.iter().any(|f| f.code == s.code);
    let forgotten: Vec<&State> = t.set.states.iter().filter(missed).collect();
    let (Some(span), false) = (t.change.filter.span, forgotten.is_empty()) else { return };
    let message = format!("rows in {} are active, too, and stay as they are", listed(&forgotten));
    let taken: Vec<&State> = t.from.iter().copied().filter(|s| !s.finished).collect();
    let fact = format!(
        "the condition takes {}; these are the other states of {}.{} in {} in which somebody works on a row, or should",
        listed(&taken),
        t.change.table,
        t.column,
        report.knowledge.title()
    );
    report.at(span, Level::Warning, message).why(fact).help("take them in, or say why not");
}

/// Somebody works on the row, or should.
fn runs(state: &State) -> bool {
    const ACTIVE: [&str; 11] = [
        "running",
        "restarting",
        "dispatched",
        "stopping",
        "pausing",
        "blocking",
        "delayed",
        "needs_recovery",
        "handed_over",
        "acquired",
        "pending",
    ];
    !state.finished && ACTIVE.contains(&state.phase.as_str())
}

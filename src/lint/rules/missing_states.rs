//! Some unfinished states are named, others are forgotten.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::{Report, Touched, listed, selected, state_columns, written};
use crate::manifest::State;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does == Does::Update) {
        for Touched { column, set } in state_columns(report.knowledge, change) {
            let to = written(change, &column, set);
            let spoken = change.filter.states.get(&column.to_lowercase()).is_some_and(|s| s.spoken);
            let key = report.knowledge.key(&change.table);
            if !spoken || !to.iter().any(|s| s.finished) || change.filter.names(&key) {
                continue;
            }
            let from = selected(change, &column, set);
            // Who closes rows in a state that waits for nobody means just that one.
            if !from.iter().any(|s| runs(s)) {
                continue;
            }
            let forgotten: Vec<&State> =
                set.states.iter().filter(|s| s.legal && runs(s) && !from.iter().any(|f| f.code == s.code)).collect();
            let (Some(span), false) = (change.filter.span, forgotten.is_empty()) else { continue };
            let message = format!("rows in {} are active, too, and stay as they are", listed(&forgotten));
            let fact = format!("unfinished states of {}.{column} in {}", change.table, report.knowledge.title());
            report
                .at(span, Level::Warning, message)
                .why(fact)
                .help("take them in, or say why not");
        }
    }
}

/// Somebody works on the row, or should.
fn runs(state: &State) -> bool {
    const ACTIVE: [&str; 10] = [
        "running", "dispatched", "stopping", "pausing", "blocking", "delayed", "needs_recovery", "handed_over",
        "acquired", "pending",
    ];
    !state.finished && ACTIVE.contains(&state.phase.as_str())
}

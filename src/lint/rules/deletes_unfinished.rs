//! Rows that are not over are deleted.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::{Report, listed, selected};
use crate::manifest::State;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does == Does::Delete && c.filter.span.is_some()) {
        let Some((column, set)) = report.knowledge.own_state(&change.table) else { continue };
        // Where nothing is ever finished, a row is no run.
        if !set.states.iter().any(|s| s.finished) {
            continue;
        }
        let active: Vec<&State> =
            selected(change, column, set).into_iter().filter(|s| !s.finished && s.legal).collect();
        if active.is_empty() {
            continue;
        }
        if change.filter.is_unclear(column) {
            continue;
        }
        let help = match change.filter.speaks_of(column) {
            true => {
                "close these rows first, by an update that names the state they are in, or leave them out of the condition"
            }
            false => "add a condition on the state, so that only finished rows go",
        };
        let message = format!("rows that are not over are deleted, too: {}", listed(&active));
        report
            .at(change.span, Level::Error, message)
            .why("their process may live, and writes to rows that are gone")
            .help(help);
    }
}

//! Rows that are not over are deleted.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::{Report, Touched, listed, selected, state_columns};
use crate::manifest::State;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does == Does::Delete) {
        let Some((_, role)) = report.knowledge.role(&change.table) else { continue };
        for Touched { column, set } in state_columns(report.knowledge, change) {
            if role.columns.get("state").is_none_or(|c| !c.eq_ignore_ascii_case(&column)) {
                continue;
            }
            // Where nothing is ever finished, a row is no run.
            if !set.states.iter().any(|s| s.finished) {
                continue;
            }
            let active: Vec<&State> =
                selected(change, &column, set).into_iter().filter(|s| !s.finished && s.legal).collect();
            if active.is_empty() || change.filter.span.is_none() {
                continue;
            }
            let message = format!("rows that are not over are deleted, too: {}", listed(&active));
            report
                .at(change.span, Level::Error, message)
                .why("their process may live, and writes to rows that are gone")
                .help("add a condition on the state, so that only finished rows go");
        }
    }
}

//! Rows that are not over are deleted.

use crate::lint::finding::Level;
use crate::lint::knowledge::Knowledge;
use crate::lint::reading::{Change, Does, Reading};
use crate::lint::report::{Report, listed, selected};
use crate::manifest::State;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does == Does::Delete) {
        let chosen = is_chosen_elsewhere(report.knowledge, reading, change);
        // Without a condition every row goes, which another rule says.
        if change.filter.span.is_none() && change.filter.bounds.is_empty() {
            continue;
        }
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
        if chosen && !change.filter.speaks_of(column) {
            let message = format!(
                "a table of your own says which rows go: whether they are over is not asked here ({})",
                listed(&active)
            );
            report
                .at(change.span, Level::Info, message)
                .help("ask for the state in this statement, too: rows may have moved since they were chosen");
            continue;
        }
        if report.knowledge.makes_room(change) && !change.filter.names_state(column) {
            let message = format!("old rows are deleted whatever their state: {} among them", listed(&active));
            report
                .at(change.span, Level::Warning, message)
                .why("the scheduler's own clean-up does so, too; a row may be old and its process alive");
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

/// Whether a table of one's own holds the keys of the rows.
fn is_chosen_elsewhere(knowledge: &Knowledge<'_>, reading: &Reading, change: &Change) -> bool {
    let key = knowledge.key(&change.table);
    let is_own =
        |table: &str| knowledge.table(table).is_none() && !knowledge.looks_ours(table) && !table.starts_with('$');
    !key.is_empty()
        && key.iter().all(|column| change.filter.is_elsewhere(column))
        && reading.tables.iter().any(|t| !t.written && is_own(&t.name))
}

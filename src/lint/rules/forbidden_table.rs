//! A table that no repair may write: definitions, locks, registries, versions, users.

use crate::lint::finding::Level;
use crate::lint::reading::Reading;
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in &reading.changes {
        if !report.knowledge.manifest.is_forbidden_table(&change.table) {
            continue;
        }
        let message = format!("{} is written: no repair needs that", change.table);
        report
            .at(change.span, Level::Error, message)
            .why("definitions, locks, registries, versions and users are the scheduler's own to write")
            .help("do it in the scheduler's user interface, or by its own tools");
    }
}

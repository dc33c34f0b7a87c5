//! A change whose condition no index helps.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::Report;
use crate::manifest::Engine;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    // Only MySQL locks every row that it reads.
    if report.knowledge.engine != Engine::MySql {
        return;
    }
    for change in reading.changes.iter().filter(|c| c.does != Does::Insert) {
        let (Some(span), false) = (change.filter.span, change.filter.always) else { continue };
        let helped = change.filter.bounds.keys().any(|column| report.knowledge.is_indexed(&change.table, column));
        if helped || report.knowledge.table(&change.table).is_none() || change.targets > 1 {
            continue;
        }
        let message = format!("no index of {} helps this condition: every row is read and locked", change.table);
        report
            .at(span, Level::Warning, message)
            .why("REPEATABLE READ keeps the lock of every row that was read; with sql_safe_updates the statement is refused (1175)")
            .help("name the rows by their primary key");
    }
}

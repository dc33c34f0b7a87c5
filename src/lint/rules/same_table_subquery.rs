//! A change reads the table that it writes (MySQL 1093).

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Part, Reading, TableUse};
use crate::lint::report::Report;
use crate::manifest::Engine;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    if report.knowledge.engine != Engine::MySql || reading.changes.len() != 1 {
        return;
    }
    let change = &reading.changes[0];
    if change.does == Does::Insert || change.in_body {
        return;
    }
    let again = |t: &&TableUse| t.part == Part::SubQuery && t.name.eq_ignore_ascii_case(&change.table);
    if let Some(used) = reading.tables.iter().find(again) {
        let message = format!("{} is read in a sub-query of the statement that changes it", change.table);
        report
            .at(used.span, Level::Warning, message)
            .why("MySQL refuses it with error 1093; MariaDB 10.3 and later allow it")
            .help("wrap the sub-query: … IN (SELECT id FROM (SELECT …) AS x)");
    }
}

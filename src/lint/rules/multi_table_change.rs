//! One statement writes several tables.

use crate::lint::finding::Level;
use crate::lint::reading::Reading;
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    let Some(first) = reading.changes.iter().find(|c| c.targets > 1) else { return };
    let tables: Vec<&str> = reading.changes.iter().filter(|c| c.targets > 1).map(|c| c.table.as_str()).collect();
    let message = format!("{} are written by one statement", tables.join(" and "));
    report
        .at(first.span, Level::Warning, message)
        .why("one number of affected rows for several tables cannot be compared with what was expected of each")
        .help("write one statement for each table, the child's rows first");
}

//! LIMIT takes rows that nobody chose.

use crate::lint::finding::Level;
use crate::lint::reading::Reading;
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in &reading.changes {
        let Some(span) = change.filter.limited else { continue };
        let message = format!("LIMIT without ORDER BY: which rows of {} are taken is chance", change.table);
        report
            .at(span, Level::Warning, message)
            .why("a replica that runs the statement again may take others (1592, unsafe for statement-based binary logs)")
            .help("name the rows by their primary key");
    }
}

//! A WHERE that no row meets.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading, Remark};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for (remark, span) in &reading.remarks {
        if *remark == Remark::EqualsNull {
            report
                .at(*span, Level::Warning, "nothing equals NULL: the comparison is never true")
                .help("write IS NULL or IS NOT NULL");
        }
    }
    for change in reading.changes.iter().filter(|c| c.does != Does::Insert && c.filter.never) {
        let Some(span) = change.filter.span else { continue };
        report.at(span, Level::Warning, format!("the condition holds for no row of {}", change.table));
    }
}

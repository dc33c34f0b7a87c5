//! A function around an indexed column.

use crate::lint::finding::Level;
use crate::lint::reading::{Reading, Remark};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for (remark, span) in &reading.remarks {
        let Remark::WrappedColumn(table, column) = remark else { continue };
        if !report.knowledge.is_indexed(table, column) {
            continue;
        }
        let message = format!("the index on {table}.{column} is of no use behind a function");
        report
            .at(*span, Level::Warning, message)
            .why("every row is read, and locked if the statement changes rows")
            .help("compare the bare column with a range of values");
    }
}

//! A column of milliseconds meets a date.

use crate::lint::finding::Level;
use crate::lint::reading::{Reading, Remark};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for (remark, span) in &reading.remarks {
        let Remark::EpochAgainstTime(table, column) = remark else { continue };
        let message = format!("{table}.{column} holds milliseconds since 1970, and meets a date");
        report
            .at(*span, Level::Error, message)
            .why("MySQL reads the year as the number, PostgreSQL refuses the statement, in SQLite no number is greater")
            .help("write the number: seconds since 1970, times 1000");
    }
}

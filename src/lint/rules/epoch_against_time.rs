//! A column of milliseconds meets a date, or the other way round.

use crate::lint::finding::Level;
use crate::lint::reading::{Reading, Remark};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for (remark, span) in &reading.remarks {
        if let Remark::TimeAgainstEpoch(table, column) = remark {
            let message = format!("{table}.{column} holds a date, and meets a number since 1970");
            report
                .at(*span, Level::Error, message)
                .why("MySQL reads the number's digits as a date, or refuses it; PostgreSQL refuses the statement; in SQLite no text is less")
                .help("write the moment as a literal: 'YYYY-MM-DD hh:mm:ss' on the scheduler's clock");
        }
        if let Remark::SecondsAgainstMillis(table, column) = remark {
            let message = format!("{table}.{column} holds milliseconds since 1970, and meets seconds");
            report
                .at(*span, Level::Error, message)
                .why("a thousandth of the number: a moment in January 1970, before every time that a row holds")
                .help("multiply the seconds by 1000");
        }
        let Remark::EpochAgainstTime(table, column) = remark else { continue };
        let message = format!("{table}.{column} holds milliseconds since 1970, and meets a date");
        report
            .at(*span, Level::Error, message)
            .why("MySQL reads the year as the number, PostgreSQL refuses the statement, in SQLite no number is greater")
            .help("write the number: seconds since 1970, times 1000");
    }
}

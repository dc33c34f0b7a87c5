//! `SET a = 1 AND b = 2`: one column gets a truth value, the other stays as it is.

use crate::lint::finding::Level;
use crate::lint::reading::{Reading, Written};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in &reading.changes {
        for set in &change.sets {
            let Written::Joined(parts) = &set.value else { continue };
            let parts: Vec<_> = parts.iter().map(|span| report.bytes(*span)).collect();
            let (Some(first), Some(last)) = (parts.first(), parts.last()) else { continue };
            let whole = first.start..last.end;
            let message = format!("AND joins conditions, not settings: {} gets one truth value", set.column);
            report
                .over(whole, Level::Error, message)
                .why("MySQL, MariaDB and SQLite write 0, 1 or NULL there, and the other columns stay as they are; PostgreSQL refuses it")
                .help("put commas between the settings, in place of AND");
        }
    }
}

//! The database's clock is compared with times that the scheduler wrote.

use crate::lint::finding::Level;
use crate::lint::reading::{Reading, Remark};
use crate::lint::report::Report;
use crate::manifest::Engine;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for (remark, span) in &reading.remarks {
        let Remark::DatabaseClock(table, column) = remark else { continue };
        let knowledge = report.knowledge;
        let Some(clock) = &knowledge.manifest.clock else { continue };
        // A scheduler that writes UTC, in a column of moments: whatever the session's zone, both are right.
        // SQLite's clock is in UTC, too.
        let is_right = clock.utc && (knowledge.engine == Engine::Sqlite || knowledge.is_moment(table, column));
        if is_right || knowledge.role_column(table, column).is_none() {
            continue;
        }
        let whose = if clock.utc { "in UTC" } else { "in the zone of its own processes" };
        let message = format!("{table}.{column} is compared with the database's clock");
        report
            .at(*span, Level::Warning, message)
            .why(format!(
                "{} writes its times {whose}; the session's zone may be another, and the cut-off hours off",
                knowledge.manifest.title
            ))
            .help(format!(
                "write the cut-off as a literal on the scheduler's clock{}",
                if clock.utc { ", in UTC" } else { "" }
            ));
    }
}

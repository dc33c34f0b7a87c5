//! UPDATE or DELETE of all rows.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does != Does::Insert) {
        let joined = change.filter.bounds.values().next().is_some();
        if change.filter.span.is_some() || joined {
            continue;
        }
        let known = report.knowledge.table(&change.table).is_some();
        // A table of one's own may be emptied.
        let level = if known { Level::Error } else { Level::Info };
        let message = format!("every row of {} is {}d: there is no WHERE", change.table, change.does.name());
        report
            .at(change.span, level, message)
            .help("name the rows by their primary key, with the state that they must still have");
    }
}

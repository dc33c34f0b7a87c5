//! An inner join on a column that may be NULL.

use crate::lint::finding::Level;
use crate::lint::reading::{Bound, Does, Reading};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does != Does::Insert) {
        let Some(spec) = report.knowledge.table(&change.table) else { continue };
        let joined = change.filter.bounds.iter().filter(|(_, b)| **b == Bound::Join).map(|(c, _)| c);
        let nullable = |c: &&String| report.knowledge.column_spec(spec, c).is_some_and(|c| c.nullable);
        let columns: Vec<String> = joined.filter(nullable).cloned().collect();
        for column in columns {
            let message = format!("rows whose {}.{column} is NULL never match the join", change.table);
            report.at(change.span, Level::Warning, message).help("give these rows a statement of their own");
        }
    }
}

//! `<>` and NOT IN pass over NULL.

use crate::lint::finding::Level;
use crate::lint::reading::{Reading, Remark};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for (remark, span) in &reading.remarks {
        let Remark::NullBlind(table, column) = remark else { continue };
        let meaning = report.knowledge.states(table, column).and_then(|(_, set)| set.null.clone());
        let message = format!("rows whose {table}.{column} is NULL are passed over");
        let finding = report.at(*span, Level::Warning, message);
        finding.why("a comparison with NULL is neither true nor false, and the column may be NULL");
        if let Some(state) = meaning {
            finding.why(format!("NULL is a state of its own here: {}", state.name));
        }
        finding.help(format!("say it: OR {column} IS NULL, or AND {column} IS NOT NULL"));
    }
}

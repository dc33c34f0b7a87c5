//! A state whose value does not stand in the script.

use crate::lint::finding::Level;
use crate::lint::reading::{Reading, Written};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in &reading.changes {
        let Some(spec) = report.knowledge.table(&change.table) else { continue };
        let columns = report.knowledge.state_columns(spec);
        for set in change.sets.iter().filter(|set| set.value == Written::Unknown) {
            if !columns.iter().any(|(column, _)| column.eq_ignore_ascii_case(&set.column)) {
                continue;
            }
            let message = format!(
                "which state {}.{} gets is not known here, and nothing of it was checked",
                spec.name, set.column
            );
            report
                .at(set.value_span, Level::Warning, message)
                .why("the value is a variable that this script does not set, a sum, or the result of a query")
                .help("write the code itself, or set the variable in this script to a literal");
        }
    }
}

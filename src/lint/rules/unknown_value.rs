//! A state whose value does not stand in the script, written or asked for.

use crate::lint::finding::Level;
use crate::lint::reading::{Change, Does, Reading, Written};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in &reading.changes {
        if change.table.starts_with('$') && change.does != Does::Insert {
            let name = change.table.trim_start_matches('$');
            let message = format!("which table this is hangs on the variable {name}, and nothing of it was checked");
            report.at(change.span, Level::Warning, message).help("write the table's name");
        }
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
        unclear(report, change);
    }
}

/// A condition on a state that is not understood.
fn unclear(report: &mut Report<'_>, change: &Change) {
    for (column, selected) in &change.filter.states {
        let Some(span) = selected.unclear else { continue };
        let message = format!(
            "which states this takes of {}.{column} is not known here, and what becomes of the others is not checked",
            change.table
        );
        report
            .at(span, Level::Warning, message)
            .why("the condition asks by a function, a query or a pattern that flowmend does not read")
            .help(format!("name the states: {column} IN (…)"));
    }
}

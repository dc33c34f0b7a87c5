//! A delete that takes other tables' rows along, or is refused by them.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does == Does::Delete) {
        let knowledge = report.knowledge;
        let children = knowledge.children(&change.table);
        for (child, key) in children {
            let by = key.columns.join(", ");
            match key.on_delete.to_uppercase().as_str() {
                "CASCADE" => {
                    let message = format!("the delete takes rows of {child} along: {child} ({by}) cascades");
                    report
                        .at(change.span, Level::Error, message)
                        .why(format!("foreign key ON DELETE CASCADE in {}", knowledge.title()))
                        .help(format!("delete only rows that no row of {child} refers to (NOT EXISTS)"));
                }
                "SET NULL" => {
                    let message = format!("the delete empties {child} ({by})");
                    report
                        .at(change.span, Level::Warning, message)
                        .why(format!("foreign key ON DELETE SET NULL in {}", knowledge.title()));
                }
                _ => {
                    let message = format!("the delete fails where a row of {child} ({by}) refers to a deleted one");
                    report
                        .at(change.span, Level::Error, message)
                        .why(format!("foreign key without a cascade in {}", knowledge.title()))
                        .help(format!("delete only rows that no row of {child} refers to (NOT EXISTS)"));
                }
            }
        }
    }
}

//! A column that no repair may write.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does == Does::Update) {
        let knowledge = report.knowledge;
        for set in &change.sets {
            let Some(name) = knowledge.role_column(&change.table, &set.column) else { continue };
            if knowledge.manifest.forbidden.columns.iter().any(|c| c == name) {
                let message = format!("{}.{} is written, which few repairs do", change.table, set.column);
                report
                    .at(set.span, Level::Warning, message)
                    .why("who a row is and who ran it, when it ran and when it is due, the scheduler writes itself and relies on: whoever writes it must know what it makes of that");
            }
        }
    }
}

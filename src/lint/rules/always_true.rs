//! A WHERE that every row meets.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does != Does::Insert && c.filter.always) {
        let Some(span) = change.filter.span else { continue };
        let message = format!("the condition holds for every row of {}", change.table);
        report
            .at(span, Level::Error, message)
            .why("it is true for every state that a row can have: of two alternatives that each leave one out, the other takes it in")
            .help("name the rows by their primary key; join conditions by AND");
    }
}

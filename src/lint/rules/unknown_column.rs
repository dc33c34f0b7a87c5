//! A column that no table in the statement has.

use crate::lint::finding::Level;
use crate::lint::reading::Reading;
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for stranger in &reading.strangers {
        let knowledge = report.knowledge;
        let message = match stranger.tables.as_slice() {
            [one] => format!("{one} has no column {} in {}", stranger.column, knowledge.title()),
            some => format!("none of {} has a column {} in {}", some.join(", "), stranger.column, knowledge.title()),
        };
        let specs = stranger.tables.iter().filter_map(|t| knowledge.table(t));
        let ways: Vec<String> = specs.flat_map(|t| knowledge.instead_of_column(t, &stranger.column)).collect();
        let finding = report.at(stranger.span, Level::Error, message);
        for way in ways {
            finding.help(way);
        }
    }
}

//! A column that no table in the statement has.

use crate::lint::finding::Level;
use crate::lint::knowledge::Knowledge;
use crate::lint::reading::Reading;
use crate::lint::report::Report;
use crate::manifest::TableSpec;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for stranger in &reading.strangers {
        let knowledge = report.knowledge;
        let message = match stranger.tables.as_slice() {
            [one] => format!("{one} has no column {} in {}", stranger.column, knowledge.title()),
            some => format!("none of {} has a column {} in {}", some.join(", "), stranger.column, knowledge.title()),
        };
        let specs =
            |tables: &[String]| -> Vec<&TableSpec> { tables.iter().filter_map(|t| knowledge.table(t)).collect() };
        let ways: Vec<String> = specs(&stranger.tables)
            .into_iter()
            .flat_map(|t| knowledge.instead_of_column(t, &stranger.column))
            .collect();
        let kin: Vec<String> = match ways.is_empty() {
            true => specs(&stranger.tables)
                .into_iter()
                .filter_map(|t| of_the_kind(knowledge, t, &stranger.column))
                .collect(),
            false => Vec::new(),
        };
        let range = report.bytes(stranger.span);
        let is_quoted = report.text(range.clone()).starts_with('"');
        let finding = report.over(range, Level::Error, message);
        if is_quoted {
            finding.help(format!("double quotes make a name: a text is written '{}'", stranger.column));
        }
        for way in ways.into_iter().chain(kin) {
            finding.help(way);
        }
    }
}

/// The table's columns whose names end like the one that is missed: `update_time`, `end_time`.
fn of_the_kind(knowledge: &Knowledge<'_>, table: &TableSpec, column: &str) -> Option<String> {
    let (_, ending) = column.rsplit_once('_')?;
    let ends = |name: &str| name.rsplit_once('_').is_some_and(|(_, end)| end.eq_ignore_ascii_case(ending));
    let names: Vec<&str> =
        table.columns_on(knowledge.engine).map(|c| c.name.as_str()).filter(|name| ends(name)).collect();
    let known = format!("no known release has it; {} has {}", table.name, names.join(", "));
    (!names.is_empty()).then_some(known)
}

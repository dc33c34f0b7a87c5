//! A table that the release does not have.

use crate::lint::finding::Level;
use crate::lint::reading::{Reading, TableUse};
use crate::lint::report::Report;
use crate::manifest::Engine;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for used in &reading.tables {
        let knowledge = report.knowledge;
        let title = knowledge.title();
        match knowledge.table(&used.name) {
            // Table names are files on Linux: another case is another table.
            Some(known) if knowledge.engine == Engine::MySql && known.name != used.name => {
                let message = format!("{} is spelt {} in {title}", used.name, known.name);
                let range = report.bytes(used.span);
                let known = known.name.clone();
                // Where the name stands before columns, too, half a rewrite is none.
                let text = report.text(reading.range.clone());
                let is_alone =
                    !text.contains(&format!("{}.", used.name)) && !text.contains(&format!("{}`.", used.name));
                let finding = report.over(range.clone(), Level::Error, message);
                finding
                    .why("on Linux (lower_case_table_names = 0) these are two tables: error 1146, or an empty table beside the real one")
                    .help(format!("write {known}"));
                if is_alone {
                    finding.edit(range, known);
                }
            }
            Some(_) => {}
            None if report.is_made(&used.name) => {}
            None => {
                let there = knowledge.has_undescribed(&used.name);
                let ways = if there { Vec::new() } else { knowledge.instead_of_table(&used.name) };
                let likely = !there && (knowledge.looks_ours(&used.name) || !ways.is_empty());
                let level = match likely {
                    true if stands_apart(report, reading, used) => Level::Warning,
                    true => Level::Error,
                    false => Level::Info,
                };
                let message = match likely {
                    true => format!("{title} has no table {}", used.name),
                    false => format!(
                        "{} is not described by flowmend for {title}: what is done to it is not checked",
                        used.name
                    ),
                };
                let finding = report.at(used.span, level, message);
                for way in ways {
                    finding.help(way);
                }
            }
        }
    }
}

/// Whether a table stands in another schema than the scheduler's tables of the statement:
/// copies that people keep bear names like the scheduler's.
fn stands_apart(report: &Report<'_>, reading: &Reading, used: &TableUse) -> bool {
    let known = |t: &&TableUse| report.knowledge.table(&t.name).is_some();
    used.schema.is_some() && reading.tables.iter().filter(known).any(|t| t.schema != used.schema)
}

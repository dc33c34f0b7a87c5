//! A row that is over gets another state.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::{Report, Touched, listed, selected, state_columns, written};
use crate::manifest::State;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does == Does::Update) {
        for Touched { column, set } in state_columns(report.knowledge, change) {
            let to = written(change, &column, set);
            let (Some(assignment), false) = (change.set(&column), to.is_empty()) else { continue };
            let overwritten = |s: &&State| s.finished && s.legal && to.iter().any(|t| t.code != s.code);
            let from = selected(change, &column, set);
            let lost: Vec<&State> = from.iter().copied().filter(overwritten).collect();
            let spoken = change.filter.states.get(&column.to_lowercase()).is_some_and(|s| s.spoken);
            // Finished states that are named on purpose are meant.
            let meant = spoken && from.iter().all(|s| s.finished);
            if lost.is_empty() || meant || change.filter.fixes(&column) && !spoken {
                continue;
            }
            let key = report.knowledge.key(&change.table);
            let named = change.filter.names(&key);
            let level = if named { Level::Warning } else { Level::Error };
            let message = match named {
                true => format!("the row may be over by then: {} would become {}", listed(&lost), listed(&to)),
                false => format!("rows that are over would become {}: {}", listed(&to), listed(&lost)),
            };
            let old: Vec<&State> = set.states.iter().filter(|s| s.legal && !s.finished).collect();
            report
                .at(assignment.span, level, message)
                .help(format!("add the old state to the condition, for example {}", in_list(&column, set, &old)));
        }
    }
}

fn in_list(column: &str, set: &crate::manifest::StateSet, states: &[&State]) -> String {
    let codes: Vec<String> = states.iter().map(|s| set.literal(&s.code)).collect();
    format!("AND {column} IN ({})", codes.join(", "))
}

//! A row that is over gets another state.

use crate::lint::finding::Level;
use crate::lint::reading::Reading;
use crate::lint::report::{Report, listed, transitions};
use crate::manifest::{State, StateSet};

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for t in transitions(report.knowledge, reading) {
        let overwritten = |s: &&State| s.finished && s.legal && t.to.iter().any(|to| to.code != s.code);
        let lost: Vec<&State> = t.from.iter().copied().filter(overwritten).collect();
        // Finished states that are named on purpose are meant.
        let meant = t.spoken && t.from.iter().all(|s| s.finished);
        if lost.is_empty() || meant || t.is_bound_unseen() {
            continue;
        }
        let named = t.change.filter.names(&report.knowledge.key(&t.change.table));
        let (level, message) = match named {
            true => (
                Level::Warning,
                format!("the row may be over by then: {} would become {}", listed(&lost), listed(&t.to)),
            ),
            false => (Level::Error, format!("rows that are over would become {}: {}", listed(&t.to), listed(&lost))),
        };
        let old: Vec<&State> = t.set.states.iter().filter(|s| s.legal && !s.finished).collect();
        report
            .at(t.assignment.span, level, message)
            .help(format!("add the old state to the condition, for example {}", in_list(&t.column, t.set, &old)));
    }
}

fn in_list(column: &str, set: &StateSet, states: &[&State]) -> String {
    let codes: Vec<String> = states.iter().map(|s| set.literal(&s.code)).collect();
    format!("AND {column} IN ({})", codes.join(", "))
}

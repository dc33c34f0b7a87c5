//! A WHERE that no row meets.

use crate::lint::finding::Level;
use crate::lint::reading::{Change, Does, Reading, Remark};
use crate::lint::report::{Report, listed};
use crate::manifest::State;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for (remark, span) in &reading.remarks {
        if *remark == Remark::EqualsNull {
            report
                .at(*span, Level::Warning, "nothing equals NULL: the comparison is never true")
                .help("write IS NULL or IS NOT NULL");
        }
    }
    for change in reading.changes.iter().filter(|c| c.does != Does::Insert && c.filter.never) {
        let Some(span) = change.filter.span else { continue };
        report.at(span, Level::Warning, format!("the condition holds for no row of {}", change.table));
    }
    for change in reading.changes.iter().filter(|c| c.does != Does::Insert && !c.filter.never) {
        for (column, selected) in &change.filter.states {
            if selected.spoken && selected.codes.is_empty() && !selected.null {
                no_state(report, change, (column, selected.other));
            }
        }
    }
}

/// A condition that only a code could meet that the release does not have.
fn no_state(report: &mut Report<'_>, change: &Change, (column, other): (&str, bool)) {
    let (Some(span), Some((_, set))) = (change.filter.span, report.knowledge.states(&change.table, column)) else {
        return;
    };
    if other && set.other.is_some() {
        return;
    }
    let legal: Vec<&State> = set.states.iter().filter(|s| s.legal).collect();
    let title = report.knowledge.title();
    let message = format!("no state of {}.{column} in {title} meets the condition", change.table);
    report.at(span, Level::Warning, message).help(format!("states of this column: {}", listed(&legal)));
}

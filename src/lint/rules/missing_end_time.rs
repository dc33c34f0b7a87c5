//! A row is closed without its end.

use crate::lint::finding::Level;
use crate::lint::reading::Bound;
use crate::lint::report::{Report, Transition, listed};
use crate::manifest::State;

pub(super) fn check(report: &mut Report<'_>, t: &Transition<'_, '_>) {
    let knowledge = report.knowledge;
    let Some((_, role)) = knowledge.role(&t.change.table) else { return };
    let Some(end) = role.columns.get("end_time").filter(|end| t.change.set(end).is_none()) else { return };
    // Whoever asks for the end that is there, NULL included, has thought of it.
    if t.change.filter.bounds.get(&end.to_lowercase()) == Some(&Bound::Row) {
        return;
    }
    let own = knowledge.own_state(&t.change.table).is_some_and(|(column, _)| column.eq_ignore_ascii_case(&t.column));
    let open: Vec<&State> = t.from.iter().copied().filter(|s| !s.finished).collect();
    let closed: Vec<&State> = t.after(&open).into_iter().filter(|s| s.finished).collect();
    if !own || closed.is_empty() {
        return;
    }
    let message = format!("the row becomes {}, but {end} stays as it is", listed(&closed));
    report
        .at(t.assignment.span, Level::Warning, message)
        .why("whoever sorts or measures by the end finds none")
        .help(format!("set {end}, too, on the scheduler's clock; keep one that is there"));
}

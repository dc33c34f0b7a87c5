//! A row is closed without its end.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::{Report, Touched, listed, selected, state_columns, written};

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does == Does::Update) {
        let knowledge = report.knowledge;
        let Some((_, role)) = knowledge.role(&change.table) else { continue };
        let Some(end) = role.columns.get("end_time").filter(|end| change.set(end).is_none()) else { continue };
        for Touched { column, set } in state_columns(knowledge, change) {
            // The column of the state itself, not of a detail.
            if role.columns.get("state").is_none_or(|c| !c.eq_ignore_ascii_case(&column)) {
                continue;
            }
            let to = written(change, &column, set);
            let closes = to.iter().any(|s| s.finished) && selected(change, &column, set).iter().any(|s| !s.finished);
            let (Some(assignment), true) = (change.set(&column), closes) else { continue };
            let message = format!("the row becomes {}, but {end} stays as it is", listed(&to));
            report
                .at(assignment.span, Level::Warning, message)
                .why("whoever sorts or measures by the end finds none")
                .help(format!("set {end}, too, on the scheduler's clock; keep one that is there"));
        }
    }
}

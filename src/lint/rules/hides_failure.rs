//! Something that did not succeed is called a success.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::{Report, Touched, listed, selected, state_columns, written};
use crate::manifest::State;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does == Does::Update) {
        for Touched { column, set } in state_columns(report.knowledge, change) {
            let to = written(change, &column, set);
            let Some(success) = to.iter().find(|s| s.phase == "succeeded" && s.finished) else { continue };
            let Some(assignment) = change.set(&column) else { continue };
            let from = selected(change, &column, set);
            let others: Vec<&State> = from.into_iter().filter(|s| s.phase != "succeeded" && s.legal).collect();
            if others.is_empty() {
                continue;
            }
            let instead = ["forced_success", "failed", "killed", "stopped"];
            let ways: Vec<&State> = instead.iter().filter_map(|p| set.of_phase(p)).collect();
            let message = format!("{} says that the work was done; before it was {}", listed(&[success]), listed(&others));
            let finding = report.at(assignment.span, Level::Warning, message);
            finding.why("what depends on the run goes on as if its results were there");
            if !ways.is_empty() {
                finding.help(format!("a run that nobody finished is one of: {}", listed(&ways)));
            }
        }
    }
}

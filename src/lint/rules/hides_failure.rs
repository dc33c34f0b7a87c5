//! Something that did not succeed is called a success.

use crate::lint::finding::Level;
use crate::lint::report::{Report, Transition, listed};
use crate::manifest::State;

pub(super) fn check(report: &mut Report<'_>, t: &Transition<'_, '_>) {
    let Some(success) = t.to.iter().find(|s| s.phase == "succeeded" && s.finished) else { return };
    let hidden =
        |s: &&State| s.phase != "succeeded" && s.legal && t.after(&[s]).iter().any(|to| to.code == success.code);
    let others: Vec<&State> = t.from.iter().copied().filter(hidden).collect();
    if others.is_empty() {
        return;
    }
    let instead = ["forced_success", "failed", "killed", "stopped"];
    let ways: Vec<&State> = instead.iter().filter_map(|p| t.set.of_phase(p)).collect();
    let message = format!("{} says that the work was done; before it was {}", listed(&[success]), listed(&others));
    let finding = report.at(t.assignment.span, Level::Warning, message);
    finding.why("what depends on the run goes on as if its results were there");
    if !ways.is_empty() {
        finding.help(format!("a run that nobody finished is one of: {}", listed(&ways)));
    }
}

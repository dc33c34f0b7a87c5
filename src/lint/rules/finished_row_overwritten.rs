//! A row that is over gets another state.

use crate::lint::finding::Level;
use crate::lint::knowledge::Knowledge;
use crate::lint::report::{Report, Transition, listed};
use crate::manifest::{State, StateSet};

pub(super) fn check(report: &mut Report<'_>, t: &Transition<'_, '_>) {
    if !report.knowledge.is_own_state(&t.change.table, &t.column) {
        return;
    }
    let overwritten = |s: &&State| s.finished && s.legal && t.after(&[s]).iter().any(|to| to.code != s.code);
    let lost: Vec<&State> = t.from.iter().copied().filter(overwritten).collect();
    // Finished states that are named on purpose are meant.
    let meant = t.spoken && t.from.iter().all(|s| s.finished);
    // The column beside the state goes along with it.
    let own = report.knowledge.own_state(&t.change.table).map(|(column, _)| column);
    let goes_along = own.is_some_and(|own| !own.eq_ignore_ascii_case(&t.column) && t.change.set(own).is_some());
    if lost.is_empty() || meant || goes_along || t.is_bound_unseen() {
        return;
    }
    let named = report.knowledge.names_rows(&t.change.table, &t.change.filter);
    let to = t.after(&lost);
    let (level, message) = match named {
        true => {
            (Level::Warning, format!("the row may be over by then: {} would become {}", listed(&lost), listed(&to)))
        }
        false => (Level::Error, format!("rows that are over would become {}: {}", listed(&to), listed(&lost))),
    };
    let help = way_out(report.knowledge, t);
    report.at(t.assignment.span, level, message).help(help);
}

/// The condition that leaves out what is over, or what to do where there is none.
fn way_out(knowledge: &Knowledge<'_>, t: &Transition<'_, '_>) -> String {
    // A row that somebody works on just now is nobody's example.
    let open = |s: &&State| s.legal && !s.finished && s.phase != "acquired";
    let old: Vec<&State> =
        t.set.states.iter().filter(open).filter(|s| t.to.iter().all(|to| to.code != s.code)).collect();
    let condition = beside(knowledge, t, &old).or_else(|| in_list(&t.column, t.set, &old));
    condition.map_or_else(
        || "a row that is over stays as it is; name the rows that are meant by their keys and by the state that they are in".to_owned(),
        |condition| format!("add the old state to the condition, for example {condition}"),
    )
}

/// The condition on both columns, for a state that hangs on a column beside.
fn beside(knowledge: &Knowledge<'_>, t: &Transition<'_, '_>, states: &[&State]) -> Option<String> {
    let with = t.set.with.as_ref()?;
    let (column, set) = (knowledge.manifest.column(with).ok()?, knowledge.manifest.states.get(with)?);
    let state = states.iter().find(|s| !s.when.is_empty())?;
    let code = t.set.literal(&state.code);
    Some(format!("{} AND {} = {code}", equal(column, set, &state.when), t.column))
}

fn in_list(column: &str, set: &StateSet, states: &[&State]) -> Option<String> {
    let mut codes: Vec<String> = states.iter().map(|s| s.code.clone()).collect();
    codes.dedup();
    (!codes.is_empty()).then(|| equal(column, set, &codes))
}

fn equal(column: &str, set: &StateSet, codes: &[String]) -> String {
    let literals: Vec<String> = codes.iter().map(|code| set.literal(code)).collect();
    match literals.as_slice() {
        [only] => format!("AND {column} = {only}"),
        some => format!("AND {column} IN ({})", some.join(", ")),
    }
}

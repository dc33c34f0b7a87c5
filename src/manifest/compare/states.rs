//! Differences of states.

use super::{Change, ChangeKind};
use crate::manifest::{Manifest, State, StateSet};

/// A state with the words that name it among the states of its column.
struct Named<'m> {
    code: String,
    state: &'m State,
}

pub(super) fn compare(from: &Manifest, to: &Manifest) -> Vec<Change> {
    let mut changes = Vec::new();
    for (column, old) in &from.states {
        match to.states.get(column) {
            Some(new) => changes.extend(of_column(column, old, new)),
            None => changes.push(Change::new(ChangeKind::StatesDropped, column)),
        }
    }
    let new = to.states.iter().filter(|(column, _)| !from.states.contains_key(*column));
    changes.extend(new.map(|(column, set)| {
        let names: Vec<String> = named(set).iter().map(|n| format!("{} {}", n.code, n.state.name)).collect();
        Change::new(ChangeKind::StatesAdded, column).is(names.join(", "))
    }));
    changes
}

fn of_column(column: &str, old: &StateSet, new: &StateSet) -> Vec<Change> {
    let mut changes = Vec::new();
    let kind = |text: bool| if text { "text" } else { "numbers" };
    if old.text != new.text {
        changes.push(Change::new(ChangeKind::CodesRetyped, column).was(kind(old.text)).is(kind(new.text)));
    }
    let (old, new) = (named(old), named(new));
    for was in &old {
        match new.iter().find(|n| n.code == was.code) {
            Some(is) => changes.extend(of_state(column, was, is.state)),
            None => changes.push(gone(column, was, &old, &new)),
        }
    }
    for is in new.iter().filter(|n| !old.iter().any(|o| o.code == n.code)) {
        if !renumbered(is, &new, &old) {
            changes.push(Change::new(ChangeKind::StateAdded, column).code(&is.code).is(described(is.state)));
        }
    }
    changes
}

/// A code that is gone: its name may live on under another code.
fn gone(column: &str, was: &Named<'_>, old: &[Named<'_>], new: &[Named<'_>]) -> Change {
    let same = |n: &&Named<'_>| n.state.name == was.state.name && !old.iter().any(|o| o.code == n.code);
    match new.iter().find(same) {
        Some(is) => Change::new(ChangeKind::StateRenumbered, column).code(&was.state.name).was(&was.code).is(&is.code),
        None => Change::new(ChangeKind::StateRemoved, column).code(&was.code).was(&was.state.name),
    }
}

/// Whether a code that is new carries the name of one that is gone.
fn renumbered(is: &Named<'_>, new: &[Named<'_>], old: &[Named<'_>]) -> bool {
    old.iter().any(|o| o.state.name == is.state.name && !new.iter().any(|n| n.code == o.code))
}

fn of_state(column: &str, was: &Named<'_>, is: &State) -> Vec<Change> {
    let of = |kind| Change::new(kind, column).code(&was.code);
    let was = was.state;
    let mut changes = Vec::new();
    if was.name != is.name {
        changes.push(of(ChangeKind::StateRenamed).was(&was.name).is(&is.name));
    }
    if was.legal != is.legal {
        let legal = is.legal.then(|| of(ChangeKind::StateLegal).is(&is.name));
        changes.push(legal.unwrap_or_else(|| of(ChangeKind::StateIllegal).was(&was.name)));
    }
    if was.phase != is.phase {
        changes.push(of(ChangeKind::StateMeaning).was(words(&was.phase)).is(words(&is.phase)));
    }
    if was.ending() != is.ending() {
        changes.push(of(ChangeKind::StateFinished).was(was.ending()).is(is.ending()));
    }
    changes
}

fn described(state: &State) -> String {
    let legal = if state.legal { "" } else { ", not legal here" };
    format!("{} ({}, {}{legal})", state.name, words(&state.phase), state.ending())
}

fn words(phase: &str) -> String {
    phase.replace('_', " ")
}

/// All states of a column by what the database holds.
fn named(set: &StateSet) -> Vec<Named<'_>> {
    set.listed("other").into_iter().map(|(code, state)| Named { code, state }).collect()
}

//! Differences of behaviour.

use std::collections::BTreeSet;

use super::{Change, ChangeKind};
use crate::manifest::Manifest;

/// The facts as they stand: call [`Manifest::behaving_as`] first where a release is known.
pub(super) fn compare(from: &Manifest, to: &Manifest) -> Vec<Change> {
    let names: BTreeSet<&String> = from.behaviour.keys().chain(to.behaviour.keys()).collect();
    let differs = |name: &&String| from.behaviour.get(*name) != to.behaviour.get(*name);
    let change = |name: &String| {
        let text = |m: &Manifest| m.behaviour.get(name).map(ToString::to_string);
        Change { before: text(from), after: text(to), ..Change::new(ChangeKind::BehaviourChanged, name) }
    };
    names.into_iter().filter(differs).map(change).collect()
}

pub(super) fn sentence(change: &Change) -> String {
    let name = &change.subject;
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!("{name} is {after}; it was {before}"),
        (None, after) => format!("{name} is new: {}", after.as_deref().unwrap_or_default()),
        (Some(before), None) => format!("{name} is gone; it was {before}"),
    }
}

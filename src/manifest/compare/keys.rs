//! Differences of unique keys and foreign keys.

use std::collections::{BTreeMap, BTreeSet};

use super::renames::Renames;
use super::{Change, ChangeKind};
use crate::manifest::{Engine, ForeignKey, TableSpec};

pub(super) fn compare(old: &TableSpec, new: &TableSpec, renames: &Renames, engine: Engine) -> Vec<Change> {
    let mut changes = unique(old, new, renames, engine);
    changes.extend(foreign(old, new, renames, engine));
    changes
}

/// `table(a, b)`, as keys are called.
fn subject(table: &TableSpec, columns: &[String]) -> String {
    format!("{}({})", table.name, columns.join(", "))
}

/// A key's columns without regard to their order and case.
fn set<'c>(columns: impl IntoIterator<Item = &'c str>) -> BTreeSet<String> {
    columns.into_iter().map(str::to_lowercase).collect()
}

fn unique(old: &TableSpec, new: &TableSpec, renames: &Renames, engine: Engine) -> Vec<Change> {
    let renamed = |key: &Vec<String>| set(key.iter().map(|c| renames.column(&old.name, c)));
    let own = |key: &Vec<String>| set(key.iter().map(String::as_str));
    let was: BTreeSet<_> = old.unique_on(engine).iter().map(renamed).collect();
    let is: BTreeSet<_> = new.unique_on(engine).iter().map(own).collect();
    let added = new.unique_on(engine).iter().filter(|key| !was.contains(&own(key)));
    let dropped = old.unique_on(engine).iter().filter(|key| !is.contains(&renamed(key)));
    let change = |kind, key: &Vec<String>| Change::new(kind, subject(old, key));
    let added = added.map(|key| change(ChangeKind::UniqueAdded, key));
    added.chain(dropped.map(|key| change(ChangeKind::UniqueDropped, key))).collect()
}

fn foreign(old: &TableSpec, new: &TableSpec, renames: &Renames, engine: Engine) -> Vec<Change> {
    let was: Keys = old.foreign_keys_on(engine).iter().map(|key| renamed(key, old, renames)).collect();
    let is: Keys = new.foreign_keys_on(engine).iter().map(|key| (key.columns.clone(), target(key))).collect();
    let all: BTreeSet<&Vec<String>> = was.keys().chain(is.keys()).collect();
    let change = |columns: &Vec<String>| {
        let (before, after) = (was.get(columns), is.get(columns));
        let kind = match (before, after) {
            (Some(before), Some(after)) if before != after => ChangeKind::ForeignKeyChanged,
            (Some(_), None) => ChangeKind::ForeignKeyDropped,
            (None, Some(_)) => ChangeKind::ForeignKeyAdded,
            _ => return None,
        };
        Some(Change { before: before.cloned(), after: after.cloned(), ..Change::new(kind, subject(old, columns)) })
    };
    all.into_iter().filter_map(change).collect()
}

/// The referring columns, and what they refer to.
type Keys = BTreeMap<Vec<String>, String>;

/// What a key refers to, and what a delete there does.
fn target(key: &ForeignKey) -> String {
    format!("{}({}) ON DELETE {}", key.references, key.ref_columns.join(", "), key.on_delete)
}

/// A key of the older generation, with the names of the newer one.
fn renamed(key: &ForeignKey, table: &TableSpec, renames: &Renames) -> (Vec<String>, String) {
    let names = |table: &str, columns: &[String]| -> Vec<String> {
        columns.iter().map(|c| renames.column(table, c).to_owned()).collect()
    };
    let columns = names(&table.name, &key.columns);
    let renamed = ForeignKey {
        references: renames.table(&key.references).to_owned(),
        ref_columns: names(&key.references, &key.ref_columns),
        columns: Vec::new(),
        on_delete: key.on_delete.clone(),
    };
    (columns, target(&renamed))
}

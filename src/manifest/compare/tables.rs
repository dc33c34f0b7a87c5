//! Differences of tables, columns and keys.

use std::collections::{BTreeMap, BTreeSet};

use super::renames::Renames;
use super::{Change, ChangeKind, ENGINES, keys};
use crate::manifest::{Engine, Manifest, TableSpec};

pub(super) fn compare(from: &Manifest, to: &Manifest) -> Vec<Change> {
    let both: Vec<Engine> = ENGINES.into_iter().filter(|e| from.runs_on(*e) && to.runs_on(*e)).collect();
    let renames = Renames::of(from, to);
    let of_each: Vec<(Engine, Vec<Change>)> = both.into_iter().map(|e| (e, on(from, to, &renames, e))).collect();
    merged(of_each)
}

/// What differs on every kind of database is said once.
fn merged(of_each: Vec<(Engine, Vec<Change>)>) -> Vec<Change> {
    let engines = of_each.len();
    let mut seen: BTreeMap<Change, Vec<Engine>> = BTreeMap::new();
    for (engine, changes) in of_each {
        changes.into_iter().for_each(|change| seen.entry(change).or_default().push(engine));
    }
    let split = |(change, on): (Change, Vec<Engine>)| -> Vec<Change> {
        if on.len() == engines {
            return vec![change];
        }
        on.into_iter().map(|engine| Change { engine: Some(engine), ..change.clone() }).collect()
    };
    seen.into_iter().flat_map(split).collect()
}

fn on(from: &Manifest, to: &Manifest, renames: &Renames, engine: Engine) -> Vec<Change> {
    let mut changes = Vec::new();
    for table in from.tables.values().filter(|t| t.on(engine)) {
        match to.tables.get(renames.table(&table.name)).filter(|t| t.on(engine)) {
            None if to.other_tables.contains(&table.name) => {}
            None => changes.push(Change::new(ChangeKind::TableDropped, &table.name)),
            Some(new) => {
                if new.name != table.name {
                    changes.push(Change::new(ChangeKind::TableRenamed, &table.name).is(&new.name));
                }
                changes.extend(columns(table, new, renames, engine));
                changes.extend(keys::compare(table, new, renames, engine));
            }
        }
    }
    for name in &from.other_tables {
        let new = renames.table(name);
        if !to.has_table(new) {
            changes.push(Change::new(ChangeKind::TableDropped, name));
        } else if new != name {
            changes.push(Change::new(ChangeKind::TableRenamed, name).is(new));
        }
    }
    let described = from.tables.values().filter(|t| t.on(engine)).map(|t| &t.name);
    let known: BTreeSet<&str> = described.chain(&from.other_tables).map(|name| renames.table(name)).collect();
    let new = to.tables.values().filter(|t| t.on(engine)).map(|t| &t.name).chain(&to.other_tables);
    changes.extend(new.filter(|t| !known.contains(t.as_str())).map(|t| Change::new(ChangeKind::TableAdded, t)));
    changes
}

fn columns(old: &TableSpec, new: &TableSpec, renames: &Renames, engine: Engine) -> Vec<Change> {
    let subject = |column: &str| format!("{}.{column}", old.name);
    let mut changes = Vec::new();
    for column in old.columns_on(engine) {
        let name = renames.column(&old.name, &column.name);
        let Some(was) = column.on(engine) else { continue };
        let Some(is) = new.column_on(engine, name).and_then(|c| c.on(engine)) else {
            changes.push(Change::new(ChangeKind::ColumnDropped, subject(&column.name)));
            continue;
        };
        if !name.eq_ignore_ascii_case(&column.name) {
            changes.push(Change::new(ChangeKind::ColumnRenamed, subject(&column.name)).is(name));
        }
        if was != is {
            let change = Change::new(ChangeKind::ColumnRetyped, subject(&column.name));
            changes.push(change.was(was.to_string()).is(is.to_string()));
        }
    }
    let known =
        |name: &str| old.columns_on(engine).any(|c| renames.column(&old.name, &c.name).eq_ignore_ascii_case(name));
    for column in new.columns_on(engine).filter(|c| !known(&c.name)) {
        let is = column.on(engine).map(|spec| spec.to_string()).unwrap_or_default();
        changes.push(Change::new(ChangeKind::ColumnAdded, subject(&column.name)).is(is));
    }
    let old_key: Vec<&str> = old.key_on(engine).iter().map(|c| renames.column(&old.name, c)).collect();
    if old_key != new.key_on(engine) {
        let change = Change::new(ChangeKind::KeyChanged, &old.name);
        changes.push(change.was(old.key_on(engine).join(", ")).is(new.key_on(engine).join(", ")));
    }
    changes
}

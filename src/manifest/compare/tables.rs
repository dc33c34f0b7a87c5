//! Differences of tables, columns and keys.

use std::collections::BTreeMap;

use super::{Change, ChangeKind, ENGINES};
use crate::manifest::{Engine, Manifest, TableSpec};

pub(super) fn compare(from: &Manifest, to: &Manifest) -> Vec<Change> {
    let both: Vec<Engine> = ENGINES.into_iter().filter(|e| from.runs_on(*e) && to.runs_on(*e)).collect();
    let of_each: Vec<(Engine, Vec<Change>)> = both.into_iter().map(|e| (e, on(from, to, e))).collect();
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

fn on(from: &Manifest, to: &Manifest, engine: Engine) -> Vec<Change> {
    let renames = Renames::of(from, to);
    let mut changes = Vec::new();
    for table in from.tables.values().filter(|t| t.on(engine)) {
        match to.tables.get(renames.table(&table.name)).filter(|t| t.on(engine)) {
            None => changes.push(Change::new(ChangeKind::TableDropped, &table.name)),
            Some(new) => {
                if new.name != table.name {
                    changes.push(Change::new(ChangeKind::TableRenamed, &table.name).is(&new.name));
                }
                changes.extend(columns(table, new, &renames, engine));
            }
        }
    }
    let known = |name: &str| from.tables.values().any(|t| t.on(engine) && renames.table(&t.name) == name);
    let new = to.tables.values().filter(|t| t.on(engine) && !known(&t.name));
    changes.extend(new.map(|t| Change::new(ChangeKind::TableAdded, &t.name)));
    changes
}

fn columns(old: &TableSpec, new: &TableSpec, renames: &Renames, engine: Engine) -> Vec<Change> {
    let subject = |column: &str| format!("{}.{column}", old.name);
    let spec = |table: &TableSpec, name: &str| {
        table.columns_on(engine).find(|c| c.name.eq_ignore_ascii_case(name)).and_then(|c| c.on(engine))
    };
    let mut changes = Vec::new();
    for column in old.columns_on(engine) {
        let name = renames.column(&old.name, &column.name);
        let (Some(was), is) = (column.on(engine), spec(new, name)) else { continue };
        let Some(is) = is else {
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

/// Names that changed while the role stayed the same. Without a role nothing proves that a
/// table or column lives on under another name.
struct Renames {
    tables: BTreeMap<String, String>,
    columns: BTreeMap<(String, String), String>,
}

impl Renames {
    fn of(from: &Manifest, to: &Manifest) -> Self {
        let mut renames = Self { tables: BTreeMap::new(), columns: BTreeMap::new() };
        for (name, old) in &from.roles {
            let Some(new) = to.roles.get(name) else { continue };
            let stays = to.tables.contains_key(&old.table) || from.tables.contains_key(&new.table);
            if old.table != new.table && stays {
                // Another table plays the role now.
                continue;
            }
            if old.table != new.table {
                renames.tables.insert(old.table.clone(), new.table.clone());
            }
            let has = |m: &Manifest, table: &str, column: &str| {
                m.tables.get(table).is_some_and(|t| t.columns.iter().any(|c| c.name.eq_ignore_ascii_case(column)))
            };
            for (column, was) in &old.columns {
                let Some(is) = new.columns.get(column).filter(|is| !is.eq_ignore_ascii_case(was)) else { continue };
                if !has(to, &new.table, was) && !has(from, &old.table, is) {
                    renames.columns.insert((old.table.clone(), was.to_lowercase()), is.clone());
                }
            }
        }
        renames
    }

    fn table<'a>(&'a self, name: &'a str) -> &'a str {
        self.tables.get(name).map_or(name, String::as_str)
    }

    fn column<'a>(&'a self, table: &str, name: &'a str) -> &'a str {
        self.columns.get(&(table.to_owned(), name.to_lowercase())).map_or(name, String::as_str)
    }
}

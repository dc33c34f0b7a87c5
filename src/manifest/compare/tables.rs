//! Differences of tables, columns and keys.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, ChangeKind, ENGINES, keys};
use crate::manifest::{Engine, Manifest, TableSpec, sqlite_type};

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

/// The kind of a column's type, if the table has the column.
fn family(m: &Manifest, table: &str, column: &str) -> Option<&'static str> {
    let found = m.tables.get(table)?.columns.iter().find(|c| c.name.eq_ignore_ascii_case(column))?;
    found.mysql.as_ref().or(found.postgresql.as_ref()).map(|spec| sqlite_type(&spec.type_sql))
}

/// Names that changed while the role stayed the same. Without a role nothing proves that a
/// table or column lives on under another name.
pub(super) struct Renames {
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
            let has = |m: &Manifest, table: &str, column: &str| family(m, table, column).is_some();
            for (column, was) in &old.columns {
                let Some(is) = new.columns.get(column).filter(|is| !is.eq_ignore_ascii_case(was)) else { continue };
                // A number that became a text is another value, not another name.
                let alike = family(from, &old.table, was) == family(to, &new.table, is);
                if alike && !has(to, &new.table, was) && !has(from, &old.table, is) {
                    renames.columns.insert((old.table.clone(), was.to_lowercase()), is.clone());
                }
            }
        }
        renames.add_told(from, to);
        renames
    }

    /// What the manifests say of names without a role. A name may have changed more than once.
    fn add_told(&mut self, from: &Manifest, to: &Manifest) {
        for table in from.table_names().filter(|t| !to.has_table(t)) {
            if self.tables.contains_key(table) {
                continue;
            }
            if let Some(name) = to.new_name(table).filter(|name| !from.has_table(name)) {
                self.tables.insert(table.to_owned(), name.to_owned());
            }
        }
        for table in from.tables.values() {
            let Some(new) = to.tables.get(self.table(&table.name)) else { continue };
            let mut found = Vec::new();
            for column in &table.columns {
                let name = Self::told(to, &table.name, &column.name);
                if name != column.name
                    && !new.has_column(&column.name)
                    && new.has_column(&name)
                    && !table.has_column(&name)
                {
                    found.push(((table.name.clone(), column.name.to_lowercase()), name));
                }
            }
            for (key, name) in found {
                self.columns.entry(key).or_insert(name);
            }
        }
    }

    /// The last of the names that a column got, under any name of its table.
    fn told(to: &Manifest, table: &str, column: &str) -> String {
        let tables: Vec<&str> = to.names_after(table).collect();
        let new = |name: &str| {
            let of = |t: &str| to.renamed.columns.get(&(t.to_owned(), name.to_owned()));
            of(table).or_else(|| tables.iter().find_map(|t| of(t)))
        };
        let mut name = column;
        // As many names as there are entries at most: entries may run in a ring.
        for _ in 0..to.renamed.columns.len() {
            name = new(name).map_or(name, String::as_str);
        }
        name.to_owned()
    }

    pub(super) fn table<'a>(&'a self, name: &'a str) -> &'a str {
        self.tables.get(name).map_or(name, String::as_str)
    }

    pub(super) fn column<'a>(&'a self, table: &str, name: &'a str) -> &'a str {
        self.columns.get(&(table.to_owned(), name.to_lowercase())).map_or(name, String::as_str)
    }
}

//! A whole database of any manifest: rows for every table that the test has made.

use std::collections::{BTreeMap, BTreeSet};

use flowmend::dialect::{Dialect, TypeClass};
use flowmend::manifest::{Engine, Manifest, TableColumn, TableSpec};

use super::dice::Dice;
use super::links::{self, Link};
use super::values::{Column, Place};
use crate::property::drive;
use crate::support::db::Server;

/// Column → value; `None` is NULL.
type Row = BTreeMap<String, Option<String>>;

/// Rows by table.
pub struct World<'m> {
    m: &'m Manifest,
    engine: Engine,
    /// How many names each column has to choose from that several tables have.
    names: BTreeMap<String, usize>,
    /// In the order in which they can be written.
    tables: Vec<(String, Vec<Row>)>,
}

/// The world of a manifest and a number.
pub fn generate(server: Server, m: &Manifest, seed: u64) -> World<'_> {
    let engine = server.dialect().engine;
    let tables = drive::tables(server, m);
    let (links, order) = links::of(m, engine, &tables);
    let mut dice = Dice::new(&format!("{}/{}", m.scheduler, m.generation), seed);
    let names = names(m, engine, &tables, &mut dice);
    let mut world = World { m, engine, names, tables: Vec::new() };
    for name in order {
        let rows = world.table(&name, &links[&name], &tables, &mut dice);
        world.tables.push((name, rows));
    }
    world
}

/// A column with which the keys of several tables begin divides the world: often
/// it holds one name only, since some recipes want to be told which part is meant.
fn names(m: &Manifest, engine: Engine, tables: &BTreeSet<String>, dice: &mut Dice) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for column in tables.iter().flat_map(|t| m.tables[t].columns_on(engine)) {
        let begins = tables.iter().filter(|t| m.tables[*t].key_on(engine).first() == Some(&column.name)).count();
        let size = if begins > 1 && dice.in_hundred(85) { 1 } else { 8 };
        names.entry(column.name.clone()).or_insert(size);
    }
    names
}

impl<'m> World<'m> {
    fn table(&self, name: &str, links: &[Link], tables: &BTreeSet<String>, dice: &mut Dice) -> Vec<Row> {
        if let Some(version) = self.m.roles.get("version").filter(|r| r.table == name) {
            return self.version_row(name, &version.columns["version"], dice);
        }
        let spec = &self.m.tables[name];
        let columns = self.columns(spec, links, tables);
        let mut rows: Vec<Row> = Vec::new();
        let mut taken = BTreeSet::new();
        for number in 1..=self.size(name, dice) {
            let Some(row) = self.row(&columns, links, dice, number) else {
                continue;
            };
            let new: Vec<_> = links::keys(spec, self.engine).iter().filter_map(|key| tuple(&row, key)).collect();
            if new.iter().all(|key| !taken.contains(key)) {
                taken.extend(new);
                rows.push(row);
            }
        }
        rows
    }

    /// Many rows where recipes look for states, a few elsewhere, and sometimes none.
    fn size(&self, table: &str, dice: &mut Dice) -> usize {
        let roles: Vec<&String> = self.m.roles.iter().filter(|(_, r)| r.table == table).map(|(name, _)| name).collect();
        let has_states = |role: &&&String| self.m.states.keys().any(|s| s.split('.').next() == Some(role.as_str()));
        match (roles.is_empty(), roles.iter().any(|r| has_states(&r))) {
            (true, _) => dice.below(3),
            (false, _) if dice.in_hundred(30) => dice.below(4),
            (false, true) => 3 + dice.below(25),
            (false, false) => 1 + dice.below(20),
        }
    }

    fn columns(&self, spec: &'m TableSpec, links: &[Link], tables: &BTreeSet<String>) -> Vec<Column<'m>> {
        let key = spec.key_on(self.engine);
        let elsewhere = |column: &str| {
            tables
                .iter()
                .filter(|t| **t != spec.name)
                .any(|t| self.m.tables[t].columns.iter().any(|c| c.name == column))
        };
        let refers = |column: &str| links.iter().any(|l| l.pairs.iter().any(|(here, _)| here == column));
        let column = |c: &'m TableColumn| {
            let place = Place {
                table: &spec.name,
                engine: self.engine,
                in_key: key.contains(&c.name),
                whole_key: *key == [c.name.clone()],
                names: self.names[&c.name],
                shared: c.name != "id" && (elsewhere(&c.name) || refers(&c.name)),
            };
            Column::new(self.m, c, &place)
        };
        spec.columns_on(self.engine).map(column).collect()
    }

    fn row(&self, columns: &[Column<'_>], links: &[Link], dice: &mut Dice, number: usize) -> Option<Row> {
        let mut row = Row::new();
        for link in links {
            if link.enforced || dice.in_hundred(75) {
                self.refer(&mut row, columns, link, dice)?;
            }
        }
        for column in columns {
            if !row.contains_key(column.name) {
                let value = column.draw(dice, number);
                row.insert(column.name.to_owned(), value);
            }
        }
        Some(row)
    }

    /// Takes the values of a row of the parent that agrees with what is known.
    /// `None` if the engine wants a parent and there is none.
    fn refer(&self, row: &mut Row, columns: &[Column<'_>], link: &Link, dice: &mut Dice) -> Option<()> {
        let may_be_null =
            |here: &String| columns.iter().any(|c| c.name == here && c.nullable && !row.contains_key(here));
        let optional: Vec<String> =
            link.pairs.iter().map(|(here, _)| here).filter(|h| may_be_null(h)).cloned().collect();
        let agrees = |parent: &&Row| {
            link.pairs
                .iter()
                .all(|(here, there)| parent[there].is_some() && row.get(here).is_none_or(|v| *v == parent[there]))
        };
        let parents: Vec<&Row> = self.rows(&link.parent).iter().filter(agrees).collect();
        if parents.is_empty() || (!optional.is_empty() && dice.in_hundred(35)) {
            if link.enforced {
                row.insert(optional.first()?.clone(), None);
            }
            return Some(());
        }
        let parent = *dice.pick(&parents);
        let pairs = link.pairs.iter().map(|(here, there)| (here, &parent[there]));
        row.extend(pairs.map(|(here, value)| (here.clone(), value.clone())));
        Some(())
    }

    /// What a fresh install of the first release says.
    fn version_row(&self, table: &str, column: &str, dice: &mut Dice) -> Vec<Row> {
        let Some(mark) = self.m.releases.first().and_then(|r| self.m.version_marks.get(r)) else {
            return Vec::new();
        };
        let columns = self.columns(&self.m.tables[table], &[], &BTreeSet::new());
        let mut row = self.row(&columns, &[], dice, 1).unwrap();
        row.insert(column.to_owned(), Some(mark.clone()));
        vec![row]
    }

    fn rows(&self, table: &str) -> &[Row] {
        self.tables.iter().find(|(name, _)| name == table).map_or(&[], |(_, rows)| rows)
    }

    /// What the rows hold in a role column of any role of the name.
    pub fn held(&self, column: &str) -> BTreeSet<String> {
        let roles = self.m.roles.values().filter_map(|r| Some((&r.table, r.columns.get(column)?)));
        let held =
            roles.flat_map(|(table, real)| self.rows(table).iter().filter_map(|row| row.get(real).cloned().flatten()));
        held.filter(|text| !text.is_empty()).collect()
    }

    /// The statements that write the world into an empty database.
    pub fn statements(&self, d: &Dialect) -> Vec<String> {
        let mut statements = match self.engine {
            Engine::MySql => vec!["SET time_zone = '+00:00'".to_owned()],
            Engine::PostgreSql | Engine::Sqlite => Vec::new(),
        };
        for (table, rows) in &self.tables {
            statements.extend(rows.iter().map(|row| self.insert(table, row, d)));
            statements.extend(self.next_number(table));
        }
        statements
    }

    fn insert(&self, table: &str, row: &Row, d: &Dialect) -> String {
        let literal = |name: &String, value: &Option<String>| {
            let column = self.m.tables[table].columns.iter().find(|c| c.name == *name).unwrap();
            let class = TypeClass::of(&column.on(self.engine).unwrap().type_sql);
            match (class, value) {
                (TypeClass::Binary, Some(bytes)) if self.engine == Engine::PostgreSql => {
                    format!("'\\x00ff{}'", hex(bytes))
                }
                (TypeClass::Binary, Some(bytes)) => format!("X'00FF{}'", hex(bytes)),
                _ => d.literal(value.as_deref(), class),
            }
        };
        let names: Vec<String> = row.keys().map(|c| d.ident(c)).collect();
        let values: Vec<String> = row.iter().map(|(name, value)| literal(name, value)).collect();
        format!("INSERT INTO {} ({}) VALUES ({})", d.ident(table), names.join(", "), values.join(", "))
    }

    /// Rows come with keys of their own, which PostgreSQL's numbers do not see.
    fn next_number(&self, table: &str) -> Option<String> {
        let numbered = |c: &&TableColumn| c.on(self.engine).is_some_and(|s| s.auto_increment);
        let column = self.m.tables[table].columns.iter().find(numbered)?;
        let sequence = format!("pg_get_serial_sequence('\"{table}\"', '{}')", column.name);
        (self.engine == Engine::PostgreSql).then(|| format!("SELECT setval({sequence}, 100000)"))
    }

    /// The rows for people who look for a fault.
    pub fn lines(&self, d: &Dialect) -> String {
        self.statements(d).into_iter().map(|s| s + ";\n").collect()
    }
}

fn hex(text: &str) -> String {
    text.bytes().map(|b| format!("{b:02X}")).collect()
}

/// The values of a key, as a database that takes small and capital letters for the same compares them.
fn tuple(row: &Row, key: &[String]) -> Option<(Vec<String>, Vec<String>)> {
    let values: Option<Vec<String>> = key.iter().map(|c| row[c].as_ref().map(|v| v.to_lowercase())).collect();
    Some((key.to_vec(), values?))
}

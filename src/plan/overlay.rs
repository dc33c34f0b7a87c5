//! Tables as they will be once planned steps are done, as queries. Pure.
//!
//! A recipe that reads through an overlay sees what an earlier repair in the
//! same plan uncovers, without a row having been written.

use std::collections::BTreeMap;

use super::{Column, Step};
use crate::catalog::{LiveColumn, LiveTable};
use crate::dialect::{Dialect, TypeClass};
use crate::recipe::{Op, SetKind};

/// The planned changes of each table.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    tables: BTreeMap<String, Changes>,
}

/// A column's name → its new value.
type Values = BTreeMap<String, Option<String>>;

#[derive(Clone, Debug, Default)]
struct Changes {
    key: Vec<Column>,
    /// Columns that some row changes.
    written: BTreeMap<String, Column>,
    /// Key → new values, or `None` for a row that goes.
    rows: BTreeMap<Vec<Option<String>>, Option<Values>>,
    inserted: Vec<Values>,
}

impl Overlay {
    /// Whether nothing is planned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Adds a step. What is known only when it is written (the moment of apply) stays as it is.
    pub fn add(&mut self, step: &Step) {
        let changes = self.tables.entry(step.table.clone()).or_default();
        changes.key.clone_from(&step.key);
        let known = || step.set.iter().enumerate().filter(|(_, s)| s.kind != SetKind::Now);
        for (_, set) in known().filter(|_| step.op == Op::Update) {
            changes.written.insert(set.column.name.clone(), set.column.clone());
        }
        for row in &step.rows {
            let values = || known().map(|(i, s)| (s.column.name.clone(), row.new[i].clone())).collect::<Values>();
            match step.op {
                Op::Delete => drop(changes.rows.insert(row.key.clone(), None)),
                Op::Insert => changes.inserted.push(values()),
                Op::Update => {
                    if let Some(old) = changes.rows.entry(row.key.clone()).or_insert_with(|| Some(Values::new())) {
                        old.extend(values());
                    }
                }
            }
        }
    }

    /// The query that stands for a table, if something of it is planned.
    #[must_use]
    pub fn table(&self, d: &Dialect, schema: Option<&str>, live: &LiveTable) -> Option<String> {
        let changes = self.tables.get(&live.name)?;
        let mut sql = changes.select(d, schema, live);
        for row in &changes.inserted {
            let value = |c: &LiveColumn| d.typed(row.get(&c.name).cloned().flatten().as_deref(), c.class, &c.type_sql);
            let values: Vec<String> = live.columns.iter().map(value).collect();
            sql += &format!(" UNION ALL SELECT {}", values.join(", "));
        }
        Some(sql)
    }
}

impl Changes {
    fn select(&self, d: &Dialect, schema: Option<&str>, live: &LiveTable) -> String {
        let table = d.table(schema, &live.name);
        let list = |f: &dyn Fn(&LiveColumn) -> String| live.columns.iter().map(f).collect::<Vec<_>>().join(", ");
        if self.rows.is_empty() {
            return format!("SELECT {} FROM {table} b", list(&|c| format!("b.{}", d.ident(&c.name))));
        }
        let written: Vec<&Column> = self.written.values().collect();
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|(key, values)| self.line(d, &written, key, values)).collect();
        let keys = (0..self.key.len()).map(|i| format!("k{i}"));
        let news = (0..written.len()).flat_map(|i| [format!("s{i}"), format!("n{i}")]);
        let names: Vec<String> = keys.chain(["gone".to_owned()]).chain(news).collect();
        let on: Vec<String> = self.key.iter().enumerate().map(|(i, c)| same_key(d, i, c)).collect();
        let column = |c: &LiveColumn| {
            let name = d.ident(&c.name);
            match written.iter().position(|w| w.name == c.name) {
                Some(i) => {
                    let new = d.cast(&format!("f.n{i}"), c.class, &c.type_sql);
                    format!("CASE WHEN f.s{i} = 1 THEN {new} ELSE b.{name} END AS {name}")
                }
                None => format!("b.{name}"),
            }
        };
        format!(
            "SELECT {} FROM {table} b LEFT JOIN {} f ON {} WHERE COALESCE(f.gone, 0) = 0",
            list(&column),
            d.rows_as_table(&names, &rows),
            on.join(" AND ")
        )
    }

    fn line(&self, d: &Dialect, written: &[&Column], key: &[Option<String>], values: &Option<Values>) -> Vec<String> {
        let mut line: Vec<String> = self.key.iter().zip(key).map(|(c, v)| d.literal(v.as_deref(), c.class)).collect();
        line.push(if values.is_none() { "1" } else { "0" }.to_owned());
        for column in written {
            let new = values.as_ref().and_then(|v| v.get(&column.name));
            line.push(if new.is_some() { "1" } else { "0" }.to_owned());
            line.push(d.literal(new.cloned().flatten().as_deref(), column.class));
        }
        line
    }
}

/// Literals in a list have no type, or another one than the key.
fn same_key(d: &Dialect, index: usize, column: &Column) -> String {
    let key = d.cast(&format!("f.k{index}"), column.class, &column.type_sql);
    format!("{key} = b.{}", d.ident(&column.name))
}

impl Dialect {
    /// A value with the type that a column has, so that it can stand where the column stood.
    fn typed(&self, value: Option<&str>, class: TypeClass, type_sql: &str) -> String {
        self.cast(&self.literal(value, class), class, type_sql)
    }
}

//! Whole databases, before and after.

use std::collections::BTreeMap;

use flowmend::db::{Database, Row};

/// Table → its columns and all its rows as text.
pub type Snapshot = BTreeMap<String, Table>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
}

/// Every row of every table that is not flowmend's own.
pub async fn snapshot(db: &mut Database) -> Snapshot {
    let catalog = db.catalog().await.unwrap();
    let d = db.dialect.clone();
    let mut found = Snapshot::new();
    for table in catalog.iter().filter(|t| !t.name.starts_with("flowmend_")) {
        let columns: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
        let texts: Vec<String> = table.columns.iter().map(|c| d.as_shown(&d.ident(&c.name), &c.type_sql)).collect();
        let sql = format!("SELECT {} FROM {}", texts.join(", "), d.ident(&table.name));
        let mut rows = db.rows(&sql).await.unwrap();
        rows.sort();
        found.insert(table.name.clone(), Table { columns, rows });
    }
    found
}

/// Rows of `left` that `right` lacks.
pub fn missing<'a>(left: &'a Table, right: &Table) -> Vec<&'a Row> {
    let mut counts: BTreeMap<&Row, usize> = BTreeMap::new();
    right.rows.iter().for_each(|row| *counts.entry(row).or_default() += 1);
    let gone = |row: &&Row| match counts.get_mut(*row) {
        Some(n) if *n > 0 => {
            *n -= 1;
            false
        }
        _ => true,
    };
    left.rows.iter().filter(gone).collect()
}

impl Table {
    pub fn cell<'r>(&self, row: &'r Row, column: &str) -> Option<&'r str> {
        let at = self.columns.iter().position(|c| c == column).unwrap_or_else(|| panic!("no column {column}"));
        row[at].as_deref()
    }
}

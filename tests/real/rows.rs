//! Looking into the database of an installation.

use crate::support::db::TestDb;

/// The first column of the first row.
pub fn one(db: &TestDb, sql: &str) -> String {
    db.value(sql).unwrap_or_default()
}

/// One column of a table, as text, in order.
pub fn column(db: &TestDb, table: &str, column: &str, condition: &str, order: &str) -> Vec<String> {
    let shown = db.server.dialect().as_text(column);
    let sql = format!("SELECT {shown} FROM {table} WHERE {condition} ORDER BY {table}.{order}");
    db.rows(&sql).into_iter().map(|row| row.into_iter().next().flatten().unwrap_or_default()).collect()
}

pub fn count(db: &TestDb, table: &str, condition: &str) -> u32 {
    let counted = db.server.dialect().as_text("COUNT(*)");
    one(db, &format!("SELECT {counted} FROM {table} WHERE {condition}")).parse().unwrap()
}

/// Some rows of a table, as lines.
pub fn show(db: &TestDb, table: &str, columns: &[&str], condition: &str, order: &str) -> Vec<String> {
    let d = db.server.dialect();
    let shown: Vec<String> = columns.iter().map(|c| d.as_text(c)).collect();
    let sql = format!("SELECT {} FROM {table} WHERE {condition} ORDER BY {table}.{order}", shown.join(", "));
    let cell = |(name, value): (&&str, Option<String>)| format!("{name}={}", value.as_deref().unwrap_or("∅"));
    db.rows(&sql).into_iter().map(|row| columns.iter().zip(row).map(cell).collect::<Vec<_>>().join(" ")).collect()
}

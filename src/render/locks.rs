//! The rows that the scheduler locks before it writes, as SQL text. Pure.

use crate::dialect::Dialect;
use crate::plan::PlanLock;

/// ` FROM … WHERE …`: the one row of a lock.
fn place(d: &Dialect, schema: Option<&str>, lock: &PlanLock) -> String {
    let pairs = lock.key.iter().zip(&lock.row);
    let same = pairs.map(|(c, value)| format!("l.{} = {}", d.ident(&c.name), d.literal(Some(value), c.class)));
    let same: Vec<String> = same.collect();
    format!(" FROM {} l WHERE {}", d.table(schema, &lock.table), same.join(" AND "))
}

/// The query that says how many rows of a lock are there: 0 or 1.
#[must_use]
pub fn count(d: &Dialect, schema: Option<&str>, lock: &PlanLock) -> String {
    format!("SELECT COUNT(*){}", place(d, schema, lock))
}

/// The statement that takes a lock. It waits while the scheduler has it.
#[must_use]
pub fn take(d: &Dialect, schema: Option<&str>, lock: &PlanLock) -> String {
    let columns: Vec<String> = lock.key.iter().map(|c| format!("l.{}", d.ident(&c.name))).collect();
    format!("SELECT {}{} FOR UPDATE;", columns.join(", "), place(d, schema, lock))
}

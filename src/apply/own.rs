//! The tables that a bundle makes for itself: which are there, and dropping empty ones.

use super::ledger::{self, BundleState};
use crate::bundle::Bundle;
use crate::db::Database;
use crate::manifest::Engine;
use crate::render::files::Book;
use crate::{Error, Result};

/// Those that are there and can be read.
pub async fn there(db: &mut Database, book: &Book<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for table in book.own_tables() {
        if db.run(&format!("SELECT COUNT(*) FROM {table} WHERE 1 = 0")).await.is_ok() {
            found.push(table);
        }
    }
    found
}

/// Whether the backup is there, whole.
///
/// # Errors
/// A table is gone, or cannot be read.
pub async fn require(db: &mut Database, book: &Book<'_>) -> Result<()> {
    let found = there(db, book).await;
    match book.own_tables().iter().find(|table| !found.contains(table)) {
        None => Ok(()),
        Some(table) => Err(Error::refused(format!("the backup table {table} is not there (or cannot be read)"))
            .hint("after `flowmend clean` a bundle can be neither verified nor rolled back")
            .hint(
                "if nobody cleaned up, this login may not read the table: it needs SELECT where the work tables are",
            )),
    }
}

/// Drops the empty tables of a run that did not end, and the ledger if it is
/// empty, too. Says how many tables of the bundle went.
///
/// # Errors
/// A table is in use, or holds rows; or what the server said.
pub async fn drop_leftovers(db: &mut Database, bundle: &Bundle, book: &Book<'_>) -> Result<usize> {
    if db.dialect.engine == Engine::MySql {
        // A stock client that applies the bundle just now takes no lock of ours: its
        // tables are in use, and nobody waits for them to be free.
        db.rows("SET SESSION lock_wait_timeout = 1").await?;
    }
    let found = there(db, book).await;
    for table in &found {
        if ledger::state_of(db, bundle).await? != BundleState::NotApplied {
            return Err(Error::refused("somebody applied the bundle meanwhile: its tables stay"));
        }
        if db.value(&format!("SELECT '1' FROM {table} LIMIT 1")).await?.is_some() {
            return Err(Error::refused(format!("the table {table} holds rows: it was not dropped")).hint(
                "the ledger does not say that this bundle was applied, yet here are its rows: ask who emptied the ledger",
            ));
        }
        db.run(&format!("DROP TABLE {table}")).await?;
    }
    let name = ledger::table(db, bundle);
    if ledger::exists(db, bundle).await? && db.value(&format!("SELECT '1' FROM {name} LIMIT 1")).await?.is_none() {
        // Another bundle may be about to use it; then it stays.
        let _ = db.run(&format!("DROP TABLE {name}")).await;
    }
    Ok(found.len())
}

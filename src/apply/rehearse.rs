//! Rehearse: the repair and its rollback in one transaction that never commits.

use std::collections::BTreeSet;

use super::ledger::{self, BundleState};
use super::run::Events;
use super::script::split;
use crate::bundle::Bundle;
use crate::db::{Database, FaultKind};
use crate::manifest::Engine;
use crate::render::files::{Book, LEDGER};
use crate::{Error, Result};

/// Rehearses a bundle. Says what stays behind, in words; nothing of the scheduler's does.
///
/// # Errors
/// A guard failed, a row did not come back as it was, or the database said no.
pub async fn rehearse(db: &mut Database, bundle: &Bundle, events: &mut dyn Events) -> Result<String> {
    match ledger::state_of(db, bundle).await? {
        BundleState::NotApplied => {}
        BundleState::Applied => {
            return Err(Error::refused("this bundle is applied already").hint("run `flowmend verify` instead"));
        }
        BundleState::RolledBack => {
            return Err(Error::refused("this bundle was applied and rolled back").hint("make a new plan"));
        }
    }
    if !ledger::alone(db, bundle, 0).await? {
        return Err(Error::refused("another session is at work on this bundle").hint("wait until it is done"));
    }
    let dialect = db.dialect.clone();
    let book = Book::new(&bundle.plan, &dialect, &bundle.id)?;
    let before = own_tables(db, bundle, &book).await?;
    let outcome = run_all(db, bundle, &book, events).await;
    let _ = db.run("ROLLBACK").await;
    drop_new_tables(db, bundle, &book, &before).await?;
    outcome?;
    Ok(match dialect.engine {
        Engine::MySql => "the empty tables of the rehearsal were dropped; nothing stays behind".to_owned(),
        Engine::PostgreSql | Engine::Sqlite => "nothing stays behind".to_owned(),
    })
}

async fn run_all(db: &mut Database, bundle: &Bundle, book: &Book<'_>, events: &mut dyn Events) -> Result<()> {
    let (session, tables, begin) = (bundle.file("session.sql")?, bundle.file("tables.sql")?, book.begin()?);
    let opening = book.opening(session, tables, &begin);
    let numbered = bundle.files.iter().filter(|(name, _)| name.starts_with(|c: char| c.is_ascii_digit()));
    let texts =
        opening.into_iter().chain(numbered.map(|(_, text)| text.as_str())).chain([bundle.file("rollback.sql")?]);
    let mut guard = String::new();
    for text in texts {
        for statement in split(text, &db.dialect)? {
            if statement.guard != guard {
                guard.clone_from(&statement.guard);
                events.guard(&guard, &statement.about);
            }
            if let Err(fault) = db.run(&statement.sql).await {
                let place = if guard.is_empty() { "before the first guard" } else { &guard };
                if fault.kind == FaultKind::Constraint {
                    return Err(Error::guard(format!(
                        "the rehearsal stopped at {place} ({}); everything was rolled back. The database says: {fault}",
                        statement.about
                    ))
                    .hint("a row moved since the plan, or somebody queued a command: plan again"));
                }
                return Err(
                    Error::from(fault).context(format!("the rehearsal stopped at {place}; everything was rolled back"))
                );
            }
        }
    }
    if ledger::steps(db, bundle).await?.contains("rollback.end") {
        return Ok(());
    }
    Err(Error::guard("the rehearsal did not reach its last guard; everything was rolled back"))
}

/// The bundle's own tables, and the ledger, that are there now.
async fn own_tables(db: &mut Database, bundle: &Bundle, book: &Book<'_>) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for table in book.own_tables() {
        if db.run(&format!("SELECT COUNT(*) FROM {table} WHERE 1 = 0")).await.is_ok() {
            found.insert(table);
        }
    }
    if ledger::exists(db, bundle).await? {
        found.insert(LEDGER.to_owned());
    }
    Ok(found)
}

async fn drop_new_tables(db: &mut Database, bundle: &Bundle, book: &Book<'_>, before: &BTreeSet<String>) -> Result<()> {
    if db.dialect.engine != Engine::MySql {
        return Ok(());
    }
    // A stock client that applies the bundle just now takes no lock of ours: its
    // tables are in use, and nobody waits for them to be free.
    db.rows("SET SESSION lock_wait_timeout = 1").await?;
    for table in book.own_tables().iter().filter(|t| !before.contains(*t)) {
        if ledger::state_of(db, bundle).await? != BundleState::NotApplied {
            return Ok(());
        }
        if db.run(&format!("DROP TABLE IF EXISTS {table}")).await.is_err() {
            return Ok(());
        }
    }
    if !before.contains(LEDGER) && ledger::exists(db, bundle).await? {
        let name = ledger::table(db, bundle);
        // Another bundle may have used it meanwhile.
        if db.value(&format!("SELECT CAST(COUNT(*) AS CHAR) FROM {name}")).await?.as_deref() == Some("0") {
            db.rows(&format!("DROP TABLE {name}")).await?;
        }
    }
    Ok(())
}

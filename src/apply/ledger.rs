//! What the ledger knows of a bundle.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::bundle::Bundle;
use crate::db::Database;
use crate::render::files::{Book, LEDGER, PARTIAL};
use crate::{Error, Result};

/// Where a bundle stands on a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BundleState {
    /// No trace of it.
    NotApplied,
    /// Applied, and not rolled back.
    Applied,
    /// Applied and rolled back.
    RolledBack,
}

/// The ledger's table for a bundle, qualified.
#[must_use]
pub fn table(db: &Database, bundle: &Bundle) -> String {
    db.dialect.table(bundle.plan.target.own_schema(), LEDGER)
}

/// Whether the ledger's table is there.
///
/// # Errors
/// What the server said.
pub async fn exists(db: &mut Database, bundle: &Bundle) -> Result<bool> {
    use crate::manifest::Engine;
    let schema = bundle.plan.target.own_schema();
    let literal = |text: &str| db.dialect.text_literal(text);
    let sql = match db.dialect.engine {
        Engine::MySql => {
            let schema = schema.map_or_else(|| "DATABASE()".to_owned(), literal);
            format!(
                "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = '{LEDGER}'"
            )
        }
        Engine::PostgreSql => format!(
            "SELECT tablename::text FROM pg_catalog.pg_tables WHERE schemaname = {} AND tablename = '{LEDGER}'",
            literal(schema.unwrap_or("public"))
        ),
        Engine::Sqlite => {
            format!("SELECT name FROM sqlite_master WHERE type = 'table' AND name = '{LEDGER}'")
        }
    };
    Ok(db.value(&sql).await?.is_some())
}

/// Takes the bundle for this session, waiting so long for another session of
/// ours. Where DDL is part of the transaction the begin row is lock enough.
///
/// # Errors
/// Another session has it, or what the server said.
pub async fn alone(db: &mut Database, bundle: &Bundle, seconds: u32) -> Result<()> {
    if db.dialect.engine != crate::manifest::Engine::MySql {
        return Ok(());
    }
    let name = db.dialect.text_literal(&format!("flowmend_{}", bundle.id));
    let taken = db.value(&format!("SELECT CAST(GET_LOCK({name}, {seconds}) AS CHAR)")).await?;
    if taken.as_deref() == Some("1") {
        return Ok(());
    }
    Err(Error::refused("another session is at work on this bundle").hint("wait until it is done"))
}

/// The refusal of what only an applied bundle can have.
pub fn not_applied(bundle: &Bundle, what: &str) -> Error {
    Error::refused(format!("nothing to {what}: bundle {} was not applied to this database", bundle.id))
        .hint("`flowmend apply` applies it; if somebody did, its rows in the ledger are gone: ask who dropped it")
}

/// Refuses a ledger that somebody made in another shape: guards hang on its
/// CHECK and key, and a trigger on it would run with the operator's rights.
///
/// # Errors
/// Such a ledger, or what the server said.
pub async fn require_sound(db: &mut Database, bundle: &Bundle) -> Result<()> {
    if !exists(db, bundle).await? {
        return Ok(());
    }
    let dialect = db.dialect.clone();
    let sound = Book::new(&bundle.plan, &dialect, &bundle.id)?.ledger_sound()?;
    if db.value(&format!("SELECT CASE WHEN {sound} THEN '1' ELSE '0' END")).await?.as_deref() == Some("1") {
        return Ok(());
    }
    Err(Error::refused(format!("the table {} is not the ledger that flowmend makes", table(db, bundle))).hint(
        "it lacks its CHECK or key, has a trigger, or cannot be rolled back: look who made it, and drop or rename it",
    ))
}

/// The ledger's steps of a bundle.
///
/// # Errors
/// What the server said.
pub async fn steps(db: &mut Database, bundle: &Bundle) -> Result<BTreeSet<String>> {
    if !exists(db, bundle).await? {
        return Ok(BTreeSet::new());
    }
    let sql = format!("SELECT step FROM {} WHERE bundle = '{}'", table(db, bundle), bundle.id);
    Ok(db.rows(&sql).await?.into_iter().filter_map(|r| r.into_iter().next().flatten()).collect())
}

/// How many rows a partial rollback left alone; `None` if it was no partial one.
///
/// # Errors
/// What the server said.
pub async fn left_alone(db: &mut Database, bundle: &Bundle) -> Result<Option<usize>> {
    let sql = format!(
        "SELECT {} FROM {} WHERE bundle = '{}' AND step = '{PARTIAL}'",
        db.dialect.as_text("actual"),
        table(db, bundle),
        bundle.id
    );
    Ok(db.value(&sql).await?.and_then(|n| n.parse().ok()))
}

/// Where a bundle stands.
///
/// # Errors
/// What the server said.
pub async fn state_of(db: &mut Database, bundle: &Bundle) -> Result<BundleState> {
    let steps = steps(db, bundle).await?;
    Ok(match (steps.contains("end"), steps.contains("rollback.end")) {
        (_, true) => BundleState::RolledBack,
        (true, false) => BundleState::Applied,
        (false, false) => BundleState::NotApplied,
    })
}

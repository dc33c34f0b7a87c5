//! Runs a script of a bundle statement by statement, and says what came of it.

use std::time::Duration;

use super::ledger::{self, BundleState};
use super::script::{Statement, split};
use super::{blockers, moved, receipt::ReceiptStep};
use crate::bundle::Bundle;
use crate::db::{Access, Database, DbFault, FaultKind};
use crate::manifest::Engine;
use crate::{Error, Result};

/// How often, and after what pause, a server is asked what became of a commit.
const RETRIES: u32 = 12;
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// What happens while a script runs.
pub trait Events {
    /// A guard begins.
    fn guard(&mut self, name: &str, about: &str);
    /// The end was asked for.
    fn committing(&mut self);
}

/// What came of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Committed.
    Done,
    /// There was nothing to do: the bundle was applied, or rolled back, before.
    Already,
}

/// Applies a bundle.
///
/// # Errors
/// A guard failed (everything is rolled back), the bundle was rolled back
/// before, or the database said no.
pub async fn apply(db: &mut Database, bundle: &Bundle, events: &mut dyn Events) -> Result<Outcome> {
    ledger::alone(db, bundle, crate::render::files::LOCK_SECONDS).await?;
    match ledger::state_of(db, bundle).await? {
        BundleState::Applied => return Ok(Outcome::Already),
        BundleState::RolledBack => {
            return Err(Error::refused("this bundle was applied and rolled back")
                .hint("make a new plan: the rows may have moved since"));
        }
        BundleState::NotApplied => {}
    }
    let file = format!("apply.{}", db.dialect.client);
    run(db, bundle, bundle.file(&file)?, "end", events).await
}

/// Rolls a bundle back.
///
/// # Errors
/// A row moved (everything stays as it is), the bundle was never applied, or
/// the database said no.
pub async fn rollback(db: &mut Database, bundle: &Bundle, text: &str, events: &mut dyn Events) -> Result<Outcome> {
    match ledger::state_of(db, bundle).await? {
        BundleState::RolledBack => return Ok(Outcome::Already),
        BundleState::NotApplied => return Err(ledger::not_applied(bundle, "roll back")),
        BundleState::Applied => {}
    }
    run(db, bundle, text, "rollback.end", events).await
}

/// Runs a runner's text to its end.
async fn run(db: &mut Database, bundle: &Bundle, text: &str, last: &str, events: &mut dyn Events) -> Result<Outcome> {
    let statements = split(text, &db.dialect)?;
    let mut guard = "";
    let mut session = None;
    for statement in &statements {
        if statement.guard != guard {
            guard = &statement.guard;
            events.guard(guard, &statement.about);
        }
        let ends = is_end(&statement.sql);
        if ends {
            events.committing();
            // Inside the transaction, because a pooler may give each one another session.
            session = db.session_number().await.ok().flatten();
        }
        failpoint(&statement.guard, ends);
        match db.run(&statement.sql).await {
            Ok(_) => {}
            Err(fault) if ends && fault.kind == FaultKind::ConnectionLost => {
                return unknown_outcome(db, bundle, last, session.as_deref()).await;
            }
            Err(fault) if fault.kind == FaultKind::Constraint && done_by_another(db, bundle, last).await => {
                return Ok(Outcome::Already);
            }
            Err(fault) => return Err(explain(db, bundle, statement, fault).await),
        }
    }
    // MySQL's end is conditional, so the ledger has the last word.
    if ledger::steps(db, bundle).await?.contains(last) {
        return Ok(Outcome::Done);
    }
    Err(Error::guard("the last guard is not in the ledger: everything was rolled back"))
}

/// Two runs at once: the one that comes second meets the first one's rows or
/// tables. Our transaction did not commit, so a last guard is another run's.
pub(super) async fn done_by_another(db: &mut Database, bundle: &Bundle, last: &str) -> bool {
    let _ = db.run("ROLLBACK").await;
    ledger::steps(db, bundle).await.is_ok_and(|steps| steps.contains(last))
}

fn is_end(sql: &str) -> bool {
    sql == "COMMIT" || sql.starts_with("EXECUTE flowmend_end")
}

/// Ends the process at a named guard, for tests that kill it there.
#[cfg(debug_assertions)]
pub(super) fn failpoint(guard: &str, ends: bool) {
    let Ok(wanted) = std::env::var("FLOWMEND_TEST_ABORT_AT") else {
        return;
    };
    if wanted == guard || (ends && wanted == "commit") {
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
pub(super) fn failpoint(_: &str, _: bool) {}

pub(super) async fn explain(db: &mut Database, bundle: &Bundle, statement: &Statement, fault: DbFault) -> Error {
    // Whatever is open goes back; on SQLite the guard did it already.
    if fault.kind != FaultKind::ConnectionLost {
        let _ = db.run("ROLLBACK").await;
    }
    let place = if statement.guard.is_empty() {
        "before the first guard".to_owned()
    } else {
        format!("at {}", statement.guard)
    };
    let about = if statement.about.is_empty() { String::new() } else { format!(" ({})", statement.about) };
    match fault.kind {
        FaultKind::Constraint => {
            // How a guard makes the server fail is no news; another constraint is.
            let said = fault.to_string();
            let trick = ["flowmend_", "(1242)"].iter().any(|sign| said.contains(sign));
            let said = if trick { String::new() } else { format!(". The database says: {said}") };
            let mut error = Error::guard(format!("a guard failed {place}{about}; everything was rolled back{said}"));
            for line in moved::moved_rows(db, bundle, &statement.guard).await {
                error = error.hint(line);
            }
            error.hint(if statement.guard.starts_with("rollback") {
                "the database changed since the repair: `flowmend verify` shows what moved"
            } else {
                "the database changed since the plan: plan again"
            })
        }
        FaultKind::LockTimeout => {
            let mut error =
                Error::database(format!("a lock could not be had {place}; everything was rolled back: {fault}"));
            let held = blockers::blockers(db, bundle).await;
            if held.is_empty() {
                error = error
                    .hint("the login may not see who holds it (PROCESS on MySQL, pg_read_all_stats on PostgreSQL)");
            }
            for line in held {
                error = error.hint(format!("held by {line}"));
            }
            error
        }
        FaultKind::ConnectionLost => Error::database(format!(
            "the connection was lost {place}: {fault}. It was not committed, so the server rolls back"
        ))
        .hint("run the same command again: it reads the ledger and says where the bundle stands"),
        FaultKind::Denied | FaultKind::TooLong | FaultKind::Other => {
            Error::from(fault).context(format!("{place}; everything was rolled back"))
        }
    }
}

/// Whether the server still has a session: it may be committing for a while yet.
async fn is_open(db: &mut Database, session: &str) -> bool {
    let sql = match db.dialect.engine {
        Engine::MySql => format!("SELECT CAST(ID AS CHAR) FROM information_schema.PROCESSLIST WHERE ID = {session}"),
        Engine::PostgreSql => format!("SELECT pid::text FROM pg_catalog.pg_stat_activity WHERE pid = {session}"),
        Engine::Sqlite => return false,
    };
    db.value(&sql).await.is_ok_and(|found| found.is_some())
}

/// The connection broke while the commit was under way: only the ledger knows,
/// and only once the server has let the broken session go.
async fn unknown_outcome(db: &Database, bundle: &Bundle, last: &str, session: Option<&str>) -> Result<Outcome> {
    let mut again = None;
    for _ in 0..RETRIES {
        tokio::time::sleep(RETRY_AFTER).await;
        if let Ok(other) = Database::open(&db.address, db.schema.as_deref(), Access::ReadOnly).await {
            again = Some(other);
            break;
        }
    }
    let Some(mut again) = again else {
        return Err(Error::database(
            "the connection was lost during COMMIT and the server cannot be reached: the outcome is unknown",
        )
        .hint("run the same command again when the server answers: it reads the ledger and says which"));
    };
    let mut open = true;
    for _ in 0..RETRIES {
        // First whether it is open, then the ledger: the other way round a commit could slip between.
        open = match session {
            Some(session) => is_open(&mut again, session).await,
            None => false,
        };
        if ledger::steps(&mut again, bundle).await?.contains(last) {
            again.close().await;
            crate::ui::warn("the connection was lost during COMMIT; the ledger says that it was committed");
            return Ok(Outcome::Done);
        }
        if !open {
            break;
        }
        tokio::time::sleep(RETRY_AFTER).await;
    }
    again.close().await;
    if open {
        return Err(Error::database(format!(
            "the connection was lost during COMMIT and the server still has its session {} open: the outcome is unknown",
            session.unwrap_or_default()
        ))
        .hint("end that session, or wait until it is gone; then run the same command again: it reads the ledger and says which"));
    }
    Err(Error::database("the connection was lost during COMMIT; the ledger says that nothing was committed")
        .hint("run it again"))
}

/// The guards of a bundle in the ledger, for a receipt.
///
/// # Errors
/// What the server said.
pub async fn receipt_steps(db: &mut Database, bundle: &Bundle) -> Result<Vec<ReceiptStep>> {
    if !ledger::exists(db, bundle).await? {
        return Ok(Vec::new());
    }
    let d = &db.dialect;
    let sql = format!(
        "SELECT step, {} FROM {} WHERE bundle = '{}' ORDER BY step",
        d.as_text("actual"),
        ledger::table(db, bundle),
        bundle.id
    );
    let rows = db.rows(&sql).await?;
    let step = |r: crate::catalog::Row| {
        let mut cells = r.into_iter();
        let step = cells.next().flatten()?;
        Some(ReceiptStep { step, rows: cells.next().flatten()?.parse().ok()? })
    };
    Ok(rows.into_iter().filter_map(step).collect())
}

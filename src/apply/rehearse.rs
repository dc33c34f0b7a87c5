//! Rehearse: the repair and its rollback in one transaction that never commits.

use super::ledger::{self, BundleState};
use super::own;
use super::run::{Events, done_by_another, explain, failpoint};
use super::script::split;
use crate::bundle::Bundle;
use crate::db::{Database, FaultKind};
use crate::manifest::Engine;
use crate::render::files::Book;
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
    ledger::alone(db, bundle, 0).await?;
    let dialect = db.dialect.clone();
    let book = Book::new(&bundle.plan, &dialect, &bundle.id)?;
    let outcome = run_all(db, bundle, &book, events).await;
    let _ = db.run("ROLLBACK").await;
    if dialect.engine != Engine::MySql {
        return outcome.map(|()| "nothing stays behind".to_owned());
    }
    let dropped = own::drop_leftovers(db, bundle, &book).await;
    outcome?;
    Ok(match dropped {
        Ok(_) => "the empty tables of the rehearsal were dropped; nothing stays behind".to_owned(),
        Err(error) => format!("its empty tables stay ({error}); `flowmend clean` drops them"),
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
            failpoint(&guard, false);
            if let Err(fault) = db.run(&statement.sql).await {
                if fault.kind == FaultKind::Constraint && done_by_another(db, bundle, "end").await {
                    return Err(Error::refused("this bundle was applied by another session meanwhile")
                        .hint("run `flowmend verify` instead"));
                }
                return Err(explain(db, bundle, &statement, fault).await.context("the rehearsal stopped"));
            }
        }
    }
    if ledger::steps(db, bundle).await?.contains("rollback.end") {
        return Ok(());
    }
    Err(Error::guard("the rehearsal did not reach its last guard; everything was rolled back"))
}

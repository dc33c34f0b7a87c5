//! Clean: drops the bundle's own tables. The ledger keeps its rows.

use super::ledger::{self, BundleState};
use super::own;
use super::script::split;
use crate::bundle::Bundle;
use crate::db::Database;
use crate::render::files::Book;
use crate::{Error, Result};

/// Drops the work and backup tables of a bundle. Says how many went, and in which
/// state the bundle is: one that was never applied has only what a run that was
/// cut off left.
///
/// # Errors
/// The bundle is applied and the rollback was not given up, it was not applied
/// and left nothing, or the database said no.
pub async fn clean(db: &mut Database, bundle: &Bundle, give_up_rollback: bool) -> Result<(usize, BundleState)> {
    ledger::alone(db, bundle, 0).await?;
    let dialect = db.dialect.clone();
    let book = Book::new(&bundle.plan, &dialect, &bundle.id)?;
    let state = ledger::state_of(db, bundle).await?;
    if state == BundleState::NotApplied {
        return match own::drop_leftovers(db, bundle, &book).await? {
            0 => Err(ledger::not_applied(bundle, "clean up")),
            dropped => Ok((dropped, state)),
        };
    }
    if state == BundleState::Applied && !give_up_rollback {
        return Err(Error::refused(
            "this bundle is applied: without its backup tables it cannot be rolled back or verified",
        )
        .hint("add --give-up-rollback when the repair has proved right"));
    }
    let dropped = own::there(db, &book).await.len();
    for statement in split(bundle.file("clean.sql")?, &db.dialect)? {
        db.run(&statement.sql).await?;
    }
    Ok((dropped, state))
}

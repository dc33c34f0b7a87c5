//! Clean: drops the bundle's own tables. The ledger keeps its rows.

use super::ledger::{self, BundleState};
use super::script::split;
use crate::bundle::Bundle;
use crate::db::Database;
use crate::{Error, Result};

/// Drops the work and backup tables of a bundle.
///
/// # Errors
/// The bundle is applied and the rollback was not given up, or the database said no.
pub async fn clean(db: &mut Database, bundle: &Bundle, give_up_rollback: bool) -> Result<usize> {
    if ledger::state_of(db, bundle).await? == BundleState::Applied && !give_up_rollback {
        return Err(Error::refused(
            "this bundle is applied: without its backup tables it cannot be rolled back or verified",
        )
        .hint("add --give-up-rollback when the repair has proved right"));
    }
    let statements = split(bundle.file("clean.sql")?, &db.dialect)?;
    for statement in &statements {
        db.run(&statement.sql).await.map_err(Error::from)?;
    }
    Ok(statements.len())
}

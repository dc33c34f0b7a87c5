//! Looks at a database, read only: which release, which states, whose rows, what is wrong.

mod alike;
mod beats;
mod clock;
mod derive;
mod findings;
mod grants;
mod identify;
mod last;
mod look;
mod named;
mod owners;
mod registered;
mod reported;
mod request;
mod shared;
mod shown;
mod sightings;
mod skew;
mod stored;
mod survey;
mod tables;

pub use alike::stands_for;
pub use beats::{Beat, Beats, read_beats};
pub use clock::{against_zone, measure_zone, parse_zone};
pub use derive::{ALL, Given, PlanPart, PlanRequest, Takes, all_parts, beyond, derive, of_recipe, parts};
pub use findings::{Explained, FindingReport, FoundRows, LeftReport, REPORT};
pub use grants::{nothing_unseen, or_hidden};
pub use identify::{Identified, Said, identify, identify_alike, several, with_live_names};
pub use look::{Told, look, look_at_effects, look_at_names, look_at_reports};
pub use named::{refuse_idle_filters, refuse_open_which};
pub use owners::{OwnerState, Owners, add_owners, owners_of_rows, refuse_beating, refuse_without_age};
pub use registered::Registered;
pub use request::SurveyRequest;
pub use shared::shared;
pub use shown::shown_dead;
pub use sightings::Sightings;
pub use skew::{Skew, length, measure_skew};
pub use stored::{Stored, stored};
pub use survey::{Anomaly, InspectReport, StateCount, survey};
pub use tables::no_twins;

use crate::catalog::Catalog;
use crate::db::Database;
use crate::manifest::Engine;
use crate::plan::Target;
use crate::{Error, Result};

/// Begins a read-only transaction with one view of all rows.
///
/// # Errors
/// What the server said.
pub async fn begin_snapshot(db: &mut Database) -> Result<()> {
    let statements: &[&str] = match db.dialect.engine {
        Engine::MySql => &[
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        ],
        Engine::PostgreSql => &["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"],
        Engine::Sqlite => &["BEGIN"],
    };
    for statement in statements {
        db.rows(statement).await?;
    }
    Ok(())
}

/// Ends the read-only transaction.
///
/// # Errors
/// What the server said.
pub async fn end_snapshot(db: &mut Database) -> Result<()> {
    db.rows("ROLLBACK").await.map(drop)
}

/// What tells this server and database from others.
///
/// # Errors
/// What the server said.
pub async fn target(db: &mut Database) -> Result<Target> {
    let server = match db.dialect.engine {
        Engine::MySql if db.dialect.name == "mysql" => db.value("SELECT @@server_uuid").await?,
        // MariaDB has no server UUID.
        Engine::MySql => db.value("SELECT CONCAT(@@hostname, ':', @@port, '/', @@server_id)").await?,
        Engine::PostgreSql => db.value("SELECT system_identifier::text FROM pg_control_system()").await?,
        Engine::Sqlite => Some("file".to_owned()),
    };
    let database = match db.dialect.engine {
        Engine::MySql => db.value("SELECT DATABASE()").await?,
        Engine::PostgreSql => db.value("SELECT current_database()::text").await?,
        Engine::Sqlite => std::fs::canonicalize(&db.address.database).ok().map(|p| p.display().to_string()),
    };
    Ok(Target {
        dialect: db.dialect.name.clone(),
        server_version: db.version.clone(),
        server: server.unwrap_or_default(),
        address: db.address.place(),
        database: database.unwrap_or_else(|| db.address.database.clone()),
        schema: db.schema.clone(),
        schema_sha256: String::new(),
        work_schema: None,
        allowed_triggers: Vec::new(),
    })
}

/// Row security must hide nothing: neither a plan nor a guard can count a queued
/// command or an active task that the login does not see.
///
/// # Errors
/// Some table hides rows from this login.
pub async fn nothing_hidden(db: &mut Database) -> Result<()> {
    if db.dialect.engine != Engine::PostgreSql {
        return Ok(());
    }
    let schema = db.dialect.text_literal(db.schema.as_deref().unwrap_or("public"));
    let sql = format!(
        "SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = {schema} AND c.relkind IN ('r', 'p') AND c.relrowsecurity AND pg_catalog.row_security_active(c.oid) ORDER BY 1 LIMIT 1"
    );
    match db.value(&sql).await? {
        None => Ok(()),
        Some(table) => Err(Error::refused(format!("row security may hide rows of {table} from this login"))
            .hint("connect as a login that sees every row (the owner of the tables, or one with BYPASSRLS)")),
    }
}

/// SHA-256 over the columns of some tables.
#[must_use]
pub fn schema_digest(catalog: &Catalog, tables: &[&str]) -> String {
    let mut names: Vec<&str> = tables.to_vec();
    names.sort_unstable();
    names.dedup();
    let mut text = String::new();
    for table in names.iter().filter_map(|name| catalog.get(name)) {
        text.push_str(&table.name);
        for column in &table.columns {
            text.push_str(&format!("\n  {} {}", column.name, column.type_sql));
        }
        text.push('\n');
    }
    crate::digest::sha256(&[text.as_bytes()])
}

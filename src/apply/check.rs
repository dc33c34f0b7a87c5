//! What must hold before a bundle touches a database: identity, schema, triggers, owners.

use super::ledger;
use crate::bundle::Bundle;
use crate::catalog::{Catalog, LiveTable, TableKind};
use crate::db::Database;
use crate::inspect::{Registered, no_twins, nothing_hidden, refuse_beating, schema_digest, target, with_live_names};
use crate::manifest::{Engine, Manifest, Manifests};
use crate::plan::{Plan, Step};
use crate::recipe::Op;
use crate::{Error, Result, registry, ui};

/// Checks that this is the database of the plan, and that its rows can be written;
/// with the registry that the operator named, if one was named.
///
/// # Errors
/// Refused, with the reason, before any change.
pub async fn check_target(
    db: &mut Database,
    bundle: &Bundle,
    manifests: &Manifests,
    registry: Option<&registry::Address>,
) -> Result<()> {
    let plan = &bundle.plan;
    check_place(db, plan).await?;
    let m = manifest(plan, manifests)?;
    writable(db).await?;
    steady_session(db).await?;
    let catalog = db.catalog().await?;
    same_columns(&catalog, plan)?;
    nothing_hidden(db).await?;
    for lock in &plan.locks {
        holds_rows(live_table(&catalog, &lock.table)?)?;
    }
    for step in &plan.steps {
        let table = live_table(&catalog, &step.table)?;
        repairable(table, plan)?;
        if step.op == Op::Delete {
            no_cascade(table, step)?;
        }
    }
    ledger::require_sound(db, bundle).await?;
    // The server may fold the letters of names.
    let m = with_live_names(&m, &catalog);
    no_twins(db, &m, &catalog).await?;
    refuse_beating(db, &catalog, &m, &plan.owners, "plan again with").await?;
    still_missing(plan, &m, registry).await
}

/// Owners are not listed in the registry now either, if one is named.
async fn still_missing(plan: &Plan, m: &Manifest, address: Option<&registry::Address>) -> Result<()> {
    let Some(address) = address else {
        if let Some(place) = plan.owners.iter().find_map(|claim| claim.registry.as_deref()) {
            ui::warn(format!(
                "that owners are dead was seen at {place} when this was planned; give --registry to look again"
            ));
        }
        return Ok(());
    };
    Registered::of(address, m, &plan.from.release)?.refuse_listed(&plan.owners, "plan again with").await
}

/// Checks that this is the database of the plan, and that the bundle's own tables
/// can be written there, whatever became of the scheduler's.
///
/// # Errors
/// As [`check_target`].
pub async fn check_owned(db: &mut Database, bundle: &Bundle) -> Result<()> {
    check_place(db, &bundle.plan).await?;
    writable(db).await?;
    ledger::require_sound(db, bundle).await
}

/// What has changed around the rows of a plan, which can be compared all the same.
///
/// # Errors
/// The rows cannot be compared any more: a table or a column is gone, or rows may be hidden.
pub async fn oddities(db: &mut Database, plan: &Plan) -> Result<Vec<String>> {
    nothing_hidden(db).await?;
    let catalog = db.catalog().await?;
    let mut found = Vec::from_iter(same_columns(&catalog, plan).err());
    for step in &plan.steps {
        let table = live_table(&catalog, &step.table)?;
        if let Some(gone) = step.columns.iter().find(|c| table.column(&c.name).is_none()) {
            return Err(Error::refused(format!("{}.{} is gone: the rows cannot be compared", step.table, gone.name))
                .hint("the scheduler was upgraded, or somebody changed the table; the backup tables still hold the rows as they were"));
        }
        found.extend(repairable(table, plan).err());
    }
    let mut lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    lines.dedup();
    Ok(lines)
}

fn same_columns(catalog: &Catalog, plan: &Plan) -> Result<()> {
    if schema_digest(catalog, &plan.tables()) == plan.target.schema_sha256 {
        return Ok(());
    }
    Err(Error::refused("the columns of the tables in the plan are not what they were when it was planned")
        .hint("the scheduler was upgraded, or somebody changed a table: plan again"))
}

fn live_table<'c>(catalog: &'c Catalog, name: &str) -> Result<&'c LiveTable> {
    catalog.get(name).ok_or_else(|| Error::refused(format!("the table {name} is gone")))
}

/// Checks that this is the database of the plan.
///
/// # Errors
/// As [`check_target`].
pub async fn check_place(db: &mut Database, plan: &Plan) -> Result<()> {
    let live = target(db).await?;
    let planned = &plan.target;
    let pairs = [
        ("product", &planned.dialect, &live.dialect),
        ("server", &planned.server, &live.server),
        ("database", &planned.database, &live.database),
    ];
    for (what, planned, live) in pairs {
        if planned != live {
            return Err(Error::refused(format!("the bundle is for another {what}: planned {planned}, here {live}"))
                .hint("connect to the database of the plan, or plan again for this one"));
        }
    }
    if planned.schema.is_some() && planned.schema != live.schema {
        if db.schema_given {
            let named = live.schema.unwrap_or_default();
            return Err(Error::refused(format!(
                "the bundle is for the schema {}, not {named}",
                planned.schema.clone().unwrap_or_default()
            ))
            .hint("leave --schema out, or plan again for that schema"));
        }
        db.schema.clone_from(&planned.schema);
    }
    Ok(())
}

/// The manifest that the plan was made from, unchanged, with the prefix of the plan.
fn manifest(plan: &Plan, manifests: &Manifests) -> Result<Manifest> {
    let known = manifests.of(&plan.from.scheduler)?;
    let found = known.into_iter().find(|m| m.generation == plan.from.generation);
    match found {
        Some(m) if m.sha256 == plan.from.manifest_sha256 => {
            Ok(plan.from.table_prefix.as_ref().map_or_else(|| m.clone(), |prefix| m.with_prefix(prefix)))
        }
        _ => Err(Error::refused(format!(
            "the manifest of {} {} is not the one the bundle was planned from",
            plan.from.scheduler, plan.from.generation
        ))
        .hint("use the flowmend (and --enums) that planned it, or plan again")),
    }
}

async fn writable(db: &mut Database) -> Result<()> {
    let refuse =
        |what: &str, way_out: &str| Err(Error::refused(format!("nothing can be written here: {what}")).hint(way_out));
    match db.dialect.engine {
        Engine::PostgreSql => {
            if db.value("SELECT pg_is_in_recovery()::text").await?.as_deref() == Some("true") {
                return refuse("this server is a standby in recovery", "connect to the primary");
            }
            if db.value("SHOW transaction_read_only").await?.as_deref() == Some("on") {
                return refuse(
                    "transactions of this login are read only (transaction_read_only is on)",
                    "connect with a login, and to a database, for which default_transaction_read_only is off",
                );
            }
        }
        Engine::MySql => {
            if is_on(db.value("SELECT @@global.read_only").await?.as_deref()) {
                return refuse(
                    "read_only is on, as on a replica",
                    "connect to the primary; if this is it, somebody switched it to read only: ask who, and why",
                );
            }
            group_replication(db).await?;
            statement_binlog(db).await?;
        }
        Engine::Sqlite => {
            if std::fs::metadata(&db.address.database).is_ok_and(|m| m.permissions().readonly()) {
                return refuse(
                    "the database file is read only",
                    "let this user write the file, if it is the scheduler's own and not a copy (chmod u+w)",
                );
            }
            // Mode bits do not say whether this user may write; the file itself does.
            if let Err(fault) = db.run("BEGIN IMMEDIATE").await
                && fault.message.contains("readonly")
            {
                return refuse(
                    "this user cannot write the database file, or the directory that it is in",
                    "run as the scheduler's user, or let this one write both: SQLite keeps its journal beside the file",
                );
            }
            let _ = db.run("ROLLBACK").await;
        }
    }
    Ok(())
}

/// A switch of the server: MySQL says 0 and 1, MariaDB OFF, ON and more kinds of on.
fn is_on(value: Option<&str>) -> bool {
    value.is_some_and(|v| v != "0" && !v.eq_ignore_ascii_case("off"))
}

/// Group replication and Galera check writes only at commit, in ways that a
/// row lock does not see; one primary is fine, several are not.
async fn group_replication(db: &mut Database) -> Result<()> {
    let several = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES WHERE VARIABLE_NAME = 'WSREP_ON'";
    let (sql, on) = if db.dialect.name == "mariadb" {
        (several, "ON")
    } else {
        ("SHOW VARIABLES LIKE 'group_replication_single_primary_mode'", "OFF")
    };
    let rows = db.rows(sql).await.unwrap_or_default();
    if rows.first().and_then(|r| r.last()?.as_deref()).is_some_and(|v| v.eq_ignore_ascii_case(on)) {
        return Err(Error::refused("this server takes writes on several nodes (Galera, or group replication with several primaries)")
            .hint("row locks do not hold across such nodes, so the guards cannot be trusted; send all writes to one node and switch the mode, or stop the scheduler and use a single node"));
    }
    Ok(())
}

async fn statement_binlog(db: &mut Database) -> Result<()> {
    let isolation = if db.dialect.name == "mariadb" { "@@tx_isolation" } else { "@@transaction_isolation" };
    let sql = format!("SELECT @@log_bin, @@binlog_format, {isolation}");
    let Ok(rows) = db.rows(&sql).await else {
        return Ok(());
    };
    let cell = |i: usize| rows.first().and_then(|r| r.get(i).cloned().flatten()).unwrap_or_default();
    if is_on(Some(&cell(0))) && cell(1) == "STATEMENT" && cell(2).starts_with("READ-") {
        return Err(Error::refused(format!("the server logs statements (binlog_format=STATEMENT) and the isolation level is {}: InnoDB refuses every write (1665)", cell(2)))
            .hint("the default level REPEATABLE READ works; flowmend does not change binlog_format"));
    }
    Ok(())
}

/// A pooler that changes the server session between statements breaks MySQL's
/// session settings; on PostgreSQL everything is inside the one transaction.
async fn steady_session(db: &mut Database) -> Result<()> {
    let (first, second) = (db.session_number().await?, db.session_number().await?);
    if first == second {
        return Ok(());
    }
    if db.dialect.engine == Engine::MySql {
        return Err(Error::refused(
            "the connection goes through a proxy that changes the server session between statements",
        )
        .hint("connect to the server itself: session settings would be lost"));
    }
    ui::warn(
        "pooled connection: the server session changes between transactions. The bundle runs in one transaction with SET LOCAL, so this is safe",
    );
    Ok(())
}

/// Rows live in the table itself, can be locked and rolled back.
fn holds_rows(table: &LiveTable) -> Result<()> {
    match table.kind {
        TableKind::Base | TableKind::Partitioned => {}
        TableKind::Other => {
            return Err(Error::refused(format!("{} is a view or a foreign table, not a table", table.name))
                .hint("connect to the database that holds the table itself"));
        }
    }
    if let Some(engine) = &table.engine
        && !engine.eq_ignore_ascii_case("innodb")
    {
        return Err(Error::refused(format!("{} uses the storage engine {engine}, which cannot roll back", table.name))
            .hint("flowmend repairs InnoDB tables only"));
    }
    Ok(())
}

fn repairable(table: &LiveTable, plan: &Plan) -> Result<()> {
    holds_rows(table)?;
    let allowed = |trigger: &String| plan.target.allowed_triggers.contains(&format!("{}.{trigger}", table.name));
    if let Some(trigger) = table.triggers.iter().find(|t| !allowed(t)) {
        return Err(Error::refused(format!("trigger-present {}.{trigger}: a trigger would change more than the plan says", table.name))
            .hint("drop it, or look at what it does and plan with --allow-triggers; rows that it bends are rolled back all the same"));
    }
    Ok(())
}

/// Rows that a delete takes with it are in no backup: the bundle must see that there are none.
fn no_cascade(table: &LiveTable, step: &Step) -> Result<()> {
    match table.reached().find(|key| !step.referrers.iter().any(|r| r.is(key))) {
        None => Ok(()),
        Some(key) => Err(Error::refused(format!(
            "deleting from {} would reach {} (ON DELETE {})",
            table.name, key.child, key.on_delete
        ))
        .hint("rows that go by a cascade are in no backup")),
    }
}

#[cfg(test)]
mod tests {
    use super::is_on;

    #[test]
    fn switches_of_both_products() {
        for on in ["1", "ON", "on", "NO_LOCK", "NO_LOCK_NO_ADMIN"] {
            assert!(is_on(Some(on)), "{on}");
        }
        for off in ["0", "OFF", "off"] {
            assert!(!is_on(Some(off)), "{off}");
        }
        assert!(!is_on(None));
    }
}

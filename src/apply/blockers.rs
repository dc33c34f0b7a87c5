//! Who holds a lock that we waited for, as far as the login may see.

use crate::bundle::Bundle;
use crate::db::{Access, Database};
use crate::manifest::Engine;

/// Sessions with an open transaction that may hold the lock, as lines for people.
/// Asks on a connection of its own, because ours is rolled back or stuck.
pub async fn blockers(db: &Database, bundle: &Bundle) -> Vec<String> {
    let Ok(mut other) = Database::open(&db.address, db.schema.as_deref(), Access::ReadOnly).await else {
        return Vec::new();
    };
    let sql = match db.dialect.engine {
        Engine::Sqlite => return vec!["SQLite does not name it: another process has the file open in a write transaction".to_owned()],
        Engine::MySql => {
            "SELECT CONCAT('connection ', t.trx_mysql_thread_id, ' (', COALESCE(p.USER, '?'), '@', COALESCE(p.HOST, '?'), ', ', \
             COALESCE(p.COMMAND, '?'), '), in a transaction since ', t.trx_started, ', ', t.trx_rows_locked, ' rows locked') \
             FROM information_schema.INNODB_TRX t LEFT JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id \
             WHERE t.trx_rows_locked > 0 AND t.trx_mysql_thread_id <> CONNECTION_ID() \
             ORDER BY p.DB <=> DATABASE() DESC, t.trx_started LIMIT 5"
                .to_owned()
        }
        Engine::PostgreSql => {
            let tables: Vec<String> = bundle.plan.tables().into_iter().map(|t| db.dialect.text_literal(t)).collect();
            format!(
                "SELECT DISTINCT 'pid ' || a.pid || ' (' || COALESCE(a.usename, '?') || ', ' || COALESCE(NULLIF(a.application_name, ''), '?') || ', ' \
                 || COALESCE(a.state, '?') || '), in a transaction since ' || a.xact_start \
                 FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_class c ON c.oid = l.relation \
                 JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid \
                 WHERE l.granted AND c.relname IN ({}) AND l.mode <> 'AccessShareLock' AND a.pid <> pg_backend_pid() ORDER BY 1 LIMIT 5",
                tables.join(", ")
            )
        }
    };
    let rows = other.rows(&sql).await.unwrap_or_default();
    other.close().await;
    rows.into_iter().filter_map(|r| r.into_iter().next().flatten()).collect()
}

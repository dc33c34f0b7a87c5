//! Clean: what a bundle left goes, and nothing else.

use super::crash::{DEAD, killed_at};
use super::round::zombies;
use crate::support::db::{Server, TestDb, same};
use crate::support::program::{on_bundle, plan, sealed};

fn planned(server: Server) -> TestDb {
    let db = zombies(server, "3.1.9");
    plan(&db, "b", DEAD).expect(0);
    db
}

/// flowmend's own tables that are there.
pub fn own_tables(db: &TestDb) -> Vec<String> {
    let sql = match db.server {
        Server::Sqlite => "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'flowmend%' ORDER BY 1",
        Server::PostgreSql => "SELECT tablename::text FROM pg_tables WHERE tablename LIKE 'flowmend%' ORDER BY 1",
        Server::MariaDb | Server::MySql => {
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE 'flowmend%' ORDER BY 1"
        }
    };
    db.rows(sql).into_iter().map(|r| r[0].clone().unwrap()).collect()
}

#[test]
fn a_bundle_that_was_never_applied() {
    for server in Server::available("a_bundle_that_was_never_applied") {
        let db = planned(server);
        for (command, what) in [("rollback", "roll back"), ("clean", "clean up")] {
            let refused = sealed(command, &db, "b", &[]).expect(4);
            let why = format!("nothing to {what}: bundle ");
            assert!(refused.err.contains(&why), "{server:?} {}", refused.err);
            assert!(refused.err.contains("hint: `flowmend apply` applies it"), "{}", refused.err);
        }
        assert!(own_tables(&db).is_empty(), "{server:?}");
    }
}

/// Another bundle's tables and ledger rows are none of its business.
#[test]
fn other_bundles_stay() {
    for server in Server::available("other_bundles_stay") {
        let db = planned(server);
        plan(&db, "other", &["--dead-owner", "10.0.0.1:5678"]).expect(0);
        sealed("apply", &db, "other", &[]).expect(0);
        let (tables, rows) = (own_tables(&db), db.dump());
        sealed("clean", &db, "b", &[]).expect(4);
        assert_eq!(own_tables(&db), tables, "{server:?}");
        if matches!(server, Server::MariaDb | Server::MySql) {
            killed_at("apply", &db, "02_backup.03_task_instance");
            sealed("clean", &db, "b", &[]).expect(0);
            assert_eq!(own_tables(&db), tables, "{server:?}");
        }
        same(&db.dump(), &rows, &format!("{server:?}: cleaned"));
        on_bundle("verify", &db, "other").expect(0);
    }
}

/// On MySQL and MariaDB tables are made before the transaction: a run that is
/// killed leaves them, empty.
#[test]
fn the_empty_tables_of_a_killed_run() {
    for server in Server::available("the_empty_tables_of_a_killed_run") {
        let db = planned(server);
        killed_at("apply", &db, "02_backup.03_task_instance");
        if matches!(server, Server::MariaDb | Server::MySql) {
            assert!(own_tables(&db).len() > 3, "{server:?}");
            let cleaned = sealed("clean", &db, "b", &[]).expect(0);
            assert!(cleaned.out.contains("that a run cut off had left empty are gone"), "{}", cleaned.out);
        }
        assert!(own_tables(&db).is_empty(), "{server:?}");
        sealed("clean", &db, "b", &[]).expect(4);
        sealed("apply", &db, "b", &[]).expect(0);
    }
}

/// Without its ledger an applied bundle looks as if it had never been: the backup stays.
#[test]
fn a_backup_without_its_ledger_stays() {
    for server in Server::available("a_backup_without_its_ledger_stays") {
        let db = planned(server);
        sealed("apply", &db, "b", &[]).expect(0);
        db.exec("DELETE FROM flowmend_ledger");
        let tables = own_tables(&db);
        let refused = sealed("clean", &db, "b", &["--give-up-rollback"]).expect(4);
        assert!(refused.err.contains("holds rows: it was not dropped"), "{server:?} {}", refused.err);
        assert_eq!(own_tables(&db), tables, "{server:?}");
        on_bundle("verify", &db, "b").expect(4);
    }
}

/// After an upgrade of the scheduler, too, and a second time.
#[test]
fn an_applied_bundle() {
    for server in Server::available("an_applied_bundle") {
        let db = planned(server);
        sealed("apply", &db, "b", &[]).expect(0);
        let tables = own_tables(&db);
        sealed("clean", &db, "b", &[]).expect(4);
        assert_eq!(own_tables(&db), tables, "{server:?}");
        db.exec("ALTER TABLE t_ds_task_instance ADD COLUMN note varchar(20)");
        let cleaned = sealed("clean", &db, "b", &["--give-up-rollback"]).expect(0);
        let count = format!("{} tables of bundle ", tables.len() - 1);
        assert!(cleaned.out.starts_with(&count), "{server:?} {}", cleaned.out);
        assert_eq!(own_tables(&db), ["flowmend_ledger"], "{server:?}");
        let again = sealed("clean", &db, "b", &["--give-up-rollback"]).expect(0);
        assert!(again.out.contains("gone already"), "{}", again.out);
        for command in ["verify", "rollback"] {
            let run = if command == "verify" { on_bundle(command, &db, "b") } else { sealed(command, &db, "b", &[]) };
            assert_eq!(run.code, 4, "{server:?} {command} {}", run.err);
        }
    }
}

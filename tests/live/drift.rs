//! Somebody writes repaired rows again: verify says so, rollback refuses, and a
//! partial rollback restores what stood still.

use super::round::zombie_rows;
use crate::support::bundle::id;
use crate::support::db::{Server, TestDb, Watch, same};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{Run, flowmend, on_bundle, plan, sealed};

const RELEASE: &str = "3.1.9";

/// The zombies, and a second dead run (5) with two tasks, one of which holds a slot.
fn two_dead_runs(server: Server) -> TestDb {
    let m = manifest(RELEASE);
    let db = TestDb::with_schema(server, &m);
    let mut rows = Rows::new(&m, server.dialect());
    rows.statements = zombie_rows(server, RELEASE);
    let s = |text| Some(text);
    let start = s("2026-11-28 09:00:00");
    rows.add(
        "workflow_instance",
        &[
            ("id", s("5")),
            ("name", s("second")),
            ("state", s("1")),
            ("host", s("10.0.0.9:5678")),
            ("start_time", start),
            ("restart_time", start),
            ("definition_code", s("5")),
            ("definition_version", s("1")),
            ("executor_id", s("1")),
        ],
    );
    for id in ["8", "9"] {
        rows.add(
            "task_instance",
            &[
                ("id", s(id)),
                ("name", s("u")),
                ("task_type", s("SHELL")),
                ("run_id", s("5")),
                ("state", s("1")),
                ("flag", s("1")),
                ("host", s("10.0.0.4:1234")),
                ("submit_time", start),
                ("start_time", start),
                ("task_code", s(id)),
                ("task_execute_type", s("0")),
            ],
        );
    }
    rows.add(
        "task_group_queue",
        &[
            ("id", s("4")),
            ("task_id", s("8")),
            ("group_id", s("1")),
            ("run_id", s("5")),
            ("status", s("1")),
            ("force_start", s("0")),
            ("in_queue", s("0")),
            ("update_time", start),
        ],
    );
    rows.statements.push("UPDATE t_ds_task_instance SET var_pool = '[]' WHERE id = 8".to_owned());
    db.exec_all(&rows.statements);
    db
}

fn applied(server: Server) -> TestDb {
    let db = two_dead_runs(server);
    plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
    sealed("apply", &db, "b", &[]).expect(0);
    db
}

fn verify_json(db: &TestDb) -> (i32, serde_json::Value) {
    let dir = db.path("b").display().to_string();
    let run = flowmend(["verify", &dir, "--url", &db.url, "--format", "json"]);
    (run.code, serde_json::from_str(&run.out).unwrap())
}

/// verify fails, and rollback refuses and changes nothing.
#[track_caller]
fn refuses(db: &TestDb) -> Run {
    let drifted = on_bundle("verify", db, "b").expect(1);
    let rows = db.dump();
    let (ledger, server) = (db.ledger(), db.server);
    sealed("rollback", db, "b", &[]).expect(4);
    same(&db.dump(), &rows, &format!("{server:?}: rollback refused"));
    assert_eq!(db.ledger(), ledger);
    assert!(!db.stock(&crate::support::bundle::runner(db, "b", "rollback")).status.success());
    same(&db.dump(), &rows, &format!("{server:?}: the stock client refused"));
    drifted
}

/// A living master saves its memory of task 1 over the repair (apache/dolphinscheduler#15849).
#[test]
fn a_living_master_writes_its_memory_back() {
    for server in Server::available("a_living_master_writes_its_memory_back") {
        let db = applied(server);
        on_bundle("verify", &db, "b").expect(0);
        db.exec("UPDATE t_ds_task_instance SET state = 1 WHERE id = 1");
        let drifted = refuses(&db);
        assert!(drifted.out.contains("drifted-after-apply t_ds_task_instance 1\n"), "{}", drifted.out);
        assert!(drifted.out.contains("state: expected 6 FAILURE, found 1 RUNNING_EXECUTION"), "{}", drifted.out);
        let (code, json) = verify_json(&db);
        assert_eq!((code, &json["state"], &json["drifted"]), (1, &"applied".into(), &1.into()), "{json}");
        let row = &json["drift"][0];
        assert_eq!(row["table"], "t_ds_task_instance");
        assert_eq!(row["key"], serde_json::json!(["1"]));
        assert_eq!(row["columns"], serde_json::json!([["state", "6 FAILURE", "1 RUNNING_EXECUTION"]]));
        // A second apply does not repair it again.
        let rows = db.dump();
        sealed("apply", &db, "b", &[]).expect(0);
        same(&db.dump(), &rows, "already applied");
    }
}

/// Any column counts, also those that the repair did not write.
#[test]
fn drift_in_any_column_counts() {
    for server in Server::available("drift_in_any_column_counts") {
        let db = applied(server);
        let moves = [
            ("t_ds_task_instance", "8", "var_pool", "'[{}]'", "'[]'"),
            ("t_ds_task_instance", "8", "var_pool", "NULL", "'[]'"),
            ("t_ds_task_instance", "8", "var_pool", "'[] '", "'[]'"),
            ("t_ds_task_instance", "1", "end_time", "'2026-11-28 12:00:00'", "'2026-11-28 10:05:00'"),
            ("t_ds_process_instance", "5", "name", "'Second'", "'second'"),
            ("t_ds_process_instance", "5", "history_cmd", "'x'", "NULL"),
            ("t_ds_task_group", "1", "group_size", "3", "2"),
        ];
        for (table, id, column, value, back) in moves {
            // The on-update clock must not be what is found.
            let moment = if table == "t_ds_task_instance" { "" } else { ", update_time = update_time" };
            let set = |value: &str| db.exec(&format!("UPDATE {table} SET {column} = {value}{moment} WHERE id = {id}"));
            set(value);
            let drifted = refuses(&db);
            assert!(
                drifted.out.contains(&format!("    {column}: expected ")),
                "{server:?} {column} {value}: {}",
                drifted.out
            );
            set(back);
            on_bundle("verify", &db, "b").expect(0);
        }
        sealed("rollback", &db, "b", &[]).expect(0);
    }
}

/// What a partial rollback must leave: instance 1 as it is now, the others as they were.
/// Columns that the site added, of types that have no text: bytes and shapes.
#[test]
fn drift_in_columns_without_text() {
    for server in Server::available("drift_in_columns_without_text") {
        let (kind, old, new) = match server {
            Server::MySql | Server::MariaDb => {
                ("POINT", "ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(2 1)')")
            }
            Server::PostgreSql => ("point", "'(1,2)'", "'(2,1)'"),
            Server::Sqlite => ("POINT", "x'0102'", "x'0201'"),
        };
        let bytes = if server == Server::PostgreSql { "bytea" } else { "BLOB" };
        let byte =
            |hex: &str| if server == Server::PostgreSql { format!("'\\x{hex}'::bytea") } else { format!("X'{hex}'") };
        let db = two_dead_runs(server);
        db.exec(&format!("ALTER TABLE t_ds_task_instance ADD COLUMN site_place {kind}"));
        db.exec(&format!("ALTER TABLE t_ds_task_instance ADD COLUMN site_bytes {bytes}"));
        let set = |column: &str, value: &str| {
            db.exec(&format!("UPDATE t_ds_task_instance SET {column} = {value} WHERE id = 8"))
        };
        set("site_place", old);
        set("site_bytes", &byte("00FF27"));
        let before = db.dump();
        plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
        on_bundle("rehearse", &db, "b").expect(0);
        sealed("apply", &db, "b", &[]).expect(0);
        on_bundle("verify", &db, "b").expect(0);
        for (column, moved, back) in [("site_place", new, old), ("site_bytes", &byte("FE"), &byte("00FF27"))] {
            set(column, moved);
            let drifted = on_bundle("verify", &db, "b").expect(1);
            let line = drifted.out.lines().find(|l| l.contains(&format!("{column}: expected "))).unwrap_or_default();
            let (expected, found) =
                line.split_once("expected ").and_then(|(_, l)| l.split_once(", found ")).unwrap_or_default();
            assert!(expected != found && !expected.contains("NULL"), "{server:?} {column}: {}", drifted.out);
            sealed("rollback", &db, "b", &[]).expect(4);
            set(column, back);
        }
        sealed("rollback", &db, "b", &[]).expect(0);
        same(&db.dump(), &before, &format!("{server:?}: back to the byte"));
    }
}

/// The number that follows some words, whatever line they are on.
fn number_after(text: &str, words: &str) -> usize {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = text.split_once(words).unwrap_or_else(|| panic!("no `{words}` in {text}")).1;
    rest.split(' ').next().unwrap().parse().unwrap()
}

fn partial(server: Server, moved: &[&str]) {
    let fresh = two_dead_runs(server).dump();
    let db = applied(server);
    for sql in moved {
        db.exec(sql);
    }
    let mut watch = Watch::new(&db);
    let now = watch.rows();
    let drifted = refuses(&db);
    assert!(drifted.err.is_empty(), "{}", drifted.err);
    let whole = sealed("rollback", &db, "b", &[]).expect(4);
    // It is final: that is said before, and nothing happens without the word.
    let asked = sealed("rollback", &db, "b", &["--partial"]).expect(4);
    for words in ["--partial would restore", "of the run 1 as they are, for good", "add --give-up-rest"] {
        assert!(asked.err.contains(words), "{words}: {}", asked.err);
    }
    // Who wants the whole back, and who looks, are told the same number.
    let left = number_after(&asked.err, "and leave ");
    assert_eq!(number_after(&whole.err, "gives up "), left, "{}", whole.err);
    assert_eq!(number_after(&drifted.out, "gives up "), left, "{}", drifted.out);
    same(&watch.rows(), &now, "nothing without the word");
    let run = sealed("rollback", &db, "b", &["--partial", "--give-up-rest"]).expect(0);
    assert!(run.err.contains("left as they are for good"), "{}", run.err);
    let after = watch.rows();
    // Rows of a table by the run they belong to.
    let of = |dump: &crate::support::db::Dump, table: &str, run: &[&str]| {
        let column = match table {
            "t_ds_process_instance" => "id",
            "t_ds_task_instance" => "process_instance_id",
            _ => "process_id",
        };
        let place = watch.columns(table).iter().position(|c| c == column).unwrap();
        let rows = dump.get(table).cloned().unwrap_or_default();
        rows.into_iter().filter(|r| run.contains(&r[place].as_deref().unwrap())).collect::<Vec<_>>()
    };
    for table in ["t_ds_process_instance", "t_ds_task_instance", "t_ds_task_group_queue"] {
        let (moved, still) = (&["1"][..], &["2", "3", "4", "5"][..]);
        assert_eq!(
            of(&after, table, moved),
            of(&now, table, moved),
            "{server:?} {table}: a row that moved was touched"
        );
        assert_eq!(
            of(&after, table, still),
            of(&fresh, table, still),
            "{server:?} {table}: a row that stood still was not restored"
        );
    }
    // Slots of the live run 3 and of run 5, which is back.
    assert_eq!(db.value("SELECT use_size FROM t_ds_task_group").as_deref(), Some("2"), "{server:?}");
    let again = sealed("rollback", &db, "b", &[]).expect(0);
    assert!(again.out.contains("already rolled back"), "{}", again.out);
    sealed("apply", &db, "b", &[]).expect(4);
}

#[test]
fn partial_rollback_restores_what_stood_still() {
    for server in Server::available("partial_rollback_restores_what_stood_still") {
        partial(server, &["UPDATE t_ds_task_instance SET state = 1 WHERE id = 1"]);
    }
}

#[test]
fn partial_rollback_after_a_row_was_deleted() {
    for server in Server::available("partial_rollback_after_a_row_was_deleted") {
        partial(server, &["DELETE FROM t_ds_task_instance WHERE id = 1"]);
    }
}

/// The scheduler's clean-up deleted the whole run meanwhile.
#[test]
fn partial_rollback_after_a_run_was_deleted() {
    for server in Server::available("partial_rollback_after_a_run_was_deleted") {
        partial(
            server,
            &[
                "DELETE FROM t_ds_task_instance WHERE process_instance_id = 1",
                "DELETE FROM t_ds_process_instance WHERE id = 1",
                "DELETE FROM t_ds_task_group_queue WHERE process_id = 1",
            ],
        );
    }
}

/// A group whose counter moved by itself does not keep the runs from coming back.
#[test]
fn partial_rollback_recounts_a_counter_that_moved() {
    for server in Server::available("partial_rollback_recounts_a_counter_that_moved") {
        partial(
            server,
            &[
                "UPDATE t_ds_task_instance SET state = 1 WHERE id = 1",
                "UPDATE t_ds_task_group SET use_size = 7 WHERE id = 1",
            ],
        );
    }
}

#[test]
fn deleted_rows_are_named() {
    for server in Server::available("deleted_rows_are_named") {
        let db = applied(server);
        db.exec("DELETE FROM t_ds_task_instance WHERE id = 8");
        let drifted = refuses(&db);
        assert!(drifted.out.contains("missing t_ds_task_instance 8\n"), "{}", drifted.out);
        let (_, json) = verify_json(&db);
        assert_eq!(json["drift"][0]["kind"], "missing");
    }
}

/// Everything moved: nothing to roll back, nothing changed.
#[test]
fn partial_rollback_with_nothing_left() {
    for server in Server::available("partial_rollback_with_nothing_left") {
        let db = applied(server);
        db.exec("UPDATE t_ds_task_instance SET log_path = 'x'");
        let rows = db.dump();
        sealed("rollback", &db, "b", &["--partial"]).expect(4);
        same(&db.dump(), &rows, "nothing left");
    }
}

/// Before apply there is nothing to compare; after a rollback the rows are held against the backup.
#[test]
fn verify_before_apply_and_after_rollback() {
    for server in Server::available("verify_before_apply_and_after_rollback") {
        let db = two_dead_runs(server);
        plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
        let nothing = format!("nothing to verify: bundle {}", id(&db, "b"));
        let refused = on_bundle("verify", &db, "b").expect(4);
        assert!(refused.err.contains(&nothing) && refused.out.is_empty(), "{}{}", refused.out, refused.err);
        let refused = sealed("rollback", &db, "b", &[]).expect(4);
        assert!(refused.err.contains("nothing to roll back"), "{}", refused.err);
        sealed("apply", &db, "b", &[]).expect(0);
        sealed("rollback", &db, "b", &[]).expect(0);
        let (code, json) = verify_json(&db);
        assert_eq!((code, &json["state"]), (0, &"rolled_back".into()));
        let restored = on_bundle("verify", &db, "b").expect(0);
        assert!(restored.out.contains("was rolled back: "), "{}", restored.out);
        db.exec("UPDATE t_ds_task_instance SET state = 7 WHERE id = 1");
        let (code, json) = verify_json(&db);
        assert_eq!((code, &json["drift"][0]["kind"]), (1, &"not-restored".into()), "{json}");
        let moved = on_bundle("verify", &db, "b").expect(1);
        assert!(moved.out.contains("moved since the rollback"), "{}", moved.out);
    }
}

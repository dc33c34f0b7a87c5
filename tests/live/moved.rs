//! Rows that moved between plan and apply: a guard fails and nothing changes.

use std::time::Duration;

use super::round::{zombie_rows, zombies};
use crate::support::bundle::{going_on, runner};
use crate::support::db::{Server, Session, TestDb, Watch, same};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{on_bundle, plan, seal, sealed};

const DEAD: &[&str] = &["--dead-owner", "10.0.0.9:5678"];
/// Tables with rows in the fixture, and those that a move adds rows to.
const TABLES: &[&str] = &[
    "t_ds_process_instance",
    "t_ds_task_instance",
    "t_ds_task_group",
    "t_ds_task_group_queue",
    "t_ds_version",
    "t_ds_command",
    "t_ds_relation_process_instance",
];

/// What happens after the plan, as one statement.
fn moves(server: Server) -> Vec<(&'static str, String)> {
    let say = |what: &'static str, sql: &str| (what, sql.to_owned());
    vec![
        say("task state", "UPDATE t_ds_task_instance SET state = 7 WHERE id = 1"),
        say("task host", "UPDATE t_ds_task_instance SET host = '10.0.0.5:1234' WHERE id = 1"),
        say("task host to NULL", "UPDATE t_ds_task_instance SET host = NULL WHERE id = 1"),
        say("task flag", "UPDATE t_ds_task_instance SET flag = 0 WHERE id = 1"),
        say("task ended", "UPDATE t_ds_task_instance SET end_time = '2026-11-28 11:00:00' WHERE id = 1"),
        say("run state", "UPDATE t_ds_process_instance SET state = 4 WHERE id = 1"),
        say("run host", "UPDATE t_ds_process_instance SET host = '10.0.0.1:5678' WHERE id = 1"),
        say("run restarted", "UPDATE t_ds_process_instance SET restart_time = '2026-11-28 23:00:00' WHERE id = 1"),
        ("a command queued", insert(server, "command", &[("id", "9"), ("run_id", "1"), ("definition_code", "1")])),
        (
            "a sub-workflow that goes on",
            insert(
                server,
                "relation",
                &[("id", "9"), ("parent_run_id", "1"), ("parent_task_id", "1"), ("child_run_id", "3")],
            ),
        ),
        (
            "a new task of the run",
            insert(server, "task_instance", &[("id", "99"), ("run_id", "1"), ("state", "1"), ("flag", "1")]),
        ),
        say("task deleted", "DELETE FROM t_ds_task_instance WHERE id = 1"),
        say("run deleted", "DELETE FROM t_ds_process_instance WHERE id = 1"),
        say("queue row released", "UPDATE t_ds_task_group_queue SET status = 2 WHERE id = 1"),
        say("queue row called", "UPDATE t_ds_task_group_queue SET in_queue = 1 WHERE id = 1"),
        say("counter moved", "UPDATE t_ds_task_group SET use_size = 1 WHERE id = 1"),
        (
            "another slot taken",
            insert(
                server,
                "task_group_queue",
                &[
                    ("id", "9"),
                    ("task_id", "5"),
                    ("group_id", "1"),
                    ("run_id", "3"),
                    ("status", "1"),
                    ("force_start", "0"),
                ],
            ),
        ),
    ]
}

fn insert(server: Server, role: &str, values: &[(&str, &str)]) -> String {
    let m = manifest("3.1.9");
    let mut rows = Rows::new(&m, server.dialect());
    let values: Vec<(&str, Option<&str>)> = values.iter().map(|(c, v)| (*c, Some(*v))).collect();
    rows.add(role, &values);
    rows.statements.remove(0)
}

/// Puts the fixture's rows back.
fn reset(db: &TestDb) {
    let mut statements: Vec<String> = TABLES.iter().map(|t| format!("DELETE FROM {t}")).collect();
    statements.extend(zombie_rows(db.server, "3.1.9"));
    db.exec_all(&statements);
}

fn each_move(server: Server) {
    let db = zombies(server, "3.1.9");
    plan(&db, "b", DEAD).expect(0);
    let text = std::fs::read_to_string(runner(&db, "b", "apply")).unwrap();
    let (text, flags) = going_on(server, &text);
    let go_on = db.path("go_on");
    std::fs::write(&go_on, text).unwrap();
    let mut watch = Watch::new(&db);
    for (what, sql) in moves(server) {
        reset(&db);
        db.exec(&sql);
        let moved = watch.rows();
        let refused = sealed("apply", &db, "b", &[]);
        assert_eq!(refused.code, 3, "{server:?} {what}: {}{}", refused.out, refused.err);
        assert!(refused.err.contains("plan again"), "{}", refused.err);
        same(&watch.rows(), &moved, &format!("{server:?} {what}, the program"));
        assert!(!db.stock(&runner(&db, "b", "apply")).status.success(), "{server:?} {what}");
        same(&watch.rows(), &moved, &format!("{server:?} {what}, client that stops"));
        db.stock_with(&go_on, flags);
        same(&watch.rows(), &moved, &format!("{server:?} {what}, client that goes on"));
    }
    // The bundle was right all the time.
    reset(&db);
    sealed("apply", &db, "b", &[]).expect(0);
}

#[test]
fn sqlite_rows_that_moved() {
    each_move(Server::Sqlite);
}

#[test]
fn mariadb_rows_that_moved() {
    if Server::MariaDb.is_there("mariadb_rows_that_moved") {
        each_move(Server::MariaDb);
    }
}

#[test]
fn postgresql_rows_that_moved() {
    if Server::PostgreSql.is_there("postgresql_rows_that_moved") {
        each_move(Server::PostgreSql);
    }
}

#[test]
fn mysql_rows_that_moved() {
    if Server::MySql.is_there("mysql_rows_that_moved") {
        each_move(Server::MySql);
    }
}

/// A rehearsal sees it too, and leaves no trace.
#[test]
fn a_rehearsal_sees_a_move() {
    for server in Server::available("a_rehearsal_sees_a_move") {
        let db = zombies(server, "3.1.9");
        plan(&db, "b", DEAD).expect(0);
        db.exec("UPDATE t_ds_task_instance SET state = 7 WHERE id = 1");
        let moved = db.dump();
        on_bundle("rehearse", &db, "b").expect(3);
        same(&db.dump(), &moved, "rehearsed");
    }
}

/// A command that another session inserted but did not commit yet.
fn command_under_way(server: Server) -> (TestDb, Session) {
    let db = zombies(server, "3.1.9");
    plan(&db, "b", DEAD).expect(0);
    let mut master = Session::new(&db);
    master.exec("BEGIN").exec(&insert(server, "command", &[("id", "9"), ("run_id", "1"), ("definition_code", "1")]));
    (db, master)
}

/// MySQL and MariaDB lock what a condition read, so apply waits for the other
/// session; when that commits, the guard counts its row.
#[test]
fn mysql_waits_for_a_command_under_way() {
    for server in [Server::MariaDb, Server::MySql] {
        if !server.is_there("mysql_waits_for_a_command_under_way") {
            continue;
        }
        let (db, mut master) = command_under_way(server);
        let before = db.dump();
        let dir = db.path("b").display().to_string();
        let seal = seal(&db.path("b"));
        let mut apply = crate::support::program::command(["apply", &dir, "--url", &db.url, "--seal", &seal])
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_secs(2));
        assert!(apply.try_wait().unwrap().is_none(), "{server:?}: apply waits");
        same(&db.dump(), &before, "while it waits");
        master.exec("COMMIT");
        let output = apply.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{server:?} {}", String::from_utf8_lossy(&output.stderr));
        let mut expected = before;
        expected.insert("t_ds_command".to_owned(), db.dump()["t_ds_command"].clone());
        same(&db.dump(), &expected, "only the command is new");
    }
}

/// The other session never commits: apply gives up and names it.
#[test]
fn mysql_names_who_inserts_a_command() {
    // They only wait, so they wait together.
    std::thread::scope(|scope| {
        for server in [Server::MariaDb, Server::MySql] {
            if server.is_there("mysql_names_who_inserts_a_command") {
                scope.spawn(move || names_the_master(server));
            }
        }
    });
}

fn names_the_master(server: Server) {
    let (db, master) = command_under_way(server);
    let before = db.dump();
    let gave_up = sealed("apply", &db, "b", &[]).expect(6);
    assert!(gave_up.err.contains(&format!("connection {} ", master.id)), "{server:?} {}", gave_up.err);
    same(&db.dump(), &before, "gave up");
}

/// PostgreSQL cannot see the row before it is committed, nor lock what is not
/// there; verify says so afterwards, and a rollback would meet the command too.
#[test]
fn postgresql_sees_a_late_command_in_verify() {
    if !Server::PostgreSql.is_there("postgresql_sees_a_late_command_in_verify") {
        return;
    }
    let (db, mut master) = command_under_way(Server::PostgreSql);
    sealed("apply", &db, "b", &[]).expect(0);
    on_bundle("verify", &db, "b").expect(0);
    master.exec("COMMIT");
    let late = on_bundle("verify", &db, "b").expect(1);
    assert!(late.out.contains("04_workflow_instance.no_command"), "{}", late.out);
    let rows = db.dump();
    sealed("rollback", &db, "b", &[]).expect(3);
    same(&db.dump(), &rows, "rollback");
}

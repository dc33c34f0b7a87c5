//! Runs of serial workflows that wait in line and that nobody wakes
//! (apache/dolphinscheduler#16474, #15762, #13636).

use super::family::Fixture;
use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest;
use crate::support::program::{Run, flowmend, on_bundle, plan_recipe, sealed};

/// Definition 77: a finished run and three that wait. Definition 88: one that waits behind a living run.
/// Definition 99: one whose command is on its way.
fn asleep(server: Server, release: &str) -> TestDb {
    let m = manifest(release);
    let db = TestDb::with_schema(server, &m);
    let run = |id: i64, name: &str, code: i64, state: i64, minute: u8| {
        format!(
            "INSERT INTO {} (id, name, {}, {}, state, executor_id, start_time, end_time) VALUES ({id}, '{name}', {code}, 3, {state}, 1, '2024-08-16 10:{minute:02}:00', {})",
            m.roles["workflow_instance"].table,
            m.column("workflow_instance.definition_code").unwrap(),
            m.column("workflow_instance.definition_version").unwrap(),
            if state == 7 { "'2024-08-16 10:04:00'" } else { "NULL" },
        )
    };
    for sql in [
        run(500, "done", 77, 7, 0),
        run(501, "w1", 77, 14, 5),
        run(502, "w2", 77, 14, 10),
        run(503, "w3", 77, 14, 15),
        run(599, "alive", 88, 1, 19),
        run(600, "other-def", 88, 14, 20),
        run(700, "called", 99, 14, 30),
        format!(
            "INSERT INTO t_ds_command (id, command_type, {}, {}, {}) VALUES (900, 11, 99, 3, 700)",
            m.column("command.definition_code").unwrap(),
            m.column("command.definition_version").unwrap(),
            m.column("command.run_id").unwrap()
        ),
        format!("INSERT INTO t_ds_version (id, version) VALUES (1, '{release}')"),
    ] {
        db.exec(&sql);
    }
    db
}

fn plan(db: &TestDb, extra: &[&str]) -> Run {
    plan_recipe(db, "serial-chain", "b", extra)
}

fn states(db: &TestDb) -> Vec<String> {
    let version = db.value("SELECT version FROM t_ds_version").unwrap();
    let table = manifest(&version).roles["workflow_instance"].table.clone();
    let rows = db.rows(&format!("SELECT id, state FROM {table} WHERE id IN (501, 502, 503, 600, 700) ORDER BY id"));
    rows.into_iter().map(|r| r[1].clone().unwrap()).collect()
}

fn new_commands(db: &TestDb) -> Vec<Vec<String>> {
    let sql = "SELECT command_type, process_instance_id, process_definition_code, process_definition_version, command_param \
               FROM t_ds_command WHERE id <> 900 ORDER BY process_instance_id";
    db.rows(sql).into_iter().map(|r| r.into_iter().map(Option::unwrap_or_default).collect()).collect()
}

#[test]
fn what_becomes_of_waiters_is_asked() {
    for server in Server::available("serial_chain") {
        let db = asleep(server, "3.1.9");
        let asked = plan(&db, &[]).expect(2);
        for word in ["--waiters wake", "--waiters newest", "--waiters stop", "--waiters leave", "In 1 line "] {
            assert!(asked.err.contains(word), "{word}: {}", asked.err);
        }
        assert!(!db.path("b").exists());
        let seen = flowmend(["inspect", "--url", &db.url, "--now", "2026-11-29T00:00:00Z"]).expect(1);
        assert!(seen.out.contains("sleeping-chain"), "{}", seen.out);
        assert!(seen.out.contains("2024-08-16 10:05:00"), "since when: {}", seen.out);
        assert!(seen.out.contains("#16474"), "{}", seen.out);
    }
}

#[test]
fn the_first_of_each_line_is_woken_by_one_command() {
    for server in Server::available("serial_chain") {
        for release in ["3.0.6", "3.1.9", "3.2.2"] {
            let db = asleep(server, release);
            let before = db.dump();
            plan(&db, &["--waiters", "wake"]).expect(0);
            sealed("apply", &db, "b", &[]).expect(0);
            let command = ["11", "501", "77", "3", "{\"ProcessInstanceId\":501}"];
            assert_eq!(new_commands(&db), [command.map(str::to_owned)], "{release}");
            assert_eq!(states(&db), ["14"; 5], "no state is written");
            on_bundle("verify", &db, "b").expect(0);
            sealed("rollback", &db, "b", &[]).expect(0);
            assert_eq!(db.dump(), before);
        }
    }
}

/// The case of the field: drop the backlog, wake the newest.
#[test]
fn all_but_the_newest_are_stopped() {
    for server in Server::available("serial_chain") {
        for release in ["3.1.9", "3.2.2"] {
            let db = asleep(server, release);
            let before = db.dump();
            plan(&db, &["--waiters", "newest"]).expect(0);
            sealed("apply", &db, "b", &[]).expect(0);
            assert_eq!(states(&db), ["5", "5", "14", "14", "14"]);
            let command = ["11", "503", "77", "3", "{\"ProcessInstanceId\":503}"];
            assert_eq!(new_commands(&db), [command.map(str::to_owned)]);
            let open = "SELECT COUNT(*) FROM t_ds_process_instance WHERE state = 5 AND end_time IS NULL";
            assert_eq!(db.value(open).as_deref(), Some("0"), "end_time is set");
            on_bundle("verify", &db, "b").expect(0);
            sealed("rollback", &db, "b", &[]).expect(0);
            assert_eq!(db.dump(), before);
        }
    }
}

#[test]
fn a_named_waiter_is_stopped_although_its_line_moves() {
    for server in Server::available("serial_chain") {
        let db = asleep(server, "3.1.9");
        plan(&db, &["--waiters", "stop", "--instance", "600"]).expect(0);
        sealed("apply", &db, "b", &[]).expect(0);
        assert_eq!(states(&db), ["14", "14", "14", "5", "14"]);
    }
}

/// An earlier run that became active, or a command that came, between plan and apply.
#[test]
fn a_line_that_moved_meanwhile_is_left_alone() {
    for server in Server::available("serial_chain") {
        for moved in [
            "UPDATE t_ds_process_instance SET state = 1 WHERE id = 500",
            "UPDATE t_ds_process_instance SET state = 5 WHERE id = 501",
            "DELETE FROM t_ds_process_instance WHERE id = 501",
            "INSERT INTO t_ds_command (command_type, process_definition_code, process_instance_id) VALUES (11, 77, 502)",
        ] {
            let db = asleep(server, "3.1.9");
            plan(&db, &["--waiters", "wake"]).expect(0);
            db.exec(moved);
            let before = db.dump();
            sealed("apply", &db, "b", &[]).expect(3);
            assert_eq!(db.dump(), before, "{moved}");
        }
    }
}

#[test]
fn a_command_that_was_taken_is_reported_as_consumed() {
    for server in Server::available("serial_chain") {
        let db = asleep(server, "3.1.9");
        plan(&db, &["--waiters", "wake"]).expect(0);
        sealed("apply", &db, "b", &[]).expect(0);
        db.exec("DELETE FROM t_ds_command WHERE process_instance_id = 501");
        let seen = on_bundle("verify", &db, "b").expect(0);
        assert!(seen.out.contains("consumed"), "{}", seen.out);
        let before = db.dump();
        let refused = sealed("rollback", &db, "b", &[]).expect(4);
        assert!(refused.err.contains("consumed"), "{}", refused.err);
        assert_eq!(db.dump(), before);
    }
}

/// Start parameters travel with the command from 3.2.0 on.
#[test]
fn start_parameters_travel_with_the_command() {
    for server in Server::available("serial_chain") {
        let db = asleep(server, "3.2.2");
        db.exec("UPDATE t_ds_process_instance SET command_param = '{\"StartParams\":\"{\\\"day\\\":\\\"it''s\\\"}\",\"x\":1}' WHERE id = 501".replace("\\\\", "\\").as_str());
        let param = db.value("SELECT command_param FROM t_ds_process_instance WHERE id = 501").unwrap();
        plan(&db, &["--waiters", "wake"]).expect(0);
        sealed("apply", &db, "b", &[]).expect(0);
        let queued: serde_json::Value = serde_json::from_str(&new_commands(&db)[0][4]).unwrap();
        let run: serde_json::Value = serde_json::from_str(&param).unwrap_or(serde_json::Value::Null);
        assert_eq!(queued["ProcessInstanceId"], 501);
        assert_eq!(queued["StartParams"], run["StartParams"]);
        assert!(queued.get("x").is_none());
    }
}

/// From 3.3.0 on nothing starts a run at 14 that an upgrade left.
#[test]
fn leftovers_of_an_upgrade_can_only_be_stopped() {
    for server in Server::available("serial_chain") {
        for release in ["3.3.2", "3.4.1"] {
            let db = asleep(server, release);
            let before = db.dump();
            let woken = plan(&db, &["--waiters", "wake"]).expect(0);
            assert!(woken.out.contains("cannot-wake"), "{}", woken.out);
            assert!(!db.path("b").exists());
            plan(&db, &["--waiters", "stop"]).expect(0);
            sealed("apply", &db, "b", &[]).expect(0);
            assert_eq!(states(&db), ["5", "5", "5", "5", "14"], "{release}: 700 has a command");
            on_bundle("verify", &db, "b").expect(0);
            sealed("rollback", &db, "b", &[]).expect(0);
            assert_eq!(db.dump(), before);
        }
    }
}

/// From 3.4.0 on a queue row of a finished run blocks its line.
#[test]
fn queue_rows_of_finished_runs_go() {
    for server in Server::available("serial_chain") {
        let db = asleep(server, "3.4.1");
        for (id, run, code) in [(1, 500, 77), (2, 501, 77), (3, 9999, 77), (4, 599, 88)] {
            db.exec(&format!("INSERT INTO t_ds_serial_command (id, workflow_definition_code, workflow_definition_version, workflow_instance_id, state, command, create_time, update_time) VALUES ({id}, {code}, 3, {run}, 1, '{{}}', '2024-08-16 10:00:00', '2024-08-16 10:00:00')"));
        }
        let before = db.dump();
        plan(&db, &["--waiters", "leave"]).expect(0);
        sealed("apply", &db, "b", &[]).expect(0);
        let left: Vec<_> = db
            .rows("SELECT id FROM t_ds_serial_command ORDER BY id")
            .into_iter()
            .map(|r| r[0].clone().unwrap())
            .collect();
        assert_eq!(left, ["2", "4"]);
        sealed("rollback", &db, "b", &[]).expect(0);
        assert_eq!(db.dump(), before);
    }
}

/// No master carries out a command for a version that is gone.
#[test]
fn a_version_that_is_gone_is_not_woken() {
    for server in Server::available("serial_chain") {
        let db = asleep(server, "3.1.9");
        db.exec("INSERT INTO t_ds_process_definition_log (id, code, name, version, project_code, create_time, update_time) VALUES (1, 77, 'wf', 4, 1, '2024-08-16 10:00:00', '2024-08-16 10:00:00')");
        let planned = plan(&db, &["--waiters", "wake"]).expect(0);
        assert!(planned.out.contains("no-definition") && !db.path("b").exists(), "{}", planned.out);
    }
}

/// A text that is no JSON has no start parameters, and harms nobody.
#[test]
fn a_parameter_that_is_no_json_is_left_behind() {
    for server in Server::available("serial_chain") {
        let db = asleep(server, "3.2.2");
        db.exec("UPDATE t_ds_process_instance SET command_param = '{\"StartParams\":\"{cut' WHERE id = 501");
        plan(&db, &["--waiters", "wake"]).expect(0);
        sealed("apply", &db, "b", &[]).expect(0);
        assert_eq!(new_commands(&db)[0][4], "{\"ProcessInstanceId\":501}", "{server:?}");
    }
}

/// The end that a plan writes is the newest of the run's tasks, and may be young.
#[test]
fn a_waiter_is_woken_however_young_the_end_that_is_written() {
    for server in Server::available("serial_chain") {
        let mut f = Fixture::new(server, "3.1.9").unwrap();
        f.definition("1").run("1", "1", "10.0.0.9", &[]).task("1", "1", "a", "7", "1").task("2", "1", "b", "1", "1");
        f.run("2", "14", "10.0.0.9", &[("definition_code", "1")]);
        let filled = f.database();
        // Everything began before the cut-off, task 1 ended after it.
        let said = ["--dead-owner", "*", "--choose", "finish", "--waiters", "wake", "--older-than", "13h58m"];
        filled.plan("zombie-tasks", "b", &said).expect(0);
        assert_eq!(filled.planned("b"), ["task_instance 2", "workflow_instance 1", "command 1"], "{server:?}");
        filled.apply("b");
    }
}

//! apache/dolphinscheduler#13389, #14077, #18014: stop was pressed, and no master holds the run any more.

use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest;
use crate::support::program::{on_bundle, plan, sealed};

fn stuck(server: Server, release: &str) -> TestDb {
    let db = TestDb::with_schema(server, &manifest(release));
    for sql in [
        "INSERT INTO t_ds_process_instance (id, name, process_definition_code, process_definition_version, state, executor_id, host, start_time, end_time) VALUES (94289, 'wf', 5, 1, 4, 1, '10.0.0.3:5678', '2023-01-12 14:00:00', NULL)",
        "INSERT INTO t_ds_task_instance (id, name, task_type, task_code, process_instance_id, state, host, start_time, end_time, task_definition_version) VALUES \
         (1, 'ok', 'SHELL', 1, 94289, 7, '10.0.0.4:1234', '2023-01-12 14:00:01', '2023-01-12 14:05:00', 1), \
         (2, 'run', 'SHELL', 2, 94289, 1, '10.0.0.4:1234', '2023-01-12 14:05:01', NULL, 1), \
         (3, 'subm', 'SHELL', 3, 94289, 0, NULL, NULL, NULL, 1), \
         (4, 'disp', 'SHELL', 4, 94289, 17, '10.0.0.5:1234', NULL, NULL, 1)",
    ] {
        db.exec(sql);
    }
    db.exec(&format!("INSERT INTO t_ds_version (id, version) VALUES (1, '{release}')"));
    db
}

#[test]
fn nothing_is_planned_without_a_word_about_the_owner() {
    for server in Server::available("ready_stop") {
        let db = stuck(server, "3.1.9");
        let refused = plan(&db, "b", &[]).expect(4);
        assert!(refused.out.contains("owner-may-live"), "{}", refused.out);
        assert!(refused.err.contains("--dead-owner"), "{}", refused.err);
        assert!(!db.path("b").exists());
    }
}

#[test]
fn unfinished_tasks_are_killed_and_the_run_is_stopped() {
    for server in Server::available("ready_stop") {
        for release in ["3.0.6", "3.1.9"] {
            let db = stuck(server, release);
            let before = db.dump();
            plan(&db, "b", &["--dead-owner", "10.0.0.3:5678"]).expect(0);
            sealed("apply", &db, "b", &[]).expect(0);
            let tasks = db.rows("SELECT id, state, start_time, end_time FROM t_ds_task_instance ORDER BY id");
            let states: Vec<_> = tasks.iter().map(|r| r[1].clone().unwrap()).collect();
            assert_eq!(states, ["7", "9", "9", "9"], "{release}");
            assert!(tasks[2][2].is_none() && tasks[3][2].is_none(), "start_time stays NULL");
            assert!(tasks.iter().all(|r| r[3].is_some()), "every end_time is set");
            let ends: Vec<_> = tasks.iter().map(|r| r[3].clone().unwrap()).collect();
            assert_eq!(ends[1], "2023-01-12 14:05:01", "no task ends before it started");
            assert_eq!(ends[2], "2023-01-12 14:05:00", "else the newest end of the run's tasks");
            let run = db.rows("SELECT state, end_time, host FROM t_ds_process_instance").remove(0);
            assert_eq!(run[0].as_deref(), Some("5"));
            assert_eq!(run[1].as_deref(), Some("2023-01-12 14:05:01"));
            on_bundle("verify", &db, "b").expect(0);
            sealed("rollback", &db, "b", &[]).expect(0);
            assert_eq!(db.dump(), before, "old states and NULL end times are back");
        }
    }
}

/// In releases with one enum for both tables a task may hold a workflow's state.
#[test]
fn a_shared_enum_has_more_unfinished_states() {
    let db = stuck(Server::Sqlite, "3.0.6");
    db.exec("UPDATE t_ds_task_instance SET state = 4 WHERE id = 3");
    plan(&db, "b", &["--dead-owner", "10.0.0.3"]).expect(0);
    sealed("apply", &db, "b", &[]).expect(0);
    assert_eq!(db.value("SELECT state FROM t_ds_task_instance WHERE id = 3").as_deref(), Some("9"));
}

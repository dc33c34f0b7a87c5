//! Tasks whose process is gone: what they become, by state and by the operator's word.

use super::{FRESH, Night, OLD, inspect, plan, releases, round, tasks};
use crate::support::db::{Server, TestDb, same};
use crate::support::fixture::manifest_of;
use crate::support::program::{on_bundle, sealed};

const LAST_BEAT: &str = "2026-11-01 10:00:12.345678";

/// A crash: dead tasks in every state that is held, one that lives, some that nobody holds.
fn crash(server: Server, release: &str) -> TestDb {
    let m = manifest_of("airflow", release);
    let restarts = m.has("task_instance.trigger_id");
    let mut night = Night::new(server, &m);
    night.dag("d", true).run("d/r", "running", &[]).run("d/done", "success", &[("end_time", Some(OLD))]);
    night.job("1", "SchedulerJob", "running", OLD);
    night.job("2", "LocalTaskJob", "running", LAST_BEAT).job("3", "LocalTaskJob", "running", FRESH);
    let dead = |tries: &'static str| {
        [
            ("start_time", Some(OLD)),
            ("beat", Some(LAST_BEAT)),
            ("job_id", Some("2")),
            ("host", Some("w1")),
            ("max_tries", Some(tries)),
            // Of an earlier try; fifteen digits are not the whole number, six are less.
            ("duration", Some("0.30000000000000004")),
        ]
    };
    night.task("d/r", "dead_last", Some("running"), &dead("0"));
    night.task("d/r", "dead_retry", Some("running"), &dead("2"));
    let living = [("start_time", Some(OLD)), ("beat", Some(FRESH)), ("job_id", Some("3"))];
    night.task("d/r", "living", Some("running"), &living);
    night.task("d/r", "next", None, &[]);
    night.task("d/r", "queued", Some("queued"), &[("queued_at", Some(OLD)), ("external_id", Some("e"))]);
    if restarts {
        night.task("d/r", "restarting", Some("restarting"), &dead("0"));
    }
    night.task("d/done", "never_ran", None, &[]);
    night.done()
}

const AGE: &[&str] = &["--older-than", "1h", "--choose", "finish"];

#[test]
fn lost_tasks_fail_and_cleared_ones_are_retried() {
    for server in Server::available("airflow_zombie_tasks") {
        for release in releases(server) {
            let db = crash(server, release);
            plan(&db, release, "zombie-tasks", AGE).expect(0);
            round(&db, release, |db| {
                let mut expected = vec![
                    "dead_last: failed 12.3457",
                    "dead_retry: failed 12.3457",
                    "living: running -",
                    "never_ran: - -",
                    "next: - -",
                    "queued: failed -",
                ];
                if db.value("SELECT 1 FROM task_instance WHERE task_id = 'restarting'").is_some() {
                    expected.push("restarting: up_for_retry 12.3457");
                }
                assert_eq!(
                    tasks(db, &["state", "ROUND(CAST(duration AS DECIMAL(20, 6)), 4)"]),
                    expected,
                    "{server:?} {release}"
                );
                let open =
                    "SELECT COUNT(*) FROM task_instance WHERE state IN ('failed', 'up_for_retry') AND end_date IS NULL";
                assert_eq!(db.value(open).as_deref(), Some("0"));
            });
        }
    }
}

/// What `--task-outcome` makes of each task.
fn outcome(what: &str, columns: &[&str], expected: &[&str]) {
    for server in Server::available("airflow_task_outcome") {
        for release in releases(server).iter().filter(|r| !r.starts_with("1.") && !r.starts_with("2.1")) {
            let db = crash(server, release);
            plan(&db, release, "zombie-tasks", &[AGE, &["--task-outcome", what]].concat()).expect(0);
            round(&db, release, |db| assert_eq!(tasks(db, columns), expected, "{server:?} {release}"));
        }
    }
}

#[test]
fn an_outcome_of_failed_takes_back_the_restart() {
    let expected = [
        "dead_last: failed",
        "dead_retry: failed",
        "living: running",
        "never_ran: -",
        "next: -",
        "queued: failed",
        "restarting: failed",
    ];
    outcome("failed", &["state"], &expected);
}

/// apache/airflow#33661, #55045: a restarting task may always be retried.
#[test]
fn a_retry_needs_a_try_and_a_queued_task_queues_again() {
    let expected = [
        "dead_last: failed - 1",
        "dead_retry: up_for_retry - 1",
        "living: running - 1",
        "never_ran: - - 1",
        "next: - - 1",
        "queued: scheduled - -",
        "restarting: up_for_retry - 1",
    ];
    outcome("retry", &["state", "queued_dttm", "queued_by_job_id"], &expected);
}

#[test]
fn a_cleared_task_forgets_its_try() {
    let expected = [
        "dead_last: - - - - - -",
        "dead_retry: - - - - - -",
        "living: running 1 0 - - -",
        "never_ran: - - - - 1 -",
        "next: - - - - 1 -",
        "queued: - - - - - -",
        "restarting: - - - - - -",
    ];
    let begun = "CASE WHEN start_date IS NOT NULL THEN 1 END";
    let ended = "CASE WHEN end_date IS NOT NULL THEN 1 WHEN state = 'running' THEN 0 END";
    let queued_by = "CASE WHEN state = 'running' THEN NULL ELSE queued_by_job_id END";
    outcome("clear", &["state", begun, ended, "duration", queued_by, "external_executor_id"], &expected);
}

/// apache/airflow#49526: NULL is a state. It is no anomaly and no zombie; in a finished run it says "never ran".
#[test]
fn no_status_is_a_state() {
    for server in Server::available("airflow_no_status") {
        for release in releases(server) {
            let db = crash(server, release);
            let report = inspect(&db, release, AGE);
            assert_eq!(report["anomalies"].as_array().unwrap().len(), 0, "{}", report["anomalies"]);
            let null = report["states"].as_array().unwrap().iter().find(|s| s["code"].is_null()).unwrap();
            assert_eq!((null["name"].as_str(), null["rows"].as_u64()), (Some("NONE"), Some(2)));
            let left = report["left_out"].as_array().unwrap().iter().find(|l| l["reason"] == "never-ran").unwrap();
            assert_eq!(left["rows"], 1, "{left}");
        }
    }
}

/// Pokes of the try that a cleared sensor begins anew are deleted, and come back with the undo.
#[test]
fn pokes_go_with_the_try() {
    for server in Server::available("airflow_pokes") {
        for release in releases(server) {
            let m = manifest_of("airflow", release);
            let mut night = Night::new(server, &m);
            night.dag("d", true).run("d/r", "running", &[]);
            for task in ["sensor", "other"] {
                let state = if task == "sensor" { "running" } else { "up_for_reschedule" };
                night.task("d/r", task, Some(state), &[("start_time", Some(OLD)), ("job_id", Some("2"))]);
            }
            for (id, task, number) in [("1", "sensor", "1"), ("2", "other", "2")] {
                let ti = format!("{number:0>32}");
                let values = [
                    ("id", Some(id)),
                    ("ti_id", Some(ti.as_str())),
                    ("dag_id", Some("d")),
                    ("task_id", Some(task)),
                    ("run_id", Some("r")),
                    ("date", Some("2026-10-01 00:00:00")),
                    ("map_index", Some("-1")),
                    ("try_number", Some("1")),
                ];
                night.rows.add("task_reschedule", &values);
            }
            let db = night.done();
            plan(&db, release, "zombie-tasks", &[AGE, &["--task-outcome", "clear"]].concat()).expect(0);
            round(&db, release, |db| {
                let left = db.rows(&format!("SELECT {} FROM task_reschedule", db.server.dialect().as_text("id")));
                assert_eq!(left, [[Some("2".to_owned())]], "{server:?} {release}");
            });
        }
    }
}

/// A deferred task of a finished run, and of a DAG that is gone: nobody queues it when its trigger
/// fires. Failed, it forgets the trigger; left in place, its next try would go on in the callback.
#[test]
fn deferred_tasks_that_nobody_would_queue_fail() {
    for server in Server::available("airflow_deferred") {
        for release in releases(server).iter().filter(|r| !r.starts_with("1.") && !r.starts_with("2.1")) {
            let m = manifest_of("airflow", release);
            let mut night = Night::new(server, &m);
            night.dag("d", true).dag("gone", false);
            night.run("d/open", "running", &[]).run("d/done", "failed", &[("end_time", Some(OLD))]);
            night.run("gone/open", "running", &[]);
            for trigger in ["1", "2", "3"] {
                night.rows.add("trigger", &[("id", Some(trigger)), ("classpath", Some("x"))]);
            }
            for (run, task, trigger) in [("d/open", "open", "1"), ("d/done", "done", "2"), ("gone/open", "gone", "3")] {
                let values = [
                    ("start_time", Some(OLD)),
                    ("updated", Some(OLD)),
                    ("trigger_id", Some(trigger)),
                    ("next_method", Some("execute_complete")),
                    ("next_kwargs", Some("{}")),
                ];
                night.task(run, task, Some("deferred"), &values);
            }
            let db = night.done();
            plan(&db, release, "zombie-tasks", AGE).expect(0);
            round(&db, release, |db| {
                let found = tasks(db, &["state", "trigger_id", "next_method"]);
                let expected = ["done: failed - -", "gone: failed - -", "open: deferred 1 execute_complete"];
                assert_eq!(found, expected, "{server:?} {release}");
                assert_eq!(db.value("SELECT state FROM dag_run WHERE id = 3").as_deref(), Some("failed"));
            });
        }
    }
}

/// A run that ended after the repair keeps its tasks as they are: under it they would be nobody's.
#[test]
fn an_undo_makes_no_ghosts() {
    for server in Server::available("airflow_undo_makes_no_ghosts") {
        let db = crash(server, "2.11.2");
        plan(&db, "2.11.2", "zombie-tasks", AGE).expect(0);
        sealed("apply", &db, "b", &[]).expect(0);
        db.exec("UPDATE dag_run SET state = 'failed' WHERE run_id = 'r'");
        let standing = db.dump();
        let verified = on_bundle("verify", &db, "b").expect(0);
        assert!(verified.out.contains("tied: what 4 rows of this bundle belong to"), "{}", verified.out);
        let refused = sealed("rollback", &db, "b", &[]).expect(4);
        assert!(refused.err.contains("the row that they belong to did (first in 03_task_instance"), "{}", refused.err);
        // Jobs are units of their own.
        let partial = sealed("rollback", &db, "b", &["--partial"]).expect(4);
        assert!(partial.err.contains("and leave 4 rows"), "{}", partial.err);
        let by_hand = db.stock(&db.path("b").join(format!("rollback.{}", server.client())));
        assert!(!by_hand.status.success(), "{server:?}: the stock client must stop");
        same(&db.dump(), &standing, "nothing was rolled back");
        db.exec("UPDATE dag_run SET state = 'running' WHERE run_id = 'r'");
        sealed("rollback", &db, "b", &[]).expect(0);
    }
}

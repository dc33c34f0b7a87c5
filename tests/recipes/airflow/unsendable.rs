//! Tasks without a DAG version (3.x), which no scheduler can hand to an executor (apache/airflow#61813).

use super::{FRESH, Night, OLD, inspect, plan, round, tasks};
use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest_of;

const AGE: &[&str] = &["--older-than", "1h"];
const RELEASES: &[&str] = &["3.0.6", "3.1.8", "3.3.2"];
const NONE: [(&str, Option<&str>); 1] = [("dag_version_id", None)];
const VERSION: &str = "00000000000000000000000000000007";

/// A dead task with a version and two without, one of them of a DAG that has none.
fn migrated(server: Server, release: &str) -> TestDb {
    let m = manifest_of("airflow", release);
    let mut night = Night::new(server, &m);
    night.dag("d", true).dag("new", true).run("d/r", "running", &[]).run("new/r", "running", &[]);
    let version = [("id", Some(VERSION)), ("dag_id", Some("d")), ("number", Some("1")), ("created_at", Some(OLD))];
    night.rows.add("dag_version", &version);
    night.job("1", "SchedulerJob", "running", OLD);
    let dead = [("start_time", Some(OLD)), ("beat", Some(OLD)), ("host", Some("w"))];
    night.task("d/r", "has", Some("running"), &[&dead[..], &[("dag_version_id", Some(VERSION))]].concat());
    let dead = [&dead[..], &NONE].concat();
    night.task("d/r", "lacks", Some("running"), &dead);
    night.task("new/r", "never", Some("running"), &dead);
    let alive = [("start_time", Some(OLD)), ("beat", Some(FRESH))];
    night.task("d/r", "alive", Some("running"), &[alive, [NONE[0], ("host", None)]].concat());
    night.done()
}

#[test]
fn no_scheduler_is_told_to_run_them_again() {
    for release in RELEASES {
        let db = migrated(Server::Sqlite, release);
        let report = inspect(&db, release, AGE);
        let rows = |code: &str| {
            let found = report["findings"].as_array().unwrap().iter().find(|f| f["code"] == code);
            found.map(|f| f["rows"].as_u64().unwrap())
        };
        assert_eq!((rows("unsendable-task"), rows("task-of-dead-owner")), (Some(2), Some(1)), "{release}");
        let resumed = [AGE, &["--choose", "resume"]].concat();
        plan(&db, release, "zombie-tasks", &resumed).expect(0);
        round(&db, release, |db| {
            let expected = ["alive: running", "has: running", "lacks: failed", "never: failed"];
            assert_eq!(tasks(db, &["state"]), expected, "{release}");
        });
    }
}

/// Whoever wants them to run again gets the version with the state, or the reason why not.
#[test]
fn what_runs_again_gets_the_newest_version() {
    for server in Server::available("airflow_unsendable") {
        for release in RELEASES {
            let db = migrated(server, release);
            let planned =
                plan(&db, release, "zombie-tasks", &[AGE, &["--choose", "finish", "--task-outcome", "clear"]].concat())
                    .expect(0);
            assert!(planned.out.contains("no version yet"), "{}", planned.out);
            round(&db, release, |db| {
                let known = "CASE WHEN dag_version_id IS NULL THEN 0 ELSE 1 END";
                let expected = ["alive: running 0", "has: - 1", "lacks: - 1", "never: running 0"];
                assert_eq!(tasks(db, &["state", known]), expected, "{server:?} {release}");
            });
        }
    }
}

/// A restarting task becomes up_for_retry unless told otherwise: that, too, needs a version.
#[test]
fn a_restarting_task_is_left_out_or_closed() {
    let m = manifest_of("airflow", "3.1.8");
    let mut night = Night::new(Server::Sqlite, &m);
    night.dag("new", true).run("new/r", "running", &[]).job("1", "SchedulerJob", "failed", OLD);
    night.task("new/r", "t", Some("restarting"), &[("start_time", Some(OLD)), ("beat", Some(OLD)), NONE[0]]);
    let db = night.done();
    plan(&db, "3.1.8", "zombie-tasks", AGE).expect(0);
    assert!(!db.path("b").exists());
    plan(&db, "3.1.8", "zombie-tasks", &[AGE, &["--task-outcome", "failed"]].concat()).expect(0);
    round(&db, "3.1.8", |db| assert_eq!(tasks(db, &["state"]), ["t: failed"]));
}

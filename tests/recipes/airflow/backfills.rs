//! Runs of `airflow dags backfill` (up to 2.11), which no scheduler drives (apache/airflow#11302, #34448).

use super::{FRESH, Night, OLD, inspect, plan, releases, round, tasks};
use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest_of;

const AGE: &[&str] = &["--older-than", "1h", "--choose", "finish"];

/// A backfill that died: one task of its run is done, one ran, one waits, one never began.
fn backfill(server: Server, release: &str, beat: &str, ran: &str) -> TestDb {
    let m = manifest_of("airflow", release);
    let mut night = Night::new(server, &m);
    night.dag("d", true).run("d/backfill__x", "running", &[("run_type", Some("backfill"))]);
    night.run("d/backfill", "running", &[]);
    night.job("2", "LocalTaskJob", "failed", OLD);
    let job = [("type", "BackfillJob"), ("state", "running"), ("beat", beat), ("start_time", OLD), ("dag_id", "d")];
    let job: Vec<_> = [("id", "3"), ("host", "h1")].into_iter().chain(job).map(|(k, v)| (k, Some(v))).collect();
    night.rows.add("job", &job);
    let began = [("start_time", Some(OLD)), ("end_time", Some(OLD)), ("updated", Some(OLD))];
    night.task("d/backfill__x", "a_done", Some("success"), &began);
    let values = [("start_time", Some(OLD)), ("job_id", Some("2")), ("updated", Some(OLD)), ("queued_by", Some("3"))];
    night.task("d/backfill__x", "b_ran", Some(ran), &values);
    night.task("d/backfill__x", "c_waits", Some("scheduled"), &[("updated", Some(OLD))]);
    night.task("d/backfill__x", "d_never", None, &[("updated", Some(OLD))]);
    night.task("d/backfill", "other", None, &[("updated", Some(OLD))]);
    night.done()
}

fn of_backfills(server: Server) -> impl Iterator<Item = &'static &'static str> {
    releases(server).iter().filter(|r| !r.starts_with("3."))
}

#[test]
fn a_dead_backfill_is_closed_with_its_tasks_and_its_job() {
    for server in Server::available("airflow_backfills") {
        for release in of_backfills(server) {
            let db = backfill(server, release, OLD, "running");
            plan(&db, release, "--all", AGE).expect(0);
            round(&db, release, |db| {
                let expected = ["a_done: success", "b_ran: failed", "c_waits: skipped", "d_never: -", "other: -"];
                assert_eq!(tasks(db, &["state"]), expected, "{server:?} {release}");
                let state = |run: &str| db.value(&format!("SELECT state FROM dag_run WHERE run_id = '{run}'")).unwrap();
                assert_eq!((state("backfill__x"), state("backfill")), ("failed".into(), "running".into()), "{release}");
                assert_eq!(db.value("SELECT state FROM job WHERE id = 3").as_deref(), Some("failed"), "{release}");
            });
        }
    }
}

/// What stops a scheduler elsewhere stops none here, so one recipe alone wants such a task.
#[test]
fn a_retry_without_an_end_is_closed_with_its_backfill() {
    let m = manifest_of("airflow", "2.2.5");
    let mut night = Night::new(Server::Sqlite, &m);
    night.dag("d", true).run("d/backfill__x", "running", &[("run_type", Some("backfill"))]);
    night.task("d/backfill__x", "t", Some("up_for_retry"), &[("start_time", Some(OLD))]);
    let db = night.done();
    plan(&db, "2.2.5", "--all", AGE).expect(0);
    round(&db, "2.2.5", |db| assert_eq!(tasks(db, &["state"]), ["t: skipped"]));
}

/// A backfill of the DAG that beats goes on with its runs by itself.
#[test]
fn a_living_backfill_keeps_its_runs() {
    for release in of_backfills(Server::Sqlite) {
        let db = backfill(Server::Sqlite, release, FRESH, "success");
        let report = inspect(&db, release, AGE);
        let left = report["left_out"].as_array().unwrap().iter();
        let runs = left.filter(|l| l["role"] == "dag_run").map(|l| l["reason"].as_str().unwrap());
        assert!(runs.collect::<Vec<_>>().contains(&"owner-may-live"), "{release}: {}", report["left_out"]);
        plan(&db, release, "stranded-runs", &["--older-than", "1h"]).expect(0);
        assert!(!db.path("b").exists());
    }
}

//! Runs that no scheduler ends.

use super::{Night, OLD, inspect, plan, releases, round, tasks};
use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest_of;
use crate::support::program::flowmend;

const AGE: &[&str] = &["--older-than", "1h"];

/// apache/airflow#71540: a task row of run `r1` was deleted, and run `r2` waits for its place.
fn missing_row(server: Server, release: &str) -> TestDb {
    let m = manifest_of("airflow", release);
    let mut night = Night::new(server, &m);
    night.dag("d", true).run("d/r0", "success", &[("end_time", Some(OLD))]).run("d/r1", "running", &[]);
    night.run("d/r2", "queued", &[("start_time", None)]);
    night.task("d/r0", "first", Some("success"), &[]).task("d/r0", "second", Some("success"), &[]);
    night.task("d/r1", "second", None, &[]);
    night.done()
}

#[test]
fn a_missing_task_row_is_inferred_and_the_run_closed_by_your_word() {
    for server in Server::available("airflow_missing_row") {
        for release in releases(server).iter().filter(|r| !r.starts_with("1.")) {
            let db = missing_row(server, release);
            let report = inspect(&db, release, AGE);
            let left = report["left_out"].as_array().unwrap().iter().map(|l| l["reason"].as_str().unwrap());
            assert!(left.collect::<Vec<_>>().contains(&"inferred"), "{server:?} {release}: {}", report["left_out"]);
            let blocked = report["findings"].as_array().unwrap().iter().any(|f| f["code"] == "run-behind-stranded");
            assert!(blocked, "{server:?} {release}: {}", report["findings"]);
            plan(&db, release, "stranded-runs", AGE).expect(0);
            assert!(!db.path("b").exists());
            plan(&db, release, "stranded-runs", &[AGE, &["--close-runs"]].concat()).expect(0);
            round(&db, release, |db| {
                let runs = db.rows("SELECT run_id, state FROM dag_run WHERE state <> 'success' AND run_id <> 'r2'");
                assert_eq!(runs, [[Some("r1".to_owned()), Some("failed".to_owned())]], "{server:?} {release}");
                assert_eq!(
                    db.value("SELECT COUNT(*) FROM dag_run WHERE run_id = 'r1' AND end_date IS NULL").as_deref(),
                    Some("0")
                );
                assert_eq!(tasks(db, &["state"]).len(), 3, "no row was made");
                assert_eq!(db.value("SELECT COUNT(*) FROM task_instance WHERE state IS NULL").as_deref(), Some("1"));
            });
        }
    }
}

#[test]
fn what_blocks_a_queued_run_is_named() {
    let db = missing_row(Server::Sqlite, "3.1.8");
    let place = ["inspect", "--url", &db.url, "--release", "3.1.8", "--now", "2026-11-29T00:00:00Z", "--explain"];
    let seen = flowmend([&place, AGE].concat()).expect(1);
    let text = seen.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("1 running run of its DAG fills its max_active_runs of 1; the oldest is r1."), "{text}");
    assert!(text.contains("is inferred from an earlier run of the DAG; the DAG may have changed since."), "{text}");
}

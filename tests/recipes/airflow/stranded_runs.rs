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

/// 3.0 and later count the running runs of a DAG and of each backfill apart, each against its own limit.
#[test]
fn a_backfill_has_places_of_its_own() {
    for server in Server::available("airflow_backfill_places") {
        for release in releases(server).iter().filter(|r| r.starts_with("3.")) {
            let m = manifest_of("airflow", release);
            let mut night = Night::new(server, &m);
            night.dag("d", true);
            for (id, places) in [("1", "1"), ("2", "2")] {
                let values = [("id", id), ("dag_id", "d"), ("max_active_runs", places), ("paused", "0")];
                night.rows.add("backfill", &values.map(|(name, value)| (name, Some(value))));
            }
            let of = |backfill| [("backfill_id", Some(backfill)), ("run_type", Some("backfill"))];
            night.run("d/first_runs", "running", &of("1")).run("d/first_waits", "queued", &of("1"));
            night.run("d/second_runs", "running", &of("2")).run("d/second_starts", "queued", &of("2"));
            night.run("d/scheduled_starts", "queued", &[]);
            let db = night.done();
            assert_eq!(behind(&db, release), ["d/first_waits"], "{server:?} {release}");
            // A run of the DAG takes the DAG's place, and no backfill's.
            db.exec("UPDATE dag_run SET state = 'running', backfill_id = NULL WHERE run_id = 'second_runs'");
            assert_eq!(behind(&db, release), ["d/first_waits", "d/scheduled_starts"], "{server:?} {release}");
            let place = ["inspect", "--url", &db.url, "--release", release, "--now", "2026-11-29T00:00:00Z"];
            let seen = flowmend([&place, AGE, &["--explain"]].concat()).expect(1);
            let text = seen.out.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains("1 running run of its backfill fills its max_active_runs of 1"), "{text}");
        }
    }
}

/// The runs that wait behind others.
fn behind(db: &TestDb, release: &str) -> Vec<String> {
    let report = inspect(db, release, AGE);
    let found = report["findings"].as_array().unwrap().iter().filter(|f| f["code"] == "run-behind-stranded");
    let samples = found.flat_map(|f| f["sample"].as_array().unwrap());
    let name = |s: &serde_json::Value| s.as_str().unwrap().rsplit(' ').next().unwrap().to_owned();
    let mut names: Vec<String> = samples.map(name).collect();
    names.sort();
    names
}

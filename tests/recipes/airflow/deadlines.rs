//! Finished runs without an end that have a deadline (3.1), which stop the scheduler (apache/airflow#58949).

use super::{Night, OLD, inspect, plan, round};
use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest_of;

const ENDED: &str = "2026-11-01 11:00:00";

fn found(db: &TestDb, release: &str) -> Option<u64> {
    let report = inspect(db, release, &[]);
    let found = report["findings"].as_array().unwrap().iter().find(|f| f["code"] == "run-without-end");
    found.and_then(|f| f["rows"].as_u64())
}

/// Runs that are finished without an end, with a deadline and without; with an end; and open.
fn closed_by_hand(server: Server, release: &str) -> TestDb {
    let m = manifest_of("airflow", release);
    let mut night = Night::new(server, &m);
    night.dag("d", true);
    for (run, state, end) in [
        ("d/tasks", "success", None),
        ("d/bare", "failed", None),
        ("d/none", "failed", None),
        ("d/ended", "success", Some(OLD)),
        ("d/open", "running", None),
    ] {
        night.run(run, state, &[("end_time", end)]);
    }
    for (id, run) in [("01", "1"), ("02", "1"), ("03", "2"), ("04", "4"), ("05", "5")] {
        let id = format!("{id:0>32}");
        let values = [("id", Some(id.as_str())), ("run", Some(run)), ("time", Some(ENDED)), ("@callback", Some("{}"))];
        night.rows.add("deadline", &values);
    }
    night.task("d/tasks", "first", Some("success"), &[("start_time", Some(OLD)), ("end_time", Some(OLD))]);
    night.task("d/tasks", "last", Some("success"), &[("start_time", Some(OLD)), ("end_time", Some(ENDED))]);
    night.done()
}

#[test]
fn they_get_the_end_of_their_last_task() {
    for server in Server::available("airflow_deadlines") {
        let db = closed_by_hand(server, "3.1.3");
        assert_eq!(found(&db, "3.1.3"), Some(2), "{server:?}: a run of two deadlines is one run");
        plan(&db, "3.1.3", "runs-without-end", &[]).expect(0);
        round(&db, "3.1.3", |db| {
            let is = |run: &str, end: &str| {
                let sql = format!("SELECT COUNT(*) FROM dag_run WHERE run_id = '{run}' AND end_date {end}");
                assert_eq!(db.value(&sql).as_deref(), Some("1"), "{server:?} {run}");
            };
            is("tasks", &format!("= '{ENDED}'"));
            is("bare", "IS NOT NULL");
            is("none", "IS NULL");
            is("open", "IS NULL");
            assert_eq!(found(db, "3.1.3"), None, "{server:?}");
        });
    }
}

/// Before 3.1 there is nothing that would end on it, and from 3.2 on the scheduler asks first.
#[test]
fn other_releases_live_with_it() {
    for release in ["3.0.6", "3.3.2"] {
        let db = closed_by_hand(Server::Sqlite, release);
        assert_eq!(found(&db, release), None, "{release}");
    }
}

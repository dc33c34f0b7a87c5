//! The history of tries (2.10 and later).

use super::{Night, OLD, inspect, plan, round};
use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest_of;

const RELEASES: &[&str] = &["2.10.5", "3.0.6", "3.3.2"];

/// A task at each place of its life, with a record of the same or an earlier try: `(task, its state, its try, the record's state)`.
const RECORDS: &[(&str, Option<&str>, &str, Option<&str>)] = &[
    ("cleared", None, "1", Some("failed")),
    ("retries", Some("up_for_retry"), "1", Some("failed")),
    ("next", Some("running"), "2", Some("failed")),
    ("ghost", Some("success"), "2", Some("running")),
    ("silent", Some("running"), "2", None),
    ("twice", Some("running"), "1", Some("failed")),
    ("strange", Some("success"), "2", Some("shutdwn")),
];

fn kept(server: Server, release: &str) -> TestDb {
    let m = manifest_of("airflow", release);
    let mut night = Night::new(server, &m);
    night.dag("d", true).run("d/r", "running", &[]);
    for (place, (task, state, number, recorded)) in RECORDS.iter().enumerate() {
        night.task("d/r", task, *state, &[("start_time", Some(OLD)), ("try_number", Some(number))]);
        let id = if release.starts_with('2') { place.to_string() } else { format!("{:032}", 700 + place) };
        night.rows.add(
            "task_instance_history",
            &[
                ("id", Some(&id)),
                ("dag_id", Some("d")),
                ("task_id", Some(task)),
                ("run_id", Some("r")),
                ("map_index", Some("-1")),
                ("try_number", Some("1")),
                ("start_time", Some(OLD)),
                ("state", *recorded),
                ("@pool", Some("default_pool")),
                ("@pool_slots", Some("1")),
            ],
        );
    }
    night.done()
}

fn rows(report: &serde_json::Value, code: &str) -> Option<u64> {
    let found = report["findings"].as_array().unwrap().iter().find(|f| f["code"] == code);
    found.and_then(|f| f["rows"].as_u64())
}

#[test]
fn records_that_never_end_are_closed() {
    for server in Server::available("airflow_tries") {
        for release in RELEASES {
            let db = kept(server, release);
            let report = inspect(&db, release, &[]);
            let seen = ["unfinished-try", "try-recorded-already", "unknown-try-state"].map(|code| rows(&report, code));
            assert_eq!(seen, [Some(2), Some(1), Some(1)], "{server:?} {release}: {}", report["findings"]);
            plan(&db, release, "unfinished-tries", &[]).expect(0);
            let ticket = std::fs::read_to_string(db.path("b").join("TICKET.md")).unwrap();
            assert!(ticket.contains("recorded tries "), "{release}: {ticket}");
            round(&db, release, |db| {
                let sql =
                    "SELECT task_id, state FROM task_instance_history WHERE end_date IS NOT NULL ORDER BY task_id";
                let failed = |task: &str| [Some(task.to_owned()), Some("failed".to_owned())];
                assert_eq!(db.rows(sql), [failed("ghost"), failed("silent")], "{server:?} {release}");
            });
        }
    }
}

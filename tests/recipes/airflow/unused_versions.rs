//! Old versions of DAGs (apache/airflow#59474, #63703, #71864).

use super::{Night, OLD, inspect, plan, round};
use crate::support::db::{Server, TestDb};
use crate::support::fixture::{Rows, manifest_of};
use crate::support::program::sealed;

/// Version 1 is unused, 2 has a task, 3 made a run, 4 is unused and young, 5 is the newest.
fn versions(server: Server, release: &str) -> TestDb {
    let m = manifest_of("airflow", release);
    let mut night = Night::new(server, &m);
    night.dag("d", true);
    let id = |number: &str| format!("0000000000000000000000000000000{number}");
    for (number, made) in [("1", OLD), ("2", OLD), ("3", OLD), ("4", "2026-11-28 23:50:00"), ("5", OLD)] {
        let id = id(number);
        let values = [("id", id.as_str()), ("dag_id", "d"), ("number", number), ("created_at", made)];
        night.rows.add("dag_version", &values.map(|(name, value)| (name, Some(value))));
        for role in ["serialized_dag", "dag_code"] {
            night.rows.add(role, &[("id", Some(&id)), ("dag_id", Some("d")), ("version_id", Some(&id))]);
        }
    }
    night.run("d/r", "success", &[("end_time", Some(OLD)), ("dag_version_id", Some(&id("3")))]);
    night.task("d/r", "t", Some("success"), &[("dag_version_id", Some(&id("2")))]);
    night.done()
}

#[test]
fn unused_versions_go_when_asked_and_come_back() {
    for server in Server::available("airflow_unused_versions") {
        for release in ["3.0.6", "3.1.8", "3.3.2"] {
            let db = versions(server, release);
            let report = inspect(&db, release, &["--older-than", "1h"]);
            assert!(report["findings"].as_array().unwrap().iter().all(|f| f["code"] != "unused-version"));
            plan(&db, release, "unused-versions", &["--older-than", "1h"]).expect(0);
            assert!(!db.path("b").exists());
            plan(&db, release, "unused-versions", &["--older-than", "1h", "--delete-versions"]).expect(0);
            round(&db, release, |db| {
                for table in ["dag_version", "serialized_dag", "dag_code"] {
                    let count = db.value(&format!("SELECT {} FROM {table}", db.server.dialect().as_text("COUNT(*)")));
                    assert_eq!(count.as_deref(), Some("4"), "{server:?} {release} {table}");
                }
                assert_eq!(db.rows("SELECT task_id FROM task_instance").len(), 1);
                assert!(db.rows("SELECT dag_id FROM dag_version WHERE version_number = 1").is_empty());
            });
        }
    }
}

/// A version on which deadline alerts hang stays, with them: also where they came after the plan.
#[test]
fn versions_with_deadline_alerts_stay() {
    for server in Server::available("airflow_alerted_versions") {
        for release in server.share(&["3.2.2", "3.3.2"]) {
            let (db, m) = (versions(server, release), manifest_of("airflow", release));
            let asked = ["--older-than", "1h", "--delete-versions"];
            plan(&db, release, "unused-versions", &asked).expect(0);
            let mut rows = Rows::new(&m, server.dialect());
            let id = Some("00000000000000000000000000000001");
            rows.add("deadline_alert", &[("id", id), ("serialized_dag_id", id)]);
            db.exec_all(&rows.statements);
            let refused = sealed("apply", &db, "b", &[]).expect(3);
            assert!(
                refused.err.contains("no deadline alert hangs on the version"),
                "{server:?} {release}: {}",
                refused.err
            );
            std::fs::remove_dir_all(db.path("b")).unwrap();
            let planned = plan(&db, release, "unused-versions", &asked).expect(0);
            assert!(planned.out.contains("deadline alerts hang on it"), "{server:?} {release}: {}", planned.out);
            assert!(!db.path("b").exists());
            assert_eq!(db.rows("SELECT id FROM deadline_alert").len(), 1);
        }
    }
}

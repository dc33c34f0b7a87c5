//! Triggers that a task should have given back (apache/airflow#25859).

use super::{Night, OLD, inspect};
use crate::support::db::Server;
use crate::support::fixture::manifest_of;

#[test]
fn a_task_that_is_not_deferred_and_names_a_trigger_is_shown() {
    for release in ["2.2.5", "2.10.5", "3.3.2"] {
        let m = manifest_of("airflow", release);
        let mut night = Night::new(Server::Sqlite, &m);
        night.dag("d", true).run("d/r", "running", &[]);
        for trigger in ["1", "2", "3"] {
            night.rows.add("trigger", &[("id", Some(trigger)), ("classpath", Some("x"))]);
        }
        for (task, state, trigger) in [
            ("cleared", None, Some("1")),
            ("failed", Some("failed"), Some("2")),
            ("waits", Some("deferred"), Some("3")),
            ("next", None, None),
        ] {
            night.task("d/r", task, state, &[("start_time", Some(OLD)), ("trigger_id", trigger)]);
        }
        let report = inspect(&night.done(), release, &[]);
        let found = report["findings"].as_array().unwrap().iter().find(|f| f["code"] == "trigger-left-behind");
        assert_eq!(found.map(|f| f["rows"].as_u64()), Some(Some(2)), "{release}: {}", report["findings"]);
    }
}

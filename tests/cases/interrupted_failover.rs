//! apache/dolphinscheduler#13355: a master died in the middle of a failover.

use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest;
use crate::support::program::flowmend;

#[test]
fn the_text_null_without_a_command_is_a_stranded_run() {
    for server in Server::available("interrupted_failover") {
        for release in ["3.0.6", "3.1.9", "3.2.2"] {
            let db = TestDb::with_schema(server, &manifest(release));
            for sql in [
                "INSERT INTO t_ds_process_instance (id, name, process_definition_code, process_definition_version, state, executor_id, host, recovery) VALUES \
                 (1, 'lost', 5, 1, 1, 1, 'NULL', 1), (2, 'in-flight', 5, 1, 1, 1, 'NULL', 1), (3, 'new', 5, 1, 0, 1, NULL, 0), (4, 'owned', 5, 1, 1, 1, '10.0.0.1:5678', 0)",
                "INSERT INTO t_ds_command (id, command_type, process_definition_code, process_instance_id) VALUES (900, 2, 5, 2)",
            ] {
                db.exec(sql);
            }
            db.exec(&format!("INSERT INTO t_ds_version (id, version) VALUES (1, '{release}')"));
            let inspect = |extra: &[&str]| {
                let base = ["inspect", "--url", &db.url, "--release", release, "--zone", "+00:00", "--format", "json"];
                let seen = flowmend([&base[..], extra].concat());
                serde_json::from_str::<serde_json::Value>(&seen.out).unwrap()
            };
            let seen = inspect(&[]);
            let of = |code: &str| seen["findings"].as_array().unwrap().iter().find(|f| f["code"] == code).cloned();
            let lost = of("stranded-hand-over").unwrap_or_else(|| panic!("{release}: {seen}"));
            assert_eq!(lost["rows"], 1, "{lost}");
            assert_eq!(lost["sample"][0], "1 lost");
            let text = lost["explained"][0]["text"].as_str().unwrap();
            assert!(text.contains("#13355") && text.contains("resume") && text.contains("finish"), "{text}");
            let left = |seen: &serde_json::Value, reason: &str| -> Vec<String> {
                let all = seen["left_out"].as_array().unwrap().iter().filter(|l| l["reason"] == reason);
                all.flat_map(|l| l["sample"].as_array().unwrap().clone())
                    .map(|k| k.as_str().unwrap().to_owned())
                    .collect()
            };
            assert!(left(&seen, "pending-command").contains(&"2".to_owned()), "{seen}");
            assert!(
                left(&seen, "owner-may-live").contains(&"4".to_owned()),
                "listed only if its host is declared dead"
            );
            let every: Vec<String> = seen["findings"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|f| f["report_only"] == false)
                .map(ToString::to_string)
                .collect();
            assert!(every.iter().all(|f| !f.contains("\"3 new\"") && !f.contains("\"4 owned\"")), "{every:?}");
        }
    }
}

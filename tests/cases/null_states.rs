//! apache/dolphinscheduler#15055: NULL where the scheduler expects a value.

use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest;
use crate::support::program::flowmend;

#[test]
fn null_states_and_null_columns_are_both_reported() {
    for server in Server::available("null_states") {
        let db = TestDb::with_schema(server, &manifest("3.2.0"));
        db.exec("INSERT INTO t_ds_process_instance (id, name, process_definition_code, process_definition_version, state, executor_id) VALUES (265, 'wf', 1, 1, 1, 1)");
        db.exec(
            "INSERT INTO t_ds_task_instance (id, name, task_type, task_code, process_instance_id, state, task_execute_type, task_definition_version) VALUES \
             (837, 'nostate', 'SHELL', 1, 265, NULL, 0, 1), (838, 'noexec', 'SHELL', 2, 265, 1, NULL, 1), (839, 'fine', 'SHELL', 3, 265, 7, 0, 1)",
        );
        db.exec("INSERT INTO t_ds_version (id, version) VALUES (1, '3.2.0')");
        let run = flowmend(["inspect", "--url", &db.url, "--format", "json"]).expect(1);
        let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        let found: Vec<_> = report["anomalies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| (a["kind"].as_str().unwrap(), a["sample"][0].as_str().unwrap()))
            .collect();
        assert_eq!(found, [("null-state", "837"), ("null-column", "838")]);
        let human = flowmend(["inspect", "--url", &db.url]).expect(1);
        assert!(human.out.contains("NULL") && human.out.contains("upstream writes 0 by default"), "{}", human.out);
    }
}

#[test]
fn unknown_and_illegal_codes_have_names_of_their_own() {
    let db = TestDb::with_schema(Server::Sqlite, &manifest("3.1.9"));
    db.exec("INSERT INTO t_ds_process_instance (id, name, process_definition_code, process_definition_version, state, executor_id) VALUES (1, 'w', 1, 1, 9, 1)");
    db.exec("INSERT INTO t_ds_version (id, version) VALUES (1, '3.1.9')");
    let run = flowmend(["inspect", "--url", &db.url]).expect(1);
    assert!(run.out.contains("unknown-state") && run.out.contains("t_ds_process_instance.state"), "{}", run.out);
}

//! The linter beside a database: what it takes from it, and the rows that it counts there.

use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest;
use crate::support::program::{flowmend, plan};

const SERVERS: [Server; 4] = [Server::Sqlite, Server::PostgreSql, Server::MariaDb, Server::MySql];

/// Three running tasks of two hosts, in one run.
fn database(server: Server) -> TestDb {
    let db = TestDb::with_schema(server, &manifest("3.1.9"));
    db.exec_all(&[
        "INSERT INTO t_ds_version (id, version) VALUES (1, '3.1.9')".to_owned(),
        "INSERT INTO t_ds_process_instance (id, name, process_definition_code, process_definition_version, state, executor_id, host, start_time, restart_time, update_time) VALUES (1, 'run', 11, 1, 1, 1, '10.0.0.9:5678', '2026-11-28 10:00:00', '2026-11-28 10:00:00', '2026-11-28 10:00:00')".to_owned(),
        "INSERT INTO t_ds_task_instance (id, name, task_type, task_code, task_definition_version, process_instance_id, state, flag, host, submit_time, start_time) VALUES (1, 'a', 'SHELL', 1, 1, 1, 1, 1, '10.0.0.4:1234', '2026-11-28 10:00:00', '2026-11-28 10:00:00'), (2, 'b', 'SHELL', 2, 1, 1, 1, 1, '10.0.0.4:1234', '2026-11-28 10:00:00', '2026-11-28 10:00:00'), (3, 'c', 'SHELL', 3, 1, 1, 1, 1, '10.0.0.5:1234', '2026-11-28 10:00:00', '2026-11-28 10:00:00')".to_owned(),
    ]);
    db
}

/// Statements, and what is said of their rows.
fn script(server: Server) -> Vec<(&'static str, &'static str)> {
    let joined = match server {
        Server::MariaDb | Server::MySql => {
            "UPDATE t_ds_process_instance w JOIN t_ds_task_instance t ON t.process_instance_id = w.id SET w.state = 6 WHERE t.state = 1"
        }
        _ => {
            "UPDATE t_ds_process_instance AS w SET state = 6 FROM t_ds_task_instance t WHERE t.process_instance_id = w.id AND t.state = 1"
        }
    };
    let mut script = vec![
        (
            "UPDATE t_ds_task_instance SET state = 6 WHERE state = 1 AND host = '10.0.0.4:1234'",
            "update 2 rows of t_ds_task_instance",
        ),
        ("DELETE FROM t_ds_task_instance WHERE id = 3", "delete 1 row of t_ds_task_instance"),
        (joined, "update 1 row of t_ds_process_instance"),
        (
            "UPDATE t_ds_task_instance SET state = 6 WHERE flowmend_wait(9) = 0",
            "calls a function that flowmend does not run",
        ),
        ("UPDATE t_ds_task_instance SET state = 6 WHERE no_such_column = 1", "was not counted"),
        ("UPDATE t_ds_task_instance SET state = 6", "update 3 rows of t_ds_task_instance"),
    ];
    if matches!(server, Server::MariaDb | Server::MySql) {
        script.push(("DELETE FROM t_ds_task_instance WHERE id = @task", "hangs on a variable"));
        script.push(("DELETE FROM t_ds_task_instance LIMIT 1", "it has a LIMIT"));
    }
    script
}

#[test]
fn rows_are_counted_and_nothing_is_written() {
    for server in SERVERS.into_iter().filter(|s| s.is_there("rows_are_counted_and_nothing_is_written")) {
        let db = database(server);
        let script = script(server);
        let file = db.path("fix.sql");
        let text: String = script.iter().map(|(sql, _)| format!("{sql};\n")).collect();
        std::fs::write(&file, text).unwrap();
        let rows = || db.rows("SELECT id, state FROM t_ds_task_instance ORDER BY id");
        let before = rows();
        let run = flowmend(["lint", &file.display().to_string(), "--url", &db.url, "--format", "json"]).expect(1);
        let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert!(report["files"][0]["against"].as_str().unwrap().contains("3.1.9"), "{server:?}: {}", run.out);
        let findings = report["files"][0]["findings"].as_array().unwrap();
        for (line, (sql, said)) in (1..).zip(&script) {
            let of_line = findings.iter().filter(|f| f["line"] == line && f["rule"] == "rows-reached");
            let messages: Vec<&str> = of_line.map(|f| f["message"].as_str().unwrap()).collect();
            assert!(messages.len() == 1 && messages[0].contains(said), "{server:?}: {sql}: {messages:?}");
        }
        assert_eq!(rows(), before, "{server:?}");
    }
}

#[test]
fn a_bundle_is_checked_for_its_own_release_and_for_another() {
    for server in SERVERS.into_iter().filter(|s| s.is_there("a_bundle_is_checked_for_its_own_release_and_for_another"))
    {
        let db = database(server);
        plan(&db, "b", &["--dead-owner", "*"]).expect(0);
        let bundle = db.path("b").display().to_string();
        let own = flowmend(["lint", &bundle, "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&own.out).unwrap();
        assert_eq!(report["errors"], 0, "{server:?}: {}", own.out);
        // Up to 1.3.9 the table of tasks has no column that says the code of its definition.
        let other = flowmend(["lint", &bundle, "--release", "1.3.9"]).expect(1);
        assert!(other.out.contains("error[unknown-column]"), "{server:?}: {}", other.out);
        let next = flowmend(["lint", &bundle, "--release", "3.2.2"]);
        assert!(next.code != 2, "{server:?}: {}", next.err);
    }
}

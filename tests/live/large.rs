//! Ten thousand zombie tasks in two thousand runs: one write per table, and a
//! bundle that a person can still review.

use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest;
use crate::support::program::{on_bundle, plan, sealed};

const RUNS: usize = 2_000;
const TASKS: usize = 5;

fn many(server: Server) -> TestDb {
    let db = TestDb::with_schema(server, &manifest("3.1.9"));
    let mut sql = vec!["INSERT INTO t_ds_version (id, version) VALUES (1, '3.1.9')".to_owned()];
    let ids: Vec<usize> = (1..=RUNS).collect();
    for part in ids.chunks(500) {
        let run = |i: &usize| {
            format!(
                "({i}, 'run', 11, 1, 1, 1, '10.0.0.9:5678', '2026-11-28 10:00:00', '2026-11-28 10:00:00', '2026-11-28 10:00:00')"
            )
        };
        let runs: Vec<String> = part.iter().map(run).collect();
        sql.push(format!(
            "INSERT INTO t_ds_process_instance (id, name, process_definition_code, process_definition_version, state, executor_id, host, start_time, restart_time, update_time) VALUES {}",
            runs.join(", ")
        ));
        let task = |i: usize, n: usize| {
            format!(
                "({}, 'task', 'SHELL', {n}, 1, {i}, 1, 1, '10.0.0.4:1234', '2026-11-28 10:00:00', '2026-11-28 10:00:00')",
                i * 10 + n
            )
        };
        let tasks: Vec<String> = part.iter().flat_map(|i| (0..TASKS).map(move |n| task(*i, n))).collect();
        sql.push(format!(
            "INSERT INTO t_ds_task_instance (id, name, task_type, task_code, task_definition_version, process_instance_id, state, flag, host, submit_time, start_time) VALUES {}",
            tasks.join(", ")
        ));
    }
    db.exec_all(&sql);
    db
}

fn writes(script: &str, table: &str) -> usize {
    let quoted = [format!("UPDATE `{table}`"), format!("UPDATE \"{table}\""), format!("UPDATE \"public\".\"{table}\"")];
    quoted.iter().map(|q| script.matches(q.as_str()).count()).sum()
}

#[test]
fn ten_thousand_tasks_in_one_write() {
    for server in Server::available("large") {
        let db = many(server);
        let before = db.dump();
        plan(&db, "b", &["--dead-owner", "10.0.0.9:5678", "--older-than", "1h"]).expect(0);
        let script = std::fs::read_to_string(db.path("b").join(format!("apply.{}", server.client()))).unwrap();
        assert_eq!(writes(&script, "t_ds_task_instance"), 1);
        assert_eq!(writes(&script, "t_ds_process_instance"), 1);
        let statements = script.lines().filter(|l| l.ends_with(';')).count();
        assert!(statements < 150, "{statements} statements");
        let read =
            ["01_preflight.sql", "03_task_instance.sql", "04_workflow_instance.sql", "05_verify.sql", "TICKET.md"];
        // The appendix of the ticket is a list of rows, too.
        let to_review = |file: &&str| {
            let text = std::fs::read_to_string(db.path("b").join(file)).unwrap();
            text.split("\n## Appendix").next().unwrap_or_default().lines().count()
        };
        let lines: usize = read.iter().map(to_review).sum();
        assert!(lines < 700, "{lines} lines to review besides the list of rows");
        sealed("apply", &db, "b", &[]).expect(0);
        assert_eq!(
            db.value("SELECT COUNT(*) FROM t_ds_task_instance WHERE state = 6 AND end_time IS NOT NULL"),
            Some("10000".into())
        );
        assert_eq!(
            db.value("SELECT COUNT(*) FROM t_ds_process_instance WHERE state = 6 AND end_time IS NOT NULL"),
            Some("2000".into())
        );
        on_bundle("verify", &db, "b").expect(0);
        sealed("rollback", &db, "b", &[]).expect(0);
        assert!(db.dump() == before, "{server:?}: back to the byte");
    }
}

//! apache/dolphinscheduler#13107: slots of stopped runs stay taken (3.1.x).

use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest;
use crate::support::program::{plan_recipe, sealed};

fn leak(server: Server, release: &str) -> TestDb {
    let db = TestDb::with_schema(server, &manifest(release));
    for sql in [
        "INSERT INTO t_ds_task_group (id, name, group_size, use_size, status) VALUES (7, 'tg', 2, 2, 1)",
        "INSERT INTO t_ds_process_instance (id, name, process_definition_code, process_definition_version, state, executor_id) VALUES (1, 'stopped', 1, 1, 5, 1), (2, 'waiting', 1, 1, 1, 1)",
        "INSERT INTO t_ds_task_instance (id, name, task_type, task_code, process_instance_id, state, task_group_id, task_definition_version) VALUES \
         (11, 'a', 'SHELL', 1, 1, 9, 7, 1), (12, 'b', 'SHELL', 2, 1, 9, 7, 1), (13, 'c', 'SHELL', 3, 2, 0, 7, 1), (14, 'forced', 'SHELL', 4, 2, 1, 7, 1)",
        "INSERT INTO t_ds_task_group_queue (id, task_id, task_name, group_id, process_id, priority, status, force_start, in_queue) VALUES \
         (101, 11, 'a', 7, 1, 0, 1, 0, 0), (102, 12, 'b', 7, 1, 0, 1, 0, 0), (103, 13, 'c', 7, 2, 0, -1, 0, 0), (104, 14, 'forced', 7, 2, 0, 1, 1, 0)",
    ] {
        db.exec(sql);
    }
    db.exec(&format!("INSERT INTO t_ds_version (id, version) VALUES (1, '{release}')"));
    db
}

#[test]
fn the_slots_come_back_and_forced_rows_never_count() {
    for server in Server::available("task_group_leak") {
        for release in ["3.1.3", "3.1.9"] {
            let db = leak(server, release);
            let planned = plan_recipe(&db, "task-groups", "b", &["--format", "json"]).expect(0);
            let json: serde_json::Value = serde_json::from_str(&planned.out).unwrap();
            let tables: Vec<_> = json["steps"]
                .as_array()
                .unwrap()
                .iter()
                .map(|s| (s["table"].as_str().unwrap(), s["rows"].as_u64().unwrap()))
                .collect();
            assert_eq!(
                tables,
                [("t_ds_task_group_queue", 2), ("t_ds_task_group", 1)],
                "queue rows first, then the counter"
            );
            sealed("apply", &db, "b", &[]).expect(0);
            let queue = db.rows("SELECT id, status, in_queue FROM t_ds_task_group_queue ORDER BY id");
            let queue: Vec<Vec<String>> =
                queue.into_iter().map(|r| r.into_iter().map(Option::unwrap).collect()).collect();
            assert_eq!(queue, [["101", "2", "0"], ["102", "2", "0"], ["103", "-1", "0"], ["104", "1", "0"]]);
            assert_eq!(db.value("SELECT use_size FROM t_ds_task_group").as_deref(), Some("0"));
        }
    }
}

#[test]
fn a_release_that_recounts_by_itself_gets_no_writes() {
    let db = leak(Server::Sqlite, "3.2.2");
    db.exec("UPDATE t_ds_task_group_queue SET in_queue = 1");
    let planned = plan_recipe(&db, "task-groups", "b", &[]).expect(0);
    assert!(planned.out.contains("Nothing to repair"), "{}", planned.out);
    assert!(!db.path("b").exists());
}

#[test]
fn the_counter_is_written_as_a_recount() {
    let db = leak(Server::Sqlite, "3.1.9");
    plan_recipe(&db, "task-groups", "b", &[]).expect(0);
    let sql = std::fs::read_to_string(db.path("b").join("04_task_group.sql")).unwrap();
    assert!(sql.contains("\"use_size\" = (SELECT COUNT(*)"), "{sql}");
    assert!(!sql.contains("use_size\" -"), "never a decrement: {sql}");
}

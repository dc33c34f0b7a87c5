//! Slots, counters and waiters of task groups (apache/dolphinscheduler#13107, #13726, #14813).

use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest;
use crate::support::program::{on_bundle, plan_recipe, sealed};

/// Group 7, counter 3. Queue: 101 a final task's slot; 102 a missing task's; 103 a living holder;
/// 104 a forgotten waiter; 105 a fresh waiter; 106 started by force; 107 released long ago.
fn group(server: Server, release: &str) -> TestDb {
    let m = manifest(release);
    let db = TestDb::with_schema(server, &m);
    let (run, fk) = (&m.roles["workflow_instance"].table, m.column("task_instance.run_id").unwrap());
    let queue_run = m.column("task_group_queue.run_id").unwrap();
    let (code, version) = (
        m.column("workflow_instance.definition_code").unwrap(),
        m.column("workflow_instance.definition_version").unwrap(),
    );
    for sql in [
        "INSERT INTO t_ds_task_group (id, name, group_size, use_size, status) VALUES (7, 'tg', 3, 3, 1)".to_owned(),
        format!(
            "INSERT INTO {run} (id, name, {code}, {version}, state, executor_id, host, start_time, end_time) VALUES (1, 'ended', 1, 1, 6, 1, 'm:1', '2026-11-01 10:00:00', '2026-11-01 11:00:00'), (2, 'going', 1, 1, 1, 1, 'm:1', '2026-11-01 10:00:00', NULL)"
        ),
        format!(
            "INSERT INTO t_ds_task_instance (id, name, task_type, task_code, {fk}, state, task_group_id, task_definition_version) VALUES (11, 'a', 'SHELL', 1, 1, 6, 7, 1), (13, 'c', 'SHELL', 3, 2, 1, 7, 1), (14, 'd', 'SHELL', 4, 2, 0, 7, 1), (15, 'e', 'SHELL', 5, 2, 0, 7, 1), (16, 'f', 'SHELL', 6, 2, 1, 7, 1)"
        ),
        format!(
            "INSERT INTO t_ds_task_group_queue (id, task_id, task_name, group_id, {queue_run}, priority, status, force_start, in_queue, update_time) VALUES \
          (101, 11, 'a', 7, 1, 0, 1, 0, 0, '2026-11-01 10:00:00'), (102, 99, 'gone', 7, 77, 0, 1, 0, 0, '2026-11-01 10:00:00'), (103, 13, 'c', 7, 2, 0, 1, 0, 1, '2026-11-01 10:00:00'), \
          (104, 14, 'd', 7, 2, 0, -1, 0, 1, '2026-11-01 10:00:00'), (105, 15, 'e', 7, 2, 0, -1, 0, 0, '2026-11-01 10:00:00'), (106, 16, 'f', 7, 2, 0, 1, 1, 1, '2026-11-01 10:00:00'), (107, 11, 'a', 7, 1, 0, 2, 0, 0, '2026-11-01 10:00:00')"
        ),
        format!("INSERT INTO t_ds_version (id, version) VALUES (1, '{release}')"),
    ] {
        db.exec(&sql);
    }
    db
}

fn queue(db: &TestDb) -> Vec<String> {
    let rows = db.rows("SELECT id, status, in_queue FROM t_ds_task_group_queue ORDER BY id");
    rows.into_iter().map(|r| r.into_iter().map(Option::unwrap).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn each_era_releases_in_its_own_way() {
    for server in Server::available("task_groups") {
        for (release, expected, used) in [
            ("3.0.6", vec!["101 2 0", "102 2 0", "103 1 1", "104 -1 0", "105 -1 0", "106 1 1", "107 2 0"], "1"),
            ("3.1.9", vec!["101 2 0", "102 2 0", "103 1 1", "104 -1 0", "105 -1 0", "106 1 1", "107 2 0"], "1"),
            // Rows with in_queue 1 are the coordinator's own business, and so is the counter.
            ("3.2.2", vec!["101 2 0", "102 2 0", "103 1 1", "104 -1 1", "105 -1 1", "106 1 1", "107 2 0"], "3"),
            ("3.3.2", vec!["103 1 1", "104 -1 1", "105 -1 1", "106 1 1", "107 2 0"], "3"),
            ("3.4.1", vec!["103 1 1", "104 -1 1", "105 -1 1", "106 1 1", "107 2 0"], "3"),
        ] {
            let db = group(server, release);
            let before = db.dump();
            plan_recipe(&db, "task-groups", "b", &["--older-than", "1h"]).expect(0);
            sealed("apply", &db, "b", &[]).expect(0);
            assert_eq!(queue(&db), expected, "{server:?} {release}");
            assert_eq!(db.value("SELECT use_size FROM t_ds_task_group").as_deref(), Some(used), "{release}");
            on_bundle("verify", &db, "b").expect(0);
            sealed("rollback", &db, "b", &[]).expect(0);
            assert_eq!(db.dump(), before, "{server:?} {release}");
        }
    }
}

/// A waiter may have been called just now.
#[test]
fn a_waiter_is_called_again_only_with_an_age() {
    for server in Server::available("task_groups") {
        let db = group(server, "3.1.9");
        let planned = plan_recipe(&db, "task-groups", "b", &[]).expect(0);
        assert!(planned.out.contains("needs-age"), "{}", planned.out);
        sealed("apply", &db, "b", &[]).expect(0);
        assert_eq!(queue(&db)[3], "104 -1 1");
    }
}

/// Tasks that another recipe closes hold nothing any more, and rows that nobody else would tidy up go.
#[test]
fn slots_of_closed_tasks_come_back_in_the_same_bundle() {
    for server in Server::available("task_groups") {
        let all_over = vec!["101 2 0", "102 2 0", "103 2 0", "104 2 0", "105 2 0", "106 2 0", "107 2 0"];
        for (release, expected, used) in [
            ("3.1.9", all_over, "0"),
            // 105 is a waiter with in_queue 0, which the coordinator would never release.
            ("3.2.2", vec!["101 2 0", "102 2 0", "103 1 1", "104 -1 1", "105 2 0", "106 1 1", "107 2 0"], "3"),
            ("3.4.1", vec!["103 1 1", "104 -1 1", "106 1 1", "107 2 0"], "3"),
        ] {
            let db = group(server, release);
            let before = db.dump();
            let said = ["--dead-owner", "*", "--choose", "finish"];
            plan_recipe(&db, "zombie-tasks", "b", &said).expect(0);
            sealed("apply", &db, "b", &[]).expect(0);
            assert_eq!(queue(&db), expected, "{server:?} {release}");
            assert_eq!(db.value("SELECT use_size FROM t_ds_task_group").as_deref(), Some(used), "{release}");
            on_bundle("verify", &db, "b").expect(0);
            sealed("rollback", &db, "b", &[]).expect(0);
            assert_eq!(db.dump(), before, "{server:?} {release}");
        }
    }
}

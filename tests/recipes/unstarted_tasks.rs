//! Tasks that never reached a worker (apache/dolphinscheduler#10842, #13776, #14215).

use crate::support::db::{Server, TestDb};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{Run, flowmend, on_bundle, plan_recipe, sealed};

/// Run 1 (dead master): only a task that never started. Run 2 (dead master): one more that
/// runs. Run 3: a living master. Run 4 (dead master): a task that waits for a slot.
fn unstarted(server: Server, release: &str) -> TestDb {
    let m = manifest(release);
    let db = TestDb::with_schema(server, &m);
    let mut rows = Rows::new(&m, server.dialect());
    for (id, host) in [("1", "10.0.0.9:5678"), ("2", "10.0.0.9:5678"), ("3", "10.0.0.1:5678"), ("4", "10.0.0.9:5678")] {
        rows.add(
            "workflow_instance",
            &[
                ("id", Some(id)),
                ("name", Some("run")),
                ("state", Some("1")),
                ("host", Some(host)),
                ("start_time", Some("2026-11-01 10:00:00")),
            ],
        );
    }
    for (id, run, state, host, start) in [
        ("11", "1", "0", None, None),
        ("21", "2", "0", Some(""), None),
        ("22", "2", "1", Some("w:1"), Some("2026-11-01 10:10:00")),
        ("31", "3", "0", None, None),
        ("41", "4", "0", None, None),
    ] {
        rows.add(
            "task_instance",
            &[
                ("id", Some(id)),
                ("name", Some("t")),
                ("run_id", Some(run)),
                ("state", Some(state)),
                ("flag", Some("1")),
                ("host", host),
                ("submit_time", Some("2026-11-01 10:05:00")),
                ("start_time", start),
            ],
        );
    }
    rows.add(
        "task_group_queue",
        &[
            ("id", Some("1")),
            ("task_id", Some("41")),
            ("group_id", Some("7")),
            ("run_id", Some("4")),
            ("status", Some("-1")),
            ("in_queue", Some("0")),
            ("force_start", Some("0")),
        ],
    );
    db.exec_all(&rows.statements);
    db
}

fn plan(db: &TestDb, release: &str, extra: &[&str]) -> Run {
    plan_recipe(db, "unstarted-tasks", "b", &[&["--release", release, "--dead-owner", "10.0.0.9"], extra].concat())
}

#[test]
fn it_asks_for_an_age_and_a_choice() {
    for server in Server::available("unstarted_tasks") {
        let db = unstarted(server, "3.1.9");
        let planned = plan(&db, "3.1.9", &["--choose", "finish"]).expect(4);
        assert!(planned.out.contains("needs-cutoff") && !db.path("b").exists(), "{}", planned.out);
        let asked = plan(&db, "3.1.9", &["--older-than", "1h"]).expect(2);
        assert!(asked.err.contains("2 runs with tasks that never started"), "{}", asked.err);
        let seen = flowmend([
            "inspect",
            "--url",
            &db.url,
            "--release",
            "3.1.9",
            "--zone",
            "+00:00",
            "--older-than",
            "1h",
            "--dead-owner",
            "10.0.0.9",
            "--now",
            "2026-11-29T00:00:00Z",
        ])
        .expect(1);
        assert!(seen.out.contains("never-started-task") && seen.out.contains("#10842"), "{}", seen.out);
    }
}

/// The run that has nothing else to do is closed in the same bundle; the other one stays.
#[test]
fn the_tasks_are_closed_and_what_that_uncovers() {
    for server in Server::available("unstarted_tasks") {
        for release in server.share(&["1.3.9", "2.0.9", "3.0.6", "3.1.9", "3.2.2", "3.3.2", "3.4.1"]) {
            let db = unstarted(server, release);
            let m = manifest(release);
            let before = db.dump();
            plan(&db, release, &["--older-than", "1h", "--choose", "finish"]).expect(0);
            sealed("apply", &db, "b", &[]).expect(0);
            let states = |role: &str| -> Vec<String> {
                let rows = db.rows(&format!("SELECT id, state FROM {} ORDER BY id", m.roles[role].table));
                rows.into_iter().map(|r| r[1].clone().unwrap()).collect()
            };
            let slot_free = if m.has("task_group_queue") { "0" } else { "6" };
            assert_eq!(states("task_instance"), ["6", "6", "1", "0", slot_free], "{release}");
            let fourth = if m.has("task_group_queue") { "1" } else { "6" };
            assert_eq!(states("workflow_instance"), ["6", "1", "1", fourth], "{release}");
            on_bundle("verify", &db, "b").expect(0);
            sealed("rollback", &db, "b", &[]).expect(0);
            assert_eq!(db.dump(), before, "{release}");
        }
    }
}

/// SQL does not see the queue of the registry.
#[test]
fn the_oldest_releases_queue_tasks_elsewhere() {
    let db = unstarted(Server::Sqlite, "1.2.1");
    let planned = plan(&db, "1.2.1", &["--older-than", "1h", "--choose", "finish"]).expect(4);
    assert!(planned.out.contains("queued-outside"), "{}", planned.out);
}

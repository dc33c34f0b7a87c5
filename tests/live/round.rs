//! The main road on every server: plan, rehearse, apply, verify, rollback, clean.

use crate::support::db::{Server, TestDb};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{on_bundle, plan, sealed};

/// A zombie run with a zombie task and a held slot, a live run, an old attempt.
pub fn zombies(server: Server, release: &str) -> TestDb {
    let m = manifest(release);
    let db = TestDb::with_schema(server, &m);
    let mut rows = Rows::new(&m, server.dialect());
    let start = s("2026-11-28 10:00:00");
    for (id, state, host) in [
        ("1", "1", "10.0.0.9:5678"),
        ("2", "4", "10.0.0.1:5678"),
        ("3", "1", "10.0.0.1:5678"),
        ("4", "6", "10.0.0.1:5678"),
    ] {
        rows.add(
            "workflow_instance",
            &[
                ("id", s(id)),
                ("name", s("it's; a \"run\"")),
                ("state", s(state)),
                ("host", s(host)),
                ("start_time", start),
                ("restart_time", start),
                ("definition_code", s(id)),
                ("definition_id", s(id)),
                ("definition_version", s("1")),
                ("executor_id", s("1")),
                ("update_time", start),
            ],
        );
    }
    for (id, run, state, flag, end) in [
        ("1", "1", "1", "1", None),
        ("2", "1", "7", "1", s("2026-11-28 10:05:00")),
        ("3", "1", "1", "0", None),
        ("4", "2", "1", "1", None),
        ("5", "3", "1", "1", None),
        ("6", "4", "6", "1", s("2026-11-28 10:05:00")),
        ("7", "4", "1", "1", None),
    ] {
        rows.add(
            "task_instance",
            &[
                ("id", s(id)),
                ("name", s("t")),
                ("task_type", s("SHELL")),
                ("run_id", s(run)),
                ("state", s(state)),
                ("flag", s(flag)),
                ("host", s("10.0.0.4:1234")),
                ("submit_time", start),
                ("start_time", start),
                ("end_time", end),
                ("task_code", s(id)),
                ("task_execute_type", s("0")),
            ],
        );
    }
    rows.add(
        "task_group",
        &[
            ("id", s("1")),
            ("name", s("g")),
            ("size", s("2")),
            ("used", s("2")),
            ("status", s("1")),
            ("update_time", start),
        ],
    );
    for (id, task, run, status) in [("1", "1", "1", "1"), ("2", "5", "3", "1"), ("3", "6", "4", "2")] {
        rows.add(
            "task_group_queue",
            &[
                ("id", s(id)),
                ("task_id", s(task)),
                ("group_id", s("1")),
                ("run_id", s(run)),
                ("status", s(status)),
                ("force_start", s("0")),
                ("in_queue", s("0")),
                ("update_time", start),
            ],
        );
    }
    rows.add(
        "serial_command",
        &[
            ("id", s("1")),
            ("run_id", s("1")),
            ("definition_code", s("1")),
            ("definition_version", s("1")),
            ("state", s("1")),
        ],
    );
    rows.add("version", &[("id", s("1")), ("version", s(release))]);
    db.exec_all(&rows.statements);
    db
}

fn s(text: &str) -> Option<&str> {
    Some(text)
}

fn round(server: Server) {
    let db = zombies(server, "3.1.9");
    let before = db.dump();
    plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
    on_bundle("rehearse", &db, "b").expect(0);
    assert_eq!(db.dump(), before, "a rehearsal leaves no trace");
    sealed("apply", &db, "b", &[]).expect(0);
    let states = |t: &str| {
        db.rows(&format!("SELECT id, state FROM {t} ORDER BY id"))
            .into_iter()
            .map(|r| r[1].clone().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(states("t_ds_task_instance"), ["6", "7", "1", "1", "1", "6", "6"]);
    assert_eq!(states("t_ds_process_instance"), ["6", "4", "1", "6"]);
    assert_eq!(db.value("SELECT use_size FROM t_ds_task_group").as_deref(), Some("1"));
    on_bundle("verify", &db, "b").expect(0);
    let again = sealed("apply", &db, "b", &[]).expect(0);
    assert!(again.out.contains("already applied"), "{}", again.out);
    sealed("rollback", &db, "b", &[]).expect(0);
    assert_eq!(db.dump(), before, "rollback is the identity");
    on_bundle("verify", &db, "b").expect(0);
    let refused = sealed("apply", &db, "b", &[]).expect(4);
    assert!(refused.err.contains("rolled back"), "{}", refused.err);
    sealed("clean", &db, "b", &[]).expect(0);
}

#[test]
fn round_trip_everywhere() {
    for server in Server::available("round_trip_everywhere") {
        round(server);
    }
}

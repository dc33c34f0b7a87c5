//! #11729: tasks left at NEED_FAULT_TOLERANCE under a run that is finished.

use std::collections::BTreeMap;

use flowmend::manifest::{Manifest, Manifests};

use crate::support::db::{Server, TestDb, same};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{Run, flowmend, on_bundle, plan_recipe, sealed};

const RELEASES: [&str; 9] = ["1.2.1", "1.3.9", "2.0.9", "3.0.6", "3.1.0", "3.1.9", "3.2.2", "3.3.2", "3.4.1"];

/// A task: id, run, name, state, flag, start, end.
type Task<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str, Option<&'a str>, Option<&'a str>);

/// 11, 13, 15, 61: parked. 14: an old attempt. 21: its run is active. 31: a command is queued.
/// 41: has a twin. 51: its run's state is unknown.
const TASKS: [Task<'static>; 11] = [
    ("11", "1", "a", "8", "1", Some("2026-11-27 10:00:00"), None),
    ("12", "1", "b", "7", "1", Some("2026-11-27 10:10:00"), Some("2026-11-27 11:00:00")),
    ("13", "1", "c", "8", "1", Some("2026-11-27 10:20:00"), Some("2026-11-27 10:30:00")),
    ("14", "1", "d", "8", "0", Some("2026-11-27 10:00:00"), None),
    ("15", "1", "e", "8", "1", Some("2026-11-27 11:30:00"), None),
    ("21", "2", "a", "8", "1", Some("2026-11-27 10:00:00"), None),
    ("31", "3", "a", "8", "1", Some("2026-11-27 10:00:00"), None),
    ("41", "4", "a", "8", "1", Some("2026-11-27 10:00:00"), None),
    ("42", "4", "a", "7", "1", Some("2026-11-27 10:10:00"), Some("2026-11-27 11:00:00")),
    ("51", "5", "a", "8", "1", Some("2026-11-27 10:00:00"), None),
    ("61", "6", "a", "8", "1", None, None),
];

fn fill(db: &TestDb, m: &Manifest) {
    let mut rows = Rows::new(m, db.server.dialect());
    for (id, state, end) in [
        ("1", "6", Some("2026-11-27 12:00:00")),
        ("2", "1", None),
        ("3", "5", Some("2026-11-27 12:00:00")),
        ("4", "6", Some("2026-11-27 12:00:00")),
        ("5", "77", None),
        ("6", "7", None),
    ] {
        let start = (id != "6").then_some("2026-11-27 09:00:00");
        let host = ("host", Some("10.0.0.9:5678"));
        let times = [("start_time", start), ("end_time", end)];
        rows.add(
            "workflow_instance",
            &[&[("id", Some(id)), ("name", Some("r")), ("state", Some(state)), host], &times[..]].concat(),
        );
    }
    for (id, run, name, state, flag, start, end) in TASKS {
        rows.add(
            "task_instance",
            &[
                ("id", Some(id)),
                ("run_id", Some(run)),
                ("name", Some(name)),
                ("state", Some(state)),
                ("flag", Some(flag)),
                ("host", Some("10.0.0.4:1234")),
                ("submit_time", start),
                ("start_time", start),
                ("end_time", end),
            ],
        );
    }
    rows.add("command", &[("id", Some("900")), ("type", Some("4")), ("run_id", Some("3")), ("param", Some(COMMAND))]);
    db.exec_all(&rows.statements);
}

const COMMAND: &str = "{\"ProcessInstanceId\":3}";

fn parked(server: Server, release: &str) -> TestDb {
    let m = manifest(release);
    let db = TestDb::with_schema(server, &m);
    fill(&db, &m);
    db
}

fn plan(db: &TestDb, release: &str, extra: &[&str]) -> Run {
    plan_recipe(db, "fault-tolerance-tasks", "b", &[&["--release", release], extra].concat())
}

/// Task → state and end.
fn tasks(db: &TestDb, m: &Manifest) -> BTreeMap<String, (String, Option<String>)> {
    let rows = db.rows(&format!("SELECT id, state, end_time FROM {}", m.roles["task_instance"].table));
    rows.into_iter().map(|r| (r[0].clone().unwrap(), (r[1].clone().unwrap(), r[2].clone()))).collect()
}

fn round(server: Server, release: &str) {
    let m = manifest(release);
    let db = parked(server, release);
    let (before, old) = (db.dump(), tasks(&db, &m));
    let planned = plan(&db, release, &[]).expect(0);
    for reason in ["run-active", "pending-command", "two-valid-rows", "unknown-state"] {
        assert!(planned.out.contains(reason), "{release} {reason}: {}", planned.out);
    }
    on_bundle("rehearse", &db, "b").expect(0);
    sealed("apply", &db, "b", &[]).expect(0);
    let mut wanted = old;
    for (id, end) in [
        // The newest end of the run's tasks; what stands; its own start; nothing known but the present.
        ("11", "2026-11-27 11:00:00"),
        ("13", "2026-11-27 10:30:00"),
        ("15", "2026-11-27 11:30:00"),
        ("61", "2026-11-29 00:00:00"),
    ] {
        wanted.insert(id.to_owned(), ("6".to_owned(), Some(end.to_owned())));
    }
    assert_eq!(tasks(&db, &m), wanted, "{server:?} {release}");
    on_bundle("verify", &db, "b").expect(0);
    sealed("rollback", &db, "b", &[]).expect(0);
    same(&db.dump(), &before, &format!("{server:?} {release}, rolled back"));
}

#[test]
fn parked_tasks_fail_and_come_back() {
    for server in Server::available("fault_tolerance") {
        for release in server.share(&RELEASES) {
            round(server, release);
        }
    }
}

#[test]
fn in_every_generation() {
    let manifests = Manifests::load(None).unwrap();
    for m in manifests.of("dolphinscheduler").unwrap() {
        round(Server::Sqlite, m.releases.first().unwrap());
    }
}

#[test]
fn each_row_is_explained() {
    for server in Server::available("fault_tolerance_explained") {
        for release in server.share(&RELEASES) {
            let db = parked(server, release);
            let args = [
                "inspect",
                "--url",
                &db.url,
                "--release",
                release,
                "--zone",
                "+00:00",
                "--now",
                "2026-11-29T00:00:00Z",
            ];
            let out = flowmend([&args[..], &["--format", "json"]].concat()).expect(1).out;
            let report: serde_json::Value = serde_json::from_str(&out).unwrap();
            let findings = report["findings"].as_array().unwrap();
            let found = findings.iter().find(|f| f["code"] == "parked-task").unwrap();
            assert_eq!(found["rows"], 4, "{server:?} {release}");
            let text = found["explained"][0]["text"].as_str().unwrap();
            for words in ["8 NEED_FAULT_TOLERANCE", "2026-11-27 10:00:00", "#11729", "6 FAILURE"] {
                assert!(text.contains(words), "{release}: {text}");
            }
            let says = |words: &str| text.contains(words);
            assert_eq!(says("the failover of a worker marks"), ["1.2.1", "1.3.9", "2.0.9"].contains(&release));
            assert_eq!(says("does not pick up tasks in this state"), ["3.3.2", "3.4.1"].contains(&release));
            assert_eq!(says("does not count this state as a failure"), release == "3.1.0");
            let human = flowmend(args).expect(1).out;
            assert!(human.contains("parked-task (fault-tolerance-tasks): 4 tasks"), "{human}");
        }
    }
}

#[test]
fn scope_and_age_narrow_it() {
    for server in Server::available("fault_tolerance_scope") {
        let db = parked(server, "3.1.9");
        let other = plan(&db, "3.1.9", &["--instance", "2,3,4"]).expect(0);
        assert!(other.out.contains("Nothing to repair"), "{}", other.out);
        let young = plan(&db, "3.1.9", &["--older-than", "7d"]).expect(0);
        assert!(young.out.contains("too-young") && young.out.contains("no-start-time"), "{}", young.out);
        let some = plan(&db, "3.1.9", &["--instance", "1", "--older-than", "36h30m"]).expect(0);
        assert!(some.out.contains("too-young"), "15 began after the cut-off: {}", some.out);
        sealed("apply", &db, "b", &[]).expect(0);
        let states = tasks(&db, &manifest("3.1.9"));
        assert_eq!([&states["11"].0, &states["13"].0, &states["15"].0, &states["61"].0], ["6", "6", "8", "8"]);
    }
}

/// What somebody does between plan and apply stops all of it.
#[test]
fn a_row_that_changed_stops_it() {
    let insert = |server: Server, role: &str, values: &[(&str, Option<&str>)]| {
        let m = manifest("3.1.9");
        let mut rows = Rows::new(&m, server.dialect());
        rows.add(role, values);
        rows.statements.remove(0)
    };
    for server in Server::available("fault_tolerance_moved") {
        let twin = [("id", Some("99")), ("run_id", Some("1")), ("name", Some("a")), ("state", Some("7"))];
        let twin = insert(server, "task_instance", &[&twin[..], &[("flag", Some("1"))]].concat());
        let command = insert(server, "command", &[("id", Some("901")), ("type", Some("4")), ("run_id", Some("1"))]);
        for (what, sql, row) in [
            ("state", "UPDATE t_ds_task_instance SET state = 9 WHERE id = 11", "t_ds_task_instance 11"),
            ("flag", "UPDATE t_ds_task_instance SET flag = 0 WHERE id = 13", "t_ds_task_instance 13"),
            (
                "run",
                "UPDATE t_ds_process_instance SET state = 1 WHERE id = 6",
                "their rows of t_ds_process_instance are as they were",
            ),
            ("twin", twin.as_str(), ""),
            ("command", command.as_str(), "no command is queued for the task's run"),
        ] {
            let db = parked(server, "3.1.9");
            plan(&db, "3.1.9", &[]).expect(0);
            db.exec(sql);
            let before = db.dump();
            let refused = sealed("apply", &db, "b", &[]).expect(3);
            assert!(refused.err.contains(row), "{server:?} {what}: {}", refused.err);
            same(&db.dump(), &before, what);
        }
    }
}

#[test]
fn the_ticket_is_true_for_the_release() {
    for (release, says, not) in [
        ("1.0.2", "skips those marked for recovery", "0 of 0 retries"),
        ("1.0.3", "starts them again now", "skips those marked"),
        ("1.3.9", "marks its unfinished tasks whatever their run is", "skips those marked"),
        ("2.0.9", "0 of 0 retries", "skips those marked"),
        ("3.3.2", "skips those marked for recovery", "0 of 0 retries"),
    ] {
        let db = parked(Server::Sqlite, release);
        plan(&db, release, &[]).expect(0);
        let ticket = std::fs::read_to_string(db.path("b").join("TICKET.md")).unwrap();
        assert!(ticket.contains(says) && !ticket.contains(not), "{release}: {ticket}");
    }
}

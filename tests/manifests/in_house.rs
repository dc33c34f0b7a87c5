//! A scheduler of one's own: two folders of data, no Rust.
//!
//! Its states are texts, its runs have a text key, its tasks and seats composite keys.

use std::path::PathBuf;

use flowmend::manifest::{Manifest, Manifests};

use crate::support::db::{Server, TestDb};
use crate::support::program::{Run, flowmend, seal};

/// The folder that docs/manifests.md shows.
pub fn data(folder: &str) -> PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/in-house").join(folder)
}

fn manifest(release: &str) -> Manifest {
    Manifests::load(Some(&data("enums"))).unwrap().release("nightshift", release).unwrap().clone()
}

const NOW: &str = "2026-11-29T00:00:00Z";

/// Runs a command with the two folders.
fn with_data(args: &[&str]) -> Run {
    let (enums, templates) = (data("enums").display().to_string(), data("templates").display().to_string());
    flowmend([args, &["--enums", &enums, "--templates", &templates]].concat())
}

fn on_bundle(command: &str, db: &TestDb) -> Run {
    let dir = db.path("b");
    let (approved, dir) = (seal(&dir), dir.display().to_string());
    let mut args = vec![command, &dir, "--url", &db.url];
    if ["apply", "rollback", "clean"].contains(&command) {
        args.extend(["--seal", &approved]);
    }
    with_data(&args)
}

pub fn plan(db: &TestDb, extra: &[&str]) -> Run {
    let out = db.path("b").display().to_string();
    let args = ["plan", "dead-runs", "--url", &db.url, "--out", &out, "--now", NOW, "--zone", "+00:00"];
    with_data(&[&args, extra].concat())
}

/// A dead run, one whose worker lives, one without worker, a finished one with a task left active.
pub fn night(server: Server, release: &str) -> TestDb {
    let db = TestDb::with_schema(server, &manifest(release));
    let mut sql = vec![
        format!("INSERT INTO ns_meta (version) VALUES ('{release}')"),
        "INSERT INTO ns_lock (name) VALUES ('dispatch')".to_owned(),
    ];
    for (id, state, worker) in [
        ("9f'1", "RUNNING", "'w1:80'"),
        ("live", "RUNNING", "'w2:80'"),
        ("none", "QUEUED", "NULL"),
        ("done", "DONE", "'w1:80'"),
    ] {
        let id = id.replace('\'', "''");
        sql.push(format!(
            "INSERT INTO ns_run (id, flow, state, worker, started_at, touched_at, updated_at) VALUES \
             ('{id}', 'daily', '{state}', {worker}, '2026-11-28 22:00:00', '2026-11-28 22:00:00', '2026-11-28 22:00:00')"
        ));
    }
    for (run, name, attempt, state) in [
        ("9f''1", "load", 1, "BROKEN"),
        ("9f''1", "load", 2, "RUNNING"),
        ("9f''1", "mail", 1, "WAITING"),
        ("live", "load", 1, "RUNNING"),
        ("done", "load", 1, "DONE"),
        ("done", "mail", 1, "RUNNING"),
    ] {
        sql.push(format!(
            "INSERT INTO ns_task (run_id, name, attempt, state, started_at) VALUES ('{run}', '{name}', {attempt}, '{state}', '2026-11-28 22:00:00')"
        ));
    }
    for (seat, run) in [(1, "9f''1"), (2, "live"), (3, "done")] {
        sql.push(format!("INSERT INTO ns_seat (pool, seat, run_id) VALUES ('small', {seat}, '{run}')"));
    }
    db.exec_all(&sql);
    db
}

fn column(db: &TestDb, sql: &str) -> Vec<String> {
    db.rows(sql).into_iter().map(|r| r.into_iter().flatten().collect::<Vec<_>>().join(" ")).collect()
}

fn round(server: Server, release: &str) {
    let db = night(server, release);
    let before = db.dump();
    plan(&db, &["--dead-owner", "w1"]).expect(0);
    on_bundle("rehearse", &db).expect(0);
    assert_eq!(db.dump(), before, "a rehearsal leaves no trace on {server:?}");
    on_bundle("apply", &db).expect(0);
    let tasks = column(&db, "SELECT run_id, name, CAST(attempt AS CHAR(1)), state FROM ns_task ORDER BY 1, 2, 3");
    assert_eq!(
        tasks,
        [
            "9f'1 load 1 BROKEN",
            "9f'1 load 2 BROKEN",
            "9f'1 mail 1 BROKEN",
            "done load 1 DONE",
            "done mail 1 BROKEN",
            "live load 1 RUNNING",
        ]
    );
    let runs = column(&db, "SELECT id, state FROM ns_run ORDER BY 1");
    assert_eq!(runs, ["9f'1 BROKEN", "done DONE", "live RUNNING", "none QUEUED"]);
    assert_eq!(column(&db, "SELECT run_id FROM ns_seat"), ["live"]);
    on_bundle("verify", &db).expect(0);
    let again = on_bundle("apply", &db).expect(0);
    assert!(again.out.contains("already applied"), "{}", again.out);
    on_bundle("rollback", &db).expect(0);
    assert_eq!(db.dump(), before, "rollback is the identity on {server:?}");
    on_bundle("verify", &db).expect(0);
    on_bundle("clean", &db).expect(0);
}

#[test]
fn in_house_round_trip_everywhere() {
    for server in Server::available("in_house_round_trip_everywhere") {
        round(server, "1.1");
    }
}

/// The same files by hand: `psql`, `mariadb`, `mysql` and `sqlite3` know nothing of the scheduler either.
#[test]
fn in_house_with_the_stock_clients() {
    for server in Server::available("in_house_with_the_stock_clients") {
        let db = night(server, "1.1");
        let before = db.dump();
        plan(&db, &["--dead-owner", "w1"]).expect(0);
        for script in ["apply", "rollback"] {
            let output = db.stock(&db.path("b").join(format!("{script}.{}", server.client())));
            assert!(output.status.success(), "{server:?} {script}: {}", String::from_utf8_lossy(&output.stderr));
            on_bundle("verify", &db).expect(0);
            assert_eq!(db.dump() == before, script == "rollback", "{server:?} {script}");
        }
    }
}

/// A worker that is said to be dead, but beats.
#[test]
fn a_beating_worker_is_not_dead() {
    let db = night(Server::Sqlite, "1.1");
    db.exec("INSERT INTO ns_worker (address, beat_ms) VALUES ('w1:80', 1)");
    plan(&db, &["--dead-owner", "w1"]).expect(0);
    std::fs::remove_dir_all(db.path("b")).unwrap();
    let planned = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !planned.load(std::sync::atomic::Ordering::Relaxed) {
                db.exec("UPDATE ns_worker SET beat_ms = beat_ms + 1");
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
        });
        let refused = plan(&db, &["--dead-owner", "w1"]);
        planned.store(true, std::sync::atomic::Ordering::Relaxed);
        let refused = refused.expect(4);
        assert!(refused.err.contains("the heartbeat of w1:80 moved"), "{}", refused.err);
    });
}

#[test]
fn a_release_is_one_more_file() {
    round(Server::Sqlite, "2.0");
}

#[test]
fn in_house_is_listed_inspected_and_checked() {
    let list = with_data(&["manifests", "list"]).expect(0);
    assert!(list.out.contains("nightshift") && list.out.contains("dolphinscheduler"), "{}", list.out);
    let enums = data("enums").display().to_string();
    let check = with_data(&["manifests", "check", &enums]).expect(0);
    assert!(check.out.starts_with("2 manifests of "), "{}", check.out);
    let db = night(Server::Sqlite, "1.1");
    let report = with_data(&["inspect", "--url", &db.url, "--now", NOW, "--zone", "+00:00", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&report.out).unwrap();
    assert_eq!(report["scheduler"], "nightshift");
    assert_eq!(report["release"], "1.1");
    assert_eq!(report["owners"].as_array().unwrap().len(), 3, "{}", report["owners"]);
}

/// A release that no sign in the database tells from 1.1.
const ALIKE: &str = r#"
scheduler = "nightshift"
title = "Nightshift"
generation = "1.5"
releases = ["1.5"]
extends = "1.0"
sources = ["the team's wiki, page Nightshift 1.5"]

[fingerprint]
present = ["ns_run", "ns_task", "ns_seat"]
absent = ["ns_run.priority"]
same_schema_as = ["1.0"]

[behaviour]
worker_writes_back = false
"#;

/// In it one state of a task means something else.
const OTHERWISE: &str = r#"
[[states]]
column = "task.state"
type = "TaskState"
stored_as = "text"
values = [
  { code = "WAITING", name = "PARKED", phase = "paused", finished = true },
  { code = "RUNNING", name = "RUNNING", phase = "running", finished = false },
  { code = "DONE", name = "DONE", phase = "succeeded", finished = true },
  { code = "BROKEN", name = "BROKEN", phase = "failed", finished = true },
]
"#;

#[test]
fn releases_that_look_alike_are_looked_at_together() {
    let (db, dir) = (night(Server::Sqlite, "1.1"), tempfile::tempdir().unwrap());
    db.exec("DELETE FROM ns_meta");
    let folder = dir.path().join("nightshift");
    std::fs::create_dir(&folder).unwrap();
    for file in ["1.0.toml", "2.0.toml"] {
        std::fs::copy(data("enums/nightshift").join(file), folder.join(file)).unwrap();
    }
    let with = |release: &str, args: &[&str]| {
        std::fs::write(folder.join("1.5.toml"), release).unwrap();
        let (enums, templates) = (dir.path().display().to_string(), data("templates").display().to_string());
        let data = ["--enums", &enums, "--templates", &templates, "--url", &db.url, "--now", NOW, "--zone", "+00:00"];
        flowmend([args, &data, &["--dead-owner", "w1"]].concat())
    };
    let told = with(ALIKE, &["inspect", "--release", "1.1"]).expect(1).out;
    let findings = |out: &str| out.split("\nFindings\n").nth(1).unwrap().to_owned();
    // What is found is the same for each; only what follows a repair is not.
    let both = with(ALIKE, &["inspect"]).expect(1);
    assert_eq!(findings(&both.out), findings(&told));
    for words in ["nightshift 1.0 to 1.1, 1.5 in", "these releases look alike"] {
        assert!(both.out.contains(words), "{words}: {}", both.out);
    }
    let plan = with(ALIKE, &["plan", "dead-runs"]).expect(4);
    assert!(plan.err.contains("the schema fits several generations: 1.0 to 1.1, 1.5"), "{}", plan.err);
    let other = format!("{ALIKE}{OTHERWISE}");
    let refused = with(&other, &["inspect"]).expect(4);
    assert!(
        refused.out.is_empty() && refused.err.contains("what is to be found in this database hangs on it"),
        "{}",
        refused.err
    );
    with(&other, &["inspect", "--release", "1.5"]).expect(1);
}

//! `--dag-complete`: the operator's word that nothing of a run is missing, held
//! against the edges of the definition version that it ran.

use crate::support::db::{Server, TestDb};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{flowmend, on_bundle, plan_recipe, sealed};

const DEAD: &str = "10.0.0.9:5678";

/// RUNNING runs of a dead master, every task of theirs finished: run, version of
/// workflow 100, and task code, state and flag of each task.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str, &'static str)]);
const RUNS: &[Case] = &[
    // Version 1 has tasks 11 and 12.
    ("1", "1", &[("11", "7", "1"), ("12", "7", "1")]),
    ("2", "1", &[("11", "7", "1")]),
    // Version 2 has task 11 alone; of version 3 nothing is known.
    ("3", "2", &[("11", "7", "1")]),
    ("4", "3", &[("11", "7", "1"), ("12", "7", "1")]),
    ("5", "1", &[("11", "7", "1"), ("12", "6", "1")]),
    // An attempt that is not valid any more is no row of task 12.
    ("6", "1", &[("11", "7", "1"), ("12", "7", "0")]),
    ("7", "1", &[("11", "7", "1"), ("12", "13", "1")]),
];
const EDGES: [(&str, &str, &str); 3] = [("1", "0", "11"), ("1", "11", "12"), ("2", "0", "11")];

fn all_finished(server: Server, release: &str) -> TestDb {
    let m = manifest(release);
    let db = TestDb::with_schema(server, &m);
    let mut rows = Rows::new(&m, server.dialect());
    let (start, end) = (Some("2026-11-01 10:00:00"), Some("2026-11-01 10:20:00"));
    let mut task_id = 0;
    for (run, version, tasks) in RUNS {
        rows.add(
            "workflow_instance",
            &[
                ("id", Some(run)),
                ("name", Some("run")),
                ("state", Some("1")),
                ("host", Some(DEAD)),
                ("definition_code", Some("100")),
                ("definition_version", Some(version)),
                ("start_time", start),
            ],
        );
        for (code, state, flag) in *tasks {
            task_id += 1;
            let id = task_id.to_string();
            rows.add(
                "task_instance",
                &[
                    ("id", Some(&id)),
                    ("name", Some("t")),
                    ("task_code", Some(code)),
                    ("run_id", Some(run)),
                    ("state", Some(state)),
                    ("flag", Some(flag)),
                    ("start_time", start),
                    ("end_time", end),
                ],
            );
        }
    }
    for (number, (version, pre, post)) in EDGES.iter().enumerate() {
        let id = (number + 1).to_string();
        rows.add(
            "dag_edge",
            &[
                ("id", Some(&id)),
                ("definition_code", Some("100")),
                ("definition_version", Some(version)),
                ("@pre_task_code", Some(pre)),
                ("post_task_code", Some(post)),
            ],
        );
    }
    db.exec_all(&rows.statements);
    db
}

fn states(db: &TestDb, release: &str) -> Vec<String> {
    let table = &manifest(release).roles["workflow_instance"].table;
    db.rows(&format!("SELECT id, state FROM {table} ORDER BY id")).into_iter().map(|r| r[1].clone().unwrap()).collect()
}

#[test]
fn a_run_is_closed_as_successful_or_left_out() {
    for server in Server::available("dag_complete") {
        for release in server.share(&["2.0.9", "3.0.6", "3.1.9", "3.2.2", "3.3.2", "3.4.1"]) {
            let db = all_finished(server, release);
            let before = db.dump();
            let said = ["--release", release, "--dead-owner", DEAD, "--choose", "finish", "--dag-complete"];
            let planned = plan_recipe(&db, "zombie-tasks", "b", &said).expect(0);
            assert!(planned.out.contains("3 runs (dag-not-complete): 2, 4, 6"), "{}", planned.out);
            assert!(planned.out.replace("\n     ", "").contains("plan without --dag-complete"), "{}", planned.out);
            sealed("apply", &db, "b", &[]).expect(0);
            assert_eq!(states(&db, release), ["7", "1", "7", "1", "6", "1", "7"], "{server:?} {release}");
            on_bundle("verify", &db, "b").expect(0);
            sealed("rollback", &db, "b", &[]).expect(0);
            assert_eq!(db.dump(), before, "{server:?} {release}");
        }
    }
}

/// Without the word none is called successful, and none is left out for its DAG.
#[test]
fn without_the_word_all_are_closed_as_failed() {
    for server in Server::available("dag_complete") {
        let db = all_finished(server, "3.1.9");
        let said = ["--release", "3.1.9", "--dead-owner", DEAD, "--choose", "finish"];
        let planned = plan_recipe(&db, "zombie-tasks", "b", &said).expect(0);
        assert!(!planned.out.contains("dag-not-complete"), "{}", planned.out);
        sealed("apply", &db, "b", &[]).expect(0);
        assert_eq!(states(&db, "3.1.9"), ["6"; 7], "{server:?}");
        sealed("rollback", &db, "b", &[]).expect(0);
    }
}

/// `inspect` says what the word would leave out, and a run can be named.
#[test]
fn inspect_and_a_single_run() {
    let db = all_finished(Server::Sqlite, "3.1.9");
    let said = ["--release", "3.1.9", "--dead-owner", DEAD, "--zone", "+00:00", "--now", "2026-11-29T00:00:00Z"];
    let seen = flowmend([&["inspect", "--url", &db.url, "--dag-complete"], &said[..]].concat()).expect(1);
    assert!(seen.out.contains("3 runs (dag-not-complete)"), "{}", seen.out);
    let one = ["--release", "3.1.9", "--dead-owner", DEAD, "--choose", "finish", "--dag-complete", "--instance", "1"];
    plan_recipe(&db, "zombie-tasks", "b", &one).expect(0);
    sealed("apply", &db, "b", &[]).expect(0);
    assert_eq!(states(&db, "3.1.9"), ["7", "1", "1", "1", "1", "1", "1"]);
}

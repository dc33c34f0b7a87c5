//! Databases of real schedulers that were killed, when they lie beside the project:
//! each restored, looked at, planned, rehearsed, repaired, proved and undone, by the
//! tool and by the stock client, with the rows that its makers describe.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::support::bundle::runner;
use crate::support::db::{Server, TestDb, same};
use crate::support::program::{flowmend, seal};

/// A dump, what the operator says of it, and counts before and after the repair.
struct Dump {
    file: &'static str,
    server: Server,
    recipe: &'static str,
    /// Of every command, of inspect, of plan.
    said: &'static [&'static str],
    looked: &'static [&'static str],
    chosen: &'static [&'static str],
    counts: &'static [Count],
}

/// What is counted, as `expression of table`, and how often each value is there
/// before and after the repair.
type Count = (&'static str, Counts, Counts);

/// When these are planned: days after the processes were killed.
const NOW: &str = "2026-12-05T00:00:00Z";

fn file(name: &str) -> Option<PathBuf> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/real").join(name);
    if path.is_file() {
        return Some(path);
    }
    crate::support::skipped("cases::dumps", &format!("{name} is not there"));
    None
}

fn restore(dump: &Dump) -> Option<TestDb> {
    let file = file(dump.file)?;
    if !dump.server.is_there("cases::dumps") {
        return None;
    }
    let db = TestDb::new(dump.server);
    if dump.server == Server::Sqlite {
        // Its bytes alone: the file may be one that cannot be written.
        std::fs::write(db.sqlite_file(), std::fs::read(file).unwrap()).unwrap();
        return Some(db);
    }
    let done = db.stock(&file);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(db)
}

/// How many rows have each value of an expression. `{name}` is a table of Quartz,
/// whose letters are capital where the database tells them apart.
fn counts(db: &TestDb, what: &str) -> Vec<(String, usize)> {
    let (expression, table) = what.split_once(" of ").unwrap();
    let table = match table.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
        Some(name) if db.server == Server::PostgreSql => format!("qrtz_{name}"),
        Some(name) => format!("QRTZ_{}", name.to_uppercase()),
        None => table.to_owned(),
    };
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for row in db.rows(&format!("SELECT {expression} FROM {table}")) {
        *found.entry(row[0].clone().unwrap_or_else(|| "NULL".to_owned())).or_default() += 1;
    }
    found.into_iter().collect()
}

fn holds(db: &TestDb, dump: &Dump, repaired: bool) {
    for (what, before, after) in dump.counts {
        let expected = if repaired { after } else { before };
        let expected: Vec<_> = expected.iter().map(|(value, n)| ((*value).to_owned(), *n)).collect();
        assert_eq!(counts(db, what), expected, "{}: {what}, repaired: {repaired}", dump.file);
    }
}

fn trip(dump: &Dump, stock: bool) {
    let Some(db) = restore(dump) else { return };
    let bundle = db.path("bundle");
    let out = bundle.display().to_string();
    let run = |args: &[&str]| flowmend([args, &["--url", &db.url]].concat());
    let at = ["--now", NOW, "--zone", "UTC"];
    run(&[&["inspect"], &at[..], dump.said, dump.looked].concat()).expect(1);
    run(&[&["plan", dump.recipe, "--out", &out], &at[..], dump.said, dump.chosen].concat()).expect(0);
    let before = db.dump();
    holds(&db, dump, false);
    if !stock {
        run(&["rehearse", &out]).expect(0);
        same(&db.dump(), &before, "rehearse leaves no trace");
    }
    let write = |what: &str| {
        if stock {
            let done = db.stock(&runner(&db, "bundle", what));
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        } else {
            run(&[what, &out, "--seal", &seal(&bundle)]).expect(0);
        }
    };
    write("apply");
    holds(&db, dump, true);
    run(&["verify", &out]).expect(0);
    write("rollback");
    same(&db.dump(), &before, "rollback is the identity");
}

/// By the tool and by the stock client at once: to see that nobody beats takes seconds.
fn all(dumps: &[Dump]) {
    std::thread::scope(|scope| {
        for dump in dumps {
            for stock in [false, true] {
                scope.spawn(move || trip(dump, stock));
            }
        }
    });
}

type Counts = &'static [(&'static str, usize)];

const STATES: &str = "trigger_state of {triggers}";
const FIRED: &str = "instance_name of {fired_triggers}";
const NODES: &str = "instance_name of {scheduler_state}";
const JOBS: &str = "job_name of {job_details}";

/// What was killed in the midst of its work, everything stopped; the trigger in
/// ERROR stays, since nobody says that its class is there again.
const STOPPED: &[&str] = &["--dead-owner", "*"];
const RELEASED: Counts = &[("ERROR", 1), ("PAUSED", 1), ("WAITING", 6)];
const SIX_JOBS: Counts = &[
    ("long-norecover", 1),
    ("long-recover", 1),
    ("missing-class", 1),
    ("oneshot", 1),
    ("oneshot-norecover", 1),
    ("quick", 1),
];
/// Jobs that are not durable go with their last trigger.
const FOUR_JOBS: Counts = &[("long-norecover", 1), ("long-recover", 1), ("missing-class", 1), ("quick", 1)];
const MID_RUN: Counts = &[("ACQUIRED", 2), ("BLOCKED", 4), ("COMPLETE", 2), ("ERROR", 1), ("PAUSED_BLOCKED", 1)];

const fn quartz(file: &'static str, said: &'static [&'static str], counts: &'static [Count]) -> Dump {
    Dump {
        file,
        server: Server::PostgreSql,
        recipe: "--all",
        said,
        looked: &["--release", "2.3.2"],
        chosen: &["--release", "2.3.2", "--recovery", "drop", "--bursts", "fire"],
        counts,
    }
}

#[test]
fn quartz_is_let_go() {
    all(&[
        quartz(
            "quartz/01-cluster-both-killed.sql",
            STOPPED,
            &[
                (STATES, MID_RUN, RELEASED),
                (FIRED, &[("NODE_A", 2), ("NODE_B", 4)], &[]),
                (NODES, &[("NODE_A", 1), ("NODE_B", 1)], &[]),
                (JOBS, SIX_JOBS, FOUR_JOBS),
            ],
        ),
        quartz(
            "quartz/04-nonclustered-other-id.sql",
            STOPPED,
            &[
                (
                    STATES,
                    &[("ACQUIRED", 1), ("BLOCKED", 4), ("ERROR", 1), ("PAUSED_BLOCKED", 1), ("WAITING", 1)],
                    RELEASED,
                ),
                (FIRED, &[("OTHER", 3)], &[]),
                (NODES, &[("NODE_A", 1), ("NODE_B", 1)], &[]),
                (JOBS, FOUR_JOBS, FOUR_JOBS),
            ],
        ),
        quartz(
            "quartz/05-nonclustered-killed.sql",
            STOPPED,
            &[
                (
                    STATES,
                    &[
                        ("ACQUIRED", 1),
                        ("BLOCKED", 4),
                        ("COMPLETE", 2),
                        ("ERROR", 1),
                        ("PAUSED_BLOCKED", 1),
                        ("WAITING", 1),
                    ],
                    RELEASED,
                ),
                (FIRED, &[("SOLO", 5)], &[]),
                (JOBS, SIX_JOBS, FOUR_JOBS),
            ],
        ),
        quartz(
            "quartz/06a-fired-rows-deleted-by-hand.sql",
            STOPPED,
            &[(STATES, MID_RUN, RELEASED), (FIRED, &[], &[]), (JOBS, SIX_JOBS, FOUR_JOBS)],
        ),
        // A node lives: what nothing holds is let go beside it.
        quartz(
            "quartz/06b-not-healed-after-restart.sql",
            &[],
            &[(STATES, MID_RUN, RELEASED), (NODES, &[("NODE_C", 1)], &[("NODE_C", 1)]), (JOBS, SIX_JOBS, FOUR_JOBS)],
        ),
        // The other node lives and runs one of the jobs, whose triggers stay blocked.
        quartz(
            "quartz/07-orphan-fired-rows-live-peer.sql",
            &["--dead-owner", "NODE_A"],
            &[
                (
                    STATES,
                    MID_RUN,
                    &[("ACQUIRED", 1), ("BLOCKED", 2), ("ERROR", 1), ("PAUSED_BLOCKED", 1), ("WAITING", 3)],
                ),
                (FIRED, &[("NODE_A", 5), ("NODE_B", 2)], &[("NODE_B", 2)]),
                (NODES, &[("NODE_B", 1)], &[("NODE_B", 1)]),
                (JOBS, SIX_JOBS, FOUR_JOBS),
            ],
        ),
        Dump {
            server: Server::MariaDb,
            ..quartz(
                "quartz/21-mariadb-both-killed.sql",
                STOPPED,
                &[
                    (FIRED, &[("NODE_A", 5)], &[]),
                    (NODES, &[("NODE_A", 1), ("NODE_B", 1)], &[]),
                    (JOBS, SIX_JOBS, FOUR_JOBS),
                ],
            )
        },
    ]);
}

const TASKS: &str = "state of task_instance";
const RUNS: &str = "state of dag_run";
const LOCAL: &str = "state of job WHERE job_type = 'LocalTaskJob'";
/// Set A: five tasks were held; what waits, is deferred or is to be tried again goes on by itself.
const HELD: Counts = &[
    ("NULL", 4),
    ("deferred", 1),
    ("queued", 1),
    ("running", 4),
    ("success", 1),
    ("up_for_reschedule", 1),
    ("up_for_retry", 1),
];
const CLOSED: Counts =
    &[("NULL", 4), ("deferred", 1), ("failed", 5), ("success", 1), ("up_for_reschedule", 1), ("up_for_retry", 1)];
const OPEN: Counts = &[("running", 4), ("success", 1)];

const fn airflow(file: &'static str, server: Server, counts: &'static [Count]) -> Dump {
    Dump {
        file,
        server,
        recipe: "zombie-tasks",
        said: &["--older-than", "10m"],
        looked: &[],
        chosen: &["--choose", "finish"],
        counts,
    }
}

#[test]
fn airflow_closes_what_nobody_holds() {
    const JOBS: Count = (LOCAL, &[("running", 4), ("success", 4)], &[("failed", 4), ("success", 4)]);
    all(&[
        airflow(
            "airflow/2.11.2-postgresql.sql",
            Server::PostgreSql,
            &[(TASKS, HELD, CLOSED), (RUNS, OPEN, OPEN), JOBS],
        ),
        airflow("airflow/2.11.2-mariadb.sql", Server::MariaDb, &[(TASKS, HELD, CLOSED), (RUNS, OPEN, OPEN)]),
        airflow("airflow/3.0.6-postgresql.sql", Server::PostgreSql, &[(TASKS, HELD, CLOSED), (RUNS, OPEN, OPEN)]),
        airflow("airflow/3.0.6-sqlite.sqlite", Server::Sqlite, &[(TASKS, HELD, CLOSED), (RUNS, OPEN, OPEN)]),
        // Set B: the executor ran one task at a time.
        airflow(
            "airflow/2.11.2-sqlite.sqlite",
            Server::Sqlite,
            &[
                (
                    TASKS,
                    &[
                        ("NULL", 5),
                        ("deferred", 1),
                        ("queued", 1),
                        ("running", 1),
                        ("success", 1),
                        ("up_for_reschedule", 1),
                        ("up_for_retry", 1),
                    ],
                    &[
                        ("NULL", 5),
                        ("deferred", 1),
                        ("failed", 2),
                        ("success", 1),
                        ("up_for_reschedule", 1),
                        ("up_for_retry", 1),
                    ],
                ),
                (LOCAL, &[("running", 1), ("success", 4)], &[("failed", 1), ("success", 4)]),
            ],
        ),
    ]);
}

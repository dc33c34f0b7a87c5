//! Runs of DAGs that no scheduler finds.

use flowmend::manifest::Manifest;

use super::{Night, OLD, plan, releases, round, tasks};
use crate::support::db::{Server, TestDb, same};
use crate::support::fixture::manifest_of;
use crate::support::program::{on_bundle, sealed};

/// A waiting task and one in up_for_retry, under an open run whose DAG is active but has no serialized form.
fn unserialized(server: Server, release: &str) -> TestDb {
    let m = manifest_of("airflow", release);
    let mut night = Night::new(server, &m);
    night.dag("d", true).dag("other", true).run("d/r", "running", &[]);
    let version = "00000000000000000000000000000001";
    if m.has("dag_version") {
        let values = [("id", version), ("dag_id", "other"), ("number", "1"), ("created_at", OLD)];
        night.rows.add("dag_version", &values.map(|(name, value)| (name, Some(value))));
    }
    let mut serialized = vec![("dag_id", Some("other"))];
    if m.has("serialized_dag.version_id") {
        serialized.extend([("id", Some(version)), ("version_id", Some(version))]);
    }
    night.rows.add("serialized_dag", &serialized);
    night.task(
        "d/r",
        "retry",
        Some("up_for_retry"),
        &[
            ("start_time", Some(OLD)),
            ("end_time", Some("2026-11-01 10:00:30")),
            ("duration", Some("30")),
            ("updated", Some(OLD)),
        ],
    );
    night.task("d/r", "waits", Some("scheduled"), &[("updated", Some(OLD))]);
    night.done()
}

/// REPAIRS R5, R6: schedulers of 2.0 and later find a DAG by its row of serialized_dag. A skipped
/// task gets what upstream's own `set_state` writes: a start, an end and a duration.
#[test]
fn a_dag_without_a_serialized_form_is_gone() {
    for server in Server::available("airflow_gone_dags") {
        for release in ["2.0.1", "2.5.3", "2.11.2", "3.0.6", "3.3.2"] {
            let db = unserialized(server, release);
            plan(&db, release, "stranded-runs", &["--older-than", "1h"]).expect(0);
            round(&db, release, |db| {
                assert_eq!(db.value("SELECT state FROM dag_run").as_deref(), Some("failed"), "{server:?} {release}");
                let whole = "CASE WHEN start_date IS NOT NULL AND end_date IS NOT NULL THEN 1 ELSE 0 END";
                let expected = ["retry: skipped 1 30", "waits: skipped 1 0"];
                let seconds = match server {
                    Server::Sqlite => "CAST(ROUND(duration) AS INTEGER)",
                    _ => "CAST(duration AS DECIMAL(9, 0))",
                };
                assert_eq!(tasks(db, &["state", whole, seconds]), expected, "{server:?} {release}");
            });
        }
    }
}

/// In 1.10 the table is filled only where that is switched on, so it tells nothing.
#[test]
fn serialized_dags_tell_nothing_in_1_10() {
    let db = unserialized(Server::Sqlite, "1.10.15");
    plan(&db, "1.10.15", "stranded-runs", &["--older-than", "1h"]).expect(0);
    assert!(!db.path("b").exists());
}

/// Turns every DAG of the database from there to gone, or back.
fn turn(db: &TestDb, m: &Manifest) {
    let column = m.column(if m.has("dag.stale") { "dag.stale" } else { "dag.active" }).unwrap();
    db.exec(&format!("UPDATE dag SET {column} = NOT {column} WHERE dag_id = 'd'"));
}

/// The DAG processor may find the file again between plan and apply: a scheduler then goes on with
/// the run, and nobody closes it. Once applied, a DAG that comes back is no drift.
#[test]
fn a_dag_that_is_back_is_not_closed() {
    for server in Server::available("airflow_gone_dags") {
        for release in releases(server) {
            let m = manifest_of("airflow", release);
            let mut night = Night::new(server, &m);
            night.dag("d", false).dag("other", true).run("d/r", "running", &[]);
            night.job("1", "SchedulerJob", "failed", OLD).job("2", "LocalTaskJob", "running", OLD);
            let started =
                [("start_time", Some(OLD)), ("queued_at", Some(OLD)), ("host", Some("h1")), ("updated", Some(OLD))];
            night.task(
                "d/r",
                "works",
                Some("running"),
                &[&started[..], &[("job_id", Some("2")), ("beat", Some(OLD))]].concat(),
            );
            night.task("d/r", "waits", Some("scheduled"), &[("updated", Some(OLD))]);
            let db = night.done();
            plan(&db, release, "zombie-tasks", &["--older-than", "1h", "--choose", "finish"]).expect(0);
            let before = db.dump();
            turn(&db, &m);
            let refused = sealed("apply", &db, "b", &[]).expect(3);
            assert!(refused.err.contains("still gone"), "{server:?} {release}: {}", refused.err);
            turn(&db, &m);
            same(&db.dump(), &before, &format!("{server:?} {release}: nothing was written"));
            sealed("apply", &db, "b", &[]).expect(0);
            assert_eq!(db.value("SELECT state FROM dag_run").as_deref(), Some("failed"), "{server:?} {release}");
            turn(&db, &m);
            on_bundle("verify", &db, "b").expect(0);
            sealed("rollback", &db, "b", &[]).expect(0);
        }
    }
}

/// What is planned for a scheduler to go on with needs the DAG there when it is written, too.
#[test]
fn a_dag_that_went_gets_nothing() {
    let release = "3.1.8";
    let m = manifest_of("airflow", release);
    let retry = ("up_for_retry", vec![("start_time", Some(OLD)), ("updated", Some(OLD))]);
    let deferred = ("deferred", vec![("start_time", Some(OLD)), ("updated", Some(OLD)), ("trigger_id", Some("7"))]);
    let unsent = ("scheduled", vec![("updated", Some(OLD)), ("dag_version_id", None)]);
    for (recipe, (state, values)) in
        [("retry-without-end", retry), ("missing-triggers", deferred), ("missing-versions", unsent)]
    {
        let mut night = Night::new(Server::Sqlite, &m);
        night.dag("d", true).dag("other", true).run("d/r", "running", &[]);
        night.version("d");
        night.task("d/r", "t", Some(state), &values);
        let db = night.done();
        plan(&db, release, recipe, if recipe == "missing-triggers" { &["--older-than", "1h"] } else { &[] }).expect(0);
        turn(&db, &m);
        let refused = sealed("apply", &db, "b", &[]).expect(3);
        assert!(refused.err.contains("still there"), "{recipe}: {}", refused.err);
        turn(&db, &m);
        sealed("apply", &db, "b", &[]).expect(0);
    }
}

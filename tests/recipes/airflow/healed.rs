//! What a scheduler heals by itself, by release: such tasks wait for a choice, with words that fit.

use flowmend::manifest::Manifests;

use super::{Night, OLD, inspect, plan, round, tasks};
use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest_of;
use crate::support::program::flowmend;

const AGE: &[&str] = &["--older-than", "1h"];

/// A dead running task with its LocalTaskJob: in an open run, a finished one, one of a backfill,
/// of an unknown scheduler, and of a DAG that is gone.
fn lost(release: &str) -> TestDb {
    let m = manifest_of("airflow", release);
    let mut night = Night::new(Server::Sqlite, &m);
    night.dag("d", true).dag("gone", false);
    night.run("d/open", "running", &[]).run("d/done", "failed", &[("end_time", Some(OLD))]);
    night.run("d/backfill_x", "running", &[("run_type", Some("backfill"))]).run("gone/r", "running", &[]);
    night.job("1", "SchedulerJob", "running", OLD).job("2", "LocalTaskJob", "running", OLD);
    let values = [("start_time", Some(OLD)), ("job_id", Some("2")), ("host", Some("w"))];
    for (run, task) in [("d/open", "open"), ("d/done", "done"), ("d/backfill_x", "backfill"), ("gone/r", "gone")] {
        night.task(run, task, Some("running"), &values);
    }
    night.task("d/open", "unknown_owner", Some("running"), &[&values[..], &[("queued_by", Some("77"))]].concat());
    night.task("d/open", "no_job", Some("running"), &[("start_time", Some(OLD))]);
    night.done()
}

/// `finding: task task …`, of zombie-tasks.
fn found(db: &TestDb, release: &str) -> Vec<String> {
    let report = inspect(db, release, AGE);
    let of_recipe = report["findings"].as_array().unwrap().iter().filter(|f| f["recipe"] == "zombie-tasks");
    let mut lines: Vec<String> = of_recipe
        .map(|finding| {
            let labels = finding["sample"].as_array().unwrap().iter().map(|s| s.as_str().unwrap());
            let mut names: Vec<&str> = labels.map(|l| l.rsplit('/').next().unwrap().trim_end_matches(')')).collect();
            names.sort_unstable();
            format!("{}: {}", finding["code"].as_str().unwrap(), names.join(" "))
        })
        .collect();
    lines.sort();
    lines
}

/// SEMANTICS of the sweep for silent tasks: 1.10 to 2.3.3 look at every run and every scheduler's
/// tasks, later releases do not. 1.10 never resets a running task.
#[test]
fn a_running_task_is_left_to_the_sweep_that_takes_it() {
    let all = ["task-of-gone-dag: gone", "task-of-silent-job: backfill done open unknown_owner"];
    let some = ["task-of-dead-owner: no_job open", "task-of-gone-dag: gone"];
    let early: Vec<&str> = ["task-never-reset: no_job"].into_iter().chain(all).collect();
    let middle: Vec<&str> = some.into_iter().chain(["task-of-silent-job: backfill done unknown_owner"]).collect();
    let late: Vec<&str> = [
        "task-of-backfill: backfill",
        some[0],
        "task-of-finished-run: done",
        some[1],
        "task-without-owner: unknown_owner",
    ]
    .to_vec();
    for (release, expected) in [
        ("1.10.15", &early),
        ("2.0.1", &middle),
        ("2.2.5", &middle),
        ("2.3.3", &middle),
        ("2.3.4", &late),
        ("2.7.0", &late),
        ("2.10.5", &late),
    ] {
        assert_eq!(&found(&lost(release), release), expected, "{release}");
    }
}

/// The choice of 1.10 does not say that a running task runs again: the sweep fails or retries it.
#[test]
fn the_choice_says_what_the_scheduler_does() {
    for (release, says, hides) in [
        ("1.10.15", "They fail, or are retried where a try is left, with callbacks and mails.", "run again, also with"),
        ("2.2.5", "Those of dead schedulers run again, also with retries 0,", "They fail"),
        ("2.3.4", "They run again, also with retries 0,", "callbacks and mails"),
        ("3.1.8", "They run again, also with retries 0,", "Not advised"),
        ("3.2.2", "Not advised: if the reset ends the scheduler, it does so at every start,", "callbacks and mails"),
        ("3.2.2", "The safe way here, with every scheduler stopped.", "callbacks and mails"),
        ("3.3.2", "They run again, also with retries 0,", "Not advised"),
    ] {
        let db = lost(release);
        let asked = plan(&db, release, "zombie-tasks", AGE).expect(2);
        let text = asked.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(says) && !text.contains(hides), "{release}: {text}");
    }
}

/// Whoever closes them by choice closes those of finished runs and backfills for good.
#[test]
fn a_silent_task_of_a_finished_run_fails_whatever_is_said() {
    for release in ["1.10.15", "2.2.5"] {
        let db = lost(release);
        plan(&db, release, "zombie-tasks", &[AGE, &["--choose", "finish", "--task-outcome", "clear"]].concat())
            .expect(0);
        round(&db, release, |db| {
            let expected =
                ["backfill: failed", "done: failed", "gone: failed", "no_job: -", "open: -", "unknown_owner: -"];
            assert_eq!(tasks(db, &["state"]), expected, "{release}");
        });
    }
}

/// apache/airflow#33661: restarting tasks are reset from 2.7.1 on. One revision, three generations.
#[test]
fn restarting_is_swept_from_2_7_1_on() {
    for (release, finding) in [
        ("2.6.3", "task-never-reset"),
        ("2.7.0", "task-never-reset"),
        ("2.7.1", "task-of-dead-owner"),
        ("2.7.3", "task-of-dead-owner"),
    ] {
        let m = manifest_of("airflow", release);
        let mut night = Night::new(Server::Sqlite, &m);
        night.dag("d", true).run("d/r", "running", &[]).job("1", "SchedulerJob", "failed", OLD);
        night.task("d/r", "t", Some("restarting"), &[("start_time", Some(OLD))]);
        let db = night.done();
        assert_eq!(found(&db, release), [format!("{finding}: t")], "{release}");
        assert_eq!(inspect(&db, release, AGE)["release"], release);
    }
}

/// No release resets a task whose run is not running: each says so.
#[test]
fn every_reset_asks_for_a_running_run() {
    for m in Manifests::load(None).unwrap().of("airflow").unwrap() {
        let sweep = m.behaviour["sweep"].as_str().unwrap();
        let says = sweep.contains("if their run is running") || sweep.contains("of running runs are reset");
        assert!(says, "{}: {sweep}", m.generation);
    }
}

/// What `inspect` tells of the findings of a database.
fn told(db: &TestDb, release: &str) -> String {
    let place = ["inspect", "--url", &db.url, "--release", release, "--now", "2026-11-29T00:00:00Z", "--explain"];
    flowmend([&place, AGE].concat()).expect(1).out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// apache/airflow#67813, #71272: the reset of an orphan ends the scheduler of 3.2.2 at every start.
#[test]
fn a_reset_that_ends_the_scheduler_is_named() {
    for (release, named) in [("3.1.8", false), ("3.2.2", true), ("3.3.2", false)] {
        let text = told(&lost(release), release);
        for words in ["#67813", "which is the safe one here, with every scheduler stopped"] {
            assert_eq!(text.contains(words), named, "{release}: {text}");
        }
        let db = lost(release);
        plan(&db, release, "zombie-tasks", &[AGE, &["--choose", "finish"]].concat()).expect(0);
        let ticket = std::fs::read_to_string(db.path("b").join("TICKET.md")).unwrap();
        assert_eq!(ticket.contains("#71272"), named, "{release}: {ticket}");
    }
}

/// Where an owner is all that a task lacks, the way with callbacks is named with its conditions.
#[test]
fn a_task_without_owner_can_be_handed_over() {
    let living = "to the id of that scheduler's job";
    let dead = "to the id of the dead SchedulerJob";
    for (release, state, way, needs) in [
        ("2.2.5", "queued", dead, "if its run is running, the sweep for orphans then resets it"),
        ("2.3.4", "running", living, "its LocalTaskJob, by job_id, must have a row that is silent for 300 s"),
        ("2.10.5", "running", living, "its LocalTaskJob, by job_id, must have a row that is silent for 300 s"),
        ("2.10.5", "queued", dead, "if its run is running, the sweep for orphans then resets it"),
        ("3.0.6", "running", living, "its dag_version_id must not be NULL: that would end the scheduler"),
        ("3.0.6", "restarting", living, "its last_heartbeat_at must be set and older than 300 s"),
        ("3.3.2", "running", living, "older than 300 s, and its DAG must have a row"),
    ] {
        let m = manifest_of("airflow", release);
        let mut night = Night::new(Server::Sqlite, &m);
        night.dag("d", true).run("d/r", "running", &[]).job("2", "LocalTaskJob", "running", OLD);
        let values = [("start_time", Some(OLD)), ("queued_at", Some(OLD)), ("job_id", Some("2")), ("beat", Some(OLD))];
        night.task("d/r", "t", Some(state), &[&values[..], &[("queued_by", Some("77"))]].concat());
        let db = night.done();
        assert_eq!(found(&db, release), ["task-without-owner: t"], "{release}");
        let text = told(&db, release);
        assert!(text.contains(way) && text.contains(needs), "{release}: {text}");
        assert_eq!(text.matches("The soft way").count(), 1, "{release}: {text}");
    }
}

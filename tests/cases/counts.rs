//! hhyo/Archery#643, #1547: a count must be the statement's own, and a fact.
//! transact-rs/sqlx#1366: and it must not hang on a driver's flag.

use flowmend::bundle::Bundle;

use super::site::Site;
use crate::live::round::zombies;
use crate::support::db::{Server, TestDb};
use crate::support::program::plan;

#[test]
fn each_statement_has_its_own_exact_count() {
    for server in Server::available("counts") {
        let db = zombies(server, "3.1.9");
        plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
        let bundle = Bundle::read(&db.path("b")).unwrap();
        let rows: Vec<(&str, usize)> = bundle.plan.steps.iter().map(|s| (s.role.as_str(), s.rows.len())).collect();
        assert_eq!(rows, [("task_instance", 2), ("workflow_instance", 1), ("task_group_queue", 1), ("task_group", 1)]);
    }
}

/// A bundle `b` of each scheduler: updates of texts, numbers and times, deletes, composite keys.
fn bundles(server: Server) -> Vec<TestDb> {
    let ours = zombies(server, "3.1.9");
    plan(&ours, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
    let mut all = vec![ours, airflow(server), quartz(server)];
    if server != Server::PostgreSql {
        all.push(xxl_job(server));
    }
    all
}

const OLD: Option<&str> = Some("2026-11-01 00:00:00");

fn airflow(server: Server) -> TestDb {
    let site = Site::new(server, "airflow", "3.1.8");
    let job = [("id", Some("1")), ("type", Some("SchedulerJob")), ("state", Some("running"))];
    site.add("job", &[&job[..], &[("beat", OLD), ("start_time", OLD)]].concat());
    site.plan("stale-jobs", "b", &["--older-than", "1h"]).expect(0);
    site.db
}

fn quartz(server: Server) -> TestDb {
    let site = Site::new(server, "quartz", "2.3.2");
    let key = [("sched_name", Some("s")), ("name", Some("t")), ("group_name", Some("g"))];
    let job = [("job_name", Some("j")), ("job_group", Some("g")), ("type", Some("CRON")), ("state", Some("PAUSED"))];
    let times = [("next_fire_time", Some("1700000000000")), ("prev_fire_time", Some("-1")), ("misfire", Some("0"))];
    site.add("job", &[("sched_name", Some("s")), ("name", Some("j")), ("group_name", Some("g"))]);
    site.add("trigger", &[&key[..], &job, &times].concat()).add("cron_trigger", &key);
    site.add("paused_group", &[("sched_name", Some("s")), ("group_name", Some("g"))]);
    site.plan("paused-triggers", "b", &["--resume", "--dead-owner", "*"]).expect(0);
    site.db
}

fn xxl_job(server: Server) -> TestDb {
    let site = Site::new(server, "xxl-job", "3.4.2");
    let codes = [("trigger_state", Some("200")), ("state", Some("0")), ("alarm_status", Some("0"))];
    site.add(
        "log",
        &[&codes[..], &[("id", Some("1")), ("start_time", OLD), ("host", Some("http://h:9999/"))]].concat(),
    );
    site.plan("lost-runs", "b", &["--ended", "1"]).expect(0);
    site.db
}

/// Matched and changed rows are the same, because every UPDATE pins the old
/// value of what it writes and writes another one.
#[test]
fn every_update_pins_old_values_and_has_no_limit() {
    for server in Server::available("counts") {
        for db in bundles(server) {
            let bundle = Bundle::read(&db.path("b")).unwrap();
            for (name, text) in bundle.files.iter().filter(|(name, _)| name.ends_with(".sql")) {
                let words = text.to_uppercase();
                for word in [" LIMIT ", "EXPLAIN", "TEMPORARY"] {
                    assert!(!words.contains(word), "{name}: {word}");
                }
            }
            assert!(bundle.plan.steps.iter().all(|step| !step.rows.is_empty()));
            for step in &bundle.plan.steps {
                for set in &step.set {
                    assert!(step.pins.contains(&set.column), "{} of {}", set.column.name, step.role);
                }
            }
        }
    }
}

/// MySQL and MariaDB commit at CREATE TABLE, and refuse CREATE … SELECT under GTID.
#[test]
fn ddl_comes_before_the_transaction_where_it_commits() {
    for server in [Server::MariaDb, Server::MySql] {
        if !server.is_there("ddl_first") {
            continue;
        }
        for db in bundles(server) {
            let text = std::fs::read_to_string(db.path("b").join("apply.mysql")).unwrap();
            let (before, after) = text.split_once("START TRANSACTION;").unwrap();
            assert!(before.contains("CREATE TABLE") && !after.contains("CREATE TABLE"));
            let copies = before.matches("LIKE").count() + before.matches("ENGINE=InnoDB").count();
            assert_eq!(before.matches("CREATE TABLE").count(), copies);
        }
    }
}

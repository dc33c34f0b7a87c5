//! The damage that a widely read runbook leaves as it is: a zombie run with a
//! zombie task that holds the only slot of a task group, beside two runs that a
//! user is stopping on a living master, a failed run whose rerun is queued, and
//! a scheduled new run. By the tool and by the stock client, on the releases
//! the page speaks of.
//!
//! With FLOWMEND_TEST_UPSTREAM_DDL=DIR the schemas are upstream's own files,
//! `DIR/<release>-{mysql,postgresql}.sql`; else they are made from the manifests.

use std::collections::BTreeMap;

use crate::support::db::{Server, TestDb};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{on_bundle, plan, sealed};

const RELEASES: [&str; 3] = ["2.0.9", "3.1.9", "3.2.2"];

fn upstream_schema(server: Server, release: &str) -> Option<TestDb> {
    let dir = std::path::PathBuf::from(std::env::var_os("FLOWMEND_TEST_UPSTREAM_DDL")?);
    let engine = if server == Server::PostgreSql { "postgresql" } else { "mysql" };
    let db = TestDb::new(server);
    let done = db.stock_lenient(&dir.join(format!("{release}-{engine}.sql")));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(db)
}

fn damaged(server: Server, release: &str) -> TestDb {
    let m = manifest(release);
    let db = match server {
        Server::Sqlite => TestDb::with_schema(server, &m),
        _ => upstream_schema(server, release).unwrap_or_else(|| TestDb::with_schema(server, &m)),
    };
    let mut rows = Rows::new(&m, server.dialect());
    let (start, end) = (Some("2026-11-28 10:00:00"), Some("2026-11-28 10:01:00"));
    for (id, state, host) in [
        ("1", "1", "10.0.0.9:5678"),
        ("2", "4", "10.0.0.1:5678"),
        ("3", "4", "10.0.0.1:5678"),
        ("4", "6", "10.0.0.1:5678"),
        ("5", "1", "10.0.0.1:5678"),
    ] {
        let end = if state == "6" { end } else { None };
        rows.add(
            "workflow_instance",
            &[
                ("id", Some(id)),
                ("name", Some("run")),
                ("state", Some(state)),
                ("host", Some(host)),
                ("start_time", start),
                ("restart_time", start),
                ("end_time", end),
                ("definition_code", Some(id)),
                ("definition_version", Some("1")),
                ("executor_id", Some("1")),
            ],
        );
    }
    for (id, run, state, flag) in [
        ("1", "1", "1", "1"),
        ("2", "2", "1", "1"),
        ("3", "3", "1", "1"),
        ("4", "3", "6", "1"),
        ("5", "4", "6", "1"),
        ("6", "5", "0", "1"),
        ("7", "4", "7", "1"),
        ("8", "1", "1", "0"),
    ] {
        let end = if matches!(state, "6" | "7") { end } else { None };
        rows.add(
            "task_instance",
            &[
                ("id", Some(id)),
                ("name", Some("task")),
                ("task_type", Some("SHELL")),
                ("run_id", Some(run)),
                ("state", Some(state)),
                ("flag", Some(flag)),
                ("host", Some("10.0.0.4:1234")),
                ("submit_time", start),
                ("start_time", start),
                ("end_time", end),
                ("task_code", Some(id)),
                ("task_execute_type", Some("0")),
            ],
        );
    }
    rows.add(
        "command",
        &[
            ("id", Some("1")),
            ("type", Some("4")),
            ("run_id", Some("4")),
            ("definition_code", Some("4")),
            ("definition_version", Some("1")),
        ],
    );
    rows.add(
        "command",
        &[
            ("id", Some("2")),
            ("type", Some("6")),
            ("run_id", Some("0")),
            ("definition_code", Some("6")),
            ("definition_version", Some("1")),
        ],
    );
    rows.add(
        "task_group",
        &[("id", Some("1")), ("name", Some("g")), ("size", Some("1")), ("used", Some("1")), ("status", Some("1"))],
    );
    for (id, task, run, status) in [("1", "1", "1", "1"), ("2", "6", "5", "-1"), ("3", "7", "4", "2")] {
        rows.add(
            "task_group_queue",
            &[
                ("id", Some(id)),
                ("task_id", Some(task)),
                ("group_id", Some("1")),
                ("run_id", Some(run)),
                ("status", Some(status)),
                ("force_start", Some("0")),
                ("in_queue", Some(if release == "3.2.2" { "1" } else { "0" })),
            ],
        );
    }
    db.exec("DELETE FROM t_ds_version");
    rows.add("version", &[("id", Some("1")), ("version", Some(m.version_marks[release].as_str()))]);
    db.exec_all(&rows.statements);
    db
}

/// Table → key → the columns that must have changed, with their new values.
type Changes = BTreeMap<&'static str, BTreeMap<&'static str, Vec<(&'static str, &'static str)>>>;

fn expected(release: &str) -> Changes {
    let mut tables = BTreeMap::from([
        ("t_ds_process_instance", BTreeMap::from([("1", vec![("state", "6"), ("end_time", "2026-11-28 22:00:00")])])),
        ("t_ds_task_instance", BTreeMap::from([("1", vec![("state", "6"), ("end_time", "2026-11-28 22:00:00")])])),
    ]);
    if release == "3.1.9" {
        tables.insert("t_ds_task_group_queue", BTreeMap::from([("1", vec![("status", "2")])]));
        tables.insert("t_ds_task_group", BTreeMap::from([("1", vec![("use_size", "0")])]));
    }
    tables
}

#[track_caller]
fn check(db: &TestDb, release: &str, before: &BTreeMap<String, Vec<flowmend::db::Row>>) {
    let (after, expected) = (db.dump(), expected(release));
    for (table, rows) in before {
        let m = manifest(release);
        let columns: Vec<String> =
            m.tables[table].columns_on(db.server.dialect().engine).map(|c| c.name.clone()).collect();
        let order = db.columns(table);
        assert_eq!(order.len(), columns.len(), "{table}");
        let id = order.iter().position(|c| c == "id").unwrap_or(0);
        for old in rows {
            let new = after[table].iter().find(|r| r[id] == old[id]).unwrap_or_else(|| panic!("{table} lost a row"));
            let key = old[id].clone().unwrap_or_default();
            let wanted = expected.get(table.as_str()).and_then(|k| k.get(key.as_str())).cloned().unwrap_or_default();
            for (index, name) in order.iter().enumerate() {
                let right = wanted.iter().find(|(c, _)| c == name).map(|(_, v)| Some((*v).to_owned()));
                let moved = name == "update_time" && !wanted.is_empty();
                let right = right.unwrap_or_else(|| old[index].clone());
                assert!(
                    moved || new[index] == right,
                    "{release} {:?} {table} {key} {name}: {:?} is not {right:?}",
                    db.server,
                    new[index]
                );
            }
        }
    }
}

#[test]
fn exactly_the_right_rows_by_tool_and_by_stock_client() {
    for server in Server::available("runbook") {
        for release in RELEASES {
            for by_hand in [false, true] {
                let db = damaged(server, release);
                let before = db.dump();
                plan(&db, "b", &["--dead-owner", "10.0.0.9:5678", "--older-than", "2h"]).expect(0);
                let runner = |what: &str| db.path("b").join(format!("{what}.{}", server.client()));
                if by_hand {
                    let done = db.stock(&runner("apply"));
                    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
                } else {
                    sealed("apply", &db, "b", &[]).expect(0);
                }
                check(&db, release, &before);
                on_bundle("verify", &db, "b").expect(0);
                if by_hand {
                    assert!(db.stock(&runner("rollback")).status.success());
                } else {
                    sealed("rollback", &db, "b", &[]).expect(0);
                }
                assert_eq!(db.dump(), before, "{server:?} {release}: back to the byte");
            }
        }
    }
}

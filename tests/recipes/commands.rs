//! Queued commands that no master can carry out: #7504 and hand-made or forgotten ones.

use flowmend::manifest::{Manifest, Manifests, version_order};

use crate::support::db::{Server, TestDb, same};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{Run, flowmend, on_bundle, plan_recipe, sealed};

/// One of each era that matters to commands.
const RELEASES: [&str; 9] = ["1.2.1", "1.3.9", "2.0.9", "3.0.6", "3.1.9", "3.2.2", "3.3.2", "3.4.0", "3.4.1"];
const QUEUED: &str = "2026-11-27 10:00:00";

fn at_least(release: &str, other: &str) -> bool {
    version_order(release) >= version_order(other)
}

/// One command: id, type, run, workflow (the id in 1.x), version, start.
type Row<'a> = (&'a str, Option<&'a str>, &'a str, &'a str, &'a str, Option<&'a str>);

/// 1: good. 2: failed before. 3: its id was used before. 4: no such type. 5: no such run, or workflow.
/// 6: no such version, or flag 0. 7: good and very old. 8: no type. 9: wakes a serial run.
/// 10: offline, where that matters. 11: failed before, for a finished run.
const COMMANDS: [Row<'static>; 11] = [
    ("1", Some("0"), "101", "1", "1", Some(QUEUED)),
    ("2", Some("4"), "101", "1", "1", Some(QUEUED)),
    ("3", Some("2"), "101", "1", "1", Some("2026-11-28 10:00:00")),
    ("4", Some("99"), "101", "1", "1", Some(QUEUED)),
    ("5", Some("2"), "99", "1", "1", Some(QUEUED)),
    ("6", Some("3"), "101", "1", "0", Some(QUEUED)),
    ("7", Some("5"), "101", "1", "1", Some("2019-01-01 00:00:00")),
    ("8", None, "101", "1", "1", Some(QUEUED)),
    ("9", Some("11"), "101", "1", "1", Some(QUEUED)),
    ("10", Some("0"), "101", "2", "1", Some(QUEUED)),
    ("11", Some("7"), "102", "1", "1", None),
];

fn fill(db: &TestDb, m: &Manifest) {
    let by_id = m.has("definition.flag");
    let mut rows = Rows::new(m, db.server.dialect());
    for (id, name, online, flag) in [("1", "load", "1", "1"), ("2", "paused", "0", "1"), ("3", "dropped", "1", "0")] {
        let flags = [("@release_state", Some(online)), ("@flag", Some(flag))];
        let values = [("id", Some(id)), ("code", Some(id)), ("name", Some(name)), ("version", Some("1"))];
        rows.add("definition", &[&values[..], &flags[..]].concat());
        rows.add("definition_log", &[&values[..], &flags[..]].concat());
    }
    for (id, state) in [("101", "1"), ("102", "6")] {
        rows.add("workflow_instance", &[("id", Some(id)), ("name", Some("r")), ("state", Some(state))]);
    }
    for (id, kind, run, definition, version, start) in COMMANDS {
        let definition = match (by_id, id) {
            (true, "5") => "99",
            (true, "6") => "3",
            _ => definition,
        };
        let param = format!("{{\"ProcessInstanceId\":{run}}}");
        rows.add(
            "command",
            &[
                ("id", Some(id)),
                ("type", kind),
                ("run_id", Some(run)),
                ("definition_id", Some(definition)),
                ("definition_code", Some(definition)),
                ("definition_version", Some(version)),
                ("param", Some(&param)),
                ("start_time", start),
            ],
        );
    }
    for (id, kind, start) in [("2", "4", Some(QUEUED)), ("3", "2", Some("2026-11-01 10:00:00")), ("11", "7", None)] {
        rows.add(
            "error_command",
            &[("id", Some(id)), ("type", Some(kind)), ("start_time", start), ("message", Some("no such node"))],
        );
    }
    db.exec_all(&rows.statements);
}

fn queue(server: Server, release: &str) -> TestDb {
    let m = manifest(release);
    let db = TestDb::with_schema(server, &m);
    fill(&db, &m);
    db
}

/// The commands that go.
fn dead(release: &str) -> Vec<&'static str> {
    let mut dead = vec!["2", "4", "5", "6", "11"];
    if !at_least(release, "1.0.2") {
        dead.retain(|id| !["2", "11"].contains(id));
    }
    // Type 11 has no handler in 3.3; that of 3.4.2 has one again.
    if !at_least(release, "3.0.0") || (at_least(release, "3.3.0") && !at_least(release, "3.4.0")) {
        dead.push("9");
    }
    dead
}

fn plan(db: &TestDb, release: &str, extra: &[&str]) -> Run {
    plan_recipe(db, "dead-commands", "b", &[&["--release", release], extra].concat())
}

fn inspect(db: &TestDb, release: &str, extra: &[&str]) -> serde_json::Value {
    let args = ["inspect", "--url", &db.url, "--release", release, "--zone", "+00:00", "--format", "json"];
    let run = flowmend([&args[..], extra].concat()).expect(1);
    serde_json::from_str(&run.out).unwrap()
}

fn finding<'a>(report: &'a serde_json::Value, code: &str) -> Option<&'a serde_json::Value> {
    report["findings"].as_array().unwrap().iter().find(|f| f["recipe"] == "dead-commands" && f["code"] == code)
}

fn text(finding: &serde_json::Value, key: &str) -> String {
    let all = finding["explained"].as_array().unwrap();
    all.iter().find(|e| e["key"] == key).unwrap()["text"].as_str().unwrap().to_owned()
}

fn left(db: &TestDb, m: &Manifest) -> Vec<String> {
    let rows = db.rows(&format!("SELECT id FROM {}", m.roles["command"].table));
    let mut ids: Vec<String> = rows.into_iter().map(|r| r[0].clone().unwrap()).collect();
    ids.sort_by_key(|id| id.parse::<u32>().unwrap());
    ids
}

/// What must go goes, what must stay stays, and the undo is the identity.
fn round(server: Server, release: &str) {
    let m = manifest(release);
    let db = queue(server, release);
    let before = db.dump();
    plan(&db, release, &[]).expect(0);
    on_bundle("rehearse", &db, "b").expect(0);
    same(&db.dump(), &before, "rehearsed");
    sealed("apply", &db, "b", &[]).expect(0);
    let dead = dead(release);
    let kept: Vec<&str> = COMMANDS.iter().map(|c| c.0).filter(|id| !dead.contains(id)).collect();
    assert_eq!(left(&db, &m), kept, "{server:?} {release}");
    let after = db.dump();
    let others = |dump: &crate::support::db::Dump| {
        dump.iter().filter(|(t, _)| **t != m.roles["command"].table).map(|(t, r)| (t.clone(), r.clone())).collect()
    };
    same(&others(&after), &others(&before), "other tables");
    on_bundle("verify", &db, "b").expect(0);
    sealed("rollback", &db, "b", &[]).expect(0);
    same(&db.dump(), &before, &format!("{server:?} {release}, rolled back"));
}

#[test]
fn dead_commands_go_and_come_back() {
    for server in Server::available("dead_commands") {
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
    for server in Server::available("dead_commands_explained") {
        for release in server.share(&RELEASES) {
            let db = queue(server, release);
            let report = inspect(&db, release, &[]);
            let poison = finding(&report, "poison-command").unwrap();
            let failed = text(poison, "2");
            for words in ["queued at 2026-11-27 10:00:00", "no such node", "#7504"] {
                assert!(failed.contains(words), "{release}: {failed}");
            }
            assert_eq!(failed.contains("no later command of its master runs"), release.starts_with("2."), "{release}");
            assert!(text(poison, "4").contains("has no handler for this type"), "{release}");
            let stranded = "stranded-runs";
            assert!(failed.contains(stranded) && text(poison, "11").contains("a time that its row does not say"));
            assert_eq!(text(poison, "11").contains(stranded), !at_least(release, "2.0.0"), "102 is finished");
            let old = at_least("1.3.9", release);
            assert_eq!(finding(&report, "offline-command").is_some(), old, "{release}");
            assert_eq!(finding(&report, "unfetched-command").is_some(), old, "{release}");
            if old {
                let offline = finding(&report, "offline-command").unwrap();
                assert_eq!(offline["report_only"], true);
                assert!(text(offline, "10").contains("put the workflow online"), "{offline}");
            } else {
                let orphan = finding(&report, "orphan-command").unwrap();
                assert!(text(orphan, "5").contains("a run that does not exist"), "{orphan}");
                assert!(text(orphan, "6").contains("version 0 of workflow 1") && text(orphan, "6").contains(stranded));
            }
            let reasons: Vec<&str> =
                report["left_out"].as_array().unwrap().iter().map(|l| l["reason"].as_str().unwrap()).collect();
            assert!(reasons.contains(&"id-used-before") && reasons.contains(&"no-type"), "{reasons:?}");
        }
    }
}

#[test]
fn the_ticket_says_what_becomes_of_the_runs() {
    for release in ["1.3.9", "3.1.9", "3.4.1"] {
        let db = queue(Server::Sqlite, release);
        plan(&db, release, &[]).expect(0);
        let ticket = std::fs::read_to_string(db.path("b").join("TICKET.md")).unwrap();
        assert!(ticket.contains("repair these runs as stranded runs"), "{ticket}");
        assert_eq!(ticket.contains("at 0 SUBMITTED_SUCCESS"), release == "3.4.1", "{release}");
        assert_eq!(ticket.contains("only commands of workflows that are online"), release == "1.3.9", "{release}");
    }
}

/// The release that names an age takes nothing younger, and nothing whose age is not known.
#[test]
fn ages_and_workflows_narrow_it() {
    for server in Server::available("dead_commands_scope") {
        let db = queue(server, "3.1.9");
        let young = plan(&db, "3.1.9", &["--older-than", "7d"]).expect(0);
        assert!(young.out.contains("too-young") && young.out.contains("no-start-time"), "{}", young.out);
        assert!(young.out.contains("Nothing to repair"), "{}", young.out);
        let other = plan(&db, "3.1.9", &["--workflow", "paused"]).expect(0);
        assert!(other.out.contains("Nothing to repair"), "{}", other.out);
        plan(&db, "3.1.9", &["--workflow", "load", "--older-than", "1h"]).expect(0);
        sealed("apply", &db, "b", &[]).expect(0);
        assert_eq!(left(&db, &manifest("3.1.9")), ["1", "3", "7", "8", "9", "10", "11"]);
    }
}

/// A scope names runs: a command is in it by the run, or the workflow, that it names.
#[test]
fn a_scope_narrows_it() {
    for server in Server::available("dead_commands_scope") {
        for release in server.share(&["1.3.9", "3.1.9", "3.4.1"]) {
            let (db, m) = (queue(server, release), manifest(release));
            // A run that is gone is named by its command alone, before 2.0 within a text.
            plan(&db, release, &["--instance", "99"]).expect(0);
            std::fs::remove_dir_all(db.path("b")).unwrap();
            plan(&db, release, &["--instance", "102"]).expect(0);
            sealed("apply", &db, "b", &[]).expect(0);
            assert_eq!(left(&db, &m), ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"], "{release}");
            std::fs::remove_dir_all(db.path("b")).unwrap();
            let mut rows = Rows::new(&m, db.server.dialect());
            db.exec_all(
                &rows.add("project", &[("id", Some("9")), ("code", Some("9")), ("name", Some("another"))]).statements,
            );
            let none = plan(&db, release, &["--project", "another"]).expect(0);
            assert!(none.out.contains("Nothing to repair"), "{release}: {}", none.out);
        }
    }
}

/// What somebody does between plan and apply stops all of it.
#[test]
fn a_command_that_changed_stops_it() {
    for server in Server::available("dead_commands_moved") {
        for (what, sql, row) in [
            ("another type", "UPDATE t_ds_command SET command_type = 0 WHERE id = 4", "t_ds_command 4"),
            (
                "another version",
                "UPDATE t_ds_command SET process_definition_version = 1 WHERE id = 6",
                "t_ds_command 6",
            ),
            ("consumed", "DELETE FROM t_ds_command WHERE id = 5", "t_ds_command 5"),
            ("its version came", "UPDATE t_ds_process_definition_log SET version = 0 WHERE id = 1", ""),
            ("its failure was cleared", "DELETE FROM t_ds_error_command WHERE id = 2", ""),
        ] {
            let db = queue(server, "3.1.9");
            plan(&db, "3.1.9", &[]).expect(0);
            db.exec(sql);
            let before = db.dump();
            let refused = sealed("apply", &db, "b", &[]).expect(3);
            assert!(refused.err.contains(row), "{server:?} {what}: {}", refused.err);
            same(&db.dump(), &before, what);
        }
    }
}

/// A command that could run by now is not put back.
#[test]
fn rollback_does_not_start_work() {
    for server in Server::available("dead_commands_rollback") {
        let db = queue(server, "3.1.9");
        plan(&db, "3.1.9", &[]).expect(0);
        sealed("apply", &db, "b", &[]).expect(0);
        db.exec("UPDATE t_ds_process_definition_log SET version = 0 WHERE id = 1");
        let before = db.dump();
        sealed("rollback", &db, "b", &[]).expect(3);
        same(&db.dump(), &before, "refused");
    }
}

#[test]
fn a_healthy_queue_is_left_alone() {
    for release in RELEASES {
        let db = queue(Server::Sqlite, release);
        let table = &manifest(release).roles["command"].table;
        db.exec(&format!("DELETE FROM {table} WHERE id NOT IN (1, 7, 10)"));
        let run = plan(&db, release, &[]).expect(0);
        assert!(run.out.contains("Nothing to repair"), "{}", run.out);
    }
}

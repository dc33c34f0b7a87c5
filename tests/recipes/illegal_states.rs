//! Codes that somebody's SQL left, and runs that break failover: shown, never written; and codes that an
//! upgrade left, which another recipe repairs.

use flowmend::manifest::{Manifests, version_order};
use serde_json::Value;

use crate::support::db::{Server, TestDb, same};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{flowmend, plan_recipe};

const RELEASES: [&str; 10] = ["1.2.1", "1.3.9", "2.0.1", "2.0.9", "3.0.6", "3.1.6", "3.1.9", "3.2.2", "3.3.2", "3.4.1"];

fn at_least(release: &str, other: &str) -> bool {
    version_order(release) >= version_order(other)
}

const COMMAND: &str = "{\"ProcessInstanceId\":106}";

/// One row for each code from 1 to 18 with its code as id, valid and in order;
/// runs 101 to 103 lack a host, a start, or both.
fn codes(server: Server, release: &str) -> TestDb {
    let m = manifest(release);
    let db = TestDb::with_schema(server, &m);
    let mut rows = Rows::new(&m, server.dialect());
    let start = ("start_time", Some("2026-11-27 09:00:00"));
    let host = ("host", Some("10.0.0.9:5678"));
    // Runs first: some releases have a foreign key.
    for role in ["workflow_instance", "task_instance"] {
        for code in 1..=18 {
            let code = code.to_string();
            let own = [("id", Some(code.as_str())), ("name", Some("r")), ("state", Some(code.as_str())), host, start];
            rows.add(role, &[&own[..], &[("run_id", Some("7")), ("flag", Some("1"))]].concat());
        }
    }
    let old = [("id", Some("104")), ("name", Some("old")), ("state", Some("4")), ("flag", Some("0"))];
    rows.add("task_instance", &[&old[..], &[("run_id", Some("7"))]].concat());
    for (id, host, start) in [("101", None, start.1), ("102", host.1, None), ("103", None, None)] {
        let times = [("start_time", start), ("host", host)];
        rows.add(
            "workflow_instance",
            &[&[("id", Some(id)), ("name", Some("r")), ("state", Some("1"))], &times[..]].concat(),
        );
    }
    // A master is about to take it.
    rows.add("workflow_instance", &[("id", Some("106")), ("name", Some("r")), ("state", Some("0")), ("host", None)]);
    rows.add("command", &[("id", Some("1")), ("type", Some("0")), ("run_id", Some("106")), ("param", Some(COMMAND))]);
    // A finished run without a host is history.
    rows.add("workflow_instance", &[("id", Some("105")), ("name", Some("r")), ("state", Some("6")), ("host", None)]);
    for (id, status) in [("1", "-1"), ("2", "0"), ("3", "1"), ("4", "2"), ("5", "3")] {
        rows.add("task_group_queue", &[("id", Some(id)), ("status", Some(status)), ("run_id", Some("7"))]);
    }
    db.exec_all(&rows.statements);
    db
}

fn inspect(db: &TestDb, release: &str, extra: &[&str]) -> Value {
    let args = ["inspect", "--url", &db.url, "--release", release, "--zone", "+00:00", "--format", "json"];
    serde_json::from_str(&flowmend([&args[..], extra].concat()).expect(1).out).unwrap()
}

/// Keys of a finding's rows, with what stands before them in the paragraph ("Run 9").
fn found(report: &Value, code: &str) -> Vec<String> {
    found_by(report, ("illegal-states", true), code)
}

/// The same of a recipe, which only reports or not.
fn found_by(report: &Value, recipe: (&str, bool), code: &str) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap();
    let Some(finding) = findings.iter().find(|f| f["code"] == code) else { return Vec::new() };
    assert_eq!((&finding["recipe"], &finding["report_only"]), (&Value::from(recipe.0), &Value::from(recipe.1)));
    let explained = finding["explained"].as_array().unwrap();
    assert_eq!(finding["rows"].as_u64().unwrap(), explained.len() as u64);
    explained.iter().map(|e| e["text"].as_str().unwrap().split(" (").next().unwrap().to_owned()).collect()
}

fn text(report: &Value, begins: &str) -> String {
    let findings = report["findings"].as_array().unwrap();
    let texts = findings.iter().flat_map(|f| f["explained"].as_array().unwrap()).map(|e| e["text"].as_str().unwrap());
    texts.into_iter().find(|t| t.starts_with(begins)).unwrap().to_owned()
}

/// Rows with codes that hand-written repairs left, apart from queue rows. From 3.1 on each such code is of
/// an earlier release, too, and another recipe's.
fn mistaken(release: &str) -> Vec<&'static str> {
    if at_least(release, "3.1.0") {
        return Vec::new();
    }
    vec!["Run 8", "Run 13", "Task 2", "Task 4", "Task 14", "Task 15"]
}

/// Rows with codes of earlier releases that mean the same as another code, and those that must be judged.
fn left(release: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let mut sure = Vec::new();
    let mut unsure = Vec::new();
    if at_least(release, "3.1.0") {
        sure.push("Run 9");
        unsure.extend(["Run 8", "Run 10", "Run 11", "Run 13", "Task 2", "Task 4", "Task 10", "Task 11", "Task 14"]);
        // An earlier attempt.
        unsure.extend(["Task 15", "Task 16", "Task 104"]);
        if !at_least(release, "3.1.7") || at_least(release, "3.3.0") {
            sure.push("Task 5");
        }
        if !at_least(release, "3.2.0") || at_least(release, "3.4.0") {
            unsure.push("Run 17");
        }
        if at_least(release, "3.3.0") {
            unsure.extend(["Run 12", "Run 15", "Run 16"]);
        }
    }
    (sorted(sure), sorted(unsure))
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort();
    all
}

fn each_row_is_shown(server: Server, release: &str) {
    let db = codes(server, release);
    let before = db.dump();
    let report = inspect(&db, release, &[]);
    let mut mistaken = mistaken(release);
    if at_least(release, "3.0.0") {
        mistaken.extend(["Task-group queue row 2", "Task-group queue row 5"]);
    }
    assert_eq!(found(&report, "mistaken-code"), mistaken, "{server:?} {release}");
    let left = left(release);
    let of_upgrade = |code: &str| sorted(found_by(&report, ("legacy-states", false), code));
    assert_eq!(of_upgrade("left-by-upgrade"), left.0, "{server:?} {release}");
    assert_eq!(of_upgrade("left-by-upgrade-unsure"), left.1, "{server:?} {release}");
    let breaks = at_least(release, "2.0.2") && !at_least(release, "3.3.0");
    let runs: &[&str] = if breaks { &["Run 101", "Run 102", "Run 103"] } else { &[] };
    assert_eq!(found(&report, "run-breaks-failover"), runs, "{server:?} {release}");
    same(&db.dump(), &before, "nothing is written");
}

#[test]
fn shown_in_each_era() {
    for server in Server::available("illegal_states") {
        for release in server.share(&RELEASES) {
            each_row_is_shown(server, release);
        }
    }
}

#[test]
fn in_every_generation() {
    let manifests = Manifests::load(None).unwrap();
    for m in manifests.of("dolphinscheduler").unwrap() {
        each_row_is_shown(Server::Sqlite, m.releases.first().unwrap());
    }
}

#[test]
fn the_paragraph_says_what_was_meant() {
    let db = codes(Server::Sqlite, "3.1.9");
    let report = inspect(&db, "3.1.9", &[]);
    for (row, to) in [("Run 8", "6 FAILURE"), ("Run 13", "7 SUCCESS"), ("Task 4", "9 KILL"), ("Task 16", "9 KILL")] {
        let text = text(&report, row);
        assert!(text.contains(&format!("{to} is proposed, but somebody must judge it")), "{text}");
        assert!(text.contains("masters of 3.1.9 cannot read it"), "{text}");
    }
    assert!(text(&report, "Run 9").contains("An earlier release wrote it as KILL"));
    assert!(text(&report, "Run 9").contains("5 STOP is proposed: "));
    assert!(text(&report, "Task-group queue row 5").contains("2 RELEASE was meant"));
    assert!(text(&report, "Task-group queue row 2").contains("is not known"));
    assert!(text(&report, "Run 101").contains("its host is SQL NULL"));
    assert!(
        text(&report, "Run 102").contains("its start_time is SQL NULL")
            && text(&report, "Run 102").contains("zombie-tasks")
    );
    assert!(text(&report, "Run 103").contains("its host and start_time is SQL NULL"));
    // One list of states for both tables: a master reads the code, so the row holds its run open.
    let db = codes(Server::Sqlite, "3.0.6");
    let report = inspect(&db, "3.0.6", &[]);
    assert!(text(&report, "Task 4").contains("count the row as unfinished. So it holds its run open"));
    assert!(text(&report, "Run 8").contains("count the row as finished"));
    for (row, meant) in [("Run 8", "6 FAILURE"), ("Run 13", "7 SUCCESS"), ("Task 4", "9 KILL")] {
        assert!(text(&report, row).contains(&format!("stands where {meant} was meant")));
        assert!(text(&report, row).contains("flowmend does not write it"));
    }
    let human = flowmend(["inspect", "--url", &db.url, "--release", "3.0.6", "--zone", "+00:00"]).expect(1).out;
    assert!(human.contains("Shown only: flowmend does not write such rows."), "{human}");
}

#[test]
fn scope_narrows_it() {
    for server in Server::available("illegal_states_scope") {
        let db = codes(server, "3.1.9");
        let report = inspect(&db, "3.1.9", &["--instance", "9,101"]);
        assert_eq!(found_by(&report, ("legacy-states", false), "left-by-upgrade"), ["Run 9"]);
        assert!(found_by(&report, ("legacy-states", false), "left-by-upgrade-unsure").is_empty());
        assert_eq!(found(&report, "run-breaks-failover"), ["Run 101"]);
        assert!(found(&report, "mistaken-code").is_empty());
    }
}

#[test]
fn there_is_nothing_to_plan() {
    let db = codes(Server::Sqlite, "3.1.9");
    let refused = plan_recipe(&db, "illegal-states", "b", &["--release", "3.1.9"]).expect(2);
    assert!(refused.err.contains("illegal-states only reports"), "{}", refused.err);
    assert!(refused.err.contains("flowmend inspect --explain"), "{}", refused.err);
    assert!(!db.path("b").exists());
}

/// Rows as the scheduler writes them are no finding.
#[test]
fn legal_codes_are_no_finding() {
    let manifests = Manifests::load(None).unwrap();
    for m in manifests.of("dolphinscheduler").unwrap() {
        let db = TestDb::with_schema(Server::Sqlite, m);
        let mut rows = Rows::new(m, db.server.dialect());
        for role in ["workflow_instance", "task_instance"] {
            for (n, code) in m.states(&format!("{role}.state")).unwrap().codes(|s| s.legal).iter().enumerate() {
                let (id, host) = ((n + 1).to_string(), ("host", Some("h:1")));
                let own = [("id", Some(id.as_str())), ("name", Some("r")), ("state", Some(code.as_str())), host];
                let times = [("start_time", Some("2026-11-27 09:00:00")), ("run_id", Some("1")), ("flag", Some("1"))];
                rows.add(role, &[&own[..], &times[..]].concat());
            }
        }
        db.exec_all(&rows.statements);
        let args = ["inspect", "--url", &db.url, "--release", &m.releases[0], "--zone", "+00:00", "--format", "json"];
        let report: Value = serde_json::from_str(&flowmend(args).out).unwrap();
        let findings = report["findings"].as_array().unwrap();
        let own: Vec<_> =
            findings.iter().filter(|f| f["recipe"] == "illegal-states" || f["recipe"] == "legacy-states").collect();
        assert!(own.is_empty(), "{}: {own:?}", m.generation);
    }
}

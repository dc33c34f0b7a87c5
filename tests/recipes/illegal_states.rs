//! Codes that somebody's SQL or an upgrade left, and runs that break failover: shown, never written.

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
    let findings = report["findings"].as_array().unwrap();
    let Some(finding) = findings.iter().find(|f| f["code"] == code) else { return Vec::new() };
    assert_eq!((&finding["recipe"], &finding["report_only"]), (&Value::from("illegal-states"), &Value::from(true)));
    let explained = finding["explained"].as_array().unwrap();
    assert_eq!(finding["rows"].as_u64().unwrap(), explained.len() as u64);
    explained.iter().map(|e| e["text"].as_str().unwrap().split(" (").next().unwrap().to_owned()).collect()
}

fn text(report: &Value, begins: &str) -> String {
    let findings = report["findings"].as_array().unwrap();
    let texts = findings.iter().flat_map(|f| f["explained"].as_array().unwrap()).map(|e| e["text"].as_str().unwrap());
    texts.into_iter().find(|t| t.starts_with(begins)).unwrap().to_owned()
}

/// (mistaken codes, codes left by an upgrade) of an era, apart from queue rows.
fn expected(release: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let mistaken = match release {
        r if at_least(r, "3.3.0") => vec!["Run 8", "Run 9", "Run 13", "Task 2", "Task 4"],
        r if at_least(r, "3.1.7") => vec!["Run 8", "Run 9", "Run 13", "Task 2", "Task 4"],
        r if at_least(r, "3.1.0") => vec!["Run 8", "Run 9", "Run 13", "Task 2", "Task 4", "Task 5"],
        _ => vec!["Run 8", "Run 13", "Task 2", "Task 4", "Task 14", "Task 15"],
    };
    let left = match release {
        r if at_least(r, "3.4.0") => {
            vec![
                "Run 10", "Run 11", "Run 12", "Run 15", "Run 16", "Run 17", "Task 5", "Task 10", "Task 11", "Task 14",
                "Task 15", "Task 16",
            ]
        }
        r if at_least(r, "3.3.0") => {
            vec![
                "Run 10", "Run 11", "Run 12", "Run 15", "Run 16", "Task 5", "Task 10", "Task 11", "Task 14", "Task 15",
                "Task 16",
            ]
        }
        r if at_least(r, "3.2.0") => vec!["Run 10", "Run 11", "Task 10", "Task 11", "Task 14", "Task 15", "Task 16"],
        r if at_least(r, "3.1.0") => {
            vec!["Run 10", "Run 11", "Run 17", "Task 10", "Task 11", "Task 14", "Task 15", "Task 16"]
        }
        _ => Vec::new(),
    };
    (mistaken, left)
}

fn each_row_is_shown(server: Server, release: &str) {
    let db = codes(server, release);
    let before = db.dump();
    let report = inspect(&db, release, &[]);
    let (mut mistaken, left) = expected(release);
    if at_least(release, "3.0.0") {
        mistaken.extend(["Task-group queue row 2", "Task-group queue row 5"]);
    }
    assert_eq!(found(&report, "mistaken-code"), mistaken, "{server:?} {release}");
    assert_eq!(found(&report, "left-by-upgrade"), left, "{server:?} {release}");
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
    for (row, meant) in [("Run 9", "5 STOP"), ("Run 8", "6 FAILURE"), ("Run 13", "7 SUCCESS"), ("Task 4", "9 KILL")] {
        let text = text(&report, row);
        assert!(text.contains(&format!("stands where {meant} was meant")), "{text}");
        assert!(text.contains("Masters cannot read it as a state") && text.contains("flowmend does not write it"));
        assert_eq!(text.contains("may also be older than the upgrade"), row != "Task 4", "{text}");
    }
    assert!(text(&report, "Task-group queue row 5").contains("2 RELEASE was meant"));
    assert!(text(&report, "Task-group queue row 2").contains("is not known"));
    assert!(text(&report, "Task 16").contains("a state of an earlier release (3.0)"));
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
    let human = flowmend(["inspect", "--url", &db.url, "--release", "3.0.6", "--zone", "+00:00"]).expect(1).out;
    assert!(human.contains("Shown only: flowmend does not write such rows."), "{human}");
}

#[test]
fn scope_narrows_it() {
    for server in Server::available("illegal_states_scope") {
        let db = codes(server, "3.1.9");
        let report = inspect(&db, "3.1.9", &["--instance", "9,101"]);
        assert_eq!(found(&report, "mistaken-code"), ["Run 9"]);
        assert_eq!(found(&report, "run-breaks-failover"), ["Run 101"]);
        assert!(found(&report, "left-by-upgrade").is_empty());
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
        let own: Vec<_> = findings.iter().filter(|f| f["recipe"] == "illegal-states").collect();
        assert!(own.is_empty(), "{}: {own:?}", m.generation);
    }
}

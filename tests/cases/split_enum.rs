//! apache/dolphinscheduler#11145: 3.1 has two lists of states where 3.0 had one, and 3.3 lacks more of
//! them. Rows of before the upgrade keep codes that nobody can read.

use serde_json::Value;

use crate::support::db::{Server, TestDb, same};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{Run, flowmend, on_bundle, plan_recipe, sealed};

/// Runs and tasks that 3.0.6 wrote, in the tables of a release.
fn left_by(server: Server, release: &str) -> TestDb {
    let m = manifest(release);
    let db = TestDb::with_schema(server, &m);
    let mut rows = Rows::new(&m, server.dialect());
    let start = ("start_time", Some("2026-11-20 08:00:00"));
    for (id, name, state) in [
        ("1", "ok", "7"),
        ("2", "killed", "9"),
        ("3", "waitthread", "10"),
        ("4", "blocked", "16"),
        ("5", "delay", "12"),
    ] {
        let own = [("id", Some(id)), ("name", Some(name)), ("state", Some(state)), ("definition_code", Some("1"))];
        rows.add("workflow_instance", &[&own[..], &[start, ("host", Some("10.0.0.9:5678"))]].concat());
    }
    for (id, name, run, state, end) in [
        ("11", "a", "1", "7", Some("2026-11-20 08:30:00")),
        ("12", "b", "2", "5", None),
        ("13", "c", "3", "11", None),
        ("14", "d", "4", "15", Some("2026-11-20 08:40:00")),
    ] {
        let own = [("id", Some(id)), ("name", Some(name)), ("run_id", Some(run)), ("state", Some(state))];
        let rest = [("task_type", Some("SHELL")), ("flag", Some("1")), ("end_time", end), start];
        rows.add("task_instance", &[&own[..], &rest].concat());
    }
    db.exec_all(&rows.statements);
    db
}

fn upgrade_check(db: &TestDb, from: &str, to: &str, extra: &[&str]) -> Value {
    let args = ["upgrade-check", "--scheduler", "dolphinscheduler", "--from", from, "--to", to, "--url", &db.url];
    let run = flowmend([&args[..], &["--format", "json"], extra].concat()).expect(1);
    serde_json::from_str(&run.out).unwrap()
}

/// Subject, keys and last way out of what cannot be read, in order.
fn unreadable(report: &Value) -> Vec<(String, String, String)> {
    let found = report["findings"].as_array().unwrap().iter().filter(|f| f["code"] == "unreadable-state");
    let words = |v: &Value| v.as_str().unwrap().split('.').next_back().unwrap_or_default().to_owned();
    let keys =
        |f: &Value| f["sample"].as_array().unwrap().iter().map(|k| k.as_str().unwrap()).collect::<Vec<_>>().join(" ");
    let way = |f: &Value| f["help"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned();
    let mut all: Vec<_> = found.map(|f| (words(&f["subject"]), keys(f), way(f))).collect();
    all.sort();
    all
}

/// The confirmations that help names, with the keys of their rows.
fn proposed(report: &Value) -> Vec<(String, String)> {
    let of = |(_, keys, way): (String, String, String)| {
        let (_, flag) = way.split_once("flowmend plan legacy-states --map ").unwrap_or_else(|| panic!("{way}"));
        let (flag, rest) = flag.split_once(' ').unwrap_or((flag, ""));
        assert!(rest.is_empty() || rest.starts_with("--url ") && rest.contains(" --release "), "{way}");
        (flag.to_owned(), keys)
    };
    let mut all: Vec<_> = unreadable(report).into_iter().map(of).collect();
    all.sort();
    all
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

const OF_3_1: [(&str, &str); 5] = [
    ("task_instance.11=FAILURE", "13"),
    ("task_instance.15=FAILURE", "14"),
    ("task_instance.5=KILL", "12"),
    ("workflow_instance.10=FAILURE", "3"),
    ("workflow_instance.9=STOP", "2"),
];
const OF_3_3: [(&str, &str); 7] = [
    ("task_instance.11=FAILURE", "13"),
    ("task_instance.15=FAILURE", "14"),
    ("task_instance.5=KILL", "12"),
    ("workflow_instance.10=FAILURE", "3"),
    ("workflow_instance.12=FAILURE", "5"),
    ("workflow_instance.16=STOP", "4"),
    ("workflow_instance.9=STOP", "2"),
];

#[test]
fn the_check_before_names_rows_and_ways() {
    for server in Server::available("split_enum_before") {
        let db = left_by(server, "3.0.6");
        let before = db.dump();
        assert_eq!(proposed(&upgrade_check(&db, "3.0.6", "3.1.0", &[])), pairs(&OF_3_1), "{server:?}");
        assert_eq!(proposed(&upgrade_check(&db, "3.0.6", "3.3.0", &[])), pairs(&OF_3_3), "{server:?}");
        same(&db.dump(), &before, "nothing is written");
    }
}

/// What somebody may say, all of it.
fn maps<'a>(of: &'a [(&str, &str)]) -> Vec<&'a str> {
    of.iter().flat_map(|(flag, _)| ["--map", flag]).collect()
}

fn plan(db: &TestDb, release: &str, name: &str, said: &[&str]) -> Run {
    plan_recipe(db, "legacy-states", name, &[&["--release", release], said].concat())
}

fn repaired(server: Server, release: &str, of: &[(&str, &str)]) {
    let db = left_by(server, release);
    let before = db.dump();
    let check = upgrade_check(&db, "3.0.6", release, &["--after"]);
    assert_eq!(proposed(&check), pairs(of), "{server:?} {release}");
    // Nothing is written that nobody confirmed.
    let none = plan(&db, release, "none", &[]).expect(2);
    assert!(none.out.contains("not-confirmed") && !db.path("none").exists(), "{}", none.out);
    plan(&db, release, "b", &maps(of)).expect(0);
    let ticket = std::fs::read_to_string(db.path("b").join("TICKET.md")).unwrap();
    assert!(ticket.contains("- state: 11 WAITING_DEPEND → 6 FAILURE (1 row)"), "{ticket}");
    assert!(ticket.contains("5 STOP becomes 9 KILL, as is proposed:"), "{ticket}");
    assert!(ticket.contains("11 WAITING_DEPEND becomes 6 FAILURE, as is proposed; somebody judged"), "{ticket}");
    sealed("apply", &db, "b", &[]).expect(0);
    let m = manifest(release);
    let run = m.role("workflow_instance").unwrap().table.clone();
    let states = |table: &str| {
        let sql = format!("SELECT id, state, end_time FROM {table} ORDER BY id");
        db.rows(&sql).into_iter().map(|r| r.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().join(" "))
    };
    let ended = |at: &str| format!("2026-11-20 {at}");
    let in_3_3 = release.starts_with("3.3");
    let expected = [
        "1 7 ".to_owned(),
        format!("2 5 {}", ended("08:00:00")),
        format!("3 6 {}", ended("08:00:00")),
        if in_3_3 { format!("4 5 {}", ended("08:40:00")) } else { "4 16 ".to_owned() },
        if in_3_3 { format!("5 6 {}", ended("08:00:00")) } else { "5 12 ".to_owned() },
    ];
    assert_eq!(states(&run).map(trim).collect::<Vec<_>>(), expected, "{server:?} {release}");
    let expected = [
        format!("11 7 {}", ended("08:30:00")),
        format!("12 9 {}", ended("08:00:00")),
        format!("13 6 {}", ended("08:00:00")),
        format!("14 6 {}", ended("08:40:00")),
    ];
    assert_eq!(states("t_ds_task_instance").map(trim).collect::<Vec<_>>(), expected, "{server:?} {release}");
    on_bundle("verify", &db, "b").expect(0);
    let args = ["upgrade-check", "--scheduler", "dolphinscheduler", "--from", "3.0.6", "--to", release];
    let after = flowmend([&args[..], &["--url", &db.url, "--after", "--format", "json"]].concat());
    assert!(!after.out.contains("unreadable-state"), "{}", after.out);
    sealed("rollback", &db, "b", &[]).expect(0);
    same(&db.dump(), &before, "rollback is the identity");
}

/// Microseconds that a server shows.
fn trim(row: String) -> String {
    row.trim_end_matches(".000000").to_owned()
}

#[test]
fn confirmed_codes_are_repaired_and_the_repair_is_undone() {
    for server in Server::available("split_enum") {
        repaired(server, "3.1.0", &OF_3_1);
        repaired(server, "3.3.0", &OF_3_3);
    }
}

#[test]
fn only_confirmed_codes_are_planned() {
    let db = left_by(Server::Sqlite, "3.1.0");
    // By role, by role column, by the real names of both; in any case.
    for said in ["task_instance.5", "task_instance.state.5", "t_ds_task_instance.5", "T_DS_TASK_INSTANCE.STATE.5"] {
        let name = said.replace('.', "_");
        plan(&db, "3.1.0", &name, &["--map", &format!("{said}=kill")]).expect(0);
        let text = std::fs::read_to_string(db.path(&name).join("plan.toml")).unwrap();
        let rows: Vec<&str> = text.lines().filter(|l| l.starts_with("  [[")).collect();
        assert!(rows.len() == 1 && rows[0].starts_with("  [[\"12\"], [\"5\""), "{said}: {rows:?}");
    }
    // Another final state than the one that is proposed.
    plan(&db, "3.1.0", "other", &["--map", "task_instance.5=FAILURE"]).expect(0);
    // A state that is no end gives the row to nobody.
    let open = plan(&db, "3.1.0", "open", &["--map", "task_instance.5=RUNNING_EXECUTION"]).expect(0);
    assert!(open.out.contains("not-an-end"), "{}", open.out);
    // Nothing was chosen: that is no clean database.
    let none = plan(&db, "3.1.0", "none", &[]).expect(2);
    assert!(none.err.contains("wait for a choice that nobody made"), "{}", none.err);
    assert!(none.err.contains("flowmend inspect --explain"), "{}", none.err);
}

#[test]
fn what_cannot_be_confirmed_is_refused() {
    let db = left_by(Server::Sqlite, "3.1.0");
    for (said, says) in [
        ("task_instance.5", "is not COLUMN.CODE=STATE"),
        ("5=KILL", "is not COLUMN.CODE=STATE"),
        ("task.5=KILL", "has no codes of earlier releases in task"),
        ("command.10=STOP", "has no codes of earlier releases in command"),
        ("task_instance.7=KILL", "7 is SUCCESS, which Apache DolphinScheduler 3.1.0 can read"),
        ("task_instance.99=KILL", "99 is no code of an earlier release"),
        ("task_instance.5=KILLED", "has no state KILLED"),
        ("task_instance.5=", "has no state without a name"),
        ("task_instance.5=STOP", "has no state STOP"),
    ] {
        let run = plan(&db, "3.1.0", "b", &["--map", said]).expect(2);
        assert!(run.err.contains(says), "{said}: {}", run.err);
        assert!(run.err.contains("5=KILL") || run.err.contains("KILL"), "a way out: {}", run.err);
    }
    let twice = ["--map", "task_instance.5=KILL", "--map", "t_ds_task_instance.5=FAILURE"];
    assert!(plan(&db, "3.1.0", "b", &twice).expect(2).err.contains("is confirmed twice"));
    assert!(plan(&db, "3.1.0", "b", &["--map", ""]).expect(2).err.contains("the value is empty"));
    // A release that reads every code.
    let db = left_by(Server::Sqlite, "3.0.6");
    let run = plan(&db, "3.0.6", "b", &["--map", "task_instance.5=KILL"]).expect(2);
    assert!(run.err.contains("there is nothing to map"), "{}", run.err);
}

/// A task of a run that a master may hold is that master's; one whose run has a command waits for it.
#[test]
fn what_somebody_may_hold_is_left_alone() {
    for server in Server::available("split_enum_held") {
        let db = left_by(server, "3.1.0");
        db.exec("UPDATE t_ds_process_instance SET state = 1 WHERE id = 2");
        db.exec("UPDATE t_ds_process_instance SET state = 1, host = NULL WHERE id = 3");
        let m = manifest("3.1.0");
        let mut rows = Rows::new(&m, server.dialect());
        rows.add("command", &[("id", Some("1")), ("type", Some("2")), ("run_id", Some("4"))]);
        db.exec_all(&rows.statements);
        let held = plan(&db, "3.1.0", "held", &maps(&OF_3_1)).expect(4);
        for reason in ["owner-may-live", "no-owner", "pending-command"] {
            assert!(held.out.contains(reason), "{reason}: {}", held.out);
        }
        plan(
            &db,
            "3.1.0",
            "dead",
            &[&maps(&OF_3_1)[..], &["--dead-owner", "10.0.0.9:5678", "--choose", "finish"]].concat(),
        )
        .expect(0);
    }
}

#[test]
fn inspect_lists_codes_with_what_is_proposed() {
    let db = left_by(Server::Sqlite, "3.1.0");
    let report = flowmend(["inspect", "--url", &db.url, "--release", "3.1.0", "--zone", "+00:00"]).expect(1).out;
    let told = report.split_whitespace().collect::<Vec<_>>().join(" ");
    for says in [
        "t_ds_task_instance.state = 5: 1 row rows 12 an earlier release wrote it as STOP, and this one cannot read it; 9 KILL is proposed: ",
        "6 FAILURE is proposed, which somebody must judge: ",
        "flowmend plan legacy-states --map task_instance.11=FAILURE",
        "left-by-upgrade (legacy-states): 1 run, 1 task",
        "left-by-upgrade-unsure (legacy-states): 1 run, 2 tasks",
    ] {
        assert!(told.contains(says), "{says}\n{report}");
    }
    assert!(!told.contains("mistaken-code"), "{report}");
}

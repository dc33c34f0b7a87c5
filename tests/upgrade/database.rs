//! On databases: rows per code, columns that are missing, what must go first.

use flowmend::manifest::{Manifest, ddl};

use super::{check, counted, findings, of_code};
use crate::support::db::{Server, TestDb};
use crate::support::fixture::{Rows, manifest, manifest_of};

/// Runs of a release with states, as (id, state).
fn runs(rows: &mut Rows<'_>, states: &[(&str, Option<&str>)]) {
    for (id, state) in states {
        rows.add("workflow_instance", &[("id", Some(id)), ("name", Some("n")), ("state", *state)]);
    }
}

fn tasks(rows: &mut Rows<'_>, states: &[(&str, &str)]) {
    for (id, state) in states {
        rows.add("task_instance", &[("id", Some(id)), ("run_id", Some("1")), ("state", Some(state))]);
    }
}

/// A database with every table of a release.
fn whole(server: Server, m: &Manifest) -> TestDb {
    let db = TestDb::new(server);
    db.exec_all(&ddl::create_all(m, &server.dialect()));
    db
}

fn filled(server: Server, m: &Manifest) -> TestDb {
    let db = TestDb::with_schema(server, m);
    let mut rows = Rows::new(m, server.dialect());
    let of_runs = [("1", "7"), ("2", "9"), ("3", "10"), ("4", "16"), ("5", "12")];
    runs(&mut rows, &of_runs.map(|(id, state)| (id, Some(state))));
    tasks(&mut rows, &[("11", "7"), ("12", "5"), ("13", "11"), ("14", "15")]);
    db.exec_all(&rows.statements);
    db
}

fn pairs(list: &[(&str, u64)]) -> Vec<(String, u64)> {
    list.iter().map(|(subject, rows)| ((*subject).to_owned(), *rows)).collect()
}

/// Rows written before an enumeration was split.
#[test]
fn codes_that_the_next_release_cannot_read() {
    let m = manifest("3.0.6");
    for server in Server::available("codes_that_the_next_release_cannot_read") {
        let db = filled(server, &m);
        let before = db.dump();
        let ask = |to: &str, code: &str| {
            let run = check("dolphinscheduler", "3.0.6", to, &["--url", &db.url, "--format", "json"]).expect(1);
            counted(&findings(&run), code)
        };
        let tasks =
            [("t_ds_task_instance.state 5", 1), ("t_ds_task_instance.state 11", 1), ("t_ds_task_instance.state 15", 1)];
        let two = [("t_ds_process_instance.state 9", 1), ("t_ds_process_instance.state 10", 1)];
        assert_eq!(ask("3.1.0", "unreadable-state"), pairs(&[&two[..], &tasks].concat()), "{server:?}");
        let four = [
            ("t_ds_process_instance.state 9", 1),
            ("t_ds_process_instance.state 10", 1),
            ("t_ds_process_instance.state 12", 1),
            ("t_ds_process_instance.state 16", 1),
        ];
        assert_eq!(ask("3.3.0", "unreadable-state"), pairs(&[&four[..], &tasks].concat()), "{server:?}");
        assert_eq!(db.dump(), before);
    }
}

/// A code that went, and came back with another meaning: since when it has that.
#[test]
fn a_code_with_a_new_meaning() {
    let m = manifest("3.0.6");
    let db = TestDb::with_schema(Server::Sqlite, &m);
    let mut rows = Rows::new(&m, Server::Sqlite.dialect());
    runs(&mut rows, &[("1", Some("17"))]);
    db.exec_all(&rows.statements);
    let run = check("dolphinscheduler", "3.0.6", "3.2.2", &["--url", &db.url, "--format", "json"]).expect(1);
    let other = of_code(&findings(&run), "read-as-another-state");
    assert_eq!(
        other,
        [("t_ds_process_instance.state 17".to_owned(), Some(1), Some("3.2.0".to_owned()))],
        "{}",
        run.out
    );
}

/// The same column holds the same number for different things: it is never mixed up.
#[test]
fn codes_are_those_of_their_column() {
    let m = manifest("3.2.0");
    let db = TestDb::with_schema(Server::Sqlite, &m);
    let mut rows = Rows::new(&m, Server::Sqlite.dialect());
    runs(&mut rows, &[("1", Some("17"))]);
    tasks(&mut rows, &[("11", "17")]);
    db.exec_all(&rows.statements);
    let run = check("dolphinscheduler", "3.2.0", "3.3.0", &["--url", &db.url, "--format", "json"]);
    assert_eq!(counted(&findings(&run), "unreadable-state"), []);
    assert_eq!(counted(&findings(&run), "read-as-another-state"), []);
}

/// A jump over patch releases left a column out; the version row says otherwise.
#[test]
fn a_step_that_did_not_run() {
    let old = manifest("2.0.1");
    for server in Server::available("a_step_that_did_not_run") {
        let db = whole(server, &old);
        db.exec("INSERT INTO t_ds_version (id, version) VALUES (1, '2.0.5')");
        let ask = |to: &str| {
            let args = ["--url", &db.url, "--format", "json"];
            findings(&check("dolphinscheduler", "2.0.5", to, &args).expect(1))
        };
        let all = ask("3.1.1");
        let missing = of_code(&all, "schema-older-than-version");
        let column = missing.iter().find(|(s, _, _)| s == "t_ds_process_instance.restart_time");
        assert_eq!(column.unwrap().2.as_deref(), Some("2.0.2"), "{server:?}: {missing:?}");
        let brought: Vec<String> = of_code(&all, "brought-by-upgrade").into_iter().map(|(s, _, _)| s).collect();
        for subject in ["t_ds_process_instance.state_history", "t_ds_task_group", "t_ds_task_group_queue"] {
            assert!(brought.iter().any(|s| s == subject), "{server:?}: {subject} is not in {brought:?}");
        }
        assert!(all.iter().any(|f| f["code"] == "another-release" || f["code"] == "half-upgraded"), "{all:?}");
    }
}

/// After the upgrade: what is still to be repaired, by the new names.
#[test]
fn what_an_upgrade_left() {
    let m = manifest("3.3.0");
    for server in Server::available("what_an_upgrade_left") {
        let db = TestDb::with_schema(server, &m);
        let mut rows = Rows::new(&m, server.dialect());
        runs(&mut rows, &[("1", Some("7")), ("2", Some("16")), ("3", Some("16"))]);
        tasks(&mut rows, &[("11", "5"), ("12", "7")]);
        db.exec_all(&rows.statements);
        let args = ["--url", &db.url, "--after", "--format", "json"];
        let all = findings(&check("dolphinscheduler", "3.2.2", "3.3.0", &args).expect(1));
        let left = counted(&all, "unreadable-state");
        let subjects: Vec<u64> = left.iter().map(|(_, rows)| *rows).collect();
        assert_eq!(subjects, [2, 1], "{server:?}: {left:?}");
    }
}

/// NULL is a state for one scheduler: no release cannot read it.
#[test]
fn null_is_a_state() {
    let m = manifest_of("airflow", "2.11.2");
    for server in Server::available("null_is_a_state") {
        let db = TestDb::with_schema(server, &m);
        let mut rows = Rows::new(&m, server.dialect());
        rows.add("dag_run", &[("state", Some("success"))]);
        rows.add("task_instance", &[("state", None)]);
        rows.add("task_instance", &[("task_id", Some("b")), ("state", Some("shutdown"))]);
        db.exec_all(&rows.statements);
        let run = check("airflow", "2.11.2", "3.0.0", &["--url", &db.url, "--format", "json"]).expect(1);
        assert_eq!(counted(&findings(&run), "unreadable-state"), pairs(&[("task_instance.state shutdown", 1)]));
    }
}

/// Nothing to find is exit 0, also with rows.
#[test]
fn a_database_that_can_be_upgraded() {
    let m = manifest("3.1.9");
    for server in Server::available("a_database_that_can_be_upgraded") {
        let db = whole(server, &m);
        let mut rows = Rows::new(&m, server.dialect());
        runs(&mut rows, &[("1", Some("7")), ("2", Some("6"))]);
        db.exec_all(&rows.statements);
        check("dolphinscheduler", "3.1.9", "3.1.9", &["--url", &db.url]).expect(0);
    }
}

#[test]
fn databases_of_somebody_else() {
    let db = TestDb::with_schema(Server::Sqlite, &manifest_of("quartz", "2.3.2"));
    let run = check("dolphinscheduler", "3.1.9", "3.2.0", &["--url", &db.url]).expect(4);
    assert!(run.err.contains("holds no table of"), "{}", run.err);
    let run = check("dolphinscheduler", "3.1.9", "3.2.0", &["--url", &TestDb::new(Server::Sqlite).url]).expect(4);
    assert!(run.err.contains("holds no tables"), "{}", run.err);
}

/// A key of a type that has no smallest value; NULL in a later NOT NULL; a text that will be too long.
#[test]
fn keys_nulls_and_lengths() {
    for server in Server::available("keys_nulls_and_lengths") {
        let m = manifest_of("airflow", "3.0.6");
        let db = whole(server, &m);
        let run = check("airflow", "2.11.2", "3.0.6", &["--url", &db.url, "--after"]);
        assert!(run.code < 2, "{server:?}: {run:?}");
        let m = manifest_of("quartz", "2.2.3");
        let db = whole(server, &m);
        let mut rows = Rows::new(&m, server.dialect());
        let name = "n".repeat(195);
        rows.add("job", &[("name", Some(&name)), ("group", Some("g"))]);
        db.exec_all(&rows.statements);
        let run = check("quartz", "2.2.3", "2.3.2", &["--url", &db.url, "--format", "json"]);
        let long: Vec<String> =
            counted(&findings(&run), "too-long").into_iter().map(|(s, _)| s.to_lowercase()).collect();
        let is_narrowed = matches!(server, Server::MariaDb | Server::MySql | Server::Sqlite);
        assert_eq!(long.contains(&"qrtz_job_details.job_name".to_owned()), is_narrowed, "{server:?}: {long:?}");
    }
}

/// A fresh install whose version row names a later release: the upgrade tool would skip steps.
#[test]
fn a_version_row_that_is_ahead() {
    let m = manifest("3.2.2");
    for server in Server::available("a_version_row_that_is_ahead") {
        let db = whole(server, &m);
        db.exec("INSERT INTO t_ds_version (id, version) VALUES (1, '3.3.0')");
        let run = check("dolphinscheduler", "3.2.2", "3.3.0", &["--url", &db.url, "--format", "json"]).expect(1);
        assert_eq!(of_code(&findings(&run), "version-row-ahead").len(), 1, "{server:?}: {}", run.out);
    }
}

/// A database that has been upgraded already gets one finding, not a flood.
#[test]
fn a_database_that_is_further_on() {
    let db = whole(Server::Sqlite, &manifest("3.3.0"));
    let run = check("dolphinscheduler", "3.2.2", "3.3.0", &["--url", &db.url, "--format", "json"]).expect(1);
    let all = findings(&run);
    assert_eq!(all.len(), 1, "{}", run.out);
    assert_eq!(all[0]["code"], "already-upgraded");
    assert!(all[0]["help"][0].as_str().unwrap().contains("--after"));
}

/// What one release only cannot stand: rows in its way are counted, and an upgrade that goes on
/// past it does not mind them.
#[test]
fn codes_that_one_release_cannot_stand() {
    let m = manifest_of("airflow", "1.10.15");
    let db = TestDb::with_schema(Server::Sqlite, &m);
    let mut rows = Rows::new(&m, Server::Sqlite.dialect());
    for (task, state) in [("a", "removed"), ("b", "removed"), ("c", "shutdown"), ("d", "success")] {
        rows.add("task_instance", &[("dag_id", Some("d")), ("task_id", Some(task)), ("state", Some(state))]);
    }
    db.exec_all(&rows.statements);
    let ask = |to: &str| {
        let run = check("airflow", "1.10.15", to, &["--url", &db.url, "--format", "json"]);
        let all = findings(&run);
        let banned = all.iter().filter(|f| f["message"].as_str().unwrap_or_default().contains("no task may be left"));
        banned.map(|f| f["rows"].as_u64().unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!(ask("2.0.0"), [3]);
    assert_eq!(ask("2.7.3"), Vec::<u64>::new());
}

//! Runs whose hand-over broke off (apache/dolphinscheduler#13355), and runs that were never started.

use super::family::everywhere;
use crate::support::db::{Server, TestDb};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{Run, flowmend, on_bundle, plan_recipe, sealed};

const RELEASES: [&str; 8] = ["1.2.1", "1.3.9", "2.0.9", "3.0.6", "3.1.9", "3.2.2", "3.3.2", "3.4.1"];

/// Run 1 is stranded with a running task and a finished one. Run 2 has its command.
/// Run 3 is new and not claimed yet. Run 4 belongs to a master. Run 5 is finished.
fn stranded(server: Server, release: &str) -> Option<TestDb> {
    let m = manifest(release);
    let engine = server.dialect().engine;
    if !m.tables[&m.roles["task_instance"].table].on(engine) {
        return None;
    }
    let db = TestDb::with_schema(server, &m);
    let marked = match m.states["workflow_instance.state"].of_phase("handed_over") {
        Some(state) => (state.code.clone(), "10.0.0.1:5678".to_owned()),
        None => ("1".to_owned(), m.behaviour["handed_over_host"].as_str().unwrap().to_owned()),
    };
    let mut rows = Rows::new(&m, server.dialect());
    let mut run = |id: &str, state: &str, host: Option<&str>| {
        rows.add(
            "workflow_instance",
            &[
                ("id", Some(id)),
                ("name", Some(&format!("run-{id}"))),
                ("state", Some(state)),
                ("host", host),
                ("start_time", Some("2026-11-01 10:00:00")),
                ("definition_code", Some("5")),
                ("definition_id", Some("5")),
                ("definition_version", Some("3")),
                ("executor_id", Some("8")),
                ("priority", Some("1")),
                ("test_flag", Some("0")),
                ("end_time", (state == "7").then_some("2026-11-01 11:00:00")),
            ],
        );
    };
    run("1", &marked.0, Some(&marked.1));
    run("2", &marked.0, Some(&marked.1));
    run("4", "1", Some("10.0.0.1:5678"));
    run("5", "7", Some(&marked.1));
    if m.behaviour["unstarted_runs_are_lost"].as_bool() == Some(false) {
        run("3", "0", None);
    }
    for (id, run, state, end) in
        [("11", "1", "7", Some("2026-11-01 10:30:00")), ("12", "1", "1", None), ("13", "2", "1", None)]
    {
        rows.add(
            "task_instance",
            &[
                ("id", Some(id)),
                ("name", Some("t")),
                ("run_id", Some(run)),
                ("state", Some(state)),
                ("flag", Some("1")),
                ("host", Some("10.0.0.4:1234")),
                ("start_time", Some("2026-11-01 10:10:00")),
                ("end_time", end),
            ],
        );
    }
    rows.add(
        "command",
        &[
            ("id", Some("900")),
            ("type", Some("2")),
            ("run_id", Some("2")),
            ("param", Some("{\"ProcessInstanceId\":2}")),
        ],
    );
    rows.statements.push(format!("INSERT INTO {} (id, version) VALUES (1, '{release}')", version_table(&m)));
    db.exec_all(&rows.statements);
    Some(db)
}

fn version_table(m: &flowmend::manifest::Manifest) -> String {
    m.tables.keys().find(|t| t.ends_with("_version") && t.matches('_').count() == 2).unwrap().clone()
}

fn each(check: impl Fn(Server, &str, &TestDb)) {
    for server in Server::available("stranded_runs") {
        for release in server.share(&RELEASES) {
            if let Some(db) = stranded(server, release) {
                check(server, release, &db);
            }
        }
    }
}

fn plan(db: &TestDb, release: &str, extra: &[&str]) -> Run {
    plan_recipe(db, "stranded-runs", "b", &[&["--release", release], extra].concat())
}

#[test]
fn the_choice_is_asked_and_the_run_is_explained() {
    each(|_, release, db| {
        let asked = plan(db, release, &[]).expect(2);
        // As a real 2.0.9 does.
        assert_eq!(asked.err.contains("being stopped ends as 7 SUCCESS"), release.starts_with("2."), "{}", asked.err);
        assert!(asked.err.contains("1 run of"), "{}", asked.err);
        assert!(asked.err.contains("--choose resume") && asked.err.contains("--choose finish"), "{}", asked.err);
        let seen = flowmend(["inspect", "--url", &db.url, "--release", release, "--zone", "+00:00"]).expect(1);
        assert!(seen.out.contains("stranded-hand-over"), "{release}: {}", seen.out);
        assert!(seen.out.contains("#13355"), "{}", seen.out);
        assert!(!seen.out.contains("(handed-over)"), "one recipe repairs what another leaves out: {}", seen.out);
    });
}

#[test]
fn finish_closes_task_and_run() {
    each(|_, release, db| {
        let m = manifest(release);
        let before = db.dump();
        plan(db, release, &["--choose", "finish"]).expect(0);
        sealed("apply", db, "b", &[]).expect(0);
        let runs = db.rows(&format!(
            "SELECT id, state, end_time FROM {} WHERE id IN (1, 2) ORDER BY id",
            m.roles["workflow_instance"].table
        ));
        assert_eq!(runs[0][1].as_deref(), Some("6"), "{release}");
        assert_eq!(runs[0][2].as_deref(), Some("2026-11-01 10:30:00"), "the newest end of its tasks");
        assert_ne!(runs[1][1].as_deref(), Some("6"), "it has its command");
        let tasks = db.rows(&format!("SELECT id, state FROM {} ORDER BY id", m.roles["task_instance"].table));
        let states: Vec<_> = tasks.iter().map(|r| r[1].clone().unwrap()).collect();
        assert_eq!(states, ["7", "6", "1"], "{release}");
        on_bundle("verify", db, "b").expect(0);
        sealed("rollback", db, "b", &[]).expect(0);
        assert_eq!(db.dump(), before, "{release}");
    });
}

#[test]
fn resume_queues_one_command_as_a_master_would() {
    each(|_, release, db| {
        let m = manifest(release);
        let before = db.dump();
        plan(db, release, &["--choose", "resume"]).expect(0);
        sealed("apply", db, "b", &[]).expect(0);
        let table = &m.roles["command"].table;
        let wanted = [
            "type",
            "definition_id",
            "definition_code",
            "definition_version",
            "run_id",
            "executor_id",
            "priority",
            "test_flag",
            "param",
        ];
        let there: Vec<&str> = wanted.into_iter().filter(|c| m.has(&format!("command.{c}"))).collect();
        let columns: Vec<&str> = there.iter().map(|c| m.column(&format!("command.{c}")).unwrap()).collect();
        let rows = db.rows(&format!("SELECT {} FROM {table} WHERE id <> 900", columns.join(", ")));
        assert_eq!(rows.len(), 1, "{release}");
        for (column, value) in there.iter().zip(&rows[0]) {
            let expected = match *column {
                "type" => "2",
                "definition_id" | "definition_code" => "5",
                "definition_version" => "3",
                "run_id" => "1",
                "executor_id" => "8",
                "priority" => "1",
                "test_flag" => "0",
                _ if release.starts_with("3.3") || release.starts_with("3.4") => {
                    "{\"commandType\":\"RECOVER_TOLERANCE_FAULT\",\"workflowExecutionStatus\":\"RUNNING_EXECUTION\"}"
                }
                _ => "{\"ProcessInstanceId\":1}",
            };
            assert_eq!(value.as_deref(), Some(expected), "{release} {column}");
        }
        let times = db.rows(&format!("SELECT start_time, update_time FROM {table} WHERE id <> 900"));
        assert!(times[0].iter().all(Option::is_some), "{release}");
        let task = format!("SELECT state FROM {} WHERE id = 12", m.roles["task_instance"].table);
        // A real master of these releases does not start a task again that is not marked.
        let marked = ["2.0.9", "3.0.6", "3.1.9"].contains(&release);
        assert_eq!(db.value(&task).as_deref(), Some(if marked { "8" } else { "1" }), "{release}");
        on_bundle("verify", db, "b").expect(0);
        sealed("rollback", db, "b", &[]).expect(0);
        assert_eq!(db.dump(), before, "{release}");
    });
}

#[test]
fn a_command_that_came_meanwhile_is_not_doubled() {
    for server in Server::available("stranded_runs") {
        for choose in ["resume", "finish"] {
            let db = stranded(server, "3.1.9").unwrap();
            plan(&db, "3.1.9", &["--choose", choose]).expect(0);
            db.exec("INSERT INTO t_ds_command (command_type, process_definition_code, process_instance_id) VALUES (2, 5, 1)");
            let before = db.dump();
            sealed("apply", &db, "b", &[]).expect(3);
            assert_eq!(db.dump(), before, "{choose}");
        }
    }
}

/// 3.3.0 and later: a run at SUBMITTED_SUCCESS without its command is looked at by nobody.
#[test]
fn runs_that_were_never_started_can_only_be_closed() {
    for server in Server::available("stranded_runs") {
        for release in ["3.3.2", "3.4.1"] {
            let db = stranded(server, release).unwrap();
            db.exec("INSERT INTO t_ds_workflow_instance (id, name, state, executor_id, workflow_definition_code, workflow_definition_version, start_time) VALUES (30, 'new', 0, 1, 5, 3, '2026-11-01 10:00:00')");
            let resumed = plan(&db, release, &["--choose", "resume", "--instance", "30"]).expect(0);
            assert!(resumed.out.contains("cannot-resume"), "{}", resumed.out);
            plan(&db, release, &["--choose", "finish", "--instance", "30"]).expect(0);
            sealed("apply", &db, "b", &[]).expect(0);
            assert_eq!(db.value("SELECT state FROM t_ds_workflow_instance WHERE id = 30").as_deref(), Some("5"));
        }
    }
}

/// The old state of such a run is known only from its history.
#[test]
fn a_run_that_was_being_stopped_is_not_resumed_as_running() {
    for server in Server::available("stranded_runs") {
        let db = stranded(server, "3.3.2").unwrap();
        db.exec("UPDATE t_ds_workflow_instance SET state_history = '[{\"state\":\"READY_STOP\"}]' WHERE id = 1");
        let resumed = plan(&db, "3.3.2", &["--choose", "resume"]).expect(0);
        assert!(resumed.out.contains("was-stopping"), "{}", resumed.out);
    }
}

/// Somebody took the run, closed it or deleted it between plan and apply.
#[test]
fn a_run_that_moved_gets_no_command() {
    for server in Server::available("stranded_runs") {
        for moved in [
            "UPDATE t_ds_process_instance SET host = '10.0.0.5:5678' WHERE id = 1",
            "UPDATE t_ds_process_instance SET state = 6 WHERE id = 1",
        ] {
            let db = stranded(server, "3.2.2").unwrap();
            plan(&db, "3.2.2", &["--choose", "resume"]).expect(0);
            db.exec(moved);
            let before = db.dump();
            sealed("apply", &db, "b", &[]).expect(3);
            assert_eq!(db.dump(), before, "{moved}");
        }
    }
}

/// A real 2.0.9 goes on waiting for the child, if nobody marks the task that waits;
/// a real 3.1.9 and 3.2.2 do not.
#[test]
fn a_parent_is_resumed_where_it_goes_on_waiting() {
    everywhere("stranded_runs", |f, release| {
        f.handed_over("1", &[]).task("1", "1", "sub", "1", "1").definition("1");
        f.handed_over("2", &[("is_sub", "1")]).task("2", "2", "t", "1", "1").definition("2").relation("1", "1", "2");
        let filled = f.database();
        // The task of a sub-workflow is on no host, but from 3.0.0 on its master's.
        if release.starts_with("2.") {
            filled.set("task_instance", "1", "host", None);
        }
        let what = format!("{:?} {release}", f.server);
        let resume = ["--choose", "resume"];
        let loses = release.starts_with("3.") && !release.starts_with("3.4");
        let parent = filled.left_out("stranded-runs", &resume).iter().any(|l| l.starts_with("parent-loses-child"));
        assert_eq!(parent, loses, "{what}");
        filled.plan("stranded-runs", "b", &resume).expect(0);
        filled.apply("b");
        assert_eq!(
            filled.value("task_instance", "1", "state").as_deref(),
            Some("1"),
            "{what}: no parent's task is marked"
        );
    });
}

//! Corners in which recipe and rules once differed, each by hand.

use super::ask::{Ask, Choose, Claim};
use super::drive;
use super::model::{Command, Group, Model, NOW, Queue, Run, Serial, Task};
use super::roundtrip::case;
use crate::support::db::Server;

const HOUR: i64 = 3600;

fn run(id: i64, state: i64, host: &str) -> Run {
    Run {
        id,
        name: "r".to_owned(),
        state: Some(state),
        host: Some(host.to_owned()),
        start: Some(NOW - 50 * HOUR),
        restart: Some(NOW - 50 * HOUR),
        end: None,
        definition: id,
        version: 1,
    }
}

fn task(id: i64, run: i64, state: i64) -> Task {
    Task {
        id,
        run,
        name: "t".to_owned(),
        state: Some(state),
        flag: Some(1),
        host: None,
        log: String::new(),
        submit: Some(NOW - 49 * HOUR),
        start: Some(NOW - 49 * HOUR),
        end: None,
        code: id,
    }
}

fn slot(id: i64, task: i64, run: i64, status: i64, in_queue: i64) -> Queue {
    let (task, run, name) = (Some(task), Some(run), "q".to_owned());
    Queue { id, task, run, group: 1, name, status: Some(status), force: Some(0), in_queue: Some(in_queue) }
}

fn group(used: i64) -> Group {
    Group { id: 1, name: "g".to_owned(), size: 9, used: Some(used) }
}

fn claim(host: &'static str, before: Option<i64>) -> Vec<Claim> {
    vec![Claim { host, port: None, before }]
}

/// Runs the case (the oracle checks it); says whether rows were repaired.
fn repairs(release: &str, model: &Model, ask: &Ask) -> bool {
    case(Server::Sqlite, &crate::support::fixture::manifest(release), model, ask)
}

#[test]
fn a_slot_in_a_living_masters_run_is_its_own_business() {
    let done = Task { end: Some(NOW - 40 * HOUR), ..task(1, 1, 7) };
    let superseded = Task { flag: Some(0), ..task(2, 1, 6) };
    let mut model = Model {
        runs: vec![run(1, 1, "10.0.0.1:5678")],
        tasks: vec![done, superseded, task(3, 1, 1)],
        ..Model::default()
    };
    model.queue = vec![slot(1, 1, 1, 1, 0), slot(2, 2, 1, -1, 0), slot(3, 3, 1, 1, 0)];
    model.groups = vec![group(2)];
    let ask = |claims| Ask { claims, ..Ask::all_dead() };
    assert!(!repairs("3.1.9", &model, &ask(claim("10.0.0.9", None))), "its master may be alive");
    assert!(repairs("3.1.9", &model, &ask(claim("10.0.0.1", None))), "its master is dead");
    model.commands = vec![Command { id: 1, kind: 2, run: Some(1), param: "{}".to_owned(), definition: 1, version: 1 }];
    assert!(!repairs("3.1.9", &model, &ask(claim("10.0.0.1", None))), "a master is about to take it");
    model.runs[0].state = Some(7);
    model.commands.clear();
    assert!(repairs("3.1.9", &model, &ask(Vec::new())), "nobody is coming back to a finished run");
}

#[test]
fn a_death_with_a_time_says_nothing_of_a_run_without_one() {
    let mut model = Model { runs: vec![run(1, 1, "10.0.0.9:5678")], tasks: vec![task(1, 1, 1)], ..Model::default() };
    let ask = Ask { claims: claim("10.0.0.9", Some(NOW)), ..Ask::all_dead() };
    assert!(repairs("3.1.9", &model, &ask));
    (model.runs[0].start, model.runs[0].restart) = (None, None);
    assert!(!repairs("3.1.9", &model, &ask));
}

#[test]
fn a_run_at_a_code_that_its_release_never_writes_is_left_to_the_operator() {
    let with = |run_state, task_state| Model {
        runs: vec![run(1, run_state, "10.0.0.9:5678")],
        tasks: vec![task(1, 1, task_state), task(2, 1, 1)],
        ..Model::default()
    };
    for release in ["1.3.9", "2.0.9", "3.0.6"] {
        assert!(repairs(release, &with(1, 1), &Ask::all_dead()));
        assert!(repairs(release, &with(1, 4), &Ask::all_dead()), "a task at READY_STOP is unfinished, {release}");
        assert!(!repairs(release, &with(8, 1), &Ask::all_dead()), "a run at NEED_FAULT_TOLERANCE, {release}");
    }
    assert!(!repairs("3.0.6", &with(17, 1), &Ask::all_dead()), "a run at DISPATCH");
    assert!(!repairs("3.1.9", &with(1, 4), &Ask::all_dead()), "3.1 cannot read a task at READY_STOP");
}

/// A plan that frees a slot looks after the waiters of all groups, and only such a plan.
#[test]
fn only_a_waiter_that_is_still_wanted_is_called_again() {
    let ask = Ask { older_hours: Some(6), claims: claim("10.0.0.9", None), ..Ask::all_dead() };
    let waiter = task(1, 1, 0);
    let just_done = Task { end: Some(NOW - HOUR), ..task(1, 1, 7) };
    for waits in [waiter, just_done] {
        let mut model = Model {
            runs: vec![run(1, 1, "10.0.0.1:5678")],
            tasks: vec![waits],
            queue: vec![slot(1, 1, 1, -1, 1)],
            groups: vec![group(0)],
            ..Model::default()
        };
        assert!(!repairs("3.1.9", &model, &ask), "nothing of it is this plan's business");
        model.runs.push(run(2, 1, "10.0.0.9:5678"));
        model.tasks.push(task(2, 2, 1));
        model.queue.push(slot(2, 2, 2, 1, 0));
        assert!(repairs("3.1.9", &model, &ask));
    }
}

/// The end of a closed task is the newest end of its run, which may be young.
#[test]
fn a_slot_and_a_serial_row_go_however_young_the_end_that_is_written() {
    let ask = Ask { older_hours: Some(6), ..Ask::all_dead() };
    let done = Task { end: Some(NOW - HOUR), ..task(2, 1, 7) };
    let mut model =
        Model { runs: vec![run(1, 1, "10.0.0.9:5678")], tasks: vec![task(1, 1, 1), done], ..Model::default() };
    model.queue = vec![slot(1, 1, 1, 1, 0)];
    model.groups = vec![group(1)];
    model.serial = vec![Serial { id: 1, run: 1, definition: 1, state: 1 }];
    for release in ["3.1.9", "3.4.1"] {
        assert!(repairs(release, &model, &ask), "{release}");
    }
}

#[test]
fn a_task_without_times_is_as_young_as_its_run() {
    let mut model = Model { runs: vec![run(1, 6, "10.0.0.9:5678")], ..Model::default() };
    model.tasks = vec![Task { submit: None, start: None, ..task(1, 1, 0) }];
    let ask = Ask { older_hours: Some(6), ..Ask::all_dead() };
    assert!(repairs("3.1.9", &model, &ask));
    model.runs[0].start = Some(NOW - HOUR);
    assert!(!repairs("3.1.9", &model, &ask));
}

#[test]
fn a_command_text_names_its_run_on_every_database() {
    let mut model = Model { runs: vec![run(1, 1, "10.0.0.9:5678")], tasks: vec![task(1, 1, 1)], ..Model::default() };
    let m = crate::support::fixture::manifest("1.3.9");
    for server in Server::available("a_command_text_names_its_run_on_every_database") {
        for (key, repaired) in [("ProcessInstanceId", false), ("processInstanceId", false), ("other", true)] {
            let param = format!("{{\"{key}\":1}}");
            model.commands = vec![Command { id: 1, kind: 0, run: None, param, definition: 1, version: 1 }];
            assert_eq!(case(server, &m, &model, &Ask::all_dead()), repaired, "{key} on {server:?}");
        }
    }
}

#[test]
fn a_stop_that_came_too_late_ends_in_success() {
    let done = |id| Task { end: Some(NOW - 40 * HOUR), ..task(id, 1, 7) };
    let mut model = Model { runs: vec![run(1, 4, "10.0.0.9:5678")], tasks: vec![done(1), done(2)], ..Model::default() };
    model.edges = vec![(1, 1, 1), (1, 1, 2)];
    let ends = |model: &Model, release: &str| {
        let m = crate::support::fixture::manifest(release);
        match super::oracle::predict(&m, model, &Ask::all_dead()) {
            super::oracle::Prediction::Rows(rows) => rows[&("workflow_instance", 1)]["state"].clone(),
            super::oracle::Prediction::Choice => unreachable!("it was made"),
        }
    };
    for (release, whole, part) in [("1.3.9", "5", "5"), ("2.0.9", "7", "5"), ("3.1.9", "7", "5"), ("3.4.1", "7", "5")] {
        assert!(repairs(release, &model, &Ask::all_dead()));
        assert_eq!(ends(&model, release), whole, "every task of the DAG succeeded, {release}");
        model.edges.push((1, 1, 3));
        assert!(repairs(release, &model, &Ask::all_dead()));
        assert_eq!(ends(&model, release), part, "one never started, {release}");
        model.edges.pop();
    }
}

#[test]
fn a_choice_is_never_made_silently() {
    let model = Model { runs: vec![run(1, 1, "10.0.0.9:5678")], tasks: vec![task(1, 1, 1)], ..Model::default() };
    let m = crate::support::fixture::manifest("3.4.1");
    let ask = Ask { choose: Choose::Silent, ..Ask::all_dead() };
    assert!(!case(Server::Sqlite, &m, &model, &ask));
    let test = drive::database(Server::Sqlite, &m);
    test.exec_all(&model.statements(&m, &Server::Sqlite.dialect()));
    let out = test.path("b").display().to_string();
    let args = ["plan", "zombie-tasks", "--url", &test.url, "--out", &out, "--zone", "+00:00", "--dead-owner", "*"];
    let run = crate::support::program::flowmend(args.iter().chain(&["--release", "3.4.1"])).expect(2);
    assert!(run.err.contains("--choose finish"), "{}", run.err);
    assert!(!test.path("b").exists());
}

/// MariaDB 10.11 once gave one run the counts of another's tasks; the numbers are those of the case.
#[test]
fn each_run_has_the_counts_of_its_own_tasks() {
    let mut model = Model::default();
    for (id, state, host, start, end) in [
        (1, 4, "null", 334_800, None),
        (2, 11, "10.0.0.9", 252_673, None),
        (3, 2, "10.0.0.1:5678", 119_710, None),
        (4, 1, "10.0.0.9", 80_486, Some(345_062)),
        (5, 3, "10.0.0.9", 216_510, Some(259_200)),
    ] {
        model.runs.push(Run { start: Some(start), end, ..run(id, state, host) });
    }
    for (id, run, state, submit, start, end) in [
        (1, 1, 11, 272_885, Some(259_200), Some(132_512)),
        (3, 1, 9, 186_133, Some(207_263), Some(159_516)),
        (4, 3, 1, 331_258, None, None),
        (5, 3, 1, 183_413, Some(290_438), Some(259_200)),
        (6, 4, 3, 268_261, None, Some(226_800)),
        (7, 4, 1, 166_397, Some(307_488), Some(147_754)),
        (9, 5, 0, 288_000, Some(260_238), None),
    ] {
        model.tasks.push(Task { submit: Some(submit), start, end, ..task(id, run, state) });
    }
    let ask = Ask { older_hours: Some(6), claims: claim("*", Some(259_200)), ..Ask::all_dead() };
    for server in Server::available("each_run_has_the_counts_of_its_own_tasks") {
        // PostgreSQL came with 1.2.0.
        if server != Server::PostgreSql {
            assert!(case(server, &crate::support::fixture::manifest("1.0.2"), &model, &ask));
        }
    }
}

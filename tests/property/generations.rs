//! One incident, every generation: what each row must be afterwards.

use flowmend::apply::BundleState;
use flowmend::db::Access;
use flowmend::manifest::{Manifest, version_order};

use super::ask::Ask;
use super::drive;
use super::model::{Group, Model, NOW, Queue, Run, Serial, Task, wall};
use super::snapshot::{Snapshot, snapshot};
use crate::support::db::{Server, TestDb, block_on};

/// What an era makes of the incident of [`incident`].
struct Era {
    since: &'static str,
    run_table: &'static str,
    /// States of runs 1 to 7.
    runs: [i64; 7],
    /// States of tasks 1 to 8.
    tasks: [i64; 8],
    /// The same with `--outcome killed`.
    killed: ([i64; 7], [i64; 8]),
    /// States of queue rows 1 to 3, and `use_size`; 3 slots and 5 before.
    slots: Option<([i64; 3], i64)>,
    /// Runs whose serial rows stay.
    serial: Option<&'static [i64]>,
}

/// Run 1 RUNNING, 2 READY_STOP, 3 READY_PAUSE, 4 FAILURE, 5 STOP, 6 SUBMITTED, 7 of a living master.
/// Task 2 is a finished one of run 1; every other run has one unfinished task.
const ERAS: &[Era] = &[
    Era {
        since: "1.0.0",
        run_table: "t_escheduler_process_instance",
        runs: [6, 5, 3, 6, 5, 6, 1],
        tasks: [6, 7, 9, 3, 6, 9, 6, 1],
        killed: ([5, 5, 3, 6, 5, 5, 1], [9, 7, 9, 3, 9, 9, 9, 1]),
        slots: None,
        serial: None,
    },
    // Only the names of the tables change.
    Era {
        since: "1.2.0",
        run_table: "t_ds_process_instance",
        runs: [6, 5, 3, 6, 5, 6, 1],
        tasks: [6, 7, 9, 3, 6, 9, 6, 1],
        killed: ([5, 5, 3, 6, 5, 5, 1], [9, 7, 9, 3, 9, 9, 9, 1]),
        slots: None,
        serial: None,
    },
    // Task groups arrive, and nobody but the repair gives their slots back.
    Era {
        since: "3.0.0",
        run_table: "t_ds_process_instance",
        runs: [6, 5, 3, 6, 5, 6, 1],
        tasks: [6, 7, 9, 3, 6, 9, 6, 1],
        killed: ([5, 5, 3, 6, 5, 5, 1], [9, 7, 9, 3, 9, 9, 9, 1]),
        slots: Some(([2, 2, 1], 1)),
        serial: None,
    },
    // "Recover suspended" restarts killed tasks only, so a pause ends in KILL and STOP.
    Era {
        since: "3.1.0",
        run_table: "t_ds_process_instance",
        runs: [6, 5, 5, 6, 5, 6, 1],
        tasks: [6, 7, 9, 9, 6, 9, 6, 1],
        killed: ([5, 5, 5, 6, 5, 5, 1], [9, 7, 9, 9, 9, 9, 9, 1]),
        slots: Some(([2, 2, 1], 1)),
        serial: None,
    },
    // The coordinator releases slots by itself.
    Era {
        since: "3.2.1",
        run_table: "t_ds_process_instance",
        runs: [6, 5, 3, 6, 5, 6, 1],
        tasks: [6, 7, 9, 3, 6, 9, 6, 1],
        killed: ([5, 5, 3, 6, 5, 5, 1], [9, 7, 9, 3, 9, 9, 9, 1]),
        slots: Some(([1, 1, 1], 5)),
        serial: None,
    },
    // A run at SUBMITTED_SUCCESS never started: another repair.
    Era {
        since: "3.3.0",
        run_table: "t_ds_workflow_instance",
        runs: [6, 5, 3, 6, 5, 0, 1],
        tasks: [6, 7, 9, 3, 6, 9, 0, 1],
        killed: ([5, 5, 3, 6, 5, 0, 1], [9, 7, 9, 3, 9, 9, 0, 1]),
        slots: Some(([1, 1, 1], 5)),
        serial: None,
    },
    // Closed runs leave the serial queue.
    Era {
        since: "3.4.0",
        run_table: "t_ds_workflow_instance",
        runs: [6, 5, 3, 6, 5, 0, 1],
        tasks: [6, 7, 9, 3, 6, 9, 0, 1],
        killed: ([5, 5, 3, 6, 5, 0, 1], [9, 7, 9, 3, 9, 9, 0, 1]),
        slots: Some(([1, 1, 1], 5)),
        serial: Some(&[7]),
    },
];

const STARTED: i64 = NOW - 14 * 3600;
const FINISHED: i64 = STARTED + 300;

/// A dead master's runs in every state that matters, and one of a living master.
fn incident(m: &Manifest) -> Model {
    let port = if super::era::Era::of(m).host_has_port() { ":5678" } else { "" };
    let mut model = Model::default();
    for (id, state) in (1..).zip([1, 2 + 2, 2, 6, 5, 0, 1]) {
        let host = if id == 7 { "10.0.0.1" } else { "10.0.0.9" };
        model.runs.push(Run {
            id,
            name: format!("run {id}"),
            state: Some(state),
            host: Some(format!("{host}{port}")),
            start: Some(STARTED),
            restart: Some(STARTED),
            end: if matches!(state, 5 | 6) { Some(FINISHED) } else { None },
            definition: id,
            version: 1,
        });
    }
    for (id, run, state) in [(1, 1, 1), (2, 1, 7), (3, 2, 1), (4, 3, 1), (5, 4, 1), (6, 5, 1), (7, 6, 0), (8, 7, 1)] {
        model.tasks.push(Task {
            id,
            run,
            name: format!("task {id}"),
            state: Some(state),
            flag: Some(1),
            host: Some("10.0.0.4:1234".to_owned()),
            log: "/tmp/1.log".to_owned(),
            submit: Some(STARTED),
            start: Some(STARTED),
            end: if state == 7 { Some(FINISHED) } else { None },
            code: id,
        });
    }
    for (id, task, run) in [(1, 1, 1), (2, 2, 1), (3, 8, 7)] {
        let (task, run, name) = (Some(task), Some(run), format!("task {id}"));
        model.queue.push(Queue { id, task, run, group: 1, name, status: Some(1), force: Some(0), in_queue: Some(0) });
    }
    model.groups.push(Group { id: 1, name: "g".to_owned(), size: 5, used: Some(5) });
    model.serial = [(1, 1), (2, 7)].map(|(id, run)| Serial { id, run, definition: run, state: 1 }).to_vec();
    model
}

fn era_of(m: &Manifest) -> &'static Era {
    ERAS.iter().rfind(|e| version_order(&m.generation) >= version_order(e.since)).unwrap()
}

/// Plans and applies; the rows afterwards, and the folder's database.
fn repaired(m: &Manifest, killed: bool) -> Snapshot {
    let test: TestDb = drive::database(Server::Sqlite, m);
    let model = incident(m);
    let claims = vec![super::ask::Claim { host: "10.0.0.9", port: None, before: None }];
    let flags = Ask { killed, claims, ..Ask::all_dead() }.flags(&model);
    block_on(async {
        let mut db = drive::open(&test, Access::ReadWrite).await;
        drive::fill(&mut db, &model.statements(m, &Server::Sqlite.dialect())).await;
        let (_, files) = drive::plan(&test, m, &flags).await.unwrap();
        let bundle = drive::bundle(&test, &files, "bundle").await;
        drive::apply(&mut db, &bundle).await.unwrap();
        drive::verify(&mut db, &bundle, BundleState::Applied).await.unwrap();
        let after = snapshot(&mut db).await;
        db.close().await;
        after
    })
}

/// The numbers of a role column, by id.
fn column(m: &Manifest, after: &Snapshot, role: &str, name: &str) -> Vec<i64> {
    let role = &m.roles[role];
    let table = &after[&role.table];
    let number = |row: &Vec<Option<String>>, column: &str| {
        table.cell(row, &role.columns[column]).unwrap().parse::<i64>().unwrap()
    };
    let mut found: Vec<(i64, i64)> = table.rows.iter().map(|r| (number(r, "id"), number(r, name))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, value)| value).collect()
}

#[test]
fn each_generation_ends_as_its_era_says() {
    for m in drive::generations(Server::Sqlite) {
        let (era, name) = (era_of(m), &m.generation);
        assert_eq!(m.roles["workflow_instance"].table, era.run_table, "{name}");
        for (killed, runs, tasks) in [(false, era.runs, era.tasks), (true, era.killed.0, era.killed.1)] {
            let after = repaired(m, killed);
            assert_eq!(column(m, &after, "workflow_instance", "state"), runs, "runs of {name}, killed {killed}");
            assert_eq!(column(m, &after, "task_instance", "state"), tasks, "tasks of {name}, killed {killed}");
            match era.slots {
                None => assert!(!m.has("task_group"), "{name}"),
                Some((slots, used)) => {
                    assert_eq!(column(m, &after, "task_group_queue", "status"), slots, "slots of {name}");
                    assert_eq!(column(m, &after, "task_group", "used"), [used], "use_size of {name}");
                }
            }
            match era.serial {
                None => assert!(!m.has("serial_command"), "{name}"),
                Some(serial) => assert_eq!(column(m, &after, "serial_command", "run_id"), serial, "serial of {name}"),
            }
            ends(m, &after);
        }
    }
}

/// Ends are the newest known end of the run; without a cut-off, else the last sign of life.
fn ends(m: &Manifest, after: &Snapshot) {
    for (role, id, end) in [
        ("task_instance", "1", wall(FINISHED)),
        ("workflow_instance", "1", wall(FINISHED)),
        ("task_instance", "3", wall(STARTED)),
        ("workflow_instance", "2", wall(STARTED)),
        ("workflow_instance", "4", wall(FINISHED)),
    ] {
        let role = &m.roles[role];
        let table = &after[&role.table];
        let row = table.rows.iter().find(|r| table.cell(r, "id") == Some(id)).unwrap();
        assert_eq!(table.cell(row, "end_time"), Some(end.as_str()), "{} {id} of {}", role.table, m.generation);
    }
}

#[test]
fn every_end_is_a_legal_state_of_its_era() {
    for m in drive::generations(Server::Sqlite) {
        let era = era_of(m);
        for (column, codes) in [
            ("workflow_instance.state", [era.runs.as_slice(), era.killed.0.as_slice()].concat()),
            ("task_instance.state", [era.tasks.as_slice(), era.killed.1.as_slice()].concat()),
        ] {
            for code in codes {
                let state = m.states[column].by_code(&code.to_string());
                assert!(state.is_some_and(|s| s.legal), "{column} = {code} in {}", m.generation);
            }
        }
    }
}

#[test]
fn only_failed_and_killed_can_be_asked_for() {
    let m = drive::generations(Server::Sqlite)[0];
    let test = drive::database(Server::Sqlite, m);
    for outcome in ["succeeded", "stopped", "paused", "9", ""] {
        let flags = [("outcome".to_owned(), vec![outcome.to_owned()])].into();
        let error = block_on(drive::plan(&test, m, &flags)).expect_err(outcome);
        assert_eq!(error.kind, flowmend::Kind::Usage);
    }
}

//! A healthy database: nothing is found and nothing is written.

use std::collections::BTreeMap;

use flowmend::db::Access;
use flowmend::manifest::Manifest;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::drive;
use super::era::Era;
use super::model::{Command, Definition, Group, Model, NOW, Queue, Run, Serial, Task};
use super::text::hostile;
use crate::support::db::{Server, block_on};
use crate::support::{long, program};

/// What a healthy run may be doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Work,
    Stop,
    Pause,
    Succeeded,
    Failed,
    /// Behind the run before it.
    WaitsInLine,
    /// Its recovery command is queued.
    HandedOver,
    /// Queued, not started.
    Queued,
    /// A sub-workflow of the run before it.
    Child,
}

#[derive(Clone, Debug)]
struct Spec {
    doing: Doing,
    name: String,
    age: i64,
    tasks: Vec<(u8, bool, String)>,
}

fn specs() -> impl Strategy<Value = Vec<Spec>> {
    use Doing::*;
    let doing = prop_oneof![
        4 => Just(Work),
        3 => proptest::sample::select(vec![Stop, Pause, Succeeded, Failed]),
        2 => proptest::sample::select(vec![WaitsInLine, HandedOver, Queued, Child]),
    ];
    let task = (0u8..6, prop_oneof![5 => Just(true), 1 => Just(false)], hostile());
    let spec = (doing, hostile(), 1800i64..70 * 3600, proptest::collection::vec(task, 1..5));
    proptest::collection::vec(spec.prop_map(|(doing, name, age, tasks)| Spec { doing, name, age, tasks }), 2..12)
}

fn build(m: &Manifest, specs: &[Spec]) -> Model {
    let mut model = Model::default();
    let logged = |code| Definition { code, name: format!("wf {code}"), project: 1, logged: true };
    model.definitions = (1..=20).map(logged).collect();
    specs.iter().for_each(|s| add(&mut model, &Era::of(m), s));
    let holds = |q: &&Queue| q.status == Some(1) && q.force == Some(0);
    let held = i64::try_from(model.queue.iter().filter(holds).count()).unwrap();
    model.groups.push(Group { id: 1, name: "g".to_owned(), size: 20, used: Some(held) });
    if !Era::of(m).run_before_command() {
        command(&mut model, &Era::of(m), 0, 1);
    }
    model
}

fn add(model: &mut Model, era: &Era, spec: &Spec) {
    let id = i64::try_from(model.runs.len()).unwrap() + 1;
    let living = if era.host_has_port() { "10.0.0.1:5678" } else { "10.0.0.1" };
    let ended = matches!(spec.doing, Doing::Succeeded | Doing::Failed);
    let mut run = Run {
        id,
        name: spec.name.clone(),
        state: Some(1),
        host: Some(living.to_owned()),
        start: Some(NOW - spec.age),
        restart: Some(NOW - spec.age),
        end: ended.then_some(NOW - spec.age / 2),
        definition: id,
        version: 1,
    };
    match spec.doing {
        Doing::Work => {}
        Doing::Stop => run.state = Some(4),
        Doing::Pause => run.state = Some(2),
        Doing::Succeeded => run.state = Some(7),
        Doing::Failed => run.state = Some(6),
        // In 3.3.x nothing moves such a line: there is no healthy one.
        Doing::WaitsInLine if era.run_active().contains(&14) && (era.before("3.3.0") || era.has_serial_queue()) => {
            run.state = Some(14);
            run.definition = model.runs.last().map_or(id, |r| r.definition);
            // Somebody is ahead of it, or has just called it.
            if !goes_before(model, &run) && !era.has_serial_queue() {
                command(model, era, id, run.definition);
            }
        }
        Doing::HandedOver => {
            run.state = Some(era.handed_state().unwrap_or(1));
            run.host = era.handed_host().map_or(run.host, |h| Some(h.to_owned()));
            command(model, era, id, id);
        }
        Doing::Queued => {
            run.state = Some(0);
            run.host = None;
            command(model, era, id, id);
        }
        Doing::Child if id > 1 => model.relations.push((id - 1, 1, id)),
        Doing::WaitsInLine | Doing::Child => {}
    }
    let starts = !matches!(run.state, Some(0 | 14));
    if era.has_serial_queue() && run.state != Some(7) && run.state != Some(6) {
        model.serial.push(Serial { id, run: id, definition: run.definition, state: i64::from(starts) });
    }
    model.runs.push(run);
    for (kind, valid, name) in spec.tasks.iter().filter(|_| starts) {
        task(model, era, spec, (*kind, *valid, name));
    }
}

/// Whether an earlier run of the same workflow and version is active.
fn goes_before(model: &Model, run: &Run) -> bool {
    let same = |r: &&Run| r.definition == run.definition && r.version == run.version;
    model.runs.iter().filter(same).any(|r| matches!(r.state, Some(0 | 1 | 17)))
}

fn task(model: &mut Model, era: &Era, spec: &Spec, (kind, valid, name): (u8, bool, &str)) {
    let id = i64::try_from(model.tasks.len()).unwrap() + 1;
    let run = model.runs.last().unwrap();
    let ended = matches!(spec.doing, Doing::Succeeded | Doing::Failed);
    let rare = |code| if era.task_legal(code) { code } else { 1 };
    let state = match kind {
        _ if ended && valid => run.state.unwrap(),
        0 | 1 => 1,
        2 => 0,
        3 => rare(12),
        4 => rare(17),
        _ => 7,
    };
    let over = era.task_finished().contains(&state);
    let begun = matches!(state, 1 | 7 | 6);
    // A place in a task group: a slot while it runs, a wait before, a release after.
    let number = i64::try_from(model.queue.len()).unwrap() + 1;
    let called = Queue::called_at(number);
    let waits_long = if kind % 2 == 0 { spec.age } else { 600 };
    let (status, in_queue) = match (state, era.repairs_queue()) {
        // One that was called is answered soon.
        (0, true) => (-1, i64::from(called > NOW - 3600)),
        (0, false) => (-1, 1),
        _ if over || !valid => (2, 0),
        (_, true) => (1, 0),
        (_, false) => (1, 1),
    };
    let (status, in_queue) = if valid { (status, in_queue) } else { (2, 0) };
    let (q_task, q_run, q_name) = (Some(id), Some(run.id), "q".to_owned());
    model.queue.push(Queue {
        id: number,
        task: q_task,
        run: q_run,
        group: 1,
        name: q_name,
        status: Some(status),
        force: Some(0),
        in_queue: Some(in_queue),
    });
    model.tasks.push(Task {
        id,
        run: run.id,
        // Two tasks of one name would be one task twice.
        name: format!("{name} {id}"),
        state: Some(state),
        flag: Some(i64::from(valid)),
        host: begun.then(|| "10.0.0.4:1234".to_owned()),
        log: name.to_owned(),
        submit: Some(NOW - if state == 0 { waits_long } else { spec.age }),
        start: begun.then_some(NOW - spec.age),
        end: over.then_some(NOW - spec.age / 2),
        code: id,
    });
}

fn command(model: &mut Model, era: &Era, run: i64, definition: i64) {
    let id = i64::try_from(model.commands.len()).unwrap() + 1;
    let param = format!("{{\"ProcessInstanceId\":{run}}}");
    let column = if era.command_in_column() { Some(run) } else { None };
    model.commands.push(Command { id, kind: 2, run: column, param, definition, version: 1 });
}

fn generated(m: &Manifest, seed: u64) -> Model {
    let mut bytes = [7u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    build(m, &specs().new_tree(&mut runner).unwrap().current())
}

#[test]
fn nothing_is_found_and_nothing_is_written() {
    for (at, m) in (0..).zip(drive::generations(Server::Sqlite)) {
        for seed in 0..if long() { 50 } else { 3 } {
            let seed = at * 1000 + seed;
            let model = generated(m, seed);
            let test = drive::database(Server::Sqlite, m);
            block_on(async {
                let mut db = drive::open(&test, Access::ReadWrite).await;
                drive::fill(&mut db, &model.statements(m, &Server::Sqlite.dialect())).await;
                db.close().await;
                let what = || format!("generation {}, seed {seed}\n{}", m.generation, model.lines());
                let report = drive::inspect(&test, m, &BTreeMap::new()).await.unwrap();
                assert!(report.findings.is_empty(), "{:?}\n{}", report.findings, what());
                assert!(report.anomalies.is_empty(), "{:?}\n{}", report.anomalies, what());
                for age in [None, Some("1h")] {
                    let flags: BTreeMap<_, _> =
                        age.map(|a| ("older-than".to_owned(), vec![a.to_owned()])).into_iter().collect();
                    let (plan, files) = drive::plan(&test, m, &flags).await.unwrap();
                    assert!(plan.steps.is_empty() && files.is_empty(), "{:#?}\n{}", plan.steps, what());
                }
            });
        }
    }
}

#[test]
fn the_program_says_so_too() {
    for release in ["1.0.0", "2.0.8", "3.1.9", "3.4.1"] {
        let m = crate::support::fixture::manifest(release);
        let test = drive::database(Server::Sqlite, &m);
        // Finished runs only: with unfinished ones, plan asks who is dead.
        let done = |mut s: Spec| {
            s.doing = Doing::Succeeded;
            s
        };
        let spec = Spec { doing: Doing::Work, name: "n".to_owned(), age: 7200, tasks: vec![(0, true, "t".to_owned())] };
        test.exec_all(&build(&m, &[done(spec.clone()), done(spec)]).statements(&m, &Server::Sqlite.dialect()));
        let say = ["--release", release];
        let args = ["inspect", "--url", &test.url, "--now", "2026-11-29T00:00:00Z", "--zone", "+00:00"];
        program::flowmend(args.iter().chain(&say)).expect(0);
        program::plan(&test, "nothing", &say).expect(0);
        assert!(!test.path("nothing").exists());
    }
}

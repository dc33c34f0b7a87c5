//! Generated databases: every state, host, time, link and text that a release can hold.

use flowmend::manifest::Manifest;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

use super::era::Era;
use super::model::{Command, Definition, Group, Model, NOW, PROJECTS, Queue, Run, Serial, Task, Time};
use super::text::hostile;

/// Definitions 1 to 3 are in the definition table, 4 is not.
pub const DEFINITIONS: i64 = 3;
const GROUPS: i64 = 3;
/// A code that no release has.
pub const UNKNOWN: i64 = 99;

#[derive(Clone, Debug)]
struct RunSpec {
    name: String,
    state: Option<i64>,
    host: Option<String>,
    times: (Time, Time, Time),
    definition: i64,
    version: i64,
    tasks: Vec<TaskSpec>,
    /// The work is done: every task of the run succeeded, or every task of the DAG as well.
    done: Option<bool>,
    command: Option<CommandSpec>,
    /// The child, whether the link is a dynamic task's, and which task waits.
    relation: Option<(usize, bool, usize)>,
    serial: Option<(bool, i64)>,
}

#[derive(Clone, Debug)]
struct TaskSpec {
    name: String,
    log: String,
    state: Option<i64>,
    flag: Option<i64>,
    host: Option<String>,
    times: (Time, Time, Time),
    code: i64,
    queue: Vec<QueueSpec>,
}

#[derive(Clone, Debug)]
struct QueueSpec {
    group: i64,
    status: Option<i64>,
    force: Option<i64>,
    in_queue: Option<i64>,
    /// 0: the run of the task, 1: NULL, 2: another.
    run: u8,
}

#[derive(Clone, Debug)]
struct CommandSpec {
    kind: i64,
    shape: u8,
    run: Option<i64>,
    definition: i64,
    version: i64,
    text: String,
}

#[derive(Clone, Copy, Debug)]
enum Used {
    Right,
    Off(i64),
    Null,
}

/// A database of a generation.
pub fn database(m: &Manifest) -> BoxedStrategy<Model> {
    let column = Era::of(m).command_in_column();
    let runs = proptest::collection::vec(run(m), 3..14);
    let groups = proptest::collection::vec((hostile(), used()), 0..=usize::try_from(GROUPS).unwrap());
    let loose_queue = proptest::collection::vec(queue(), 0..3);
    let loose_commands = proptest::collection::vec(command(m), 0..5);
    let loose_tasks = proptest::collection::vec(task(m), 0..2);
    let definitions = proptest::collection::vec((hostile(), any::<bool>()), usize::try_from(DEFINITIONS).unwrap());
    let edges = proptest::collection::vec((1..=DEFINITIONS, 1i64..3, 1i64..4), 0..5);
    let orphans_live = may_hold_orphans(m);
    (runs, groups, loose_queue, loose_commands, loose_tasks, definitions, edges)
        .prop_map(move |(runs, groups, queue, commands, tasks, definitions, edges)| {
            let mut model = Model { edges, ..Model::default() };
            for (at, (name, logged)) in (1..).zip(definitions) {
                let project = PROJECTS[usize::try_from(at).unwrap() % PROJECTS.len()].0;
                model.definitions.push(Definition { code: at, name: format!("wf{at} {name}"), project, logged });
            }
            runs.into_iter().for_each(|r| add_run(&mut model, r, column));
            if orphans_live {
                tasks.into_iter().for_each(|t| add_task(&mut model, 9999, t));
            }
            queue.into_iter().for_each(|q| add_queue(&mut model, Some(8888), Some(1), q));
            commands.into_iter().for_each(|c| add_command(&mut model, None, c, column));
            for (id, (name, used)) in (1..).zip(groups) {
                let held = model.queue.iter().filter(|q| q.group == id && q.status == Some(1) && q.force == Some(0));
                let held = i64::try_from(held.count()).unwrap();
                let used = match used {
                    Used::Right => Some(held),
                    Used::Off(by) => Some(held + by),
                    Used::Null => None,
                };
                model.groups.push(Group { id, name, size: 10, used });
            }
            model
        })
        .boxed()
}

fn may_hold_orphans(m: &Manifest) -> bool {
    let table = &m.tables[&m.roles["task_instance"].table];
    table.foreign_keys_mysql.is_empty() && table.foreign_keys_postgresql.is_empty()
}

fn run(m: &Manifest) -> impl Strategy<Value = RunSpec> + use<> {
    let identity = (hostile(), 1..=DEFINITIONS + 1, prop_oneof![5 => Just(1), 1 => Just(2i64)]);
    let state = run_state(m);
    let links = (
        prop_oneof![9 => Just(None), 1 => command(m).prop_map(Some)],
        prop_oneof![6 => Just(None), 1 => (0usize..14, prop_oneof![3 => Just(false), 1 => Just(true)], 0usize..4).prop_map(Some)],
        prop_oneof![1 => Just(None), 1 => (prop_oneof![6 => Just(true), 1 => Just(false)], 0i64..2).prop_map(Some)],
    );
    let tasks = proptest::collection::vec(task(m), 0..4);
    let done = prop_oneof![6 => Just(None), 1 => any::<bool>().prop_map(Some)];
    (identity, state, run_host(m), times(), tasks, done, links).prop_map(
        |((name, definition, version), state, host, times, tasks, done, (command, relation, serial))| RunSpec {
            name,
            state,
            host,
            times,
            definition,
            version,
            tasks,
            done,
            command,
            relation,
            serial,
        },
    )
}

fn task(m: &Manifest) -> impl Strategy<Value = TaskSpec> + use<> {
    let texts = (
        hostile(),
        hostile(),
        prop_oneof![3 => Just(Some("10.0.0.4:1234".to_owned())), 1 => hostile().prop_map(Some), 1 => Just(None)],
    );
    let flag = prop_oneof![9 => Just(Some(1)), 2 => Just(Some(0)), 1 => Just(None)];
    let queue = prop_oneof![2 => Just(0usize..1), 2 => Just(1..2), 1 => Just(2..3)]
        .prop_flat_map(|size| proptest::collection::vec(queue(), size));
    (texts, task_state(m), flag, times(), 1i64..4, queue).prop_map(
        |((name, log, host), state, flag, times, code, queue)| TaskSpec {
            name,
            log,
            state,
            flag,
            host,
            times,
            code,
            queue,
        },
    )
}

fn queue() -> impl Strategy<Value = QueueSpec> {
    let status =
        prop_oneof![6 => Just(Some(-1)), 6 => Just(Some(1)), 1 => select(vec![Some(2), Some(0), Some(3), None])];
    let force = prop_oneof![6 => Just(Some(0)), 1 => Just(Some(1)), 1 => Just(None)];
    let in_queue = prop_oneof![3 => Just(Some(0)), 4 => Just(Some(1)), 1 => Just(None)];
    (1..=GROUPS, status, force, in_queue, prop_oneof![6 => Just(0u8), 1 => 1u8..3])
        .prop_map(|(group, status, force, in_queue, run)| QueueSpec { group, status, force, in_queue, run })
}

fn command(m: &Manifest) -> impl Strategy<Value = CommandSpec> + use<> {
    let kinds: Vec<i64> = m.states["command.type"].states.iter().map(|s| s.code.parse().unwrap()).collect();
    let run = prop_oneof![3 => (900i64..910).prop_map(Some), 2 => Just(Some(0)), 1 => Just(None), 2 => (1i64..20).prop_map(Some)];
    (select(kinds), 0u8..7, run, 1..=DEFINITIONS + 1, 0i64..3, hostile()).prop_map(
        |(kind, shape, run, definition, version, text)| CommandSpec { kind, shape, run, definition, version, text },
    )
}

fn used() -> impl Strategy<Value = Used> {
    prop_oneof![3 => Just(Used::Right), 2 => (-3i64..4).prop_map(Used::Off), 1 => Just(Used::Null)]
}

/// Every code of a column, those of some phases more often, and NULL and unknown ones.
fn state(m: &Manifest, column: &str, weight: impl Fn(&str, bool, bool) -> u32) -> BoxedStrategy<Option<i64>> {
    let mut arms = vec![(2, Just(None).boxed()), (2, Just(Some(UNKNOWN)).boxed())];
    for s in &m.states[column].states {
        let code: i64 = s.code.parse().unwrap();
        arms.push((weight(&s.phase, s.finished, s.legal), Just(Some(code)).boxed()));
    }
    Union::new_weighted(arms).boxed()
}

fn run_state(m: &Manifest) -> BoxedStrategy<Option<i64>> {
    state(m, "workflow_instance.state", |phase, finished, legal| match (phase, finished) {
        _ if !legal => 1,
        ("running", _) => 30,
        ("stopping" | "pausing", _) => 15,
        ("pending" | "delayed" | "handed_over", _) => 6,
        (_, true) => 8,
        (_, false) => 3,
    })
}

fn task_state(m: &Manifest) -> BoxedStrategy<Option<i64>> {
    state(m, "task_instance.state", |_, finished, legal| match (finished, legal) {
        (_, false) => 1,
        (false, true) => 30,
        (true, true) => 16,
    })
}

fn run_host(m: &Manifest) -> BoxedStrategy<Option<String>> {
    let era = Era::of(m);
    let own = if era.host_has_port() { "10.0.0.9:5678" } else { "10.0.0.9" };
    let text = |host: &str| Just(Some(host.to_owned()));
    let rare = ["10.0.0.9", "10.0.0.9:5678", "10.0.0.9:56789", "10.0.0.91:5678", "10.0.0.1:5678", "10.0.0.1", ""];
    let rare: Vec<Option<String>> = rare.iter().map(|h| Some((*h).to_owned())).collect();
    let marker = era.handed_host().map_or(Just(None), text);
    prop_oneof![
        14 => text(own),
        3 => text(if era.host_has_port() { "master-a.example:5678" } else { "master-a.example" }),
        5 => select(rare),
        1 => Just(None),
        2 => marker,
        1 => hostile().prop_map(Some),
    ]
    .boxed()
}

/// Submit or restart, start, end: some missing, some on the hour where cut-offs lie.
fn times() -> impl Strategy<Value = (Time, Time, Time)> {
    let moment = || {
        prop_oneof![
            1 => (1i64..80).prop_map(|h| NOW - h * 3600),
            1 => Just(NOW - 24 * 3600),
            3 => NOW - 80 * 3600..NOW - 60,
        ]
    };
    let often = || prop_oneof![1 => Just(None), 7 => moment().prop_map(Some)];
    let end = prop_oneof![2 => Just(None), 1 => moment().prop_map(Some)];
    (often(), often(), end)
}

fn add_run(model: &mut Model, spec: RunSpec, column: bool) {
    let id = next(model.runs.iter().map(|r| r.id));
    let (restart, start, end) = spec.times;
    model.runs.push(Run {
        id,
        name: spec.name,
        state: spec.state,
        host: spec.host,
        start,
        restart,
        end,
        definition: spec.definition,
        version: spec.version,
    });
    if spec.done == Some(true) {
        model.edges.retain(|(code, version, _)| (*code, *version) != (spec.definition, spec.version));
    }
    for mut task in spec.tasks {
        if spec.done.is_some() {
            (task.state, task.flag) = (Some(7), Some(1));
        }
        if spec.done == Some(true) {
            model.edges.push((spec.definition, spec.version, task.code));
        }
        add_task(model, id, task);
    }
    if let Some(command) = spec.command {
        add_command(model, Some(id), command, column);
    }
    if let Some((other, dynamic, which)) = spec.relation {
        let other = i64::try_from(other).unwrap();
        let waits = model.tasks.iter().filter(|t| t.run == id).cycle().nth(which);
        let (task, code) = waits.map_or((1, 1), |t| (t.id, t.code));
        if dynamic {
            model.sub_relations.push((id, code, other));
        } else {
            model.relations.push((id, task, other));
        }
    }
    if let Some((same, state)) = spec.serial {
        let definition = if same { spec.definition } else { spec.definition + 7 };
        model.serial.push(Serial { id: next(model.serial.iter().map(|s| s.id)), run: id, definition, state });
    }
}

fn add_task(model: &mut Model, run: i64, spec: TaskSpec) {
    let id = next(model.tasks.iter().map(|t| t.id));
    let (submit, start, end) = spec.times;
    let TaskSpec { name, log, state, flag, host, code, .. } = spec;
    model.tasks.push(Task { id, run, name, state, flag, host, log, submit, start, end, code });
    spec.queue.into_iter().for_each(|q| add_queue(model, Some(id), Some(run), q));
}

fn add_queue(model: &mut Model, task: Option<i64>, run: Option<i64>, spec: QueueSpec) {
    let run = match spec.run {
        0 => run,
        1 => None,
        _ => Some(2),
    };
    let id = next(model.queue.iter().map(|q| q.id));
    let QueueSpec { group, status, force, in_queue, .. } = spec;
    model.queue.push(Queue { id, task, run, group, name: "q'; --".to_owned(), status, force, in_queue });
}

/// A command for a run, or a loose one that names a run by chance.
fn add_command(model: &mut Model, run: Option<i64>, spec: CommandSpec, column: bool) {
    let id = next(model.commands.iter().map(|c| c.id));
    let target = run.or(spec.run);
    let named = target.unwrap_or(0);
    let start = serde_json::json!({ "a": spec.text }).to_string();
    let param = match spec.shape {
        0 => serde_json::json!({ "ProcessInstanceId": named }),
        1 => serde_json::json!({ "ProcessInstanceId": named, "StartParams": start }),
        2 => serde_json::json!({ "WaittingThreadInstanceId": named.to_string() }),
        3 => serde_json::json!({ "parentProcessInstanceId": 0, "processInstanceId": named }),
        // The start of a sub-workflow, for a task that bears the number.
        6 => serde_json::json!({ "parentTaskInstanceId": named, "parentProcessInstanceId": 0 }),
        4 => serde_json::json!({ "StartParams": start, "ProcessInstanceId": named.to_string() }),
        _ => serde_json::json!({ "StartNodeList": "1,2", "x": named }),
    };
    let run = if column { target } else { None };
    let CommandSpec { kind, definition, version, .. } = spec;
    model.commands.push(Command { id, kind, run, param: param.to_string(), definition, version });
}

fn next(ids: impl Iterator<Item = i64>) -> i64 {
    ids.max().unwrap_or(0) + 1
}

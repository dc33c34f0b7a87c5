//! A scheduler database in memory, and the rows that write it.

use flowmend::dialect::Dialect;
use flowmend::manifest::Manifest;

use crate::support::fixture::Rows;

/// Seconds after [`BASE`]; `None` is NULL.
pub type Time = Option<i64>;

/// Where generated times begin.
const BASE: jiff::civil::DateTime = jiff::civil::date(2026, 11, 25).at(0, 0, 0, 0);
/// The moment of every plan, in seconds after the base.
pub const NOW: i64 = 4 * 86_400;

/// A time as a database writes it.
pub fn wall(seconds: i64) -> String {
    BASE.checked_add(jiff::SignedDuration::from_secs(seconds)).unwrap().strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The seconds of a time that [`wall`] wrote.
pub fn seconds(wall: &str) -> i64 {
    let at: jiff::civil::DateTime = wall.replace(' ', "T").parse().unwrap();
    BASE.duration_until(at).as_secs()
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub runs: Vec<Run>,
    pub tasks: Vec<Task>,
    pub commands: Vec<Command>,
    /// Parent run, parent task, child run.
    pub relations: Vec<(i64, i64, i64)>,
    /// Parent run, code of the parent's task, child run.
    pub sub_relations: Vec<(i64, i64, i64)>,
    pub groups: Vec<Group>,
    pub queue: Vec<Queue>,
    pub serial: Vec<Serial>,
    pub definitions: Vec<Definition>,
    /// Code, version, task code.
    pub edges: Vec<(i64, i64, i64)>,
}

#[derive(Clone, Debug)]
pub struct Run {
    pub id: i64,
    pub name: String,
    pub state: Option<i64>,
    pub host: Option<String>,
    pub start: Time,
    pub restart: Time,
    pub end: Time,
    pub definition: i64,
    pub version: i64,
}

#[derive(Clone, Debug)]
pub struct Task {
    pub id: i64,
    pub run: i64,
    pub name: String,
    pub state: Option<i64>,
    pub flag: Option<i64>,
    pub host: Option<String>,
    pub log: String,
    pub submit: Time,
    pub start: Time,
    pub end: Time,
    pub code: i64,
}

#[derive(Clone, Debug)]
pub struct Command {
    pub id: i64,
    pub kind: i64,
    /// The column; in the releases without it, the text says it.
    pub run: Option<i64>,
    pub param: String,
    pub definition: i64,
    pub version: i64,
}

#[derive(Clone, Debug)]
pub struct Group {
    pub id: i64,
    pub name: String,
    pub size: i64,
    pub used: Option<i64>,
}

#[derive(Clone, Debug)]
pub struct Queue {
    pub id: i64,
    pub task: Option<i64>,
    pub run: Option<i64>,
    pub group: i64,
    pub name: String,
    pub status: Option<i64>,
    pub force: Option<i64>,
    pub in_queue: Option<i64>,
}

impl Queue {
    /// When the row was written last: long ago, or, for some, after any cut-off.
    /// Far enough from both for a server in another zone.
    pub fn called_at(id: i64) -> i64 {
        if id % 5 == 4 { NOW + 3 * 86_400 } else { 0 }
    }

    pub fn called(&self) -> i64 {
        Self::called_at(self.id)
    }
}

#[derive(Clone, Debug)]
pub struct Serial {
    pub id: i64,
    pub run: i64,
    pub definition: i64,
    pub state: i64,
}

#[derive(Clone, Debug)]
pub struct Definition {
    pub code: i64,
    pub name: String,
    pub project: i64,
    /// Whether the log knows version 1.
    pub logged: bool,
}

/// The projects that definitions belong to: id (and code) and name.
pub const PROJECTS: [(i64, &str); 2] = [(1, "it's a \"project\"; --"), (2, "p\\2 {{ x }}")];

impl Model {
    /// One row a line, for a report.
    pub fn lines(&self) -> String {
        let text = format!("{:?}", self);
        ["Run {", "Task {", "Command {", "Group {", "Queue {", "Serial {", "Definition {", "edges:"].iter().fold(
            text,
            |text, word| {
                text.replace(&format!(" {word}"), &format!("\n {word}"))
                    .replace(&format!("[{word}"), &format!("[\n {word}"))
            },
        )
    }

    /// INSERT statements for a generation on an engine.
    pub fn statements(&self, m: &Manifest, dialect: &Dialect) -> Vec<String> {
        let mut rows = Rows::new(m, dialect.clone());
        for (id, name) in PROJECTS {
            add(&mut rows, "project", &[("id", num(id)), ("code", num(id)), ("name", text(name))]);
        }
        self.definitions(&mut rows);
        self.runs.iter().for_each(|r| run(&mut rows, r));
        self.tasks.iter().for_each(|t| task(&mut rows, t));
        self.queues(&mut rows);
        self.links(&mut rows);
        if let Some(release) = m.releases.first() {
            add(&mut rows, "version", &[("id", num(1)), ("version", text(release))]);
        }
        rows.statements
    }

    fn definitions(&self, rows: &mut Rows<'_>) {
        for d in &self.definitions {
            let (id, project) = (num(d.code), num(d.project));
            let all = [("id", id.clone()), ("code", id.clone()), ("name", text(&d.name)), ("version", num(1))];
            let owned = [("project_id", project.clone()), ("project_code", project)];
            let online = [("@release_state", num(1)), ("@flag", num(1))];
            add(rows, "definition", &[&all[..], &owned[..], &online[..]].concat());
            if d.logged {
                add(rows, "definition_log", &all);
            }
        }
        for (number, (code, version, task)) in (1..).zip(&self.edges) {
            add(
                rows,
                "dag_edge",
                &[
                    ("id", num(number)),
                    ("definition_code", num(*code)),
                    ("definition_version", num(*version)),
                    ("post_task_code", num(*task)),
                ],
            );
        }
    }

    fn queues(&self, rows: &mut Rows<'_>) {
        for g in &self.groups {
            let counts = [("size", num(g.size)), ("used", opt(g.used)), ("status", num(1))];
            add(rows, "task_group", &[&[("id", num(g.id)), ("name", text(&g.name))], &counts[..]].concat());
        }
        for q in &self.queue {
            let link = [("task_id", opt(q.task)), ("run_id", opt(q.run)), ("group_id", num(q.group))];
            // Rows that a release with a coordinator does not see have a recipe of their own.
            let unseen = rows.manifest.behaviour["sees_only_in_queue"].as_bool() == Some(true);
            let in_queue = if unseen { num(1) } else { opt(q.in_queue) };
            let state = [("status", opt(q.status)), ("force_start", opt(q.force)), ("in_queue", in_queue)];
            let named = [("id", num(q.id)), ("task_name", text(&q.name)), ("update_time", time(Some(q.called())))];
            add(rows, "task_group_queue", &[&named[..], &link[..], &state[..]].concat());
        }
    }

    fn links(&self, rows: &mut Rows<'_>) {
        for c in &self.commands {
            add(
                rows,
                "command",
                &[
                    ("id", num(c.id)),
                    ("type", num(c.kind)),
                    ("run_id", opt(c.run)),
                    ("param", text(&c.param)),
                    ("definition_id", num(c.definition)),
                    ("definition_code", num(c.definition)),
                    ("definition_version", num(c.version)),
                ],
            );
        }
        for (number, (parent, task, child)) in (1..).zip(&self.relations) {
            let ends = [("parent_run_id", num(*parent)), ("child_run_id", num(*child))];
            add(rows, "relation", &[&[("id", num(number)), ("parent_task_id", num(*task))], &ends[..]].concat());
        }
        for (number, (parent, code, child)) in (1..).zip(&self.sub_relations) {
            let ends = [("parent_run_id", num(*parent)), ("child_run_id", num(*child))];
            let of = [("id", num(number)), ("parent_task_code", num(*code))];
            add(rows, "sub_workflow_relation", &[&of[..], &ends[..]].concat());
        }
        for s in &self.serial {
            let named = [("id", num(s.id)), ("run_id", num(s.run)), ("state", num(s.state))];
            let of = [("definition_code", num(s.definition)), ("definition_version", num(1))];
            add(rows, "serial_command", &[&named[..], &of[..]].concat());
        }
    }
}

fn run(rows: &mut Rows<'_>, r: &Run) {
    add(
        rows,
        "workflow_instance",
        &[
            ("id", num(r.id)),
            ("name", text(&r.name)),
            ("state", opt(r.state)),
            ("host", r.host.clone()),
            ("start_time", time(r.start)),
            ("restart_time", time(r.restart)),
            ("end_time", time(r.end)),
            ("definition_id", num(r.definition)),
            ("definition_code", num(r.definition)),
            ("definition_version", num(r.version)),
            ("executor_id", num(1)),
            ("@global_params", text(&r.name)),
        ],
    );
}

fn task(rows: &mut Rows<'_>, t: &Task) {
    add(
        rows,
        "task_instance",
        &[
            ("id", num(t.id)),
            ("name", text(&t.name)),
            ("task_type", text("SHELL")),
            ("run_id", num(t.run)),
            ("state", opt(t.state)),
            ("flag", opt(t.flag)),
            ("host", t.host.clone()),
            ("submit_time", time(t.submit)),
            ("start_time", time(t.start)),
            ("end_time", time(t.end)),
            ("task_code", num(t.code)),
            ("task_execute_type", num(0)),
            ("@log_path", text(&t.log)),
            ("@app_link", text(&t.name)),
        ],
    );
}

fn add(rows: &mut Rows<'_>, role: &str, values: &[(&str, Option<String>)]) {
    let values: Vec<(&str, Option<&str>)> = values.iter().map(|(name, v)| (*name, v.as_deref())).collect();
    rows.add(role, &values);
}

fn num(number: i64) -> Option<String> {
    Some(number.to_string())
}

fn opt(number: Option<i64>) -> Option<String> {
    number.and_then(num)
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn time(time: Time) -> Option<String> {
    time.map(wall)
}

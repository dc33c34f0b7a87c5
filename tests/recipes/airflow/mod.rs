//! Apache Airflow: what each recipe finds, writes, leaves alone and undoes.

mod backfills;
mod claims;
mod deadlines;
mod gone_dags;
mod healed;
mod heartbeats;
mod left_triggers;
mod legacy_states;
mod revisions;
mod shown;
mod stale_jobs;
mod stranded_runs;
mod tries;
mod unsendable;
mod unused_versions;
mod zombie_tasks;

use flowmend::manifest::Manifest;

use crate::support::db::{Server, TestDb, same};
use crate::support::fixture::Rows;
use crate::support::program::{Run, flowmend, on_bundle, sealed};

/// A release of each generation of task keys and heartbeats.
const RELEASES: &[&str] = &["1.10.15", "2.1.4", "2.2.5", "2.10.5", "3.1.8"];

/// The releases to try on a server: all on SQLite.
fn releases(server: Server) -> &'static [&'static str] {
    match server {
        Server::Sqlite => RELEASES,
        _ if crate::support::long() => RELEASES,
        Server::PostgreSql => &["2.10.5", "3.3.2"],
        Server::MariaDb => &["2.10.5", "3.0.6"],
        Server::MySql => &["3.3.2"],
    }
}

/// Long before the moment of the plan.
const OLD: &str = "2026-11-01 10:00:00";
/// A second before it.
const FRESH: &str = "2026-11-28 23:59:59";

type Values<'a> = &'a [(&'a str, Option<&'a str>)];

/// The rows of a night after a crash.
struct Night<'a> {
    rows: Rows<'a>,
    server: Server,
    runs: Vec<String>,
    tasks: u32,
    /// DAGs that have a version.
    versions: Vec<String>,
}

impl<'a> Night<'a> {
    fn new(server: Server, m: &'a Manifest) -> Self {
        Self { rows: Rows::new(m, server.dialect()), server, runs: Vec::new(), tasks: 0, versions: Vec::new() }
    }

    fn dag(&mut self, dag: &str, there: bool) -> &mut Self {
        let (active, stale) = if there { ("1", "0") } else { ("0", "1") };
        let flags = [("active", Some(active)), ("stale", Some(stale)), ("paused", Some("0"))];
        self.rows.add("dag", &[&[("dag_id", Some(dag)), ("max_active_runs", Some("1"))], &flags[..]].concat());
        self
    }

    /// A run `DAG/NAME`; its number is its place.
    fn run(&mut self, run: &str, state: &str, more: Values<'_>) -> &mut Self {
        self.runs.push(run.to_owned());
        let (number, date) = self.number(run);
        let (dag, name) = run.split_once('/').unwrap();
        let values = [
            ("id", Some(number.as_str())),
            ("dag_id", Some(dag)),
            ("run_id", Some(name)),
            ("date", Some(&date)),
            ("run_type", Some("scheduled")),
            ("state", Some(state)),
            ("start_time", Some(OLD)),
            ("queued_at", Some(OLD)),
        ];
        self.rows.add("dag_run", &[&values, more].concat());
        self
    }

    fn number(&self, run: &str) -> (String, String) {
        let place = self.runs.iter().position(|r| r == run).unwrap() + 1;
        (place.to_string(), format!("2026-10-{place:02} 00:00:00"))
    }

    fn job(&mut self, id: &str, kind: &str, state: &str, beat: &str) -> &mut Self {
        let values = [("type", kind), ("state", state), ("beat", beat), ("start_time", OLD), ("host", "h1")];
        let values: Vec<_> = [("id", id)].into_iter().chain(values).map(|(name, value)| (name, Some(value))).collect();
        self.rows.add("job", &values);
        self
    }

    /// The id of the version of a DAG that its tasks name.
    fn version(&mut self, dag: &str) -> String {
        let place = self.versions.iter().position(|d| d == dag).unwrap_or_else(|| {
            self.versions.push(dag.to_owned());
            let id = format!("{:032}", 9000 + self.versions.len());
            let values = [("id", id.as_str()), ("dag_id", dag), ("number", "1"), ("created_at", OLD)];
            self.rows.add("dag_version", &values.map(|(name, value)| (name, Some(value))));
            self.versions.len() - 1
        });
        format!("{:032}", 9001 + place)
    }

    /// A task of a run; job 1 queued it, its own job is `job`. Where tasks have a version, it has one.
    fn task(&mut self, run: &str, task: &str, state: Option<&str>, more: Values<'_>) -> &mut Self {
        self.tasks += 1;
        let (id, (_, date)) = (format!("{:032}", self.tasks), self.number(run));
        let (dag, name) = run.split_once('/').unwrap();
        let values = [
            ("id", Some(id.as_str())),
            ("dag_id", Some(dag)),
            ("task_id", Some(task)),
            ("run_id", Some(name)),
            ("date", Some(&date)),
            ("map_index", Some("-1")),
            ("state", state),
            ("try_number", Some("1")),
            ("max_tries", Some("0")),
            ("pool", Some("default_pool")),
            ("pool_slots", Some("1")),
            ("queued_by", Some("1")),
        ];
        let said = more.iter().any(|(name, _)| *name == "dag_version_id");
        let versioned = !said && self.rows.manifest.has("task_instance.dag_version_id");
        let version = versioned.then(|| self.version(dag));
        let version = version.as_deref().map(|id| ("dag_version_id", Some(id)));
        self.rows.add("task_instance", &[&values, version.as_slice(), more].concat());
        self
    }

    fn done(&self) -> TestDb {
        let db = TestDb::with_schema(self.server, self.rows.manifest);
        let mark = self.rows.manifest.version_marks.values().next_back().unwrap();
        db.exec(&format!("INSERT INTO alembic_version (version_num) VALUES ('{mark}')"));
        db.exec_all(&self.rows.statements);
        db
    }
}

const MOMENT: &[&str] = &["--now", "2026-11-29T00:00:00Z"];

fn plan(db: &TestDb, release: &str, recipe: &str, extra: &[&str]) -> Run {
    let out = db.path("b").display().to_string();
    let place = ["plan", recipe, "--url", &db.url, "--out", &out, "--release", release];
    flowmend([&place, MOMENT, extra].concat())
}

fn inspect(db: &TestDb, release: &str, extra: &[&str]) -> serde_json::Value {
    let place = ["inspect", "--url", &db.url, "--release", release, "--format", "json"];
    serde_json::from_str(&flowmend([&place, MOMENT, extra].concat()).out).unwrap()
}

/// Applies a plan, looks, and takes it back.
fn round(db: &TestDb, what: &str, look: impl Fn(&TestDb)) {
    let before = db.dump();
    on_bundle("rehearse", db, "b").expect(0);
    same(&db.dump(), &before, &format!("{what}: a rehearsal leaves no trace"));
    sealed("apply", db, "b", &[]).expect(0);
    look(db);
    on_bundle("verify", db, "b").expect(0);
    sealed("rollback", db, "b", &[]).expect(0);
    same(&db.dump(), &before, &format!("{what}: rollback is the identity"));
}

/// `task: column column …` of every task, in order; NULL is a dash.
fn tasks(db: &TestDb, columns: &[&str]) -> Vec<String> {
    let d = db.server.dialect();
    let fields: Vec<String> = columns.iter().map(|c| d.as_text(c)).collect();
    let sql = format!("SELECT task_id, {} FROM task_instance ORDER BY task_id", fields.join(", "));
    let shown = |row: Vec<Option<String>>| {
        let cells: Vec<String> = row.into_iter().map(|v| v.unwrap_or_else(|| "-".to_owned())).collect();
        format!("{}: {}", cells[0], cells[1..].join(" "))
    };
    db.rows(&sql).into_iter().map(shown).collect()
}

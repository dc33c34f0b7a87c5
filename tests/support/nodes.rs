//! A job store whose schedulers check in by name, several of them in one set of tables.

use flowmend::manifest::{Manifest, Manifests};

use super::db::{Server, TestDb};
use super::fixture::Rows;
use super::program::{Run, flowmend};

const RELEASE: &str = "2.3.2";
/// The moment of the last check-in of nodes that stand still.
pub const LONG_AGO_MS: &str = "1700000000000";
/// The newest check-in of nodes that live.
pub const LATELY_MS: &str = "1700000900000";
/// How often the nodes check in, so that no test waits long.
const INTERVAL_MS: &str = "200";

fn manifest() -> Manifest {
    Manifests::load(None).unwrap().release("quartz", RELEASE).unwrap().clone()
}

/// A store that is filled bit by bit.
pub struct Store {
    pub db: TestDb,
    manifest: Manifest,
}

impl Store {
    pub fn new(server: Server) -> Self {
        let manifest = manifest();
        Self { db: TestDb::with_schema(server, &manifest), manifest }
    }

    fn add(&self, role: &str, values: &[(&str, Option<&str>)]) {
        let mut rows = Rows::new(&self.manifest, self.db.server.dialect());
        rows.add(role, values);
        self.db.exec_all(&rows.statements);
    }

    /// An instance with its check-in.
    pub fn node(&self, sched: &str, node: &str, checkin: &str) -> &Self {
        let values = [
            ("sched_name", Some(sched)),
            ("node", Some(node)),
            ("checkin", Some(checkin)),
            ("checkin_interval", Some(INTERVAL_MS)),
        ];
        self.add("scheduler_state", &values);
        self
    }

    /// A trigger with its job, both called `name`.
    pub fn trigger(&self, sched: &str, name: &str, state: &str) -> &Self {
        let of = [("sched_name", Some(sched)), ("name", Some(name)), ("group_name", Some("G"))];
        let truth = self.truth("0");
        let flags = [("durable", Some(truth)), ("nonconcurrent", Some(truth)), ("recovery", Some(truth))];
        let flags = [&flags[..], &[("@IS_UPDATE_DATA", Some(truth))]].concat();
        self.add("job", &[&of[..], &flags].concat());
        let times = [("next_fire_time", Some(LONG_AGO_MS)), ("prev_fire_time", Some("-1")), ("type", Some("SIMPLE"))];
        let job = [("job_name", Some(name)), ("job_group", Some("G")), ("state", Some(state)), ("misfire", Some("0"))];
        self.add("trigger", &[&of[..], &times, &job].concat());
        self.add("simple_trigger", &of);
        self
    }

    /// A fired trigger: a node holds the trigger for its next fire.
    pub fn fired(&self, sched: &str, node: &str, trigger: &str) -> &Self {
        self.fired_at(sched, node, trigger, LONG_AGO_MS)
    }

    /// The same at a moment.
    pub fn fired_at(&self, sched: &str, node: &str, trigger: &str, ms: &str) -> &Self {
        let entry = format!("{node}-{trigger}");
        let values = [
            ("sched_name", Some(sched)),
            ("entry_id", Some(entry.as_str())),
            ("node", Some(node)),
            ("trigger_name", Some(trigger)),
            ("trigger_group", Some("G")),
            ("state", Some("ACQUIRED")),
            ("start_time", Some(ms)),
            ("nonconcurrent", Some(self.truth("0"))),
            ("recovery", Some(self.truth("0"))),
        ];
        self.add("fired_trigger", &values);
        self
    }

    fn truth(&self, digit: &'static str) -> &'static str {
        match (self.db.server, digit) {
            (Server::PostgreSql, "0") => "false",
            (Server::PostgreSql, _) => "true",
            _ => digit,
        }
    }

    /// A name as the database's SQL writes it.
    pub fn ident(&self, name: &str) -> String {
        self.db.server.dialect().ident(name)
    }

    /// The statement by which a node checks in once more.
    pub fn checkin(&self, sched: &str, node: &str) -> String {
        let (table, at) = (self.ident("QRTZ_SCHEDULER_STATE"), self.ident("LAST_CHECKIN_TIME"));
        let (s, n) = (self.ident("SCHED_NAME"), self.ident("INSTANCE_NAME"));
        format!("UPDATE {table} SET {at} = {at} + 1000 WHERE {s} = '{sched}' AND {n} = '{node}'")
    }

    pub fn plan(&self, recipe: &str, bundle: &str, extra: &[&str]) -> Run {
        self.plan_at("2026-11-29T00:00:00Z", recipe, bundle, extra)
    }

    pub fn plan_at(&self, now: &str, recipe: &str, bundle: &str, extra: &[&str]) -> Run {
        let out = self.db.path(bundle).display().to_string();
        let args = ["plan", recipe, "--url", &self.db.url, "--release", RELEASE, "--out", &out, "--now", now];
        flowmend([&args[..], extra].concat())
    }

    pub fn inspect(&self, extra: &[&str]) -> Run {
        flowmend([&["inspect", "--url", &self.db.url, "--release", RELEASE][..], extra].concat())
    }

    pub fn ticket(&self, bundle: &str) -> String {
        std::fs::read_to_string(self.db.path(bundle).join("TICKET.md")).unwrap()
    }
}

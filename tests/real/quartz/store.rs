//! One job store and its nodes, each a process.

use std::path::{Path, PathBuf};

use crate::real::rows;
use crate::real::servers::{Servers, must};
use crate::real::watch::{lines, wait};
use crate::support::db::{Server, TestDb};

/// The launcher.
pub const SCRIPT: &str = "quartz";

/// What a scenario makes its store of.
pub struct At {
    pub release: &'static str,
    pub server: Server,
}

/// Tables with jobs, and what runs on them.
pub struct Store {
    pub db: TestDb,
    pub servers: Servers,
    release: &'static str,
    scenario: &'static str,
    nodes: std::cell::RefCell<Vec<String>>,
}

/// The jobs that take as long as a scenario says.
const LONG: [&str; 3] = ["alone", "again", "single"];

impl Store {
    /// Fresh tables with all jobs, of a cluster or not; no node runs yet.
    pub fn new(at: &At, scenario: &'static str, clustered: bool) -> Self {
        let db = TestDb::new(at.server);
        let engine = if at.server == Server::PostgreSql { "postgresql" } else { "mysql" };
        let schema = must(SCRIPT, ["schema", at.release, engine]);
        let loaded = db.stock_lenient(Path::new(&schema));
        assert!(loaded.status.success(), "{}", String::from_utf8_lossy(&loaded.stderr));
        let servers = Servers::new(SCRIPT, at.release, &db);
        servers.of_release("store", &[if clustered { "cluster-store" } else { "single-store" }]);
        let store = Self { db, servers, release: at.release, scenario, nodes: Vec::new().into() };
        store.take(600);
        store
    }

    /// Starts nodes and waits until they are up.
    pub fn up(&self, nodes: &[&str]) {
        self.nodes.borrow_mut().extend(nodes.iter().map(|n| (*n).to_owned()));
        self.servers.up(nodes);
    }

    fn marker(&self, job: &str) -> PathBuf {
        self.servers.dir.join("marks").join(job)
    }

    /// How long the long jobs take from now on.
    pub fn take(&self, seconds: u32) {
        for job in LONG {
            std::fs::write(self.marker(job).with_extension("seconds"), seconds.to_string()).unwrap();
        }
    }

    /// What a job did: `begin NODE TRIGGER`, `end NODE TRIGGER`.
    pub fn marks(&self, job: &str) -> Vec<String> {
        lines(&self.marker(job))
    }

    /// How often a job began on a node, by the begin of its name.
    pub fn begun(&self, job: &str, node: &str) -> usize {
        self.marks(job).iter().filter(|l| l.starts_with(&format!("begin {node}"))).count()
    }

    /// The state of a trigger; empty if it is gone.
    pub fn trigger(&self, name: &str) -> String {
        let named = format!("TRIGGER_NAME = '{name}'");
        rows::column(&self.db, "QRTZ_TRIGGERS", "TRIGGER_STATE", &named, "TRIGGER_NAME").pop().unwrap_or_default()
    }

    /// The states of all triggers that are not always on the move.
    pub fn states(&self) -> [String; 5] {
        ["alone", "alone-paused", "again", "single", "missing"].map(|name| self.trigger(name))
    }

    pub fn count(&self, table: &str, condition: &str) -> u32 {
        rows::count(&self.db, table, condition)
    }

    /// Waits until the long jobs work, so that all kinds of states are there.
    pub fn at_work(&self) {
        let states = ["BLOCKED", "PAUSED_BLOCKED", "BLOCKED", "COMPLETE", "ERROR"];
        wait(90, "the long jobs work", || self.states() == states && LONG.iter().all(|job| self.begun(job, "") == 1));
    }

    /// `plan` with what every plan is told.
    pub fn told(&self, extra: &[&'static str]) -> Vec<&str> {
        [&["--release", self.release], extra].concat()
    }

    /// The store works as if nothing had happened: what fires goes on firing, on
    /// this node, and no job that must run alone runs twice at a time.
    pub fn fires_on(&self, node: &str) {
        let fired = |job: &str, times: usize| self.begun(job, node) >= times;
        wait(90, "triggers fire", || fired("alone", 2) && fired("again", 2) && fired("quick", 3));
        wait(90, "a held trigger fires", || self.marks("quick").iter().any(|l| l.ends_with("tests.later")));
        for job in ["alone", "again"] {
            let marks = self.marks(job);
            let later: Vec<&str> = marks.iter().filter(|l| l.contains(node)).map(|l| &l[..3]).collect();
            assert!(later.windows(2).all(|w| w[0] != w[1]), "{job} runs alone: {marks:?}");
        }
    }

    /// The paused trigger is paused, but while its job runs for the other one.
    pub fn stays_paused(&self) {
        wait(10, "it is paused", || self.trigger("alone-paused") == "PAUSED");
        assert!(!self.marks("alone").iter().any(|l| l.ends_with("alone-paused")), "it never fired");
    }

    /// What a node logged of takeovers and faults; the class that is missing is known.
    pub fn complaints(&self, node: &str) -> Vec<String> {
        let said = self.servers.says(node, &["ERROR", "WARN", "ClusterManager: ", "Recover"]);
        said.into_iter().filter(|l| !l.contains("issing")).collect()
    }

    /// Prints everything that a scenario is about.
    pub fn print(&self, when: &str) {
        eprintln!("--- {when}");
        let trigger = ["TRIGGER_NAME", "TRIGGER_STATE", "NEXT_FIRE_TIME"];
        for line in rows::show(&self.db, "QRTZ_TRIGGERS", &trigger, "1 = 1", "TRIGGER_NAME") {
            eprintln!("trigger  {line}");
        }
        let fired = ["INSTANCE_NAME", "TRIGGER_NAME", "STATE", "JOB_NAME", "REQUESTS_RECOVERY"];
        for line in rows::show(&self.db, "QRTZ_FIRED_TRIGGERS", &fired, "1 = 1", "ENTRY_ID") {
            eprintln!("fired    {line}");
        }
        let instance = ["INSTANCE_NAME", "LAST_CHECKIN_TIME"];
        for line in rows::show(&self.db, "QRTZ_SCHEDULER_STATE", &instance, "1 = 1", "INSTANCE_NAME") {
            eprintln!("instance {line}");
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let nodes = self.nodes.borrow();
        self.servers.kill(&nodes.iter().map(String::as_str).collect::<Vec<_>>());
        self.servers.keep_logs(&format!("{SCRIPT}-{}-{:?}-{}", self.release, self.db.server, self.scenario));
    }
}

//! One installation: scheduler, triggerer and, in 3.x, API server and DAG processor.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use super::releases::Release;
use crate::real::rows;
use crate::real::servers::{Servers, must};
use crate::real::watch::wait;
use crate::support::db::{Server, TestDb};

/// The launcher.
const SCRIPT: &str = "airflow";

/// How the console ends what a command printed that succeeded.
pub const DONE: &str = "\nexit 0\n";

/// A running Airflow with a database of its own.
pub struct Airflow {
    pub release: &'static Release,
    pub db: TestDb,
    pub servers: Servers,
}

/// A DAG: its name, whether its first task works, does so alone, or waits in a
/// trigger; retries.
type Dag = (&'static str, &'static str, u32);

/// Every DAG of the scenarios.
const DAGS: &[Dag] = &[
    ("finish", "work", 0),
    ("queued", "work", 0),
    ("resume", "work", 0),
    ("retry", "work", 2),
    ("deferred", "wait", 0),
    ("lost_trigger", "wait", 0),
    ("settled", "alone", 0),
    ("settled_left", "alone", 0),
    ("gone", "work", 0),
    ("closed_run", "work", 0),
    ("no_end", "work", 1),
    ("all_work", "work", 0),
    ("all_trigger", "wait", 0),
    ("all_closed", "work", 0),
];

impl Airflow {
    /// A fresh database, every component up, every DAG known.
    pub fn start(release: &'static Release, server: Server) -> Self {
        let db = TestDb::new(server);
        let servers = Servers::new(SCRIPT, release.name, &db);
        let airflow = Self { release, db, servers };
        airflow.servers.of_release("migrate", &[]);
        for folder in ["dags", "lib", "marks"] {
            std::fs::create_dir_all(airflow.servers.dir.join(folder)).unwrap();
        }
        std::fs::write(airflow.servers.dir.join("lib/flowmend_tasks.py"), include_str!("tasks.py")).unwrap();
        DAGS.iter().for_each(|dag| airflow.write(dag));
        airflow.servers.up(&["console"]);
        airflow.up();
        wait(120, "the DAGs are known", || airflow.count("serialized_dag", "1 = 1") as usize >= DAGS.len());
        airflow
    }

    fn file(&self, dag: &str) -> PathBuf {
        self.servers.dir.join(format!("dags/{dag}.py"))
    }

    fn write(&self, (name, kind, retries): &Dag) {
        let text = format!("# airflow\nfrom flowmend_tasks import dag\n\nmade = dag('{name}', '{kind}', {retries})\n");
        std::fs::write(self.file(name), text).unwrap();
        self.take(name, 1);
    }

    /// Takes a DAG's file away.
    pub fn remove(&self, dag: &str) {
        std::fs::remove_file(self.file(dag)).unwrap();
    }

    /// How long tasks of a DAG take from now on.
    pub fn take(&self, dag: &str, seconds: u32) {
        std::fs::write(self.marker(dag).with_extension("seconds"), seconds.to_string()).unwrap();
    }

    /// The file that tasks of a DAG write to.
    pub fn marker(&self, dag: &str) -> PathBuf {
        self.servers.dir.join("marks").join(dag)
    }

    /// What Airflow's command line prints, which ends with its exit code.
    pub fn ask(&self, args: &[&str]) -> String {
        let mut console = UnixStream::connect(self.servers.dir.join("console.socket")).unwrap();
        console.write_all(format!("{}\n", serde_json::to_string(args).unwrap()).as_bytes()).unwrap();
        let mut said = String::new();
        console.read_to_string(&mut said).unwrap();
        said
    }

    /// Airflow's command line; it must succeed.
    #[track_caller]
    pub fn cli(&self, args: &[&str]) -> String {
        let said = self.ask(args);
        assert!(said.ends_with(DONE), "airflow {args:?}\n{said}");
        said
    }

    /// Starts every component that does not run.
    pub fn up(&self) {
        let down: Vec<&str> = self.release.servers.iter().copied().filter(|s| !self.servers.alive(s)).collect();
        if !down.is_empty() {
            self.servers.up(&down);
        }
    }

    /// `kill -9` of every component and every task.
    pub fn crash(&self) {
        self.servers.crash(self.release.servers);
    }

    /// Lets no further task begin, until everything is killed.
    pub fn hold(&self) {
        let dir = self.servers.dir.display().to_string();
        must(SCRIPT, ["hold", self.release.name, &dir]);
    }

    /// Asks for a run.
    pub fn trigger(&self, dag: &str, run: &str) {
        self.cli(&["dags", "trigger", dag, "--run-id", run]);
    }

    pub fn count(&self, table: &str, condition: &str) -> u32 {
        rows::count(&self.db, table, condition)
    }

    /// The state of a run.
    pub fn run_state(&self, dag: &str, run: &str) -> String {
        rows::one(&self.db, &format!("SELECT state FROM dag_run WHERE dag_id = '{dag}' AND run_id = '{run}'"))
    }

    /// The state of a task; ∅ for none, empty if there is no such task.
    pub fn task_state(&self, dag: &str, run: &str, task: &str) -> String {
        rows::one(
            &self.db,
            &format!(
                "SELECT COALESCE(state, '∅') FROM task_instance WHERE dag_id = '{dag}' AND run_id = '{run}' AND task_id = '{task}'"
            ),
        )
    }

    /// The states of a run and its two tasks.
    pub fn states(&self, dag: &str, run: &str) -> [String; 3] {
        [self.run_state(dag, run), self.task_state(dag, run, "work"), self.task_state(dag, run, "after")]
    }

    /// What Airflow's own command line says of a run.
    pub fn listed(&self, dag: &str, run: &str) -> String {
        let said = self.cli(&[self.release.list_runs, &[dag]].concat());
        let json = said.lines().rfind(|l| l.starts_with("[{")).unwrap_or_else(|| panic!("{said}"));
        let runs: serde_json::Value = serde_json::from_str(json).unwrap();
        let found = runs.as_array().unwrap().iter().find(|r| r["run_id"] == run).unwrap();
        found["state"].as_str().unwrap().to_owned()
    }

    /// Prints everything that a scenario is about.
    pub fn print(&self, when: &str, dags: &[&str]) {
        eprintln!("--- {when}");
        let of = format!("dag_id IN ('{}')", dags.join("', '"));
        for line in rows::show(&self.db, "dag_run", &["dag_id", "run_id", "state", "end_date"], &of, "id") {
            eprintln!("run   {line}");
        }
        let task = ["dag_id", "run_id", "task_id", "state", "try_number", "trigger_id", "queued_by_job_id", "end_date"];
        for line in rows::show(&self.db, "task_instance", &task, &of, "dag_id") {
            eprintln!("task  {line}");
        }
        let job = ["id", "job_type", "state", "latest_heartbeat"];
        for line in rows::show(&self.db, "job", &job, "state = 'running'", "id") {
            eprintln!("job   {line}");
        }
    }

    /// Ends what a scenario left running, so that the next one starts in peace.
    pub fn calm(&self) {
        let open = "state IN ('running', 'queued')";
        if self.count("dag_run", open) > 0 {
            self.crash();
            self.db.exec(&format!("UPDATE dag_run SET state = 'failed' WHERE {open}"));
            let live = "state IN ('running', 'queued', 'scheduled', 'deferred', 'up_for_retry', 'restarting')";
            self.db.exec(&format!("UPDATE task_instance SET state = 'failed', trigger_id = NULL WHERE {live}"));
        }
        self.up();
    }
}

impl Drop for Airflow {
    fn drop(&mut self) {
        self.servers.keep_logs(&format!("{SCRIPT}-{}-{:?}", self.release.name, self.db.server));
        self.crash();
        self.servers.kill(&["console"]);
    }
}

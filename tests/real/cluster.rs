//! One installation: registry, API, worker and master, each a process.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::api::Api;
use super::releases::{self, Release};
use crate::support::db::{Server, TestDb};

/// A running DolphinScheduler with a database of its own.
pub struct Cluster {
    pub release: &'static Release,
    pub db: TestDb,
    pub api: Api,
    dir: PathBuf,
}

/// The launcher, with arguments.
fn script(args: &[&str]) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/real/dolphinscheduler.sh"));
    command.args(args);
    command
}

/// Whether the release lies in the cache, noting if not.
pub fn built(what: &str, release: &str) -> bool {
    let there = script(&["schema", release, "mysql"]).output().unwrap().status.success();
    if !there {
        crate::support::skipped(what, &format!("not built (scripts/real/dolphinscheduler.sh get {release})"));
    }
    there
}

fn must(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn port(of: &str) -> String {
    let ports = must(script(&["ports"]));
    let line = ports.lines().find_map(|l| l.strip_prefix(&format!("{of} ")).map(str::to_owned));
    line.unwrap()
}

impl Cluster {
    /// A fresh schema, all servers up, somebody logged in.
    pub fn start(release: &str, server: Server) -> Self {
        let db = TestDb::new(server);
        let engine = if server == Server::PostgreSql { "postgresql" } else { "mysql" };
        let schema = must(script(&["schema", release, engine]));
        let loaded = db.stock_lenient(Path::new(&schema));
        assert!(loaded.status.success(), "{}", String::from_utf8_lossy(&loaded.stderr));
        let dir = db.path("servers");
        std::fs::create_dir_all(&dir).unwrap();
        let release = releases::named(release);
        let api = Api::new(&port("api"), release);
        let mut cluster = Self { release, db, api, dir };
        cluster.up(&["zookeeper", "worker", "api", "master"]);
        cluster.api.login();
        cluster
    }

    /// The address that the master writes into `host`. It chooses that by itself.
    pub fn master(&self) -> String {
        let port = port("master");
        self.one(&format!("SELECT MAX(host) FROM t_ds_process_instance WHERE host LIKE '%:{port}'"))
    }

    /// Starts servers and waits until they are up.
    pub fn up(&self, servers: &[&str]) {
        let mut command = script(&["start", self.release.name]);
        command.arg(&self.dir).arg(&self.db.url).args(servers);
        must(command);
    }

    /// `kill -9`.
    pub fn kill(&self, servers: &[&str]) {
        let mut command = script(&["kill"]);
        command.arg(&self.dir).args(servers);
        must(command);
    }

    /// Sends a signal to one server.
    pub fn signal(&self, name: &str, server: &str) {
        let pid = std::fs::read_to_string(self.dir.join(server).join("pid")).unwrap();
        must({
            let mut command = Command::new("kill");
            command.args(["-s", name, pid.trim()]);
            command
        });
    }

    /// What a server has logged since it was started last.
    pub fn log(&self, server: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.dir.join(server).join("log")).unwrap()).into_owned()
    }

    /// Lines of the master's log that hold one of these words.
    pub fn master_says(&self, words: &[&str]) -> Vec<String> {
        let log = self.log("master");
        log.lines().filter(|l| words.iter().any(|w| l.contains(w))).map(str::to_owned).collect()
    }

    /// A new file that tasks write to.
    pub fn marker(&self, name: &str) -> PathBuf {
        self.db.path(&format!("{name}.marker"))
    }

    /// Ends what a scenario left running, so that the next one starts in peace and
    /// plans find its own damage only.
    pub fn calm(&self) {
        let run = "state NOT IN (3, 5, 6, 7)";
        let task = "(state IN (0, 1, 2, 4, 12, 17) OR state = 8 AND flag = 1)";
        let left = [("t_ds_process_instance", run), ("t_ds_task_instance", task), ("t_ds_command", "1 = 1")];
        if left.iter().any(|(table, condition)| self.count(table, condition) > 0) {
            self.kill(&["master"]);
            self.exec(&format!("UPDATE t_ds_process_instance SET state = 5 WHERE {run}"));
            self.exec(&format!("UPDATE t_ds_task_instance SET state = 9 WHERE {task}"));
            self.exec("DELETE FROM t_ds_command");
            if self.release.groups {
                self.exec("DELETE FROM t_ds_task_group_queue");
                self.exec("UPDATE t_ds_task_group SET use_size = 0");
            }
        }
        self.exec("DELETE FROM t_ds_error_command");
        for server in ["worker", "master"] {
            if !self.runs(server) {
                self.up(&[server]);
            }
        }
    }

    fn runs(&self, server: &str) -> bool {
        let pid = std::fs::read_to_string(self.dir.join(server).join("pid")).unwrap_or_default();
        let line = std::fs::read(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("-Dflowmend.real=")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(keep) = std::env::var_os("FLOWMEND_REAL_LOGS") {
            let to = Path::new(&keep).join(format!("{}-{:?}", self.release.name, self.db.server));
            let _ = std::fs::create_dir_all(&to);
            for server in ["api", "worker", "master"] {
                for log in ["log", "log.old"] {
                    let _ = std::fs::copy(self.dir.join(server).join(log), to.join(format!("{server}.{log}")));
                }
            }
        }
        self.kill(&["master", "worker", "api", "zookeeper"]);
    }
}

//! One installation: registry, API, worker and master, each a process.

use std::path::{Path, PathBuf};

use super::api::Api;
use super::releases::Release;
use crate::real::servers::{Servers, must};
use crate::support::db::{Server, TestDb};

/// The launcher.
const SCRIPT: &str = "dolphinscheduler";

/// A running DolphinScheduler with a database of its own.
pub struct Cluster {
    pub release: &'static Release,
    pub db: TestDb,
    pub api: Api,
    pub servers: Servers,
}

fn port(of: &str) -> String {
    let ports = must(SCRIPT, ["ports"]);
    let line = ports.lines().find_map(|l| l.strip_prefix(&format!("{of} ")).map(str::to_owned));
    line.unwrap()
}

impl Cluster {
    /// A fresh schema, all servers up, somebody logged in.
    pub fn start(release: &'static Release, server: Server) -> Self {
        let db = TestDb::new(server);
        let engine = if server == Server::PostgreSql { "postgresql" } else { "mysql" };
        let schema = must(SCRIPT, ["schema", release.name, engine]);
        let loaded = db.stock_lenient(Path::new(&schema));
        assert!(loaded.status.success(), "{}", String::from_utf8_lossy(&loaded.stderr));
        let servers = Servers::new(SCRIPT, release.name, &db);
        let api = Api::new(&port("api"), release);
        let mut cluster = Self { release, db, api, servers };
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
        self.servers.up(servers);
    }

    /// `kill -9`.
    pub fn kill(&self, servers: &[&str]) {
        self.servers.kill(servers);
    }

    /// Sends a signal to one server.
    pub fn signal(&self, name: &str, server: &str) {
        self.servers.signal(server, name);
    }

    /// What a server has logged since it was started last.
    pub fn log(&self, server: &str) -> String {
        self.servers.log(server)
    }

    /// Lines of the master's log that hold one of these words.
    pub fn master_says(&self, words: &[&str]) -> Vec<String> {
        self.servers.says("master", words)
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
            if !self.servers.alive(server) {
                self.up(&[server]);
            }
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.servers.keep_logs(&format!("{SCRIPT}-{}-{:?}", self.release.name, self.db.server));
        self.kill(&["master", "worker", "api", "zookeeper"]);
    }
}

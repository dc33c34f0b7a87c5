//! XXL-JOB: what the log means, what is closed and how silently, in every release.

mod lost_runs;
mod refused_by_the_linter;
mod registry_and_lock;
mod releases;
mod schedules;
mod states;

use flowmend::manifest::{Manifest, Manifests};

use crate::support;
use crate::support::db::{Server, TestDb};
use crate::support::fixture::Rows;
use crate::support::program::{Run, flowmend, plan_recipe};

/// The moment of the tests is midnight of 29 November.
const OLD: &str = "2026-11-28 12:00:00";
const YOUNG: &str = "2026-11-28 23:59:00";

/// The releases to try on a server: one of each generation on SQLite, elsewhere a share.
fn releases(server: Server) -> Vec<String> {
    let share: &[&str] = match server {
        Server::MariaDb => &["1.8.2", "2.0.2", "3.4.2"],
        Server::MySql => &["2.0.1", "2.1.2", "3.1.1"],
        Server::Sqlite | Server::PostgreSql => &[],
    };
    let manifests = Manifests::load(None).unwrap();
    let newest = manifests.of("xxl-job").unwrap().into_iter().flat_map(|m| m.releases.last().cloned());
    let whole = server == Server::Sqlite || support::long();
    newest.filter(|r| whole || share.contains(&r.as_str())).collect()
}

/// Every database that upstream's tables can be in, each with its releases.
fn everywhere(what: &str) -> Vec<(Server, String)> {
    let servers = Server::available(what).into_iter().filter(|s| *s != Server::PostgreSql);
    servers.flat_map(|s| releases(s).into_iter().map(move |r| (s, r))).collect()
}

/// The same for what hangs on few releases: one of each way to write an address.
fn here_and_there(what: &str) -> Vec<(Server, String)> {
    let few = |(_, release): &(Server, String)| ["1.8.2", "2.1.2", "3.1.1", "3.4.2"].contains(&release.as_str());
    everywhere(what).into_iter().filter(few).collect()
}

/// A database of a release: group 1 registers itself, group 2 has typed addresses; job 1 belongs to the
/// one, job 2 to the other.
struct Site {
    release: String,
    m: Manifest,
    db: TestDb,
}

impl Site {
    fn new(server: Server, release: &str) -> Self {
        let m = Manifests::load(None).unwrap().release("xxl-job", release).unwrap().clone();
        let db = TestDb::with_schema(server, &m);
        let site = Self { release: release.to_owned(), m, db };
        for (group, job, kind) in [("1", "1", "0"), ("2", "2", "1")] {
            site.add("group", &[("id", group), ("app", "app"), ("address_type", kind)]);
            site.add("job", &[("id", job), ("group_id", group), ("name", "load"), ("schedule", "0 0 5 * * ?")]);
        }
        site
    }

    fn add(&self, role: &str, values: &[(&str, &str)]) {
        let mut rows = Rows::new(&self.m, self.db.server.dialect());
        let values: Vec<_> = values.iter().map(|(name, value)| (*name, Some(*value))).collect();
        rows.add(role, &values);
        self.db.exec_all(&rows.statements);
    }

    /// An address as an executor of the release registers it.
    fn address(&self, host: &str) -> String {
        let part = |name: &str| self.m.behaviour[name].as_str().unwrap().to_owned();
        format!("{}{host}:9999{}", part("address_prefix"), part("address_suffix"))
    }

    /// A run of group 1 at an address as it is given.
    fn log(&self, id: &str, (trigger, handle): (&str, &str), address: &str, start: &str) {
        let retries = ("retries", "2");
        let codes = [("trigger_state", trigger), ("state", handle)];
        let rest = [("id", id), ("group_id", "1"), ("job_id", "1"), ("host", address), ("start_time", start), retries];
        self.add("log", &[&codes[..], &rest].concat());
    }

    /// Arguments that name the release.
    fn args<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        [&["--scheduler", "xxl-job", "--release", self.release.as_str()], rest].concat()
    }

    /// Plans a recipe at the tests' moment.
    fn plan(&self, recipe: &str, bundle: &str, rest: &[&str]) -> Run {
        plan_recipe(&self.db, recipe, bundle, &self.args(rest))
    }

    fn ticket(&self, bundle: &str) -> String {
        std::fs::read_to_string(self.db.path(bundle).join("TICKET.md")).unwrap()
    }

    /// What inspect says, as JSON.
    fn inspect(&self, rest: &[&str]) -> serde_json::Value {
        let moment = ["--now", "2026-11-29T00:00:00Z", "--zone", "+00:00"];
        let run =
            flowmend([&["inspect", "--url", &self.db.url, "--format", "json"][..], &moment, &self.args(rest)].concat());
        serde_json::from_str(&run.out).unwrap_or_else(|e| panic!("{}: {e}: {}", self.release, run.err))
    }

    /// The keys that a finding of inspect shows first.
    fn found(&self, code: &str, rest: &[&str]) -> Vec<String> {
        let report = self.inspect(rest);
        let findings = report["findings"].as_array().unwrap().iter().filter(|f| f["code"] == code);
        let explained = findings.flat_map(|f| f["explained"].as_array().unwrap());
        explained.map(|e| e["key"].as_str().unwrap().to_owned()).collect()
    }

    /// The keys of the log that a bundle writes.
    fn planned(&self, bundle: &str) -> Vec<String> {
        self.planned_of("log", bundle)
    }

    /// The keys of a role that a bundle writes.
    fn planned_of(&self, role: &str, bundle: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.db.path(bundle).join("plan.toml")).unwrap();
        let plan: toml::Table = text.parse().unwrap();
        let steps = plan["steps"].as_array().unwrap().iter().filter(|s| s["role"].as_str() == Some(role));
        let rows = steps.flat_map(|s| s["rows"].as_array().unwrap().clone());
        rows.map(|row| row[0].as_str().map_or_else(|| row[0][0].as_str().unwrap().to_owned(), str::to_owned)).collect()
    }

    /// A value of the log, by its role column.
    fn log_value(&self, id: &str, column: &str) -> String {
        let d = self.db.server.dialect();
        let real = d.ident(self.m.column(&format!("log.{column}")).unwrap());
        let table = d.ident(&self.m.roles["log"].table);
        self.db.value(&format!("SELECT {real} FROM {table} WHERE id = {id}")).unwrap_or_else(|| "NULL".to_owned())
    }
}

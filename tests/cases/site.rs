//! A small database of any scheduler and release.

use std::collections::BTreeMap;

use flowmend::manifest::{Manifest, Manifests};
use serde_json::Value;

use crate::support;
use crate::support::db::{Dump, Server, TestDb, same};
use crate::support::fixture::Rows;
use crate::support::program::{Run, flowmend, on_bundle, plan_recipe, sealed};

/// Role columns of one row.
pub type Values<'a> = &'a [(&'a str, Option<&'a str>)];

pub struct Site {
    pub release: String,
    pub m: Manifest,
    pub db: TestDb,
}

impl Site {
    /// Empty tables of a release.
    pub fn new(server: Server, scheduler: &str, release: &str) -> Self {
        let m = Manifests::load(None).unwrap().release(scheduler, release).unwrap().clone();
        let db = TestDb::with_schema(server, &m);
        Self { release: release.to_owned(), m, db }
    }

    /// Adds a row; what the release lacks is left out.
    pub fn add(&self, role: &str, values: Values<'_>) -> &Self {
        let mut rows = Rows::new(&self.m, self.db.server.dialect());
        rows.add(role, values);
        self.db.exec_all(&rows.statements);
        self
    }

    fn args<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        [&["--scheduler", self.m.scheduler.as_str(), "--release", self.release.as_str()], rest].concat()
    }

    pub fn plan(&self, recipe: &str, bundle: &str, rest: &[&str]) -> Run {
        plan_recipe(&self.db, recipe, bundle, &self.args(rest))
    }

    /// Nothing is planned: the rows are left out for this reason.
    #[track_caller]
    pub fn refuses(&self, recipe: &str, rest: &[&str], reason: &str) {
        let run = self.plan(recipe, "refused", rest);
        // 4 where a proof of death would help.
        assert!([0, 4].contains(&run.code), "{}\n{}", run.out, run.err);
        assert!(run.out.contains(reason), "{}: no {reason} in\n{}", self.release, run.out);
        assert!(!self.db.path("refused").exists());
    }

    /// What inspect says, as JSON.
    pub fn inspect(&self, rest: &[&str]) -> Value {
        let moment = ["--now", "2026-11-29T00:00:00Z", "--zone", "+00:00"];
        let base = ["inspect", "--url", &self.db.url, "--format", "json"];
        let run = flowmend([&base[..], &moment, &self.args(rest)].concat());
        assert!(run.code <= 1, "{}\n{}", run.out, run.err);
        serde_json::from_str(&run.out).unwrap()
    }

    /// Key, without what is the same in all rows, → value of every row of a role.
    pub fn values(&self, column: &str) -> BTreeMap<String, Option<String>> {
        let (role, _) = column.split_once('.').unwrap();
        let d = self.db.server.dialect();
        let real = |name: &str| d.as_text(&d.ident(self.m.column(&format!("{role}.{name}")).unwrap()));
        let mut columns: Vec<String> = self.m.roles[role].key.iter().map(|k| real(k)).collect();
        columns.push(real(column.split_once('.').unwrap().1));
        let table = d.ident(&self.m.roles[role].table);
        let rows = self.db.rows(&format!("SELECT {} FROM {table}", columns.join(", ")));
        rows.into_iter()
            .map(|mut row| {
                let value = row.pop().unwrap();
                (row.into_iter().map(Option::unwrap).collect::<Vec<_>>().join("/"), value)
            })
            .collect()
    }

    /// What a bundle writes: table and rows of each step, in order.
    pub fn steps(&self, bundle: &str) -> Vec<(String, usize)> {
        let bundle = flowmend::bundle::Bundle::read(&self.db.path(bundle)).unwrap();
        bundle.plan.steps.iter().map(|step| (step.role.clone(), step.rows.len())).collect()
    }

    /// Applies a bundle, by the tool or by the stock client, and verifies it.
    #[track_caller]
    pub fn apply(&self, bundle: &str) {
        sealed("apply", &self.db, bundle, &[]).expect(0);
        on_bundle("verify", &self.db, bundle).expect(0);
    }

    /// Takes a bundle back: the database is as before.
    #[track_caller]
    pub fn undo(&self, bundle: &str, before: &Dump) {
        sealed("rollback", &self.db, bundle, &[]).expect(0);
        same(&self.db.dump(), before, &self.release);
    }
}

/// Every server that is there, with its share of the releases; all of them with FLOWMEND_TEST_LONG.
/// A server without a share never has the scheduler's tables.
pub fn shares(
    what: &str,
    all: &'static [&'static str],
    share: impl Fn(Server) -> &'static [&'static str],
) -> Vec<(Server, &'static str)> {
    let of = |server: Server| match share(server) {
        [_, ..] if support::long() => all,
        some => some,
    };
    let servers = Server::available(what).into_iter().map(|server| (server, of(server)));
    servers.flat_map(|(server, releases)| releases.iter().map(move |r| (server, *r))).collect()
}

/// How many rows a finding of inspect has.
pub fn found(inspect: &Value, code: &str) -> u64 {
    let all = inspect["findings"].as_array().unwrap().iter();
    all.filter(|f| f["code"] == code).map(|f| f["rows"].as_u64().unwrap()).sum()
}

/// The paragraphs of a finding of inspect.
pub fn explained(inspect: &Value, code: &str) -> String {
    let all = inspect["findings"].as_array().unwrap().iter().filter(|f| f["code"] == code);
    let texts = all.flat_map(|f| f["explained"].as_array().unwrap());
    texts.map(|e| e["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

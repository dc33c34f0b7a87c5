//! Small families of runs in any release, for the recipes' tests.

use flowmend::manifest::Manifest;

use crate::support::db::{Server, TestDb};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{Run, flowmend, on_bundle, plan_recipe, sealed};

/// The releases that the recipes are tried on: one for each era that differs.
pub const RELEASES: [&str; 8] = ["1.2.1", "1.3.9", "2.0.9", "3.0.6", "3.1.9", "3.2.2", "3.3.2", "3.4.1"];

/// When everything began, and when finished things ended.
pub const START: &str = "2026-11-28 10:00:00";
pub const END: &str = "2026-11-28 10:05:00";

/// A database that is filled row by row.
pub struct Fixture {
    pub m: Manifest,
    pub server: Server,
    rows: Vec<String>,
    next: i64,
}

impl Fixture {
    pub fn new(server: Server, release: &str) -> Option<Self> {
        let m = manifest(release);
        // PostgreSQL came with 1.2.0.
        let there = m.tables[&m.roles["task_instance"].table].on(server.dialect().engine);
        let mut it = Self { m, server, rows: Vec::new(), next: 1 };
        it.add("version", &[("id", "1"), ("version", release)]);
        there.then_some(it)
    }

    /// The address of a host's master in this release.
    pub fn master(&self, host: &str) -> String {
        let ports = flowmend::manifest::version_order(&self.m.generation) >= flowmend::manifest::version_order("1.3.0");
        if ports { format!("{host}:5678") } else { host.to_owned() }
    }

    fn is_final(&self, role: &str, state: &str) -> bool {
        self.m.states[&format!("{role}.state")].by_code(state).is_some_and(|s| s.finished)
    }

    fn add(&mut self, role: &str, values: &[(&str, &str)]) -> &mut Self {
        let values: Vec<(&str, Option<&str>)> = values.iter().map(|(n, v)| (*n, Some(*v))).collect();
        self.add_with_nulls(role, &values)
    }

    fn add_with_nulls(&mut self, role: &str, values: &[(&str, Option<&str>)]) -> &mut Self {
        let mut rows = Rows::new(&self.m, self.server.dialect());
        rows.add(role, values);
        self.rows.extend(rows.statements);
        self
    }

    /// A run on a host, with further columns.
    pub fn run(&mut self, id: &str, state: &str, host: &str, more: &[(&str, &str)]) -> &mut Self {
        let host = if host.starts_with("10.") { self.master(host) } else { host.to_owned() };
        let end = self.is_final("workflow_instance", state).then_some(("end_time", END));
        let base = [
            ("id", id),
            ("name", "wf"),
            ("state", state),
            ("host", &host),
            ("start_time", START),
            ("restart_time", START),
            ("update_time", START),
            ("definition_code", id),
            ("definition_id", id),
            ("definition_version", "1"),
            ("executor_id", "1"),
            ("is_sub", "0"),
        ];
        // What is said again later holds.
        let kept = base.iter().filter(|(name, _)| !more.iter().any(|(n, _)| n == name)).copied();
        let all: Vec<(&str, &str)> = kept.chain(end).chain(more.iter().copied()).collect();
        self.add("workflow_instance", &all)
    }

    /// A run that was handed over, with no command to take it.
    pub fn handed_over(&mut self, id: &str, more: &[(&str, &str)]) -> &mut Self {
        let marker = self.m.behaviour["handed_over_host"].as_str().unwrap().to_owned();
        match marker.as_str() {
            "" => self.run(id, "18", "10.0.0.1", more),
            marker => self.run(id, "1", marker, more),
        }
    }

    /// A task of a run.
    pub fn task(&mut self, id: &str, run: &str, name: &str, state: &str, flag: &str) -> &mut Self {
        let end = self.is_final("task_instance", state).then_some(END);
        let code = code(name);
        self.add_with_nulls(
            "task_instance",
            &[
                ("id", Some(id)),
                ("name", Some(name)),
                ("task_type", Some("SHELL")),
                ("run_id", Some(run)),
                ("state", Some(state)),
                ("flag", Some(flag)),
                ("host", Some("10.0.0.4:1234")),
                ("submit_time", Some(START)),
                ("start_time", Some(START)),
                ("end_time", end),
                ("task_code", Some(&code)),
                ("task_execute_type", Some("0")),
            ],
        )
    }

    /// A parent's task and its child.
    pub fn relation(&mut self, parent: &str, task: &str, child: &str) -> &mut Self {
        let id = self.number();
        self.add(
            "relation",
            &[("id", &id), ("parent_run_id", parent), ("parent_task_id", task), ("child_run_id", child)],
        )
    }

    /// One of the children of a task of the kind that has several.
    pub fn dynamic(&mut self, parent: &str, task: &str, child: &str) -> &mut Self {
        let (id, code) = (self.number(), code(task));
        self.add(
            "sub_workflow_relation",
            &[("id", &id), ("parent_run_id", parent), ("parent_task_code", &code), ("child_run_id", child)],
        )
    }

    /// A workflow's definition, in the version that the runs of these tests have.
    pub fn definition(&mut self, code: &str) -> &mut Self {
        let id = self.number();
        let online = [("flag", "1"), ("release_state", "1")];
        self.add(
            "definition",
            &[&[("id", code), ("code", code), ("name", "wf"), ("version", "1")], &online[..]].concat(),
        );
        self.add("definition_log", &[("id", &id), ("code", code), ("name", "wf"), ("version", "1")])
    }

    /// A command for a run.
    pub fn command(&mut self, run: &str) -> &mut Self {
        let (id, param) = (self.number(), format!("{{\"ProcessInstanceId\":{run}}}"));
        self.add(
            "command",
            &[("id", &id), ("type", "4"), ("run_id", run), ("param", &param), ("definition_version", "1")],
        )
    }

    /// A command that starts the child of a parent's task.
    pub fn start_of_child(&mut self, parent: &str, task: &str) -> &mut Self {
        let id = self.number();
        let param = format!("{{\"parentTaskInstanceId\":{task},\"parentProcessInstanceId\":{parent},\"id\":1}}");
        self.add(
            "command",
            &[("id", &id), ("type", "0"), ("run_id", "0"), ("param", &param), ("definition_version", "1")],
        )
    }

    /// A row of the serial queue, in the releases that have one.
    pub fn serial_row(&mut self, id: i64, run: &str, definition: &str) -> &mut Self {
        let (id, of) = (id.to_string(), [("definition_code", definition), ("definition_version", "1"), ("state", "1")]);
        self.add("serial_command", &[&[("id", id.as_str()), ("run_id", run)], &of[..]].concat())
    }

    fn number(&mut self) -> String {
        self.next += 1;
        self.next.to_string()
    }

    /// A database with these rows; the fixture is then as new.
    pub fn database(&mut self) -> Filled {
        let db = TestDb::with_schema(self.server, &self.m);
        db.exec_all(&self.rows);
        self.rows.truncate(1);
        self.next = 1;
        Filled { db, m: self.m.clone() }
    }
}

/// Tasks of one name have one code.
fn code(name: &str) -> String {
    name.bytes().fold(0u32, |sum, b| sum.wrapping_mul(31).wrapping_add(u32::from(b)) % 100_000_000).to_string()
}

/// The filled database.
pub struct Filled {
    pub db: TestDb,
    pub m: Manifest,
}

impl Filled {
    fn named(&self, role: &str) -> (String, &std::collections::BTreeMap<String, String>) {
        let role = &self.m.roles[role];
        (self.db.server.dialect().ident(&role.table), &role.columns)
    }

    /// A column of a row.
    pub fn value(&self, role: &str, id: &str, column: &str) -> Option<String> {
        let (table, columns) = self.named(role);
        self.db.value(&format!(
            "SELECT {} FROM {table} WHERE id = {id}",
            self.db.server.dialect().as_text(&columns[column])
        ))
    }

    /// `id=state` of every row of a role, for a comparison at one glance.
    pub fn states(&self, role: &str) -> String {
        let (table, columns) = self.named(role);
        let d = self.db.server.dialect();
        let sql = format!(
            "SELECT {}, {} FROM {table} t ORDER BY t.id",
            d.as_text("t.id"),
            d.as_text(&format!("t.{}", columns["state"]))
        );
        let shown = |r: Vec<Option<String>>| r.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().join("=");
        self.db.rows(&sql).into_iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    /// Plans a recipe and changes one thing after another behind its back: each
    /// time nothing is written and the reason is named.
    #[track_caller]
    pub fn refuses(&self, recipe: &str, extra: &[&str], changes: &[(&str, &str, &str, &str, &str)]) {
        self.plan(recipe, "b", extra).expect(0);
        for (role, id, column, value, named) in changes {
            let old = self.value(role, id, column);
            self.set(role, id, column, Some(value));
            let before = self.db.dump();
            let run = sealed("apply", &self.db, "b", &[]).expect(3);
            let what = format!("{:?} {}, {role} {id} {column}", self.db.server, self.m.generation);
            assert!(run.err.contains(named), "{what}: {}", run.err);
            crate::support::db::same(&self.db.dump(), &before, &what);
            self.set(role, id, column, old.as_deref());
        }
        sealed("apply", &self.db, "b", &[]).expect(0);
    }

    /// Changes a column of a row behind the program's back.
    pub fn set(&self, role: &str, id: &str, column: &str, value: Option<&str>) {
        let (table, columns) = self.named(role);
        let value = value.map_or("NULL".to_owned(), |v| self.db.server.dialect().text_literal(v));
        // A stamp that moved would be one change more.
        let stamp = columns.get("update_time").map(|c| format!(", {c} = {c}")).unwrap_or_default();
        self.db.exec(&format!("UPDATE {table} SET {} = {value}{stamp} WHERE id = {id}", columns[column]));
    }

    /// The rows that a plan wrote, `role id`.
    pub fn planned(&self, name: &str) -> Vec<String> {
        let bundle = flowmend::bundle::Bundle::read(&self.db.path(name)).unwrap();
        let rows = bundle
            .plan
            .steps
            .iter()
            .flat_map(|s| s.rows.iter().map(|r| format!("{} {}", s.role, r.key_texts().join("/"))));
        rows.collect()
    }

    /// The reasons for which a plan left rows out, `reason id,id`, but for those that were chosen.
    pub fn left_out(&self, recipe: &str, extra: &[&str]) -> Vec<String> {
        let out = self.db.path("looked").display().to_string();
        let base =
            ["plan", recipe, "--url", &self.db.url, "--out", &out, "--now", "2026-11-29T00:00:00Z", "--zone", "+00:00"];
        let run = flowmend(
            [&base, extra, &self.release()[..].iter().map(String::as_str).collect::<Vec<_>>(), &["--format", "json"]]
                .concat(),
        );
        let json: serde_json::Value =
            serde_json::from_str(&run.out).unwrap_or_else(|e| panic!("{e}\n{}\n{}", run.out, run.err));
        let _ = std::fs::remove_dir_all(self.db.path("looked"));
        let text = |v: &serde_json::Value| v.as_str().unwrap_or_default().to_owned();
        let ids = |v: &serde_json::Value| v.as_array().unwrap().iter().map(text).collect::<Vec<_>>().join(",");
        json["left_out"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|l| l["reason"] != "resume")
            .map(|l| format!("{} {}", text(&l["reason"]), ids(&l["sample"])))
            .collect()
    }

    fn release(&self) -> [String; 2] {
        ["--release".to_owned(), self.m.releases.last().unwrap().clone()]
    }

    /// `plan`, with the release named: some schemas fit several.
    pub fn plan(&self, recipe: &str, name: &str, extra: &[&str]) -> Run {
        let release = self.release();
        plan_recipe(&self.db, recipe, name, &[extra, &[&release[0], &release[1]]].concat())
    }

    /// Rehearse, apply and verify.
    pub fn apply(&self, name: &str) {
        let before = self.db.dump();
        on_bundle("rehearse", &self.db, name).expect(0);
        crate::support::db::same(&self.db.dump(), &before, "a rehearsal leaves no trace");
        sealed("apply", &self.db, name, &[]).expect(0);
        on_bundle("verify", &self.db, name).expect(0);
    }

    /// The codes of what inspect finds without a word from the operator.
    pub fn quiet_inspect(&self) -> Vec<String> {
        let release = self.release();
        let base = ["inspect", "--url", &self.db.url, "--format", "json", "--zone", "+00:00", &release[0], &release[1]];
        let json: serde_json::Value = serde_json::from_str(&flowmend(base).out).unwrap();
        json["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap().to_owned()).collect()
    }

    pub fn inspect(&self, extra: &[&str]) -> String {
        let release = self.release();
        let base = [
            "inspect",
            "--url",
            &self.db.url,
            "--now",
            "2026-11-29T00:00:00Z",
            "--zone",
            "+00:00",
            &release[0],
            &release[1],
        ];
        flowmend([&base[..], extra].concat()).expect(1).out
    }
}

/// Runs a test on every server and release that it can run on.
pub fn everywhere(what: &str, mut test: impl FnMut(&mut Fixture, &str)) {
    for server in Server::available(what) {
        for release in server.share(&RELEASES) {
            if let Some(mut fixture) = Fixture::new(server, release) {
                test(&mut fixture, release);
            }
        }
    }
}

//! Quartz: scripts that reset, free or unpause too much.

mod blocked;
mod errors;
mod fire_time;
mod next_steps;
mod orphans;
mod owners;
mod paused;
mod silence;
mod without_details;

use super::site::{Site, shares};
use crate::support::db::Server;

/// One of each form of the tables and of each change in what the scheduler does.
const RELEASES: [&str; 7] = ["1.8.6", "2.0.2", "2.1.7", "2.2.3", "2.3.2", "2.4.1", "2.5.2"];

/// Names as people give them: the first two schedulers differ in a sign that LIKE reads, the group
/// and the triggers hold quotes.
const MINE: &str = "sched_1";
const OTHER: &str = "schedX1";
const GROUP: &str = "it's 50%";

/// Every server with the releases that are tried there.
fn everywhere(what: &str) -> Vec<(Server, &'static str)> {
    let share = |server| -> &'static [&'static str] {
        match server {
            Server::Sqlite => &["1.8.6", "2.1.7", "2.3.2", "2.5.2"],
            Server::MariaDb => &["2.3.2"],
            Server::MySql => &["2.0.2"],
            Server::PostgreSql => &["1.8.6", "2.5.2"],
        }
    };
    shares(what, &RELEASES, share)
}

/// For what no server does in another way: a release without schedulers' names, and one with.
fn here() -> [(Server, &'static str); 2] {
    [(Server::Sqlite, "1.8.6"), (Server::Sqlite, "2.3.2")]
}

/// A job store of a cluster, as its lock rows and check-ins say.
struct Store(Site);

impl Store {
    fn new(server: Server, release: &str) -> Self {
        let store = Self(Site::new(server, "quartz", release));
        for scheduler in store.schedulers() {
            for lock in ["STATE_ACCESS", "TRIGGER_ACCESS"] {
                store.add("lock", scheduler, &[("name", lock)]);
            }
            let node = [("node", "node-0"), ("checkin", "1700000100000"), ("checkin_interval", "7500")];
            store.add("scheduler_state", scheduler, &node);
        }
        store
    }

    /// The schedulers of the tables: one up to 1.8, where no column names it.
    fn schedulers(&self) -> &'static [&'static str] {
        if self.0.m.has("trigger.sched_name") { &[MINE, OTHER] } else { &[MINE] }
    }

    /// Adds a row of a scheduler; nothing where the tables cannot hold it.
    fn add(&self, role: &str, scheduler: &str, values: &[(&str, &str)]) {
        if self.schedulers().contains(&scheduler) {
            let values: Vec<_> =
                [("sched_name", scheduler)].iter().chain(values).map(|(n, v)| (*n, Some(*v))).collect();
            self.0.add(role, &values);
        }
    }

    /// A job that must not run twice at a time.
    fn job(&self, scheduler: &str, name: &str) {
        self.add("job", scheduler, &[("name", name), ("group_name", GROUP), ("nonconcurrent", "1"), ("durable", "1")]);
    }

    /// A cron trigger of a job, long overdue.
    fn trigger(&self, scheduler: &str, key: (&str, &str), job: &str, state: &str) {
        self.trigger_with(scheduler, key, job, state, &[]);
    }

    fn trigger_with(
        &self,
        scheduler: &str,
        (group, name): (&str, &str),
        job: &str,
        state: &str,
        more: &[(&str, &str)],
    ) {
        self.bare_trigger(scheduler, (group, name), job, state, more);
        let details = [("name", name), ("group_name", group), ("expression", "0 0 1 * * ?")];
        self.add("cron_trigger", scheduler, &details);
    }

    /// A cron trigger without the row that says when it fires.
    fn bare_trigger(
        &self,
        scheduler: &str,
        (group, name): (&str, &str),
        job: &str,
        state: &str,
        more: &[(&str, &str)],
    ) {
        let key = [("name", name), ("group_name", group)];
        let job = [("job_name", job), ("job_group", GROUP), ("state", state), ("type", "CRON")];
        let mut values = vec![("next_fire_time", "1700000000000"), ("prev_fire_time", "-1"), ("misfire", "0")];
        values.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
        self.add("trigger", scheduler, &[&key[..], &job, &values, more].concat());
    }

    /// A run of a job on a node.
    fn runs(&self, scheduler: &str, entry: &str, key: (&str, &str), (job, node): (&str, &str), recovery: &str) {
        let of = [("trigger_group", key.0), ("trigger_name", key.1), ("job_name", job), ("job_group", GROUP)];
        let run = [("entry_id", entry), ("node", node), ("state", "EXECUTING"), ("start_time", "1700000000000")];
        self.add(
            "fired_trigger",
            scheduler,
            &[&of[..], &run, &[("nonconcurrent", "1"), ("recovery", recovery)]].concat(),
        );
    }

    /// A check-in of an instance.
    fn node(&self, scheduler: &str, node: &str) {
        let values = [("node", node), ("checkin", "1700000100000"), ("checkin_interval", "200")];
        self.add("scheduler_state", scheduler, &values);
    }

    fn ticket(&self, bundle: &str) -> String {
        std::fs::read_to_string(self.0.db.path(bundle).join("TICKET.md")).unwrap()
    }

    fn pause(&self, scheduler: &str, group: &str) {
        self.add("paused_group", scheduler, &[("group_name", group)]);
    }

    /// The key of a row as text, with its scheduler where there is one.
    fn key(&self, scheduler: &str, rest: &str) -> String {
        if self.0.m.has("trigger.sched_name") { format!("{scheduler}/{rest}") } else { rest.to_owned() }
    }

    /// The state of a trigger.
    #[track_caller]
    fn is(&self, scheduler: &str, (group, name): (&str, &str), state: &str) {
        if self.schedulers().contains(&scheduler) {
            let key = self.key(scheduler, &format!("{name}/{group}"));
            let found = self.0.values("trigger.state")[&key].clone();
            assert_eq!(found.as_deref(), Some(state), "{} {key}", self.0.release);
        }
    }

    /// What names one scheduler, where there are several.
    fn scope(&self) -> &'static [&'static str] {
        if self.0.m.has("trigger.sched_name") { &["--sched-name", MINE] } else { &[] }
    }

    fn scoped<'a>(&self, rest: &[&'a str]) -> Vec<&'a str> {
        [self.scope(), rest].concat()
    }

    /// A plan without a scheduler's name is refused where there are several, and told which there are.
    #[track_caller]
    fn asks_which(&self, recipe: &str, rest: &[&str]) {
        if !self.scope().is_empty() {
            let run = self.0.plan(recipe, "refused", rest).expect(2);
            for part in ["--sched-name is needed", MINE, OTHER] {
                assert!(run.err.contains(part), "{}: no {part} in\n{}", self.0.release, run.err);
            }
            assert!(!run.err.contains("watching"), "{}: asked before it waits: {}", self.0.release, run.err);
            assert!(!self.0.db.path("refused").exists());
        }
    }
}

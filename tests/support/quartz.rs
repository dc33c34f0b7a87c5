//! Small job stores of Quartz.

use flowmend::manifest::{Manifest, Manifests};

use super::db::{Server, TestDb};
use super::fixture::Rows;
use super::program::{Run, plan_recipe};

/// The manifest of a release.
pub fn manifest(release: &str) -> Manifest {
    Manifests::load(None).unwrap().release("quartz", release).unwrap().clone()
}

/// The release that the tests speak of.
pub const RELEASE: &str = "2.3.2";
/// The locks of a cluster, in its order.
pub const LOCKS: [&str; 2] = ["STATE_ACCESS", "TRIGGER_ACCESS"];

/// A clustered store of these schedulers. Each has an ACQUIRED and a BLOCKED trigger
/// that nothing holds, and a WAITING one.
pub fn store(server: Server, m: &Manifest, schedulers: &[&str]) -> TestDb {
    let db = TestDb::with_schema(server, m);
    fill(&db, m, schedulers);
    for scheduler in schedulers {
        locks(&db, m, scheduler);
    }
    db
}

/// The rows of the schedulers, without lock rows.
pub fn fill(db: &TestDb, m: &Manifest, schedulers: &[&str]) {
    let mut rows = Rows::new(m, db.server.dialect());
    for scheduler in schedulers {
        let of = |values: &[(&'static str, &'static str)]| -> Vec<(&'static str, Option<String>)> {
            let mut all = vec![("sched_name", Some((*scheduler).to_owned()))];
            all.extend(values.iter().map(|(name, value)| (*name, Some((*value).to_owned()))));
            all
        };
        let mut add = |role: &str, values: Vec<(&'static str, Option<String>)>| {
            let values: Vec<(&str, Option<&str>)> = values.iter().map(|(n, v)| (*n, v.as_deref())).collect();
            rows.add(role, &values);
        };
        add("job", of(&[("name", "load"), ("group_name", "batch"), ("durable", "1")]));
        for (name, state) in [("a", "ACQUIRED"), ("b", "BLOCKED"), ("w", "WAITING")] {
            let key = [("name", name), ("group_name", "batch")];
            let rest = [("job_name", "load"), ("job_group", "batch"), ("state", state), ("type", "CRON")];
            let times = [("next_fire_time", "1764000000000"), ("prev_fire_time", "1763990000000"), ("misfire", "0")];
            add("trigger", of(&[&key[..], &rest[..], &times[..]].concat()));
            add("cron_trigger", of(&[&key[..], &[("expression", "0 0 * * * ?")]].concat()));
        }
        add("scheduler_state", of(&[("node", "n1"), ("checkin", "1764000100000"), ("checkin_interval", "7500")]));
    }
    db.exec_all(&rows.statements);
}

/// The lock rows that a cluster makes.
pub fn locks(db: &TestDb, m: &Manifest, scheduler: &str) {
    let mut rows = Rows::new(m, db.server.dialect());
    for lock in LOCKS {
        rows.add("lock", &[("sched_name", Some(scheduler)), ("name", Some(lock))]);
    }
    db.exec_all(&rows.statements);
}

/// What a node does before it writes: it takes a lock, or fails at once.
pub fn node_locks(db: &TestDb, m: &Manifest, scheduler: &str, lock: &str, tail: &str) -> String {
    let d = db.server.dialect();
    let column = |name: &str| d.ident(&m.roles["lock"].columns[name]);
    format!(
        "SELECT * FROM {} WHERE {} = '{scheduler}' AND {} = '{lock}' FOR UPDATE{tail}",
        d.ident(&m.roles["lock"].table),
        column("sched_name"),
        column("name")
    )
}

/// Plans `orphan-triggers` into the folder `b`.
pub fn plan(db: &TestDb, extra: &[&str]) -> Run {
    plan_recipe(db, "orphan-triggers", "b", &[&["--release", RELEASE], extra].concat())
}

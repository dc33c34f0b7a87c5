//! A store in which nothing has beaten for a while is not healthy, though nothing is proved; one
//! whose nodes check in is, however busy.

use super::{GROUP, MINE, OTHER, Store, everywhere, here};
use crate::support::db::Server;
use crate::support::program::{Run, flowmend};

/// The check-in of the stores is of 22:15:00; a node may be silent for its interval and 7.5 s.
const FRESH: &str = "2023-11-14T22:15:10Z";
const LATE: &str = "2023-11-15T19:15:00Z";

fn inspect(store: &Store, now: &str, more: &[&str]) -> Run {
    let base = ["inspect", "--url", &store.0.db.url, "--scheduler", "quartz", "--release", &store.0.release];
    flowmend([&base[..], &["--now", now], more].concat())
}

#[test]
fn what_hangs_on_the_silent_is_no_health() {
    for (server, release) in everywhere("cases::silence") {
        let store = Store::new(server, release);
        store.job(MINE, "j1");
        store.trigger(MINE, (GROUP, "t1"), "j1", "BLOCKED");
        store.runs(MINE, "e1", (GROUP, "t1"), ("j1", "node-0"), "0");
        let busy = inspect(&store, FRESH, store.scope()).expect(0);
        assert!(busy.out.contains("nothing to repair is proved"), "{release}: {}", busy.out);
        let line = busy.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(line.contains("(times on the scheduler's clock)"), "{release}: {line}");
        let silent = inspect(&store, LATE, store.scope()).expect(1);
        let said = silent.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("silent owners: 1 row waits for a proof of death"), "{release}: {said}");
        assert!(said.contains("--dead-owner INSTANCE_NAME") && said.contains("21 h"), "{release}: {said}");
        assert!(!said.contains("nothing to repair is proved"), "{release}: {said}");
        let json = inspect(&store, LATE, &store.scoped(&["--format", "json"])).expect(1);
        let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
        let owner = &json["owners"].as_array().unwrap().iter().find(|o| o["rows"] == 1).unwrap();
        assert_eq!((&owner["last_beat"], &owner["overdue"]), (&"2023-11-14 22:15:00".into(), &true.into()), "{json}");
        // A node that is silent and owns nothing is no reason to wake anybody.
        store.0.db.exec(&format!(
            "DELETE FROM {}",
            store.0.db.server.dialect().ident(&store.0.m.roles["fired_trigger"].table)
        ));
        store.0.db.exec(&format!(
            "DELETE FROM {}",
            store.0.db.server.dialect().ident(&store.0.m.roles["cron_trigger"].table)
        ));
        store
            .0
            .db
            .exec(&format!("DELETE FROM {}", store.0.db.server.dialect().ident(&store.0.m.roles["trigger"].table)));
        inspect(&store, LATE, store.scope()).expect(0);
    }
}

/// A node without a row, where others have theirs, lives no more: no scheduler leaves its own row out.
#[test]
fn a_node_that_is_missing_is_no_health() {
    for (server, release) in here() {
        let store = Store::new(server, release);
        store.job(MINE, "j1");
        store.trigger(MINE, (GROUP, "t1"), "j1", "BLOCKED");
        store.runs(MINE, "e1", (GROUP, "t1"), ("j1", "gone"), "0");
        let said = inspect(&store, FRESH, store.scope()).expect(1);
        for words in ["silent owners: 1 row waits", "not listed where others are", "not listed, and others are"] {
            let line = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(line.contains(words), "{release}: no `{words}` in {line}");
        }
        // Where nobody is listed, nobody is missing: such a store is not clustered.
        let table = store.0.db.server.dialect().ident(&store.0.m.roles["scheduler_state"].table);
        store.0.db.exec(&format!("DELETE FROM {table}"));
        inspect(&store, FRESH, store.scope()).expect(0);
    }
}

/// What is wrong is found though nobody says which of several schedulers is meant.
#[test]
fn several_schedulers_hide_nothing() {
    let store = Store::new(Server::Sqlite, "2.3.2");
    store.job(MINE, "j1");
    store.trigger(MINE, (GROUP, "t1"), "j1", "WAITING");
    store.trigger(OTHER, (GROUP, "t1"), "j1", "WAITING");
    inspect(&store, FRESH, &[]).expect(0);
    store.trigger(MINE, (GROUP, "t2"), "j1", "ERROR");
    let run = inspect(&store, FRESH, &[]).expect(1);
    assert!(run.out.contains("error-trigger (error-triggers): 1 trigger"), "{}", run.out);
    let store = Store::new(Server::Sqlite, "2.3.2");
    store.job(MINE, "j1");
    store.trigger(MINE, (GROUP, "t1"), "j1", "BLOCKED");
    store.runs(MINE, "e1", (GROUP, "t1"), ("j1", "node-0"), "0");
    inspect(&store, FRESH, &[]).expect(0);
    let run = inspect(&store, LATE, &[]).expect(1);
    assert!(run.out.contains("silent owners"), "{}", run.out);
}

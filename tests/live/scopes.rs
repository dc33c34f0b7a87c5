//! Owners of one name in several schedulers of one set of tables, and names that are no addresses.

use std::time::Instant;

use crate::live::heartbeats::Beating;
use crate::support::db::Server;
use crate::support::nodes::{LATELY_MS, LONG_AGO_MS, Store};
use crate::support::program::sealed;

const SERVERS: [Server; 3] = [Server::Sqlite, Server::MariaDb, Server::PostgreSql];

/// `node1` lives in A and is dead in B, where `node2` lives; nobody lives in C.
fn store(server: Server) -> Store {
    let store = Store::new(server);
    store.node("A", "node1", LATELY_MS).trigger("A", "t1", "ACQUIRED").fired("A", "node1", "t1");
    store.node("B", "node1", LONG_AGO_MS).trigger("B", "t1", "ACQUIRED").fired("B", "node1", "t1");
    store.node("B", "node2", LATELY_MS).trigger("B", "t2", "ACQUIRED").fired("B", "node2", "t2");
    store.node("B", "idle", LONG_AGO_MS);
    store.node("C", "node3", LONG_AGO_MS).trigger("C", "t3", "ACQUIRED").fired("C", "gone", "t3");
    store
}

fn beating(store: &Store) -> [Beating; 2] {
    [("A", "node1"), ("B", "node2")].map(|(sched, node)| Beating::with(&store.db, &store.checkin(sched, node)))
}

#[test]
fn an_owner_is_looked_up_in_its_own_scope() {
    for server in SERVERS.into_iter().filter(|s| s.is_there("an_owner_is_looked_up_in_its_own_scope")) {
        let store = store(server);
        let living = beating(&store);
        let plan = |bundle: &str, owner: &str| {
            store.plan("dead-instances", bundle, &["--sched-name", "B", "--dead-owner", owner])
        };
        let everywhere = plan("everywhere", "node1").expect(4);
        assert!(everywhere.err.contains("the heartbeat of 'A'/'node1' moved"), "{server:?}: {}", everywhere.err);
        assert!(everywhere.err.contains("name it by its scope"), "{server:?}: {}", everywhere.err);
        let lives = plan("lives", "'B'/node2").expect(4);
        assert!(lives.err.contains("the heartbeat of 'B'/'node2' moved"), "{server:?}: {}", lives.err);
        let all = plan("all", "'B'/*").expect(4);
        assert!(!all.err.contains("'A'/'node1'"), "{server:?}: {}", all.err);
        let start = Instant::now();
        plan("b", "'B'/'node1'").expect(0);
        assert!(start.elapsed().as_secs() < 12, "{server:?}: the rows' own interval is short");
        assert!(store.ticket("b").contains("- 'B'/'node1': said by"), "{server:?}: {}", store.ticket("b"));
        sealed("apply", &store.db, "b", &[]).expect(0);
        let (table, sched) = (store.ident("QRTZ_FIRED_TRIGGERS"), store.ident("SCHED_NAME"));
        let left = store.db.rows(&format!("SELECT {sched} FROM {table} ORDER BY {sched}"));
        let left: Vec<_> = left.iter().map(|r| r[0].as_deref().unwrap()).collect();
        assert_eq!(left, ["A", "B", "C"], "{server:?}: one row of B is gone");
        drop(living);
    }
}

#[test]
fn heartbeats_show_the_dead_of_each_scope() {
    for server in SERVERS.into_iter().filter(|s| s.is_there("heartbeats_show_the_dead_of_each_scope")) {
        let store = store(server);
        let living = beating(&store);
        // Nobody of C beats, so nothing is proved of the one that is not listed there; and that is no health.
        let shown = store.inspect(&["--dead-owner", "heartbeat"]).expect(1);
        let line = |owner: &str| {
            let found = shown.out.lines().find(|l| l.trim_start().starts_with(&format!("{owner} ")));
            found.unwrap_or_else(|| panic!("{server:?}: no {owner} in {}", shown.out)).to_owned()
        };
        for dead in ["'B'/'node1'", "'B'/'idle'"] {
            assert!(line(dead).contains("said or shown to be"), "{server:?}: {}", shown.out);
        }
        // A living node, and all of a scheduler in which nothing beats: nothing is proved.
        for unproved in ["'A'/'node1'", "'B'/'node2'", "'C'/'node3'"] {
            assert!(line(unproved).contains("last heartbeat "), "{server:?}: {}", shown.out);
        }
        assert!(line("'C'/'gone'").contains("not listed"), "{server:?}: {}", shown.out);
        // A row of check-ins is its own owner.
        let stale = ["--sched-name", "B", "--dead-owner", "heartbeat"];
        store.plan("stale-instances", "stale", &stale).expect(0);
        let ticket = store.ticket("stale");
        assert!(ticket.contains("- 'B'/'idle': shown by the heartbeats"), "{server:?}: {ticket}");
        assert!(ticket.contains("gives up after 7 s"), "{server:?}: interval and grace: {ticket}");
        drop(living);
    }
}

/// A claim of one word means this instance alone, with every sign that a name may hold.
#[test]
fn a_name_may_hold_any_sign() {
    let server = Server::Sqlite;
    let names = ["pid@host:1/x", "it's", "two words", "node", "NODE", "heartbeat"];
    let store = Store::new(server);
    store.node("S", "other", LONG_AGO_MS);
    for name in names {
        store.trigger("S", name, "ACQUIRED");
        let entry = name.replace('\'', "''");
        store.fired("S", name, name);
        assert_eq!(
            store.db.rows(&format!("SELECT 1 FROM QRTZ_FIRED_TRIGGERS WHERE INSTANCE_NAME = '{entry}'")).len(),
            1
        );
    }
    let list = store.db.path("owners.txt");
    std::fs::write(&list, "# seen stopped\n'pid@host:1/x'\n'S'/'it''s'\n").unwrap();
    for (bundle, owner, rows) in [
        ("b1", "pid@host:1/x", 1),
        ("b2", "'it''s'", 1),
        ("b3", "two words", 1),
        ("b4", "node", 1),
        ("b5", "'heartbeat'", 1),
        ("b6", &format!("@{}", list.display()), 2),
        ("b7", "'T'/*", 0),
        ("b8", "*", 6),
    ] {
        let run = store.plan("dead-instances", bundle, &["--dead-owner", owner]);
        assert_eq!(run.code, if rows == 0 { 4 } else { 0 }, "{owner}: {} {}", run.out, run.err);
        if rows > 0 {
            let plan = std::fs::read_to_string(store.db.path(bundle).join("plan.toml")).unwrap();
            let gone = plan.matches("delete fired triggers of dead instances").count();
            assert!(gone > 0 && store.ticket(bundle).contains("fired trigger"), "{owner}");
            let step = plan.split("[[steps]]").skip(1).find(|s| s.contains("role = \"fired_trigger\"")).unwrap();
            assert_eq!(step.matches("\"S\"").count(), rows, "{owner}: {step}");
        }
    }
    let unknown = store.plan("dead-instances", "no", &["--dead-owner", "'x"]).expect(2);
    assert!(unknown.err.contains("the closing quote is missing"), "{}", unknown.err);
}

/// A claim of a moment to come covers what runs now; named triggers are all that is written.
#[test]
fn a_moment_to_come_is_no_proof_and_named_triggers_are_all() {
    for server in SERVERS.into_iter().filter(|s| s.is_there("a_moment_to_come_is_no_proof_and_named_triggers_are_all"))
    {
        let store = store(server);
        store.trigger("B", "t9", "ACQUIRED").fired("B", "node1", "t9");
        let plan = |bundle: &str, owner: &str| {
            let said = ["--sched-name", "B", "--dead-owner", owner, "--trigger", "t9", "--zone", "+00:00"];
            store.plan("dead-instances", bundle, &said)
        };
        let to_come = plan("later", "node1@2062-11-28T00:00:00").expect(2);
        assert!(to_come.err.contains("a moment to come: it is 2026-11-29 00:00:00"), "{server:?}: {}", to_come.err);
        plan("named", "node1").expect(0);
        sealed("apply", &store.db, "named", &[]).expect(0);
        let (table, entry) = (store.ident("QRTZ_FIRED_TRIGGERS"), store.ident("ENTRY_ID"));
        let left = store.db.rows(&format!("SELECT {entry} FROM {table} ORDER BY {entry}"));
        let left: Vec<_> = left.iter().map(|r| r[0].as_deref().unwrap()).collect();
        assert_eq!(left, ["gone-t3", "node1-t1", "node1-t1", "node2-t2"], "{server:?}: t9 of node1 alone is gone");
    }
}

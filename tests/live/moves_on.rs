//! A row that was given back to the scheduler is taken up again: that is no drift.

use crate::support::db::Server;
use crate::support::nodes::{LONG_AGO_MS, Store};
use crate::support::program::{flowmend, on_bundle, sealed};

fn released(server: Server) -> Store {
    let store = Store::new(server);
    store.node("S", "node1", LONG_AGO_MS);
    for trigger in ["a", "b", "c"] {
        store.trigger("S", trigger, "ACQUIRED");
    }
    store.plan("orphan-triggers", "b", &[]).expect(0);
    sealed("apply", &store.db, "b", &[]).expect(0);
    store
}

fn write(store: &Store, trigger: &str, column: &str, value: &str) {
    let (table, column, name) = (store.ident("QRTZ_TRIGGERS"), store.ident(column), store.ident("TRIGGER_NAME"));
    store.db.exec(&format!("UPDATE {table} SET {column} = {value} WHERE {name} = '{trigger}'"));
}

fn said(out: &str) -> String {
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_released_row_moves_on() {
    for server in [Server::Sqlite, Server::MariaDb, Server::PostgreSql] {
        if !server.is_there("a_released_row_moves_on") {
            continue;
        }
        let store = released(server);
        let verify = || on_bundle("verify", &store.db, "b");
        assert!(!verify().expect(0).out.contains("moved on"), "{server:?}");
        write(&store, "b", "NEXT_FIRE_TIME", "1700000099001");
        let one = said(&verify().expect(0).out);
        for part in ["moved on: 1 row of this bundle went on since", "takes it up again", "It cannot be rolled back"] {
            assert!(one.contains(part), "{server:?}: no `{part}` in {one}");
        }
        assert!(one.contains("only whole jobs of which no row moved: here it gives up 1 of 3 rows"), "{one}");
        // One fires and waits again, one is held for its next fire, one has ended.
        write(&store, "a", "PREV_FIRE_TIME", "1700000001000");
        write(&store, "a", "NEXT_FIRE_TIME", "1700000099000");
        write(&store, "b", "TRIGGER_STATE", "'ACQUIRED'");
        store.fired("S", "node1", "b");
        for table in ["QRTZ_SIMPLE_TRIGGERS", "QRTZ_TRIGGERS"] {
            let (table, name) = (store.ident(table), store.ident("TRIGGER_NAME"));
            store.db.exec(&format!("DELETE FROM {table} WHERE {name} = 'c'"));
        }
        let moved = said(&verify().expect(0).out);
        for part in [
            "moved on: 3 rows of this bundle went on since",
            "takes them up again",
            "They cannot",
            "here there is none",
        ] {
            assert!(moved.contains(part), "{server:?}: no `{part}` in {moved}");
        }
        assert!(!moved.contains("the scheduler took"), "who wrote it, the row does not say: {moved}");
        let dir = store.db.path("b").display().to_string();
        let json = flowmend(["verify", &dir, "--url", &store.db.url, "--format", "json"]).expect(0);
        assert!(json.out.contains("\"moved_on\": 3") && json.out.contains("\"drifted\": 0"), "{}", json.out);
        // It may not be undone any more, and what the scheduler does not write is drift.
        let before = store.db.dump();
        sealed("rollback", &store.db, "b", &[]).expect(4);
        assert_eq!(store.db.dump(), before, "{server:?}");
        write(&store, "a", "DESCRIPTION", "'by hand'");
        let drift = verify().expect(1);
        assert!(
            drift.out.contains("1 of 3 rows moved") && drift.out.contains("DESCRIPTION"),
            "{server:?}: {}",
            drift.out
        );
    }
}

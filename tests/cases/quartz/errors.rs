//! quartznet/quartznet#2051, #2203: every ERROR made WAITING, in all schedulers and paused groups.

use super::{GROUP, MINE, OTHER, Store, everywhere, here};

const ALL: &str = "_$_ALL_GROUPS_PAUSED_$_";

fn errors(store: &Store) {
    for scheduler in [MINE, OTHER] {
        ["j1", "j2", "j3"].into_iter().for_each(|job| store.job(scheduler, job));
        store.trigger(scheduler, (GROUP, "t1"), "j1", "ERROR");
        store.trigger(scheduler, ("paused", "t2"), "j2", "ERROR");
        store.trigger(scheduler, (GROUP, "runs"), "j3", "ERROR");
    }
    // The run was fired by a trigger that is gone.
    store.runs(MINE, "e1", (GROUP, "other"), ("j3", "n1"), "0");
    store.pause(MINE, "paused");
}

#[test]
fn each_becomes_what_its_group_and_job_allow() {
    for (server, release) in everywhere("cases::errors") {
        let store = Store::new(server, release);
        errors(&store);
        let before = store.0.db.dump();
        store.asks_which("error-triggers", &["--cause-fixed"]);
        store.0.refuses("error-triggers", store.scope(), "cause-unknown");
        let said = store.scoped(&["--cause-fixed"]);
        store.0.plan("error-triggers", "b", &said).expect(0);
        assert_eq!(store.0.steps("b"), [("trigger".to_owned(), 3)]);
        store.0.apply("b");
        store.is(MINE, (GROUP, "t1"), "WAITING");
        store.is(MINE, ("paused", "t2"), "PAUSED");
        store.is(MINE, (GROUP, "runs"), "BLOCKED");
        for key in [(GROUP, "t1"), ("paused", "t2"), (GROUP, "runs")] {
            store.is(OTHER, key, "ERROR");
        }
        store.0.undo("b", &before);
    }
}

#[test]
fn where_all_groups_are_paused_none_wakes() {
    for (server, release) in here() {
        let store = Store::new(server, release);
        errors(&store);
        store.pause(MINE, ALL);
        store.0.plan("error-triggers", "b", &store.scoped(&["--cause-fixed"])).expect(0);
        store.0.apply("b");
        store.is(MINE, (GROUP, "t1"), "PAUSED");
        store.is(MINE, ("paused", "t2"), "PAUSED");
        // Also while its job runs, as upstream's own call does: resumeTrigger looks for the run.
        store.is(MINE, (GROUP, "runs"), "PAUSED");
    }
}

/// The ticket and inspect name the native way where the release has it, and what may come back.
#[test]
fn the_native_way_and_the_cause_are_told() {
    for release in ["2.2.3", "2.3.2"] {
        let store = Store::new(crate::support::db::Server::Sqlite, release);
        errors(&store);
        store.0.plan("error-triggers", "b", &store.scoped(&["--cause-fixed"])).expect(0);
        let ticket = std::fs::read_to_string(store.0.db.path("b").join("TICKET.md")).unwrap();
        assert_eq!(ticket.contains("resetTriggerFromErrorState"), release == "2.3.2", "{ticket}");
        assert!(ticket.contains("back to ERROR"), "{ticket}");
    }
}

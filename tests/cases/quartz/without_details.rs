//! Triggers whose row in the table of their type is missing, as people give them when they describe a
//! fault: let go where that harms nobody, and never in silence.

use super::{GROUP, MINE, OTHER, Store, everywhere, here};
use crate::support::db::Server;

const ALL: &str = "_$_ALL_GROUPS_PAUSED_$_";
const STOPPED: [&str; 2] = ["--dead-owner", "*"];

fn jobs(store: &Store) {
    for scheduler in [MINE, OTHER] {
        ["j1", "j2"].into_iter().for_each(|job| store.job(scheduler, job));
    }
}

#[track_caller]
fn is_told(store: &Store, bundle: &str, trigger: &str) {
    let ticket = store.ticket(bundle);
    let felt = &ticket[ticket.find("**Felt by others**").unwrap_or_else(|| panic!("{ticket}"))..];
    let felt = &felt[..felt.find("**Undo**").unwrap()];
    assert!(felt.contains(trigger) && felt.contains("nothing can fire it"), "{felt}");
    let stops = store.0.m.behaviour["bad_trigger_stops_misfires"].as_bool().unwrap();
    assert_eq!(felt.contains("stops the misfire handling of all"), stops, "{}: {felt}", store.0.release);
}

/// quartznet/quartznet#2051, #2203.
#[test]
fn errors_are_reset_where_no_other_trigger_is_whole() {
    for (server, release) in everywhere("cases::without_details") {
        let store = Store::new(server, release);
        jobs(&store);
        store.bare_trigger(MINE, (GROUP, "t1"), "j1", "ERROR", &[]);
        store.bare_trigger(MINE, ("paused", "t2"), "j2", "ERROR", &[]);
        store.bare_trigger(OTHER, (GROUP, "t1"), "j1", "ERROR", &[]);
        store.pause(MINE, "paused");
        let before = store.0.db.dump();
        store.0.plan("error-triggers", "b", &store.scoped(&["--cause-fixed"])).expect(0);
        is_told(&store, "b", &store.key(MINE, &format!("{GROUP}.t1")));
        store.0.apply("b");
        store.is(MINE, (GROUP, "t1"), "WAITING");
        store.is(MINE, ("paused", "t2"), "PAUSED");
        store.is(OTHER, (GROUP, "t1"), "ERROR");
        store.0.undo("b", &before);
    }
}

/// quartznet/quartznet#2202; quartz-scheduler/quartz#1351, #134.
#[test]
fn a_dead_nodes_trigger_is_let_go() {
    for (server, release) in here() {
        let store = Store::new(server, release);
        jobs(&store);
        store.bare_trigger(MINE, (GROUP, "t1"), "j1", "BLOCKED", &[]);
        store.bare_trigger(MINE, (GROUP, "t2"), "j2", "BLOCKED", &[]);
        store.runs(MINE, "e1", (GROUP, "t1"), ("j1", "node-dead"), "0");
        store.runs(MINE, "e2", (GROUP, "t2"), ("j2", "node-0"), "0");
        let before = store.0.db.dump();
        // Whatever the plan: what it lets go it does not set aside.
        for (bundle, of) in [("one", &["dead-instances"][..]), ("all", &["--all"])] {
            let said = store.scoped(&["--dead-owner", "node-dead"]);
            let out = store.0.db.path(bundle).display().to_string();
            let base = ["--url", &store.0.db.url, "--scheduler", "quartz", "--release", release, "--out", &out];
            crate::support::program::flowmend([&["plan"], of, &base, &said].concat()).expect(0);
            assert_eq!(store.0.steps(bundle), [("fired_trigger".to_owned(), 1), ("trigger".to_owned(), 1)]);
            store.0.apply(bundle);
            store.is(MINE, (GROUP, "t1"), "WAITING");
            store.is(MINE, (GROUP, "t2"), "BLOCKED");
            is_told(&store, bundle, &format!("{GROUP}.t1"));
            store.0.undo(bundle, &before);
        }
    }
}

/// A vendor's note on unpausing: nothing shows a cluster there, so the application is said to be stopped.
#[test]
fn a_scheduler_is_resumed() {
    for (server, release) in everywhere("cases::without_details") {
        let store = Store::new(server, release);
        jobs(&store);
        store.bare_trigger(MINE, (GROUP, "a"), "j1", "PAUSED", &[]);
        store.bare_trigger(MINE, (GROUP, "b"), "j2", "PAUSED_BLOCKED", &[]);
        store.bare_trigger(OTHER, (GROUP, "c"), "j1", "PAUSED", &[]);
        for (scheduler, group) in [(MINE, GROUP), (MINE, ALL), (OTHER, GROUP)] {
            store.pause(scheduler, group);
        }
        let before = store.0.db.dump();
        store.0.plan("paused-triggers", "b", &store.scoped(&[&["--resume"][..], &STOPPED].concat())).expect(0);
        store.0.apply("b");
        store.is(MINE, (GROUP, "a"), "WAITING");
        store.is(MINE, (GROUP, "b"), "BLOCKED");
        store.is(OTHER, (GROUP, "c"), "PAUSED");
        is_told(&store, "b", &format!("{GROUP}.a"));
        store.0.undo("b", &before);
    }
}

/// Up to 2.3.2 one such trigger stops the misfire handling of the others, so it stays where there are
/// others; but PAUSED harms nobody.
#[test]
fn where_others_would_be_stopped_it_stays() {
    for release in ["1.8.6", "2.3.2", "2.4.1", "2.5.2"] {
        let store = Store::new(Server::Sqlite, release);
        jobs(&store);
        store.trigger(MINE, (GROUP, "whole"), "j2", "WAITING");
        store.bare_trigger(MINE, (GROUP, "e"), "j1", "ERROR", &[]);
        store.bare_trigger(MINE, (GROUP, "q"), "j1", "ACQUIRED", &[]);
        store.bare_trigger(MINE, (GROUP, "p"), "j1", "PAUSED", &[]);
        let recipes: [(&str, &[&str]); 3] =
            [("error-triggers", &["--cause-fixed"]), ("orphan-triggers", &[]), ("paused-triggers", &["--resume"])];
        let stops = store.0.m.behaviour["bad_trigger_stops_misfires"].as_bool().unwrap();
        for (recipe, said) in recipes {
            let said = store.scoped(said);
            if stops {
                store.0.refuses(recipe, &said, "no-details");
                continue;
            }
            store.0.plan(recipe, recipe, &said).expect(0);
            is_told(&store, recipe, GROUP);
        }
        let paused = store.scoped(&["--release-to", "paused"]);
        store.0.plan("orphan-triggers", "paused", &paused).expect(0);
        store.0.apply("paused");
        store.is(MINE, (GROUP, "q"), "PAUSED");
    }
}

/// A trigger that became whole for others while the bundle waited stops the repair.
#[test]
fn a_whole_trigger_that_comes_meanwhile_is_seen() {
    let store = Store::new(Server::Sqlite, "2.3.2");
    jobs(&store);
    store.bare_trigger(MINE, (GROUP, "q"), "j1", "ACQUIRED", &[]);
    store.0.plan("orphan-triggers", "b", &store.scoped(&[])).expect(0);
    store.trigger(MINE, (GROUP, "whole"), "j2", "WAITING");
    crate::support::program::sealed("apply", &store.0.db, "b", &[]).expect(3);
    store.is(MINE, (GROUP, "q"), "ACQUIRED");
}

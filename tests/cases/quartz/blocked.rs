//! quartznet/quartznet#2202; quartz-scheduler/quartz#1351, #134: BLOCKED comes back while the dead node's row is there.

use super::{GROUP, MINE, OTHER, Store, everywhere, here};
use crate::support::db::Server;

const DEAD: &str = "node-dead";

/// The run of t1 is of a dead node, that of t2 of one that checks in; t3 waits for a run that is nowhere.
fn blocked(store: &Store, recovery: &str) {
    for scheduler in [MINE, OTHER] {
        for (job, trigger) in [("j1", "t1"), ("j2", "t2"), ("j3", "t3")] {
            store.job(scheduler, job);
            store.trigger(scheduler, (GROUP, trigger), job, "BLOCKED");
        }
        store.runs(scheduler, "e1", (GROUP, "t1"), ("j1", DEAD), recovery);
        store.runs(scheduler, "e2", (GROUP, "t2"), ("j2", "node-live"), "0");
        let node = [("node", "node-live"), ("checkin", "4102444800000"), ("checkin_interval", "20000")];
        store.add("scheduler_state", scheduler, &node);
    }
}

#[test]
fn the_dead_nodes_row_goes_first_and_frees_its_trigger_only() {
    for (server, release) in everywhere("cases::blocked") {
        let store = Store::new(server, release);
        blocked(&store, "0");
        let before = store.0.db.dump();
        store.asks_which("dead-instances", &["--dead-owner", DEAD]);
        store.0.refuses("dead-instances", store.scope(), "owner-may-live");
        store.0.plan("dead-instances", "b", &store.scoped(&["--dead-owner", DEAD])).expect(0);
        // t3 was there to find before; only what the deletion uncovers comes along.
        assert_eq!(store.0.steps("b"), [("fired_trigger".to_owned(), 1), ("trigger".to_owned(), 1)], "{release}");
        store.0.apply("b");
        store.is(MINE, (GROUP, "t1"), "WAITING");
        store.is(MINE, (GROUP, "t2"), "BLOCKED");
        store.is(MINE, (GROUP, "t3"), "BLOCKED");
        store.is(OTHER, (GROUP, "t1"), "BLOCKED");
        let rows = store.0.values("fired_trigger.node");
        assert!(!rows.contains_key(&store.key(MINE, "e1")) && rows.contains_key(&store.key(MINE, "e2")), "{rows:?}");
        assert_eq!(rows.len(), store.schedulers().len() * 2 - 1);
        store.0.undo("b", &before);
    }
}

/// A run that asked to be run again is not given up without a word.
#[test]
fn a_wish_for_recovery_is_a_choice() {
    for (server, release) in here() {
        let store = Store::new(server, release);
        blocked(&store, "1");
        let said = store.scoped(&["--dead-owner", DEAD]);
        let open = store.0.plan("dead-instances", "b", &said).expect(2);
        assert!(open.err.contains("--recovery leave") && open.err.contains("not run again"), "{}", open.err);
        store.0.refuses("dead-instances", &[&said[..], &["--recovery", "leave"]].concat(), "recover");
        store.0.plan("dead-instances", "b", &[&said[..], &["--recovery", "drop"]].concat()).expect(0);
        assert_eq!(store.0.steps("b").len(), 2);
    }
}

/// Only what asked for it would run again: the screen counts that apart from what is only closed,
/// and the ticket names what is given up.
#[test]
fn what_asked_to_run_again_is_told_from_the_rest() {
    for (server, release) in here() {
        let store = Store::new(server, release);
        blocked(&store, "0");
        store.job(MINE, "j8");
        store.job(MINE, "j9");
        store.runs(MINE, "e8", (GROUP, "t8"), ("j8", DEAD), "0");
        store.runs(MINE, "e9", (GROUP, "t9"), ("j9", DEAD), "1");
        let said = store.scoped(&["--dead-owner", DEAD]);
        // What waits for the choice is found all the same.
        let seen = store.0.inspect(&said);
        let orphans = seen["findings"].as_array().unwrap().iter().find(|f| f["code"] == "orphan-fired-trigger");
        assert_eq!(orphans.unwrap_or_else(|| panic!("{release}: {seen}"))["rows"], 3, "{release}");
        let open = store.0.plan("dead-instances", "b", &said).expect(2);
        let screen = open.err.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in
            ["1 run of a dead instance in Quartz", "asked to be run again", "2 other fired triggers of the same"]
        {
            assert!(screen.contains(part), "{release}: no `{part}` in {screen}");
        }
        let job = |name: &str| store.key(MINE, &format!("{GROUP}.{name}"));
        assert!(screen.contains(&job("j9")), "{release}: {screen}");
        assert!(["j1", "j8"].iter().all(|name| !screen.contains(&job(name))), "{release}: {screen}");
        store.0.plan("dead-instances", "b", &[&said[..], &["--recovery", "drop"]].concat()).expect(0);
        let ticket = store.ticket("b");
        let given_up = ticket.lines().find(|l| l.contains("asked to be run again")).unwrap_or_default();
        assert!(given_up.contains(&job("j9")) && !given_up.contains(&job("j8")), "{release}: {ticket}");
        // Nothing here fires every missed time, so nothing is said of that.
        assert!(!ticket.contains("every missed time"), "{release}: {ticket}");
    }
}

/// A plan in which nothing asked to be run again does not speak of it.
#[test]
fn nothing_is_said_of_what_nobody_asked() {
    let store = Store::new(Server::Sqlite, "2.3.2");
    blocked(&store, "0");
    let said = store.scoped(&["--dead-owner", DEAD, "--recovery", "drop", "--bursts", "pause"]);
    store.0.plan("dead-instances", "b", &said).expect(0);
    let ticket = store.ticket("b");
    assert!(!ticket.contains("asked to be run again") && !ticket.contains("every missed time"), "{ticket}");
}

/// While another node runs the job, the dead node's row frees nothing.
#[test]
fn a_job_that_runs_elsewhere_stays_blocked() {
    for (server, release) in here() {
        let store = Store::new(server, release);
        blocked(&store, "0");
        store.runs(MINE, "e3", (GROUP, "more"), ("j1", "node-live"), "0");
        store.0.plan("dead-instances", "b", &store.scoped(&["--dead-owner", DEAD])).expect(0);
        assert_eq!(store.0.steps("b"), [("fired_trigger".to_owned(), 1)], "{release}");
    }
}

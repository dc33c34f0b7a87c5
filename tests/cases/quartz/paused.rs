//! A support note empties the table of paused groups and makes PAUSED triggers WAITING.

use super::super::site::found;
use super::{GROUP, MINE, OTHER, Store, everywhere, here};

const ALL: &str = "_$_ALL_GROUPS_PAUSED_$_";

fn paused(store: &Store) {
    for scheduler in [MINE, OTHER] {
        ["j1", "j2", "j3", "j4"].into_iter().for_each(|job| store.job(scheduler, job));
        store.trigger(scheduler, (GROUP, "a"), "j1", "PAUSED");
        store.trigger(scheduler, (GROUP, "b"), "j2", "PAUSED_BLOCKED");
        store.trigger(scheduler, ("night", "c"), "j3", "PAUSED");
        store.trigger(scheduler, (GROUP, "running"), "j4", "PAUSED");
        store.trigger(scheduler, (GROUP, "waits"), "j1", "WAITING");
        store.runs(scheduler, "e1", (GROUP, "other"), ("j4", "n1"), "0");
        store.pause(scheduler, GROUP);
        store.pause(scheduler, ALL);
    }
}

fn groups(store: &Store) -> Vec<String> {
    store.0.values("paused_group.group_name").into_keys().collect()
}

#[test]
fn what_is_paused_stays_until_somebody_says_so() {
    for (server, release) in here() {
        let store = Store::new(server, release);
        paused(&store);
        store.0.refuses("paused-triggers", store.scope(), "(paused)");
        let all = ["plan", "--all", "--url", &store.0.db.url, "--zone", "+00:00", "--release", release];
        let scope = store.scope();
        let out = store.0.db.path("all").display().to_string();
        let run =
            crate::support::program::flowmend([&all[..], &["--scheduler", "quartz", "--out", &out], scope].concat());
        // The block that nothing ends is a fault of its own.
        let planned = store.0.steps("all");
        assert!(planned.iter().all(|(role, _)| role != "paused_group"), "{planned:?}\n{}", run.out);
        let seen = store.0.inspect(scope);
        assert_eq!((found(&seen, "paused-trigger"), found(&seen, "paused-group")), (0, 0), "{seen}");
    }
}

#[test]
fn a_whole_scheduler_is_resumed_and_no_other() {
    for (server, release) in everywhere("cases::paused") {
        let store = Store::new(server, release);
        paused(&store);
        let before = store.0.db.dump();
        store.asks_which("paused-triggers", &["--resume"]);
        store.0.plan("paused-triggers", "b", &store.scoped(&["--resume"])).expect(0);
        let steps = store.0.steps("b");
        let roles: Vec<_> = steps.iter().map(|(role, rows)| (role.as_str(), *rows)).collect();
        assert_eq!(roles, [("trigger", 2), ("trigger", 2), ("paused_group", 2)], "{release}");
        store.0.apply("b");
        store.is(MINE, (GROUP, "a"), "WAITING");
        store.is(MINE, (GROUP, "b"), "BLOCKED");
        store.is(MINE, ("night", "c"), "WAITING");
        store.is(MINE, (GROUP, "running"), "BLOCKED");
        store.is(OTHER, (GROUP, "a"), "PAUSED");
        store.is(OTHER, (GROUP, "b"), "PAUSED_BLOCKED");
        let left = if store.schedulers().contains(&OTHER) {
            vec![store.key(OTHER, ALL), store.key(OTHER, GROUP)]
        } else {
            vec![]
        };
        assert_eq!(groups(&store), left);
        let ticket = std::fs::read_to_string(store.0.db.path("b").join("TICKET.md")).unwrap();
        for said in ["resumeAll", "no group", "plan orphan-triggers next", "overdue"] {
            assert!(ticket.contains(said), "{said}: {ticket}");
        }
        store.0.undo("b", &before);
    }
}

#[test]
fn a_group_or_a_trigger_alone_leaves_the_rest_paused() {
    for (server, release) in here() {
        let store = Store::new(server, release);
        paused(&store);
        let before = store.0.db.dump();
        store.0.plan("paused-triggers", "group", &store.scoped(&["--resume", "--trigger-group", GROUP])).expect(0);
        store.0.apply("group");
        store.is(MINE, (GROUP, "a"), "WAITING");
        store.is(MINE, ("night", "c"), "PAUSED");
        let groups_now = groups(&store);
        assert!(
            groups_now.contains(&store.key(MINE, ALL)) && !groups_now.contains(&store.key(MINE, GROUP)),
            "{groups_now:?}"
        );
        store.0.undo("group", &before);
        let one = format!("{GROUP}.a");
        store.0.plan("paused-triggers", "one", &store.scoped(&["--resume", "--trigger", &one])).expect(0);
        assert_eq!(store.0.steps("one"), [("trigger".to_owned(), 1)]);
    }
}

/// A trigger that would fire every missed time is a choice of its own.
#[test]
fn a_burst_is_shown_and_asked_for() {
    for (server, release) in here() {
        let store = Store::new(server, release);
        store.job(MINE, "j1");
        store.trigger_with(MINE, (GROUP, "burst"), "j1", "PAUSED", &[("misfire", "-1")]);
        if release == "1.8.6" {
            // There is no such instruction.
            store.0.plan("paused-triggers", "b", &["--resume"]).expect(0);
            continue;
        }
        let open = store.0.plan("paused-triggers", "b", &store.scoped(&["--resume"])).expect(2);
        assert!(open.err.contains("--bursts fire") && open.err.contains("every missed time"), "{}", open.err);
        for kept in ["pause", "leave"] {
            store.0.refuses("paused-triggers", &store.scoped(&["--resume", "--bursts", kept]), "burst-kept");
        }
        store.0.plan("paused-triggers", "b", &store.scoped(&["--resume", "--bursts", "fire"])).expect(0);
        store.0.apply("b");
        store.is(MINE, (GROUP, "burst"), "WAITING");
    }
}

/// What orphan-triggers takes the block from, and paused-triggers the pause, is written once, to its end.
#[test]
fn one_plan_of_all_recipes_writes_each_row_once() {
    for (server, release) in here() {
        let store = Store::new(server, release);
        paused(&store);
        let before = store.0.db.dump();
        let out = store.0.db.path("all").display().to_string();
        let all = ["plan", "--all", "--url", &store.0.db.url, "--zone", "+00:00", "--now", "2026-11-29T00:00:00Z"];
        let of = ["--scheduler", "quartz", "--release", release, "--out", &out, "--resume"];
        crate::support::program::flowmend([&all[..], &of, store.scope()].concat()).expect(0);
        store.0.apply("all");
        store.is(MINE, (GROUP, "a"), "WAITING");
        store.is(MINE, (GROUP, "b"), "WAITING");
        store.0.undo("all", &before);
    }
}

/// A pause and a block that nothing ends are two faults of one trigger: one plan of all mends both.
#[test]
fn a_pause_with_an_idle_block_is_mended_in_one_plan() {
    for (server, release) in here() {
        let store = Store::new(server, release);
        for job in ["j1", "j2", "j3"] {
            store.job(MINE, job);
        }
        store.trigger(MINE, (GROUP, "idle"), "j1", "PAUSED_BLOCKED");
        store.trigger(MINE, (GROUP, "busy"), "j2", "PAUSED_BLOCKED");
        store.trigger(MINE, (GROUP, "stuck"), "j3", "BLOCKED");
        store.runs(MINE, "e1", (GROUP, "busy"), ("j2", "node-0"), "0");
        let before = store.0.db.dump();
        // What the plan pauses itself stays paused: nobody said that it may run.
        store.0.plan("--all", "b", &store.scoped(&["--resume", "--release-to", "paused"])).expect(0);
        assert!(!store.ticket("b").contains("plan orphan-triggers next"), "{release}: {}", store.ticket("b"));
        store.0.apply("b");
        store.is(MINE, (GROUP, "idle"), "WAITING");
        store.is(MINE, (GROUP, "busy"), "BLOCKED");
        store.is(MINE, (GROUP, "stuck"), "PAUSED");
        store.0.undo("b", &before);
        // By itself the pause goes, and the ticket says what is left to do, and how it goes in one.
        store.0.plan("paused-triggers", "alone", &store.scoped(&["--resume"])).expect(0);
        let ticket = store.ticket("alone");
        assert!(ticket.contains("plan orphan-triggers next") && ticket.contains("plan --all"), "{release}: {ticket}");
    }
}

//! quartz-scheduler/quartz#218, #95, #635: ACQUIRED without its fired trigger.

use super::{GROUP, MINE, Store, everywhere, here};
use crate::support::db::Server;

const DEAD: &str = "node-dead";

/// A fired trigger of the trigger is there, if not the one that goes with ACQUIRED: it stays.
#[test]
fn any_fired_trigger_of_it_keeps_it() {
    for (server, release) in everywhere("cases::orphans") {
        let store = Store::new(server, release);
        for (job, trigger) in [("j1", "t1"), ("j2", "t2")] {
            store.job(MINE, job);
            store.trigger(MINE, (GROUP, trigger), job, "ACQUIRED");
        }
        // Its job may run twice at a time: that does not excuse the release.
        let run = [("entry_id", "e1"), ("node", DEAD), ("state", "EXECUTING"), ("start_time", "1700000000000")];
        let of = [("trigger_group", GROUP), ("trigger_name", "t1"), ("job_name", "j1"), ("job_group", GROUP)];
        store.add("fired_trigger", MINE, &[&of[..], &run, &[("nonconcurrent", "0"), ("recovery", "0")]].concat());
        let before = store.0.db.dump();
        let run = store.0.plan("orphan-triggers", "b", &store.scoped(&[])).expect(0);
        assert!(run.out.contains("(still-fired)"), "{}", run.out);
        store.0.apply("b");
        store.is(MINE, (GROUP, "t1"), "ACQUIRED");
        store.is(MINE, (GROUP, "t2"), "WAITING");
        store.0.undo("b", &before);
        // With the row of the dead instance it goes in one plan.
        store.0.plan("dead-instances", "d", &store.scoped(&["--dead-owner", DEAD])).expect(0);
        store.0.apply("d");
        store.is(MINE, (GROUP, "t1"), "WAITING");
        store.0.undo("d", &before);
    }
}

/// A fired trigger that comes between plan and apply stops the repair.
#[test]
fn a_fire_between_plan_and_apply_is_seen() {
    for (server, release) in here() {
        let store = Store::new(server, release);
        store.job(MINE, "j1");
        store.trigger(MINE, (GROUP, "t1"), "j1", "ACQUIRED");
        store.0.plan("orphan-triggers", "b", &store.scoped(&[])).expect(0);
        store.runs(MINE, "e1", (GROUP, "t1"), ("other", "n1"), "0");
        crate::support::program::sealed("apply", &store.0.db, "b", &[]).expect(3);
        store.is(MINE, (GROUP, "t1"), "ACQUIRED");
    }
}

/// Up to 2.2.3 the start of a scheduler that is not clustered blocks misfired triggers anew (#93), so the repair comes after it.
#[test]
fn where_the_start_makes_orphans_the_repair_comes_after_it() {
    for (release, named) in [("2.2.3", true), ("2.3.2", false)] {
        let store = Store::new(Server::Sqlite, release);
        store.job(MINE, "j1");
        store.trigger(MINE, (GROUP, "t1"), "j1", "BLOCKED");
        store.0.plan("orphan-triggers", "b", &store.scoped(&[])).expect(0);
        assert_eq!(store.ticket("b").contains("after the restart, not before"), named, "{release}");
    }
}

/// Whether a released trigger fires every missed time hangs on its misfire instruction, and what another one
/// says on its type: neither may be another one when it is released.
#[test]
fn what_a_release_rests_on_is_pinned() {
    for (server, release) in here() {
        for change in ["MISFIRE_INSTR = -1", "TRIGGER_TYPE = 'SIMPLE'"] {
            let store = Store::new(server, release);
            store.job(MINE, "j1");
            store.trigger(MINE, (GROUP, "t1"), "j1", "ACQUIRED");
            store.0.plan("orphan-triggers", "b", &store.scoped(&["--bursts", "pause"])).expect(0);
            store.0.db.exec(&format!("UPDATE QRTZ_TRIGGERS SET {change}"));
            let refused = crate::support::program::sealed("apply", &store.0.db, "b", &[]).expect(3);
            assert!(refused.err.contains("moved"), "{release} {change}: {}", refused.err);
            store.is(MINE, (GROUP, "t1"), "ACQUIRED");
        }
    }
}

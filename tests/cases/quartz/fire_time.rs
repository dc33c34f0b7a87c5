//! A how-to sets NEXT_FIRE_TIME to 0 "to force a new calculation": fired at once, or never again.

use super::super::site::{explained, found};
use super::{GROUP, MINE, OTHER, Store, everywhere};
use crate::support::db::Server;

const FUTURE: &str = "4102444800000";

fn zeroed(store: &Store, zero: &str) {
    for scheduler in [MINE, OTHER] {
        for (job, trigger, misfire) in [("j1", "sync", "0"), ("j2", "ign", "-1")] {
            store.job(scheduler, job);
            let times = [("next_fire_time", zero), ("prev_fire_time", "0"), ("misfire", misfire)];
            store.trigger_with(scheduler, (GROUP, trigger), job, "WAITING", &times);
        }
        store.job(scheduler, "j3");
        store.trigger(scheduler, (GROUP, "fine"), "j3", "WAITING");
    }
}

#[test]
fn only_a_time_that_somebody_names_is_written() {
    for (server, release) in everywhere("cases::fire_time") {
        // By hand, or by the scheduler itself at an update.
        for zero in if server == Server::Sqlite { &["0", "-1"][..] } else { &["0"] } {
            let store = Store::new(server, release);
            zeroed(&store, zero);
            let before = store.0.db.dump();
            store.0.refuses("fire-times", store.scope(), "needs-time");
            store.0.refuses("fire-times", &store.scoped(&["--next-fire-time", "1690000000000"]), "time-past");
            let one = ["--trigger", &format!("{GROUP}.ign"), "--next-fire-time", FUTURE];
            store.asks_which("fire-times", &one);
            store.0.plan("fire-times", "b", &store.scoped(&one)).expect(0);
            assert_eq!(store.0.steps("b"), [("trigger".to_owned(), 1)]);
            store.0.apply("b");
            let times = store.0.values("trigger.next_fire_time");
            let of = |scheduler: &str, name: &str| times[&store.key(scheduler, &format!("{name}/{GROUP}"))].clone();
            assert_eq!(of(MINE, "ign").as_deref(), Some(FUTURE));
            assert_eq!(of(MINE, "sync").as_deref(), Some(*zero));
            assert_eq!(of(MINE, "fine").as_deref(), Some("1700000000000"));
            if store.schedulers().contains(&OTHER) {
                assert_eq!(of(OTHER, "ign").as_deref(), Some(*zero));
            }
            store.is(MINE, (GROUP, "ign"), "WAITING");
            store.0.undo("b", &before);
        }
    }
}

/// The misfire handler passes the one over for ever, and fires the other at once.
#[test]
fn the_two_misfire_instructions_are_told_apart() {
    for release in ["1.8.6", "2.3.2"] {
        let store = Store::new(Server::Sqlite, release);
        zeroed(&store, "0");
        let time = ["--next-fire-time", FUTURE];
        let seen = store.0.inspect(&store.scoped(&[&time[..], &["--explain"]].concat()));
        assert_eq!(found(&seen, "no-fire-time"), 2, "{seen}");
        let text = explained(&seen, "no-fire-time");
        assert!(text.contains("may fire at once") && text.contains("No database can"), "{text}");
        // In 1.8 there is no such instruction.
        assert_eq!(text.contains("it never fires again"), release == "2.3.2", "{text}");
    }
}

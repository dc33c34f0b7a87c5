//! Who is dead, of which scheduler, and what is said of the others.

use super::{GROUP, MINE, OTHER, Store, everywhere};
use crate::support::db::Server;
use crate::support::program::sealed;

fn said(out: &str) -> String {
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A node's takeover deletes the row of a dead instance also where it had fired nothing.
#[test]
fn an_idle_dead_instance_is_taken_over_too() {
    for (server, release) in everywhere("cases::owners") {
        let store = Store::new(server, release);
        for scheduler in [MINE, OTHER] {
            store.job(scheduler, "j1");
            store.trigger(scheduler, (GROUP, "t1"), "j1", "BLOCKED");
            store.runs(scheduler, "e1", (GROUP, "t1"), ("j1", "busy"), "0");
            ["busy", "idle", "other"].into_iter().for_each(|node| store.node(scheduler, node));
        }
        let before = store.0.db.dump();
        let claim = store.scoped(&["--dead-owner", "idle"]);
        store.0.plan("dead-instances", "idle", &claim).expect(0);
        assert_eq!(store.0.steps("idle"), [("scheduler_state".to_owned(), 1)], "{release}");
        let claim = store.scoped(&["--dead-owner", "idle", "--dead-owner", "busy"]);
        store.0.plan("dead-instances", "both", &claim).expect(0);
        let steps: Vec<_> = store.0.steps("both").into_iter().collect();
        let states: usize = steps.iter().filter(|(role, _)| role == "scheduler_state").map(|(_, n)| n).sum();
        assert_eq!(states, 2, "{release}: {steps:?}");
        store.0.apply("both");
        let left = store.0.values("scheduler_state.node");
        for node in ["busy", "idle"] {
            assert!(!left.contains_key(&store.key(MINE, node)), "{left:?}");
        }
        assert!(left.contains_key(&store.key(MINE, "other")), "{left:?}");
        store.is(MINE, (GROUP, "t1"), "WAITING");
        store.0.undo("both", &before);
    }
}

/// A claim that names its scheduler needs no second name; of the others nothing is planned.
#[test]
fn a_claim_with_its_scheduler_is_enough() {
    let store = Store::new(Server::Sqlite, "2.3.2");
    for scheduler in [MINE, OTHER] {
        store.job(scheduler, "j1");
        store.trigger(scheduler, (GROUP, "t1"), "j1", "BLOCKED");
        store.runs(scheduler, "e1", (GROUP, "t1"), ("j1", "n1"), "0");
    }
    store.asks_which("dead-instances", &["--dead-owner", "n1"]);
    let claim = format!("'{MINE}'/'n1'");
    let run = store.0.plan("dead-instances", "b", &["--dead-owner", &claim]).expect(0);
    assert!(run.out.contains("(owner-may-live)") && !run.err.contains("spelt right"), "{}\n{}", run.out, run.err);
    store.0.apply("b");
    store.is(MINE, (GROUP, "t1"), "WAITING");
    store.is(OTHER, (GROUP, "t1"), "BLOCKED");
}

/// Whatever is said of the dead, and of nobody: which scheduler is meant is asked first, before a wait.
#[test]
fn which_scheduler_is_asked_before_anything_is_watched() {
    for release in ["1.8.6", "2.3.2"] {
        let store = Store::new(Server::Sqlite, release);
        for scheduler in [MINE, OTHER] {
            store.job(scheduler, "j1");
            store.trigger(scheduler, (GROUP, "t1"), "j1", "BLOCKED");
        }
        for claim in [&[][..], &["--dead-owner", "*"], &["--dead-owner", "node-0"], &["--dead-owner", "heartbeat"]] {
            store.asks_which("orphan-triggers", claim);
            store.asks_which("--all", claim);
        }
    }
}

/// As a screen shows it, `'SCHED_NAME'/'NAME'`, and as it is left by a shell that took the quotes.
#[test]
fn an_owner_may_be_typed_as_it_is_shown() {
    let store = Store::new(Server::Sqlite, "2.3.2");
    for scheduler in [MINE, OTHER] {
        store.job(scheduler, "j1");
        store.trigger(scheduler, (GROUP, "t1"), "j1", "BLOCKED");
        store.runs(scheduler, "e1", (GROUP, "t1"), ("j1", "n1"), "0");
    }
    let plan = |bundle: &str, owner: &str| {
        let claim = owner.replace("MINE", MINE);
        let run = store.0.plan("dead-instances", bundle, &["--dead-owner", &claim]).expect(0);
        assert!(!run.err.contains("spelt right"), "{owner}: {}", run.err);
        assert!(store.0.steps(bundle).contains(&("fired_trigger".to_owned(), 1)), "{owner}");
        store.ticket(bundle)
    };
    for (bundle, owner) in [("b1", "MINE/n1"), ("b2", "'MINE'/n1"), ("b3", "'MINE'/'n1'")] {
        assert!(plan(bundle, owner).contains(&format!("- '{MINE}'/'n1': said by")), "{owner}");
    }
    assert!(plan("b4", "MINE/n1@2026-01-01T00:00:00Z").contains("for what started before 2026-01-01"));
    for (bundle, owner) in [("b5", "MINE/*"), ("b6", "'MINE'/*")] {
        assert!(plan(bundle, owner).contains(&format!("every owner of {MINE} (all are stopped)")), "{owner}");
    }
    // An instance may have a slash of its own, and then nobody guesses.
    let odd = format!("{MINE}/n1");
    store.runs(MINE, "e2", (GROUP, "t1"), ("j1", &odd), "0");
    let run = store.0.plan("dead-instances", "b7", &["--dead-owner", &odd]).expect(2);
    assert!(run.err.contains("may mean more than one owner"), "{}", run.err);
    for way in [format!("\"'{MINE}'/'n1'\""), format!("\"'{odd}'\"")] {
        assert!(run.err.contains(&way), "no {way} in {}", run.err);
    }
}

/// A refusal lists the owners of the scheduler that was named, each once, in the scheduler's own form.
#[test]
fn a_refusal_lists_the_owners_in_question() {
    let store = Store::new(Server::Sqlite, "2.3.2");
    for scheduler in [MINE, OTHER] {
        store.job(scheduler, "j1");
        store.trigger(scheduler, (GROUP, "t1"), "j1", "BLOCKED");
        store.runs(scheduler, "e1", (GROUP, "t1"), ("j1", "n1"), "0");
        store.node(scheduler, "n1");
    }
    let run = store.0.plan("dead-instances", "b", store.scope()).expect(4);
    let refusal = said(&run.err);
    assert_eq!(refusal.matches(&format!("'{MINE}'/'n1'")).count(), 1, "{refusal}");
    assert!(!refusal.contains(OTHER), "{refusal}");
    assert!(refusal.contains("--dead-owner INSTANCE_NAME") && !refusal.contains("HOST"), "{refusal}");
}

/// An instance may be named like the word that means all of them.
#[test]
fn an_instance_named_like_a_word_is_unmistakable() {
    for release in ["1.8.6", "2.3.2"] {
        let store = Store::new(Server::Sqlite, release);
        for (job, trigger, node) in [("j1", "t1", "*"), ("j2", "t2", "n2")] {
            store.job(MINE, job);
            store.trigger(MINE, (GROUP, trigger), job, "BLOCKED");
            store.runs(MINE, trigger, (GROUP, trigger), (job, node), "0");
        }
        let note = "(the one of this very name, not all of them)";
        let base = ["inspect", "--url", &store.0.db.url, "--scheduler", "quartz", "--release", release];
        let seen = crate::support::program::flowmend([&base[..], store.scope()].concat());
        assert!(said(&seen.out).contains(note), "{}", seen.out);
        store.0.plan("dead-instances", "b", &store.scoped(&["--dead-owner", "'*'"])).expect(0);
        assert!(store.ticket("b").contains(&format!("'*' {note}")), "{}", store.ticket("b"));
        store.0.apply("b");
        store.is(MINE, (GROUP, "t1"), "WAITING");
        store.is(MINE, (GROUP, "t2"), "BLOCKED");
    }
}

/// Names are typed as they are shown, so that none is broken over two lines, however long it is.
#[test]
fn the_table_of_owners_breaks_no_name() {
    let long = "billing-worker-7f9c4d5b6-x2x8v.billing.svc.cluster.local1772352000120".to_owned();
    for names in [vec!["n1", "n2"], vec!["a-node-of-thirty-signs-in-all-", "n2"], vec![&long, "n2"]] {
        let store = Store::new(Server::Sqlite, "2.3.2");
        for (at, node) in names.iter().enumerate() {
            store.runs(MINE, &format!("e{at}"), (GROUP, "t1"), ("j1", node), "0");
        }
        let run = crate::support::program::flowmend(["inspect", "--url", &store.0.db.url, "--release", "2.3.2"]);
        let table: Vec<&str> =
            run.out.lines().skip_while(|l| !l.starts_with("Owners of")).take_while(|l| !l.is_empty()).collect();
        for node in &names {
            let name = format!("'{MINE}'/'{node}'");
            let at = table.iter().position(|l| l.trim_start().starts_with(&name));
            let at = at.unwrap_or_else(|| panic!("no {name} on one line of {table:#?}"));
            // What is known of it stands beside it or right below.
            let below = table[at..(at + 3).min(table.len())].join(" ");
            assert!(said(&below).contains("not listed, and others are"), "{table:#?}");
        }
        // A name may be longer than a line, and a moment stays on its line below one; nothing else is.
        let may_be = |line: &str| line.trim_start().starts_with('\'') || line.contains("last heartbeat");
        let wide = |line: &&&str| line.chars().count() > 80 && !may_be(line);
        assert!(!table.iter().any(|l| wide(&l)), "{table:#?}");
    }
}

/// A time speaks of what was fired, or checked in, before it.
#[test]
fn a_time_leaves_what_came_later() {
    let store = Store::new(Server::Sqlite, "2.3.2");
    for (job, trigger) in [("j1", "t1"), ("j2", "t2")] {
        store.job(MINE, job);
        store.trigger(MINE, (GROUP, trigger), job, "BLOCKED");
    }
    // At 22:13:20, and the check-in at 22:15:00.
    store.runs(MINE, "e1", (GROUP, "t1"), ("j1", "n1"), "0");
    store.node(MINE, "n1");
    for (time, roles) in [("22:13:20", &[][..]), ("22:14:00", &["fired_trigger", "trigger"][..])] {
        let claim = format!("n1@2023-11-14T{time}Z");
        let run = store.0.plan("dead-instances", time, &store.scoped(&["--dead-owner", &claim]));
        assert!(run.out.contains("(owner-with-time)") || !roles.is_empty(), "{}", run.out);
        // 4 where a proof of death would help: node-0 is idle.
        assert!([0, 4].contains(&run.code), "{}\n{}", run.out, run.err);
        let steps = if roles.is_empty() { vec![] } else { store.0.steps(time) };
        assert_eq!(steps.iter().map(|(role, _)| role.as_str()).collect::<Vec<_>>(), roles, "{time}");
    }
}

/// An instance that checks in between plan and apply lives: what it fired is its own. One that was
/// named with a time checks in all the while.
#[test]
fn an_instance_that_is_back_keeps_what_it_fired() {
    for (server, release) in everywhere("cases::owners") {
        // Whether the plan saw a check-in of it, or none.
        for seen in [true, false] {
            let store = Store::new(server, release);
            store.job(MINE, "j1");
            store.trigger(MINE, (GROUP, "t1"), "j1", "BLOCKED");
            store.runs(MINE, "e1", (GROUP, "t1"), ("j1", "dead"), "0");
            if seen {
                store.node(MINE, "dead");
            }
            let timed = store.scoped(&["--dead-owner", "dead@2026-01-01T00:00:00Z"]);
            store.0.plan("dead-instances", "timed", &timed).expect(0);
            store.0.plan("dead-instances", "b", &store.scoped(&["--dead-owner", "dead"])).expect(0);
            if seen {
                let (d, state) = (server.dialect(), &store.0.m.roles["scheduler_state"]);
                let [checkin, node] = ["checkin", "node"].map(|name| d.ident(&state.columns[name]));
                store.0.db.exec(&format!(
                    "UPDATE {} SET {checkin} = {checkin} + 1 WHERE {node} = 'dead'",
                    d.ident(&state.table)
                ));
            } else {
                store.node(MINE, "dead");
            }
            let refused = sealed("apply", &store.0.db, "b", &[]).expect(3);
            assert!(refused.err.contains("has not checked in"), "{server:?} {release}: {}", refused.err);
            store.is(MINE, (GROUP, "t1"), "BLOCKED");
            if !seen {
                // Where the plan deletes the check-in, too, it is pinned.
                store.0.apply("timed");
                store.is(MINE, (GROUP, "t1"), "WAITING");
            }
        }
    }
}

/// Where the database takes two names for one, the check-in of one has the other's fired triggers. It is
/// named then, not passed over.
#[test]
fn a_check_in_beside_a_namesakes_run_has_a_reason() {
    for (server, release) in everywhere("cases::owners") {
        if !matches!(server, Server::MariaDb | Server::MySql) {
            continue;
        }
        let store = Store::new(server, release);
        for (job, trigger, node) in [("j1", "t1", "Node-A"), ("j2", "t2", "node-a")] {
            store.job(MINE, job);
            store.trigger(MINE, (GROUP, trigger), job, "BLOCKED");
            store.runs(MINE, trigger, (GROUP, trigger), (job, node), "0");
        }
        store.node(MINE, "node-a");
        let run = store.0.plan("dead-instances", "b", &store.scoped(&["--dead-owner", "node-a"])).expect(0);
        assert!(run.out.contains("(fired-by-namesake)"), "{server:?}: {}", run.out);
        assert!(run.out.contains("(owner-may-live)"), "{server:?}: {}", run.out);
        store
            .0
            .plan("dead-instances", "both", &store.scoped(&["--dead-owner", "node-a", "--dead-owner", "Node-A"]))
            .expect(0);
        assert!(store.0.steps("both").contains(&("scheduler_state".to_owned(), 1)), "{server:?}");
    }
}

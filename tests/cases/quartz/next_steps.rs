//! What a ticket lets people do next: jobs that the bundle deletes or that run elsewhere are not
//! to be started by hand, and what fires as soon as the repair is there is said at its head.

use super::{GROUP, MINE, Store, everywhere};

const DEAD: &str = "node-dead";
const LIVE: &str = "node-live";

/// The words of the ticket about a job: each line that names it under a heading's rest.
fn lines<'t>(ticket: &'t str, with: &str) -> Vec<&'t str> {
    ticket.lines().filter(|line| line.contains(with)).collect()
}

/// Three jobs asked for their recovery: one goes with the bundle, one runs elsewhere, one is free.
#[test]
fn nobody_is_sent_to_start_what_is_gone_or_runs() {
    for (server, release) in everywhere("cases::next_steps") {
        let store = Store::new(server, release);
        let once = [("name", "once"), ("group_name", GROUP), ("nonconcurrent", "1"), ("durable", "0")];
        store.add("job", MINE, &once);
        let ended = [("type", "SIMPLE"), ("next_fire_time", "-1")];
        store.add(
            "trigger",
            MINE,
            &[
                &[("name", "t-once"), ("group_name", GROUP), ("job_name", "once"), ("job_group", GROUP)][..],
                &[("state", "COMPLETE"), ("misfire", "0"), ("prev_fire_time", "-1")],
                &ended,
            ]
            .concat(),
        );
        for (job, trigger) in [("twice", "t-twice"), ("free", "t-free")] {
            store.job(MINE, job);
            store.trigger(MINE, (GROUP, trigger), job, "BLOCKED");
        }
        for (entry, job) in [("e1", "once"), ("e2", "twice"), ("e3", "free")] {
            store.runs(MINE, entry, (GROUP, &format!("t-{job}")), (job, DEAD), "1");
        }
        store.runs(MINE, "e4", (GROUP, "t-twice"), ("twice", LIVE), "1");
        let args = store.scoped(&["--dead-owner", DEAD, "--recovery", "drop"]);
        let run = store.0.plan("dead-instances", "b", &args).expect(0);
        assert!(run.out.contains("Danger") && run.out.contains(LIVE), "{}", run.out);
        let ticket = store.ticket("b");
        let head = ticket.split("| approval").next().unwrap();
        assert!(head.contains("**Danger**") && head.contains(".twice") && head.contains("e4"), "{head}");
        assert!(!head.contains(".once must not"), "{head}");
        let gone = lines(&ticket, "**Deleted by this bundle**");
        assert!(gone.len() == 1 && gone[0].contains(".once") && !gone[0].contains(".free"), "{gone:?}");
        let twice = lines(&ticket, "**Not by hand now**");
        assert!(twice.len() == 1 && twice[0].contains(".twice") && !twice[0].contains(".once"), "{twice:?}");
        let free = lines(&ticket, "by hand if the work is still wanted");
        let others = free.iter().any(|line| line.contains(".once") || line.contains(".twice"));
        assert!(free.len() == 1 && free[0].contains(".free") && !others, "{free:?}");
        // With the other instance dead, too, both runs go: nothing is in the way.
        let args = store.scoped(&["--dead-owner", DEAD, "--dead-owner", LIVE, "--recovery", "drop"]);
        let run = store.0.plan("dead-instances", "c", &args).expect(0);
        assert!(!run.out.contains("Danger"), "{}", run.out);
        assert!(lines(&store.ticket("c"), "**Not by hand now**").is_empty());
    }
}

/// Overdue triggers that act at once are counted and named, each by its own rule; the way to hold
/// them back stands beside them, and with it nothing starts.
#[test]
fn what_fires_at_once_stands_at_the_head() {
    for (server, release) in everywhere("cases::next_steps") {
        let store = Store::new(server, release);
        store.job(MINE, "j1");
        let triggers = [("once", "0", true), ("waits", "2", false), ("now", "1", true)];
        for (name, misfire, _) in triggers {
            store.trigger_with(MINE, (GROUP, name), "j1", "ACQUIRED", &[("misfire", misfire)]);
        }
        store.trigger_with(MINE, (GROUP, "later"), "j1", "ACQUIRED", &[("next_fire_time", "4000000000000")]);
        for (name, repeat) in [("endless", "-1"), ("shot", "0")] {
            let key = [("name", name), ("group_name", GROUP)];
            let job = [("job_name", "j1"), ("job_group", GROUP), ("state", "ACQUIRED"), ("type", "SIMPLE")];
            let times = [("next_fire_time", "1700000000000"), ("prev_fire_time", "-1"), ("misfire", "0")];
            store.add("trigger", MINE, &[&key[..], &job, &times].concat());
            store.add("simple_trigger", MINE, &[&key[..], &[("repeat_count", repeat)]].concat());
        }
        let run = store.0.plan("orphan-triggers", "b", &store.scoped(&[])).expect(0);
        assert!(run.out.contains("Starts by itself"), "{}", run.out);
        let ticket = store.ticket("b");
        let head = ticket.split("| approval").next().unwrap();
        let said = head.lines().find(|line| line.contains("fire with the next scan")).unwrap();
        assert!(said.contains("(3)") && said.contains("--release-to paused"), "{said}");
        for name in ["once", "now", "shot"] {
            assert!(said.contains(&format!("{GROUP}.{name} ")), "{name}: {said}");
        }
        for name in ["waits", "later", "endless"] {
            assert!(!said.contains(&format!("{GROUP}.{name} ")), "{name}: {said}");
        }
        let run = store.0.plan("orphan-triggers", "p", &store.scoped(&["--release-to", "paused"])).expect(0);
        assert!(!run.out.contains("Starts by itself"), "{}", run.out);
        assert!(!store.ticket("p").contains("**Starts by itself**"));
    }
}

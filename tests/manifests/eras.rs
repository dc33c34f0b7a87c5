//! Which states a repair may close, era by era: the sets that the recipes stand on.

use std::collections::BTreeSet;

use flowmend::manifest::{Manifest, Manifests, version_order};

/// The sets of one era. It ends where the next begins.
struct Era {
    first: &'static str,
    /// A task that may have a process.
    task_active: &'static [&'static str],
    /// A run that a master may be working on, or that waits for one.
    run_active: &'static [&'static str],
    /// A run that nobody goes on with by itself.
    run_finished: &'static [&'static str],
    /// A run that masters take over by themselves when its own master is gone.
    recovered: &'static [&'static str],
}

/// 9 is legal for a run up to 3.0.x (one enum for runs and tasks), though masters write 5 there;
/// 10 counts as finished up to 1.2.1 and as active from 1.3.0 to 3.0.x. Masters of 3.0.x also take
/// over 17, which only a task can have there.
const ERAS: [Era; 8] = [
    Era {
        first: "1.0.0",
        task_active: &["0", "1", "11"],
        run_active: &["0", "1", "2", "4", "11"],
        run_finished: &["3", "5", "6", "7", "9", "10"],
        recovered: &["0", "1", "2", "4"],
    },
    Era {
        first: "1.3.0",
        task_active: &["0", "1", "11"],
        run_active: &["0", "1", "2", "4", "10", "11"],
        run_finished: &["3", "5", "6", "7", "9"],
        recovered: &["0", "1", "2", "4"],
    },
    Era {
        first: "2.0.0",
        task_active: &["0", "1", "11", "12"],
        run_active: &["0", "1", "2", "4", "10", "11", "12"],
        run_finished: &["3", "5", "6", "7", "9"],
        recovered: &["0", "1", "2", "4", "12"],
    },
    Era {
        first: "3.0.0",
        task_active: &["0", "1", "11", "12", "17"],
        run_active: &["0", "1", "2", "4", "10", "11", "12", "14", "15"],
        run_finished: &["3", "5", "6", "7", "9", "16"],
        recovered: &["0", "1", "2", "4", "12"],
    },
    Era {
        first: "3.1.0",
        task_active: &["0", "1", "12", "17"],
        run_active: &["0", "1", "2", "4", "12", "14", "15"],
        run_finished: &["3", "5", "6", "7", "16"],
        recovered: &["0", "1", "2", "4", "12"],
    },
    Era {
        first: "3.2.0",
        task_active: &["0", "1", "12", "17"],
        run_active: &["0", "1", "2", "4", "12", "14", "15", "17"],
        run_finished: &["3", "5", "6", "7", "16"],
        recovered: &["0", "1", "2", "4", "12"],
    },
    Era {
        first: "3.3.0",
        task_active: &["0", "1", "12", "17"],
        run_active: &["0", "1", "2", "4", "14", "17", "18"],
        run_finished: &["3", "5", "6", "7"],
        recovered: &["1", "2", "4"],
    },
    Era {
        first: "3.4.0",
        task_active: &["0", "1", "12", "17"],
        run_active: &["0", "1", "2", "4", "14", "18"],
        run_finished: &["3", "5", "6", "7"],
        recovered: &["1", "2", "4"],
    },
];

#[test]
fn active_and_finished_states_of_each_era() {
    let manifests = Manifests::load(None).unwrap();
    for m in manifests.of("dolphinscheduler").unwrap() {
        let era = era(&m.generation);
        let place = format!("{} (era of {})", m.generation, era.first);
        assert_eq!(codes(m, "task_instance.state", false), set(era.task_active), "{place}: active tasks");
        assert_eq!(codes(m, "workflow_instance.state", false), set(era.run_active), "{place}: active runs");
        assert_eq!(codes(m, "workflow_instance.state", true), set(era.run_finished), "{place}: finished runs");
        let recovered =
            m.behaviour["self_recovered_states"].as_array().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(set(era.recovered), recovered, "{place}: runs that masters take over");
    }
}

/// The codes that recipes count on mean the same in every release.
#[test]
fn codes_that_never_changed() {
    let manifests = Manifests::load(None).unwrap();
    for m in manifests.of("dolphinscheduler").unwrap() {
        for (code, phase) in [("1", "running"), ("6", "failed"), ("7", "succeeded")] {
            for column in ["task_instance.state", "workflow_instance.state"] {
                let state = m.states(column).unwrap().by_code(code).unwrap();
                assert_eq!(state.phase, phase, "{} {column} {code}", m.generation);
            }
        }
        assert_eq!(
            m.states("workflow_instance.state").unwrap().by_code("4").unwrap().phase,
            "stopping",
            "{}",
            m.generation
        );
        assert_eq!(m.states("task_instance.state").unwrap().by_code("9").unwrap().phase, "killed", "{}", m.generation);
    }
}

/// What the recipes for schedules, twins and families ask of a release.
#[test]
fn behaviours_of_families() {
    let manifests = Manifests::load(None).unwrap();
    for m in manifests.of("dolphinscheduler").unwrap() {
        let since = |release: &str| version_order(&m.generation) >= version_order(release);
        for (name, holds) in [
            ("tasks_known_by_name", !since("2.0.0") || since("3.3.0")),
            ("failover_maps_tasks", since("3.3.0")),
            ("child_comes_by_command", !since("3.3.0")),
            ("parents_watch_children", !since("2.0.6") || since("3.0.0")),
            ("blocked_child_fails_parent", since("3.2.0") && !since("3.3.0")),
            ("failover_doubles_children", since("3.3.0") && !since("3.4.0")),
        ] {
            assert_eq!(m.behaviour[name].as_bool(), Some(holds), "{} {name}", m.generation);
        }
        let code = m.behaviour["scheduled_command"].to_string();
        let kind = m.states("command.type").unwrap().by_code(&code).unwrap();
        assert_eq!(m.behaviour["scheduled_word"].as_str(), Some(kind.name.as_str()), "{}", m.generation);
        assert!(m.has("workflow_instance.history"), "{}", m.generation);
    }
}

fn era(generation: &str) -> &'static Era {
    ERAS.iter().rev().find(|e| version_order(e.first) <= version_order(generation)).unwrap()
}

fn codes(m: &Manifest, column: &str, finished: bool) -> BTreeSet<String> {
    m.states(column).unwrap().codes(|s| s.legal && s.finished == finished).into_iter().collect()
}

fn set(codes: &[&str]) -> BTreeSet<String> {
    codes.iter().map(|c| (*c).to_owned()).collect()
}

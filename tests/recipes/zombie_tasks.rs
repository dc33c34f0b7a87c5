//! What zombie-tasks makes of rows that are not as usual: borrowed states, test runs,
//! runs without an owner, backfills.

use super::family::{Fixture, START, everywhere};

const FINISH: [&str; 4] = ["--dead-owner", "10.0.0.9", "--choose", "finish"];
const ALL_DEAD: [&str; 4] = ["--dead-owner", "*", "--choose", "finish"];

/// Up to 3.0.6 a run's state on a task holds its run open: it ends as the run's other tasks do.
#[test]
fn borrowed_states_end_as_the_run_does() {
    everywhere("zombie_tasks", |f, release| {
        let states: &[&str] = match release {
            "1.2.1" => &["2", "4"],
            "1.3.9" | "2.0.9" => &["2", "4", "10"],
            "3.0.6" => &["2", "4", "10", "14", "15"],
            _ => return,
        };
        for (outcome, failed) in [("failed", "6"), ("killed", "9")] {
            f.run("1", "4", "10.0.0.9", &[]).run("2", "1", "10.0.0.9", &[]).run("3", "6", "10.0.0.9", &[]);
            let mut expected = Vec::new();
            for (run, end) in [("1", "9"), ("2", failed), ("3", failed)] {
                for state in states {
                    let id = format!("{run}{state}");
                    f.task(&id, run, state, state, "1");
                    expected.push((id, end));
                }
            }
            let filled = f.database();
            filled.plan("zombie-tasks", "b", &[&FINISH[..], &["--outcome", outcome]].concat()).expect(0);
            filled.apply("b");
            for (id, end) in expected {
                let what = format!("{:?} {release} {outcome}: task {id}", f.server);
                assert_eq!(filled.value("task_instance", &id, "state").as_deref(), Some(end), "{what}");
            }
        }
    });
}

/// 3.2.x: masters do not read a task of another test flag than its run's.
#[test]
fn a_task_of_another_test_flag_is_not_valid() {
    everywhere("zombie_tasks", |f, release| {
        f.run("1", "1", "10.0.0.9", &[]).task("1", "1", "a", "1", "1").task("2", "1", "b", "1", "1");
        f.run("2", "6", "10.0.0.9", &[]).task("3", "2", "a", "1", "1");
        let filled = f.database();
        let what = format!("{:?} {release}", f.server);
        let knows = filled.m.has("task_instance.test_flag");
        assert_eq!(knows, release == "3.2.2", "{what}");
        if !knows {
            return;
        }
        // NULL, as an upgrade leaves it, is no flag.
        for (role, id, value) in
            [("workflow_instance", "1", "0"), ("task_instance", "2", "1"), ("task_instance", "3", "1")]
        {
            filled.set(role, id, "test_flag", Some(value));
        }
        filled.plan("zombie-tasks", "b", &FINISH).expect(0);
        assert_eq!(filled.planned("b"), ["task_instance 1", "workflow_instance 1"], "{what}");
        filled.apply("b");
        assert_eq!(filled.states("task_instance"), "1=6 2=1 3=1", "{what}");
    });
}

fn is_broken(f: &Fixture) -> bool {
    f.m.behaviour["null_owner_breaks_failover"].as_bool().unwrap()
}

/// 2.0.2 to 3.2.2: one such run stops the failover of all.
#[test]
fn runs_without_an_owner_are_shown_first_and_can_be_closed() {
    everywhere("zombie_tasks", |f, release| {
        if !is_broken(f) {
            return;
        }
        f.run("1", "1", "10.0.0.9", &[]).task("1", "1", "t", "1", "1");
        for (run, state) in [("2", "1"), ("3", "0"), ("4", "1")] {
            f.run(run, state, "10.0.0.9", &[]);
        }
        f.task("4", "4", "t", "1", "1");
        let filled = f.database();
        for (run, column) in [("2", "host"), ("3", "host"), ("3", "start_time"), ("4", "start_time")] {
            filled.set("workflow_instance", run, column, None);
        }
        let what = format!("{:?} {release}", f.server);
        let text = filled.inspect(&["--explain"]);
        let found = text.find("Findings").unwrap();
        assert!(text[found..].lines().nth(1).unwrap().contains("urgent: run-breaks-failover"), "{what}: {text}");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let owner = filled.value("workflow_instance", "4", "host").unwrap();
        for said in [
            "flowmend plan zombie-tasks --instance 2 --dead-owner '*' --choose finish.".to_owned(),
            "flowmend plan zombie-tasks --instance 3 --dead-owner '*' --choose finish, without --older-than".to_owned(),
            format!("flowmend plan zombie-tasks --instance 4 --dead-owner {owner} --choose finish, without"),
        ] {
            assert!(text.contains(&said), "{what}: no `{said}` in {text}");
        }
        let asked = filled.plan("zombie-tasks", "b", &ALL_DEAD[..2]).expect(2);
        assert!(asked.err.contains("stop the recovery of all others: finish those"), "{what}: {}", asked.err);
        let left = filled.left_out("zombie-tasks", &["--dead-owner", "*", "--choose", "resume"]);
        assert_eq!(left, ["breaks-failover 2,3,4"], "{what}");
        filled.plan("zombie-tasks", "b", &ALL_DEAD).expect(0);
        filled.apply("b");
        assert_eq!(filled.states("workflow_instance"), "1=6 2=6 3=6 4=6", "{what}");
        assert_eq!(filled.states("task_instance"), "1=6 4=6", "{what}");
        assert!(!filled.quiet_inspect().contains(&"run-breaks-failover".to_owned()), "{what}");
    });
}

/// SQL does not start the next date of a backfill: the runs are named.
#[test]
fn runs_of_backfills_are_named() {
    let kind = |kind: &'static str, history: &'static str| [("command_type", kind), ("history", history)];
    everywhere("zombie_tasks", |f, release| {
        f.run("11", "1", "10.0.0.9", &kind("5", "COMPLEMENT_DATA"));
        f.run("12", "4", "10.0.0.9", &kind("7", "COMPLEMENT_DATA,REPEAT_RUNNING"));
        f.run("13", "1", "10.0.0.9", &kind("6", "SCHEDULER"));
        f.run("14", "1", "10.0.0.9", &[&kind("5", "COMPLEMENT_DATA")[..], &[("is_sub", "1")]].concat());
        for (task, run) in [("1", "11"), ("2", "12"), ("3", "13"), ("4", "14")] {
            f.task(task, run, "t", "1", "1");
        }
        f.handed_over("15", &kind("5", "COMPLEMENT_DATA")).task("5", "15", "t", "1", "1");
        let filled = f.database();
        let what = format!("{:?} {release}", f.server);
        for (recipe, runs) in [("zombie-tasks", "11, 12"), ("stranded-runs", "15")] {
            filled.plan(recipe, recipe, &FINISH).expect(0);
            let ticket = std::fs::read_to_string(filled.db.path(recipe).join("TICKET.md")).unwrap();
            let said = format!("Start the dates after these runs by hand, if they are wanted: {runs}.");
            assert!(ticket.contains(&said), "{what} {recipe}: {ticket}");
        }
        let text = filled.inspect(&["--explain", "--dead-owner", "10.0.0.9"]);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.matches("It is a run of a backfill").count(), 3, "{what}: {text}");
        assert!(text.contains(START), "{what}");
    });
}

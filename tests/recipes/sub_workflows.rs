//! Parents and sub-workflows that disagree, and what zombie-tasks makes of families.

use super::family::{END, Filled, Fixture, START, everywhere};
use crate::support::db::{Server, same};
use crate::support::program::{on_bundle, sealed};

/// Alone: what it uncovers for other recipes stays.
const FINISH: [&str; 6] = ["--dead-owner", "10.0.0.9", "--children", "finish", "--choose", "resume"];
const KEEP: [&str; 6] = ["--dead-owner", "10.0.0.9", "--children", "keep", "--choose", "resume"];
const ZOMBIES: [&str; 4] = ["--dead-owner", "10.0.0.9", "--choose", "finish"];
/// The serial row of run 32.
const SERIAL: i64 = 100;
const SUB: [(&str, &str); 1] = [("is_sub", "1")];

/// A parent on a host with one unfinished task of its own number, and its child.
fn family(f: &mut Fixture, parent: (&str, &str, &str), child: (&str, &str, &str)) {
    f.run(parent.0, parent.1, parent.2, &[]).task(parent.0, parent.0, "sub", "1", "1");
    f.run(child.0, child.1, child.2, &SUB).relation(parent.0, parent.0, child.0);
}

fn has_never_started(f: &Fixture) -> bool {
    f.m.behaviour["child_comes_by_command"].as_bool().unwrap()
}

fn incident(f: &mut Fixture) -> Filled {
    // The child ended, the parent's master died before it saw that.
    for (parent, child, state) in [("1", "11", "7"), ("2", "12", "6"), ("3", "13", "5"), ("4", "14", "3")] {
        family(f, (parent, "1", "10.0.0.9"), (child, state, "10.0.0.1"));
    }
    family(f, ("5", "1", "10.0.0.1"), ("15", "7", "10.0.0.1"));
    family(f, ("6", "1", "10.0.0.9"), ("16", "1", "10.0.0.1"));
    family(f, ("7", "1", "10.0.0.9"), ("17", "7", "10.0.0.1"));
    f.command("17");
    family(f, ("8", "6", "10.0.0.9"), ("18", "7", "10.0.0.1"));
    // The child was announced and never started; or it is about to.
    for run in ["21", "22"] {
        f.run(run, "1", "10.0.0.9", &[]).task(run, run, "sub", "0", "1").relation(run, run, "0");
    }
    f.start_of_child("22", "22");
    // The child outlived its parent.
    for (parent, child, host) in [("31", "32", "10.0.0.9"), ("33", "34", "10.0.0.1"), ("35", "36", "10.0.0.9")] {
        f.run(parent, "5", "10.0.0.1", &[]).task(parent, parent, "sub", "9", "1");
        f.run(child, "1", host, &SUB).relation(parent, parent, child).task(child, child, "t", "1", "1");
    }
    f.command("35").serial_row(SERIAL, "32", "32").task("132", "32", "old", "1", "0");
    f.run("37", "5", "10.0.0.1", &[]).task("37", "37", "sub", "9", "1").relation("37", "37", "38");
    family(f, ("38", "1", "10.0.0.9"), ("39", "1", "10.0.0.9"));
    f.database()
}

#[test]
fn tasks_get_the_childs_end_and_orphans_are_stopped_when_asked() {
    everywhere("sub_workflows", |f, release| {
        let filled = incident(f);
        let what = format!("{:?} {release}", f.server);
        let before = filled.db.dump();
        filled.plan("sub-workflows", "b", &FINISH).expect(0);
        let never = has_never_started(f).then_some("21");
        let tasks = ["1", "2", "3", "4"].into_iter().chain(never).chain(["32"]);
        let mut planned: Vec<String> = tasks.map(|id| format!("task_instance {id}")).collect();
        planned.push("workflow_instance 32".to_owned());
        planned.extend(filled.m.has("serial_command").then(|| format!("serial_command {SERIAL}")));
        assert_eq!(filled.planned("b"), planned, "{what}");
        filled.apply("b");
        let mut ends = vec![("1", "7", END), ("2", "6", END), ("3", "9", END), ("4", "3", END), ("32", "9", START)];
        ends.extend(never.map(|id| (id, "6", START)));
        for (id, state, end) in ends {
            assert_eq!(filled.value("task_instance", id, "state").as_deref(), Some(state), "{what}: task {id}");
            assert_eq!(filled.value("task_instance", id, "end_time").as_deref(), Some(end), "{what}: task {id}");
        }
        for (id, state) in [
            ("5", "1"),
            ("6", "1"),
            ("7", "1"),
            ("8", "1"),
            ("22", "0"),
            ("34", "1"),
            ("36", "1"),
            ("38", "1"),
            ("132", "1"),
        ] {
            assert_eq!(filled.value("task_instance", id, "state").as_deref(), Some(state), "{what}: task {id}");
        }
        for (id, state) in [
            ("1", "1"),
            ("4", "1"),
            ("16", "1"),
            ("21", "1"),
            ("32", "5"),
            ("34", "1"),
            ("36", "1"),
            ("38", "1"),
            ("39", "1"),
        ] {
            assert_eq!(filled.value("workflow_instance", id, "state").as_deref(), Some(state), "{what}: run {id}");
        }
        sealed("rollback", &filled.db, "b", &[]).expect(0);
        same(&filled.db.dump(), &before, &what);
        on_bundle("verify", &filled.db, "b").expect(0);
    });
}

#[test]
fn nobody_stops_an_orphan_silently() {
    everywhere("sub_workflows", |f, release| {
        let filled = incident(f);
        let what = format!("{:?} {release}", f.server);
        let run = filled.plan("sub-workflows", "b", &FINISH[..2]).expect(2);
        assert!(run.err.contains("--children finish") && run.err.contains("--children keep"), "{what}: {}", run.err);
        assert!(!filled.db.path("b").exists());
        filled.plan("sub-workflows", "b", &KEEP).expect(0);
        assert!(
            filled.planned("b").iter().all(|row| row.starts_with("task_instance ") && row != "task_instance 32"),
            "{what}"
        );
        // The other recipe that could close it keeps it, too.
        let both = [&ZOMBIES[..], &KEEP[2..4]].concat();
        let left = filled.left_out("zombie-tasks", &both);
        assert!(left.iter().any(|l| l.starts_with("kept 32")), "{what}: {left:?}");
    });
}

#[test]
fn what_may_go_on_is_left_out_with_its_reason() {
    everywhere("sub_workflows", |f, release| {
        let mut expected =
            vec!["child-rerun 7", "owner-may-live 5", "owner-may-live 34", "parent-rerun 36", "sub-workflow 38"];
        match release {
            // The start's JSON names the parent, which is enough for these releases' own look.
            "1.2.1" | "1.3.9" => expected.insert(4, "pending-command 22"),
            "3.3.2" | "3.4.1" => {}
            _ => expected[0] = "child-rerun 7,22",
        }
        let mut left = incident(f).left_out("sub-workflows", &FINISH);
        left.sort_by_key(|l| (l.split(' ').next().unwrap().to_owned(), l.len()));
        expected.sort_unstable_by_key(|l| (l.split(' ').next().unwrap(), l.len()));
        assert_eq!(left, expected, "{:?} {release}", f.server);
    });
}

#[test]
fn an_end_that_says_nothing_is_left_out() {
    everywhere("sub_workflows", |f, release| {
        let blocked = f.m.states["workflow_instance.state"].by_code("16").is_some_and(|s| s.legal);
        if !blocked {
            return;
        }
        family(f, ("1", "1", "10.0.0.9"), ("2", "16", "10.0.0.1"));
        let filled = f.database();
        if release == "3.2.2" {
            filled.plan("sub-workflows", "b", &FINISH).expect(0);
            filled.apply("b");
            assert_eq!(
                filled.value("task_instance", "1", "state").as_deref(),
                Some("6"),
                "every end but success failed the task"
            );
        } else {
            assert_eq!(filled.left_out("sub-workflows", &FINISH), ["child-end-unknown 1"], "{release}");
        }
    });
}

/// 3.2: one task of a parent may have many children.
#[test]
fn a_task_that_sums_up_several_children_is_left_out() {
    for release in ["3.2.0", "3.2.2"] {
        let mut f = Fixture::new(Server::Sqlite, release).unwrap();
        f.run("1", "1", "10.0.0.9", &[]).task("1", "1", "d", "1", "1");
        f.run("2", "7", "10.0.0.1", &SUB).run("3", "1", "10.0.0.9", &SUB).task("3", "3", "t", "1", "1");
        f.dynamic("1", "d", "2").dynamic("1", "d", "3");
        let filled = f.database();
        filled.plan("zombie-tasks", "b", &ZOMBIES).expect(0);
        let order = ["task_instance 3", "workflow_instance 3", "task_instance 1", "workflow_instance 1"];
        assert_eq!(filled.planned("b"), order, "{release}");
        // The other recipe does not know what several children mean together.
        filled.db.exec("UPDATE t_ds_process_instance SET state = 6 WHERE id = 3");
        let left = filled.left_out("sub-workflows", &FINISH);
        assert!(left.contains(&"dynamic-task 1".to_owned()), "{release}: {left:?}");
    }
}

/// Run 41's task was cloned by a failover: the old row has child 42, the valid one child 44.
fn two_children(f: &mut Fixture, second: &str) -> Filled {
    f.run("41", "1", "10.0.0.1", &[]).task("41", "41", "sub", "8", "0").task("43", "41", "sub", "1", "1");
    f.run("42", "1", second, &SUB)
        .run("44", "1", "10.0.0.1", &SUB)
        .relation("41", "41", "42")
        .relation("41", "43", "44");
    f.task("142", "42", "t", "1", "1").task("144", "44", "t", "1", "1");
    f.database()
}

/// 3.3: a failover of the parent may have started a second child.
#[test]
fn a_second_child_is_shown_and_not_written_silently() {
    everywhere("sub_workflows", |f, release| {
        let filled = two_children(f, "10.0.0.1");
        if release != "3.3.2" {
            assert!(filled.quiet_inspect().iter().all(|code| code != "two-children"), "{release}");
            return;
        }
        let text = filled.inspect(&["--explain"]).split_whitespace().collect::<Vec<_>>().join(" ");
        for said in [
            "is one of 2 unfinished sub-workflows",
            "The parent waits for run 44",
            "--stop-second-children",
            "keep it",
            "#16767",
        ] {
            assert!(text.contains(said), "{:?}: no `{said}` in {text}", f.server);
        }
        let dead = two_children(f, "10.0.0.9");
        dead.plan("sub-workflows", "b", &FINISH).expect(0);
        assert!(!dead.db.path("b").exists(), "nobody asked for it");
    });
}

#[test]
fn a_second_child_is_stopped_when_asked() {
    const STOP: &str = "--stop-second-children";
    everywhere("sub_workflows", |f, release| {
        if release != "3.3.2" {
            return;
        }
        let filled = two_children(f, "10.0.0.9");
        let (what, before) = (format!("{:?}", f.server), filled.db.dump());
        let asked = [&FINISH[..], &[STOP]].concat();
        filled.plan("sub-workflows", "b", &asked).expect(0);
        assert_eq!(filled.planned("b"), ["task_instance 142", "workflow_instance 42"], "{what}");
        filled.apply("b");
        assert_eq!(filled.states("task_instance"), "41=8 43=1 142=9 144=1", "{what}");
        assert_eq!(filled.states("workflow_instance"), "41=1 42=5 44=1", "{what}");
        sealed("rollback", &filled.db, "b", &[]).expect(0);
        same(&filled.db.dump(), &before, &what);
        // Its master may live; and the task that waits for the other one may move.
        let left = two_children(f, "10.0.0.1").left_out("sub-workflows", &asked);
        assert_eq!(left, ["owner-may-live 42"], "{what}");
        two_children(f, "10.0.0.9").refuses(
            "sub-workflows",
            &asked,
            &[
                ("task_instance", "41", "flag", "1", "one of these is not true of each any more"),
                ("workflow_instance", "42", "host", "10.0.0.2", "is not true of each any more"),
            ],
        );
        // Two valid tasks: nobody knows which child is the right one.
        let filled = two_children(f, "10.0.0.9");
        filled.set("task_instance", "41", "flag", Some("1"));
        filled.plan("sub-workflows", "b", &asked).expect(0);
        assert!(!filled.db.path("b").exists(), "{what}");
    });
}

/// A run that outlived its parent takes all below it along: nobody waits for any of it.
#[test]
fn a_family_that_outlived_its_parent_is_stopped_whole() {
    everywhere("sub_workflows", |f, release| {
        f.run("1", "5", "10.0.0.1", &[]).task("1", "1", "sub", "9", "1");
        f.run("2", "1", "10.0.0.9", &SUB).relation("1", "1", "2").task("2", "2", "sub", "1", "1");
        f.run("3", "1", "10.0.0.9", &SUB).relation("2", "2", "3").task("3", "3", "sub", "1", "1");
        f.run("4", "1", "10.0.0.9", &SUB).relation("3", "3", "4").task("4", "4", "t", "1", "1");
        // Below it, but over: its zombie task is of a run that failed.
        f.task("25", "2", "over", "6", "1");
        f.run("5", "6", "10.0.0.9", &SUB).relation("2", "25", "5").task("5", "5", "t", "1", "1");
        // A family of its own, whose head may live: the child below ends as any other.
        f.run("6", "5", "10.0.0.1", &[]).task("6", "6", "sub", "9", "1");
        f.run("7", "1", "10.0.0.1", &SUB).relation("6", "6", "7").task("7", "7", "sub", "1", "1");
        f.run("8", "1", "10.0.0.9", &SUB).relation("7", "7", "8").task("8", "8", "t", "1", "1");
        let filled = f.database();
        let what = format!("{:?} {release}", f.server);
        filled.plan("zombie-tasks", "b", &[&ZOMBIES[..], &["--children", "finish"]].concat()).expect(0);
        filled.apply("b");
        // 2.0.9: a living parent would never see the child's row.
        let (task, run) = if release == "2.0.9" { ("8=1", "8=1") } else { ("8=6", "8=6") };
        assert_eq!(filled.states("task_instance"), format!("1=9 2=9 3=9 4=9 5=6 6=9 7=1 {task} 25=6"), "{what}");
        assert_eq!(filled.states("workflow_instance"), format!("1=5 2=5 3=5 4=5 5=6 6=5 7=1 {run}"), "{what}");
    });
}

#[test]
fn inspect_says_what_waits_and_why_nothing_wakes_it() {
    everywhere("sub_workflows", |f, release| {
        let text = incident(f)
            .inspect(&["--explain", "--dead-owner", "10.0.0.9"])
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let mut said = vec![
            format!("Task 1 (sub) of run 1 waits for its sub-workflow, run 11. That run has ended (state 7, at {END})"),
            "#10446".to_owned(),
            "Run 32 (wf) is a sub-workflow of run 31, which is over (state 5)".to_owned(),
            "--children keep".to_owned(),
        ];
        said.extend(
            has_never_started(f)
                .then(|| format!("Task 21 (sub) of run 21 waits since {START} for a sub-workflow that was announced")),
        );
        for said in said {
            assert!(text.contains(&said), "{:?} {release}: no `{said}` in {text}", f.server);
        }
    });
}

#[test]
fn a_change_between_plan_and_apply_is_refused() {
    everywhere("sub_workflows", |f, _| {
        incident(f).refuses(
            "sub-workflows",
            &FINISH,
            &[
                ("task_instance", "1", "state", "7", "1 moved: state was"),
                ("workflow_instance", "1", "host", "10.0.0.2", "one of these is not true of each any more"),
                ("workflow_instance", "31", "state", "1", "one of these is not true of each any more"),
                // The child runs again, or ended otherwise: no row of the plan, but what it was made from.
                ("workflow_instance", "11", "state", "1", "no_open_child"),
                ("workflow_instance", "11", "state", "6", "says_what_child_says"),
            ],
        );
    });
}

/// Child, then the parent's task, then the parent: one step uncovers the next.
#[test]
fn a_dead_family_is_closed_from_below() {
    everywhere("sub_workflows", |f, release| {
        family(f, ("1", "1", "10.0.0.9"), ("2", "1", "10.0.0.9"));
        f.task("12", "2", "sub", "1", "1")
            .run("3", "1", "10.0.0.9", &SUB)
            .relation("2", "12", "3")
            .task("13", "3", "t", "1", "1");
        let filled = f.database();
        let what = format!("{:?} {release}", f.server);
        let before = filled.db.dump();
        filled.plan("zombie-tasks", "b", &ZOMBIES).expect(0);
        let order = ["task_instance 13", "workflow_instance 3", "task_instance 12", "workflow_instance 2"];
        let order = [&order[..], &["task_instance 1", "workflow_instance 1"]].concat();
        assert_eq!(filled.planned("b"), order, "{what}");
        filled.apply("b");
        assert_eq!(filled.states("task_instance"), "1=6 12=6 13=6", "{what}");
        assert_eq!(filled.states("workflow_instance"), "1=6 2=6 3=6", "{what}");
        sealed("rollback", &filled.db, "b", &[]).expect(0);
        assert_eq!(filled.db.dump(), before, "{what}");
        // One recipe at a time, the parents left to their masters.
        filled.plan("sub-workflows", "none", &FINISH).expect(0);
        assert!(!filled.db.path("none").exists(), "{what}: nothing to agree on while the child is open");
    });
}

#[test]
fn a_ring_of_parents_is_left_out() {
    everywhere("sub_workflows", |f, release| {
        // Two that wait for each other; one whose child is its own parent; one that is its own child.
        family(f, ("51", "1", "10.0.0.9"), ("52", "1", "10.0.0.9"));
        f.task("52", "52", "sub", "1", "1").relation("52", "52", "51");
        family(f, ("53", "1", "10.0.0.9"), ("54", "7", "10.0.0.9"));
        f.relation("54", "54", "53");
        f.run("55", "1", "10.0.0.9", &[]).task("55", "55", "sub", "1", "1").relation("55", "55", "55");
        let filled = f.database();
        let what = format!("{:?} {release}", f.server);
        assert_eq!(filled.left_out("zombie-tasks", &ZOMBIES), ["relation-cycle 51,52,53,55"], "{what}");
        assert_eq!(filled.left_out("sub-workflows", &FINISH), ["relation-cycle 53", "relation-cycle 53"], "{what}");
    });
}

/// 2.0.6 to 2.0.9: a living parent would never see that SQL closed its child.
#[test]
fn a_child_of_a_living_parent_is_closed_where_the_parent_looks() {
    everywhere("sub_workflows", |f, release| {
        family(f, ("1", "1", "10.0.0.1"), ("2", "1", "10.0.0.9"));
        f.task("2", "2", "t", "1", "1");
        let filled = f.database();
        let left = filled.left_out("zombie-tasks", &ZOMBIES);
        let what = format!("{:?} {release}", f.server);
        if release == "2.0.9" {
            assert_eq!(left, ["owner-may-live 1", "parent-may-live 2"], "{what}");
        } else {
            assert_eq!(left, ["owner-may-live 1", "owner-may-live 1"], "{what}: run and task");
            filled.plan("zombie-tasks", "b", &ZOMBIES).expect(0);
            assert_eq!(filled.planned("b"), ["task_instance 2", "workflow_instance 2"], "{what}");
        }
    });
}

#[test]
fn a_parent_whose_child_is_about_to_start_is_left_out() {
    everywhere("sub_workflows", |f, release| {
        f.run("1", "1", "10.0.0.9", &[])
            .task("1", "1", "sub", "1", "1")
            .relation("1", "1", "0")
            .start_of_child("1", "1");
        let left = f.database().left_out("zombie-tasks", &ZOMBIES);
        let expected: &[&str] = match release {
            "1.2.1" | "1.3.9" => &["pending-command 1"],
            "3.3.2" | "3.4.1" => &[],
            _ => &["sub-workflow 1"],
        };
        assert_eq!(left, expected, "{:?} {release}", f.server);
    });
}

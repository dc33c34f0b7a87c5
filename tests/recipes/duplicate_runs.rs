//! Two runs of one schedule's slot: one is kept, an unfinished other is stopped.

use super::family::{END, Filled, Fixture, START, everywhere};
use crate::support::db::same;
use crate::support::program::{on_bundle, sealed};

/// Alone: what it uncovers for other recipes stays.
const DEAD: [&str; 4] = ["--dead-owner", "10.0.0.9", "--choose", "resume"];
const SLOT: &str = "2026-11-28 09:00:00";

/// A run that the schedule of a definition started for a slot.
fn scheduled(f: &mut Fixture, id: &str, state: &str, host: &str, definition: &str, more: &[(&str, &str)]) {
    let of = [
        ("definition_code", definition),
        ("definition_id", definition),
        ("schedule_time", SLOT),
        ("command_type", "6"),
        ("history", "SCHEDULER"),
    ];
    let kept: Vec<(&str, &str)> = of.iter().filter(|(n, _)| !more.iter().any(|(m, _)| m == n)).copied().collect();
    f.run(id, state, host, &[&kept[..], more].concat());
}

fn incident(f: &mut Fixture) -> Filled {
    // Both unfinished: the first stays.
    scheduled(f, "1", "1", "10.0.0.1", "100", &[]);
    scheduled(f, "2", "1", "10.0.0.9", "100", &[]);
    // The second one succeeded, so the first goes.
    scheduled(f, "3", "4", "10.0.0.9", "200", &[]);
    scheduled(f, "4", "7", "10.0.0.1", "200", &[]);
    // Both over: nothing to repair.
    scheduled(f, "5", "6", "10.0.0.1", "300", &[]);
    scheduled(f, "6", "7", "10.0.0.1", "300", &[]);
    // On a living master.
    scheduled(f, "7", "7", "10.0.0.1", "400", &[]);
    scheduled(f, "8", "1", "10.0.0.1", "400", &[]);
    // A rerun lost the first kind of command; its history has it.
    scheduled(f, "9", "7", "10.0.0.1", "500", &[("command_type", "7"), ("history", "SCHEDULER,REPEAT_RUNNING")]);
    scheduled(f, "10", "1", "10.0.0.9", "500", &[]);
    // A backfill and a start by hand have no slot; nor has a sub-workflow, or another time.
    scheduled(f, "11", "7", "10.0.0.1", "600", &[]);
    scheduled(f, "12", "1", "10.0.0.9", "600", &[("command_type", "5"), ("history", "COMPLEMENT_DATA")]);
    scheduled(f, "13", "1", "10.0.0.9", "600", &[("is_sub", "1")]);
    scheduled(f, "14", "1", "10.0.0.9", "600", &[("schedule_time", "2026-11-28 10:00:00")]);
    // A command is queued for it.
    scheduled(f, "15", "7", "10.0.0.1", "700", &[]);
    scheduled(f, "16", "1", "10.0.0.9", "700", &[]);
    f.command("16");
    // Its own sub-workflow goes on.
    scheduled(f, "17", "7", "10.0.0.1", "800", &[]);
    scheduled(f, "18", "1", "10.0.0.9", "800", &[]);
    f.run("19", "1", "10.0.0.1", &[("is_sub", "1")]).task("19", "18", "sub", "1", "1").relation("18", "19", "19");
    // Handed over, and nobody comes.
    let slot = [("definition_code", "900"), ("definition_id", "900"), ("schedule_time", SLOT), ("command_type", "6")];
    scheduled(f, "20", "7", "10.0.0.1", "900", &[]);
    f.handed_over("21", &slot);
    for (id, run, state) in [
        ("1", "1", "1"),
        ("2", "2", "1"),
        ("3", "2", "7"),
        ("4", "3", "0"),
        ("5", "8", "1"),
        ("6", "10", "1"),
        ("7", "16", "1"),
    ] {
        f.task(id, run, "t", state, "1");
    }
    f.task("8", "2", "u", "1", "0");
    f.serial_row(4, "2", "100").serial_row(5, "1", "100");
    f.database()
}

#[test]
fn the_second_run_is_stopped() {
    everywhere("duplicate_runs", |f, release| {
        let filled = incident(f);
        let what = format!("{:?} {release}", f.server);
        let before = filled.db.dump();
        filled.plan("duplicate-runs", "b", &DEAD).expect(0);
        let mut planned: Vec<String> = ["2", "4", "6"].map(|id| format!("task_instance {id}")).to_vec();
        planned.extend(["2", "3", "10", "21"].map(|id| format!("workflow_instance {id}")));
        let in_line = filled.m.has("serial_command");
        planned.extend(in_line.then(|| "serial_command 4".to_owned()));
        assert_eq!(filled.planned("b"), planned, "{what}");
        filled.apply("b");
        assert_eq!(filled.states("task_instance"), "1=1 2=9 3=7 4=9 5=1 6=9 7=1 8=1 19=1", "{what}");
        for (id, end) in [("2", END), ("3", START), ("10", START), ("21", START)] {
            assert_eq!(filled.value("workflow_instance", id, "state").as_deref(), Some("5"), "{what}: run {id}");
            assert_eq!(filled.value("workflow_instance", id, "end_time").as_deref(), Some(end), "{what}: run {id}");
        }
        for (id, state) in [
            ("1", "1"),
            ("8", "1"),
            ("12", "1"),
            ("13", "1"),
            ("14", "1"),
            ("16", "1"),
            ("18", "1"),
            ("4", "7"),
            ("5", "6"),
        ] {
            assert_eq!(filled.value("workflow_instance", id, "state").as_deref(), Some(state), "{what}: run {id}");
        }
        sealed("rollback", &filled.db, "b", &[]).expect(0);
        same(&filled.db.dump(), &before, &what);
        on_bundle("verify", &filled.db, "b").expect(0);
    });
}

#[test]
fn what_may_go_on_is_left_out_with_its_reason() {
    everywhere("duplicate_runs", |f, release| {
        let left = incident(f).left_out("duplicate-runs", &DEAD);
        assert_eq!(left, ["owner-may-live 8", "pending-command 16", "sub-workflow 18"], "{:?} {release}", f.server);
    });
}

/// Where closing by SQL wakes nobody, a run with waiters behind it is left out.
#[test]
fn serial_waiters_are_woken_in_the_same_bundle() {
    everywhere("duplicate_runs", |f, release| {
        if !f.m.states["workflow_instance.state"].by_code("14").is_some_and(|s| s.legal) {
            return;
        }
        f.definition("100");
        scheduled(f, "1", "7", "10.0.0.1", "100", &[]);
        scheduled(f, "2", "1", "10.0.0.9", "100", &[]);
        scheduled(f, "3", "14", "10.0.0.9", "100", &[("schedule_time", "2026-11-28 10:00:00")]);
        let filled = f.database();
        filled.plan("duplicate-runs", "b", &[&DEAD[..], &["--waiters", "wake"]].concat()).expect(0);
        let asleep = matches!(release, "3.0.6" | "3.1.9" | "3.2.2");
        let woken = filled.planned("b").contains(&"command 1".to_owned());
        assert_eq!(woken, asleep, "{:?} {release}: {:?}", f.server, filled.planned("b"));
    });
}

#[test]
fn inspect_says_which_run_stays_and_why() {
    everywhere("duplicate_runs", |f, release| {
        let text = incident(f).inspect(&["--explain", "--dead-owner", "10.0.0.9"]);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in [
            "Run 2 (wf) and run 1 are both of the slot 2026-11-28 09:00:00",
            "Run 1 is kept: nobody of the slot succeeded yet, and it came first (state 1)",
            "Run 4 is kept: it succeeded",
            "#15099",
            "stop it by the UI or the API",
        ] {
            assert!(text.contains(said), "{:?} {release}: no `{said}` in {text}", f.server);
        }
    });
}

#[test]
fn a_change_between_plan_and_apply_is_refused() {
    everywhere("duplicate_runs", |f, _| {
        incident(f).refuses(
            "duplicate-runs",
            &DEAD,
            &[
                ("workflow_instance", "21", "end_time", END, "21 moved: end_time was"),
                ("workflow_instance", "2", "host", "10.0.0.2", "one of these is not true of each any more"),
                // The run that is kept.
                ("workflow_instance", "1", "schedule_time", START, "one of these is not true of each any more"),
            ],
        );
    });
}

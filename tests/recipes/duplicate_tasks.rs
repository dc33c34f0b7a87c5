//! Two valid rows of one task: the better one is kept, the other is superseded.

use super::family::{END, Filled, Fixture, START, everywhere};
use crate::support::db::{Server, same};
use crate::support::program::sealed;

/// Alone: what it uncovers for other recipes stays.
const DEAD: [&str; 4] = ["--dead-owner", "10.0.0.9", "--choose", "resume"];

fn incident(f: &mut Fixture) -> Filled {
    f.run("1", "1", "10.0.0.9", &[]).run("2", "1", "10.0.0.1", &[]).run("3", "5", "10.0.0.1", &[]).run(
        "4",
        "6",
        "10.0.0.1",
        &[],
    );
    f.handed_over("5", &[]).run("6", "1", "10.0.0.9", &[]).run("7", "1", "10.0.0.9", &[]);
    // A success before an unfinished one, whatever the order.
    f.task("1", "1", "a", "1", "1").task("2", "1", "a", "7", "1");
    f.task("3", "1", "b", "6", "1").task("4", "1", "b", "1", "1");
    // Both unfinished, both done: the newer one.
    f.task("5", "1", "c", "1", "1").task("6", "1", "c", "0", "1");
    f.task("7", "1", "d", "7", "1").task("8", "1", "d", "7", "1");
    // An earlier attempt is no twin.
    f.task("9", "1", "e", "1", "0").task("10", "1", "e", "1", "1");
    f.task("11", "2", "a", "1", "1").task("12", "2", "a", "1", "1");
    f.task("13", "3", "a", "1", "1").task("14", "3", "a", "9", "1");
    f.task("15", "4", "a", "6", "1").task("16", "4", "a", "6", "1").command("4");
    f.task("17", "5", "a", "1", "1").task("18", "5", "a", "7", "1");
    // Other names, though some collations take them for the same.
    f.task("19", "6", "Load", "1", "1").task("20", "6", "load", "1", "1").task("21", "6", "load ", "1", "1");
    // The row that waits for a recovery, and its continuation.
    f.task("22", "7", "a", "8", "1").task("23", "7", "a", "1", "1");
    f.database()
}

#[test]
fn the_better_row_stays_and_the_other_is_superseded() {
    everywhere("duplicate_tasks", |f, release| {
        let filled = incident(f);
        let what = format!("{:?} {release}", f.server);
        let before = filled.db.dump();
        filled.plan("duplicate-tasks", "b", &DEAD).expect(0);
        let planned = ["1", "4", "5", "13", "17", "7", "22"].map(|id| format!("task_instance {id}"));
        assert_eq!(filled.planned("b"), planned, "{what}");
        filled.apply("b");
        for (id, state, end) in [
            ("1", "6", END),
            ("4", "6", END),
            ("5", "6", END),
            ("13", "9", END),
            ("17", "6", END),
            ("7", "7", END),
            ("22", "8", END),
        ] {
            let value = |column: &str| filled.value("task_instance", id, column);
            assert_eq!(value("flag").as_deref(), Some("0"), "{what}: task {id}");
            assert_eq!(value("state").as_deref(), Some(state), "{what}: task {id}");
            assert_eq!(value("end_time").as_deref(), Some(end), "{what}: task {id}");
        }
        for id in ["2", "3", "6", "8", "10", "11", "12", "14", "15", "16", "18", "19", "20", "21", "23"] {
            assert_eq!(filled.value("task_instance", id, "flag").as_deref(), Some("1"), "{what}: task {id}");
        }
        sealed("rollback", &filled.db, "b", &[]).expect(0);
        same(&filled.db.dump(), &before, &what);
    });
}

#[test]
fn a_living_master_and_a_queued_command_keep_their_rows() {
    everywhere("duplicate_tasks", |f, release| {
        let filled = incident(f);
        let left = filled.left_out("duplicate-tasks", &DEAD);
        assert_eq!(left, ["owner-may-live 11", "pending-command 15"], "{:?} {release}", f.server);
    });
}

#[test]
fn a_row_with_a_sub_workflow_that_goes_on_is_left_to_people() {
    everywhere("duplicate_tasks", |f, release| {
        f.run("1", "1", "10.0.0.9", &[]).run("2", "1", "10.0.0.1", &[("is_sub", "1")]);
        f.task("1", "1", "sub", "1", "1").task("2", "1", "sub", "1", "1").relation("1", "1", "2");
        let left = f.database().left_out("duplicate-tasks", &DEAD);
        assert_eq!(left, ["sub-workflow 1"], "{:?} {release}", f.server);
    });
}

#[test]
fn a_young_row_is_left_out() {
    let mut f = Fixture::new(Server::Sqlite, "3.1.9").unwrap();
    let filled = incident(&mut f);
    let left = filled.left_out("duplicate-tasks", &["--dead-owner", "10.0.0.9", "--older-than", "20h"]);
    assert!(left.contains(&"too-young 1,4,5,13,17".to_owned()), "{left:?}");
    assert!(
        filled
            .left_out("duplicate-tasks", &["--dead-owner", "10.0.0.9", "--older-than", "1h"])
            .iter()
            .all(|l| !l.contains("young"))
    );
}

#[test]
fn inspect_says_what_is_wrong_and_why() {
    everywhere("duplicate_tasks", |f, release| {
        let text = incident(f).inspect(&["--explain", "--dead-owner", "10.0.0.9"]);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = format!(
            "Run 1 (state 1) has two valid rows of the task a: row 2 (state 7) is kept, row 1 is surplus, there since {START}"
        );
        assert!(text.contains(&said), "{:?} {release}: {text}", f.server);
        assert!(text.contains("#9975") && text.contains("flag = 0 on row 1 and to close it"), "{text}");
        let fails = text.contains("builds a map of its tasks by name and fails");
        assert_eq!(fails, release.starts_with("3.3") || release.starts_with("3.4"), "{release}");
    });
}

#[test]
fn a_change_between_plan_and_apply_is_refused() {
    everywhere("duplicate_tasks", |f, _| {
        incident(f).refuses(
            "duplicate-tasks",
            &DEAD,
            &[
                ("task_instance", "5", "state", "7", "5 moved: state was"),
                // The row that is kept, and the run's master.
                ("task_instance", "6", "flag", "0", "one of these is not true of each any more"),
                ("workflow_instance", "1", "host", "10.0.0.2", "one of these is not true of each any more"),
            ],
        );
    });
}

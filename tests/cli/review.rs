//! What a reviewer sees: show, show A B, and what a failed guard says.

use crate::live::round::zombies;
use crate::support::db::{Server, TestDb};
use crate::support::program::{Run, flowmend, plan, sealed};

fn show(db: &TestDb, args: &[&str]) -> Run {
    let dir = db.path("b").display().to_string();
    flowmend([&["show", &dir], args].concat())
}

#[test]
fn states_counts_rows_and_the_seal() {
    let db = zombies(Server::Sqlite, "3.1.9");
    plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
    let shown = show(&db, &[]).expect(0).out;
    for words in [
        "1 RUNNING_EXECUTION → 6 FAILURE (2 rows)",
        "use_size: 2 → 1",
        "owner-may-live",
        "Seal",
        "· 1, t, 1 RUNNING_EXECUTION → 6 FAILURE, end_time",
    ] {
        assert!(shown.contains(words), "`{words}` is not in\n{shown}");
    }
    let wide: Vec<&str> =
        shown.lines().filter(|l| l.chars().count() > 80 && !l.contains("/tmp") && !l.starts_with("Seal")).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    let short = show(&db, &["--rows", "1"]).expect(0).out;
    assert!(short.contains("… and 1 more (--rows all)"), "{short}");
    assert!(!show(&db, &["--rows", "all"]).expect(0).out.contains("more (--rows"));
    show(&db, &["--rows", "few"]).expect(2);
}

#[test]
fn two_bundles_are_compared_by_rows() {
    let db = zombies(Server::Sqlite, "3.1.9");
    plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
    plan(&db, "c", &["--dead-owner", "*", "--outcome", "killed"]).expect(0);
    let other = db.path("c").display().to_string();
    let same = show(&db, &[&db.path("b").display().to_string()]).expect(0);
    assert!(same.out.contains("the same, byte by byte"), "{}", same.out);
    let diff = show(&db, &[&other]).expect(1).out;
    for words in [
        "--outcome: | killed",
        "only in the second, 2 rows: 4, 5",
        "changed otherwise, 2 rows: 1, 7",
        "+ 1, t, 1 RUNNING_EXECUTION → 9 KILL",
    ] {
        assert!(diff.contains(words), "`{words}` is not in\n{diff}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&show(&db, &[&other, "--format", "json"]).expect(1).out).unwrap();
    assert_eq!(json["same"], false);
    assert!(json["steps"].as_array().unwrap().iter().any(|s| s["step"] == "task_instance"));
}

#[test]
fn a_failed_guard_names_the_row_that_moved() {
    for server in Server::available("a_failed_guard_names_the_row_that_moved") {
        let db = zombies(server, "3.1.9");
        plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
        db.exec("UPDATE t_ds_task_instance SET state = 7 WHERE id = 1");
        let run = sealed("apply", &db, "b", &[]).expect(3);
        assert!(
            run.err.contains("t_ds_task_instance 1 moved: state was 1 RUNNING_EXECUTION, is 7 SUCCESS"),
            "{}",
            run.err
        );
        db.exec("UPDATE t_ds_task_instance SET state = 1 WHERE id = 1");
        db.exec("UPDATE t_ds_process_instance SET host = '10.0.0.7:5678' WHERE id = 1");
        let run = sealed("apply", &db, "b", &[]).expect(3);
        assert!(run.err.contains("of each any more: "), "{}", run.err);
    }
}

/// A misspelt owner is not taken in silence.
#[test]
fn an_owner_that_nobody_names_is_a_warning() {
    let db = zombies(Server::Sqlite, "3.1.9");
    let run = plan(&db, "b", &["--dead-owner", "10.0.0.99:5678"]);
    assert!(run.err.contains("no unfinished row names the owner 10.0.0.99:5678"), "{}", run.err);
    let none = plan(&zombies(Server::Sqlite, "3.2.2"), "c", &[]);
    assert!(none.code == 0 || none.err.contains("10.0.0.9:5678 (1 rows)"), "{}", none.err);
}

/// A misspelt owner shows in a look, too, and once.
#[test]
fn a_misspelt_owner_is_noticed() {
    let db = crate::live::round::zombies(Server::Sqlite, "3.1.9");
    let args = ["--url", &db.url, "--zone", "+00:00", "--dead-owner", "10.0.0.99:5678"];
    let looked = flowmend([&["inspect"], &args[..]].concat());
    let out = db.path("b").display().to_string();
    let planned = flowmend([&["plan", "--all", "--choose", "finish", "--out", &out], &args[..]].concat());
    for said in [looked.err, planned.err] {
        assert_eq!(said.matches("no unfinished row names the owner 10.0.0.99:5678").count(), 1, "{said}");
    }
}

/// A row cannot be written in the future, so the zone is wrong; and an age that
/// leaves everything out is no reason to declare the living dead.
#[test]
fn what_is_wrong_is_named() {
    let db = crate::live::round::zombies(Server::Sqlite, "3.1.9");
    let look = |zone: &str| flowmend(["inspect", "--url", &db.url, "--now", "2026-11-28T10:01:00Z", "--zone", zone]);
    let said = |zone: &str| look(zone).out.split_whitespace().collect::<Vec<_>>().join(" ");
    for (zone, wrong) in [("+00:00", false), ("+02:00", false), ("-08:00", true)] {
        assert_eq!(said(zone).contains("cannot be right"), wrong, "{zone}: {}", said(zone));
    }
    let young = plan(&db, "young", &["--dead-owner", "*", "--older-than", "9999d"]).expect(0);
    assert!(!young.err.contains("may be alive"), "{}", young.err);
    let young = plan(&db, "young", &["--dead-owner", "10.0.0.9", "--older-than", "9999d"]).expect(4);
    assert!(young.err.contains("10.0.0.1:5678") && !young.err.contains("10.0.0.9:5678 ("), "{}", young.err);
}

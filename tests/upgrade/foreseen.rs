//! Without a database: every neighbouring pair of releases, and long ways.

use flowmend::manifest::Manifests;

use super::{check, findings, of_code};

#[test]
fn every_neighbouring_pair() {
    let manifests = Manifests::load(None).unwrap();
    for scheduler in manifests.schedulers() {
        let all = manifests.of(scheduler).unwrap();
        for pair in all.windows(2) {
            let (from, to) = (pair[0].releases.last().unwrap(), &pair[1].releases[0]);
            for (from, to) in [(from, to), (to, from)] {
                let run = check(scheduler, from, to, &["--format", "json"]);
                assert!(run.code < 2, "{scheduler} {from} {to}: {run:?}");
                assert!(run.err.is_empty(), "{}", run.err);
                let breaks = findings(&run).iter().any(|f| f["level"] != "info");
                assert_eq!(run.code == 1, breaks, "{scheduler} {from} {to}");
            }
        }
    }
}

/// One enumeration becomes two: what each column loses.
#[test]
fn the_enumeration_is_split() {
    let run = check("dolphinscheduler", "3.0.6", "3.1.0", &["--format", "json"]).expect(1);
    let lost: Vec<String> = of_code(&findings(&run), "unreadable-state").into_iter().map(|(s, _, _)| s).collect();
    for subject in ["t_ds_process_instance.state 9", "t_ds_process_instance.state 10", "t_ds_task_instance.state 5"] {
        assert!(lost.iter().any(|s| s == subject), "{subject} is not in {lost:?}");
    }
    assert!(!lost.iter().any(|s| s == "t_ds_process_instance.state 16"), "{lost:?}");
}

/// Codes that the column never rightly held are said, too: rows repaired by hand hold them.
#[test]
fn codes_that_were_never_right_are_remarks() {
    let run = check("dolphinscheduler", "3.0.6", "3.1.0", &["--format", "json"]).expect(1);
    let level = |subject: &str| {
        let found = findings(&run).into_iter().find(|f| f["code"] == "unreadable-state" && f["subject"] == subject);
        found.map(|f| f["level"].as_str().unwrap().to_owned())
    };
    let of = |level: &str| Some(level.to_owned());
    assert_eq!(level("t_ds_task_instance.state 5"), of("warning"));
    for subject in ["t_ds_task_instance.state 10", "t_ds_task_instance.state 14", "t_ds_process_instance.state 8"] {
        assert_eq!(level(subject), of("info"), "{subject}: {}", run.out);
    }
}

/// Codes stand in the order of numbers.
#[test]
fn numbers_in_their_order() {
    let run = check("dolphinscheduler", "3.0.6", "3.1.0", &["--format", "json"]).expect(1);
    let lost: Vec<String> = of_code(&findings(&run), "unreadable-state").into_iter().map(|(s, _, _)| s).collect();
    let at = |subject: &str| lost.iter().position(|s| s == subject).unwrap();
    assert!(at("t_ds_process_instance.state 9") < at("t_ds_process_instance.state 10"), "{lost:?}");
}

/// What came, went and came back is there since it came back.
#[test]
fn a_code_that_comes_back_is_new_since_then() {
    let run = check("dolphinscheduler", "2.0.9", "3.2.2", &["--format", "json"]).expect(1);
    let found = of_code(&findings(&run), "new-state");
    let since =
        found.iter().find(|(s, _, _)| s == "t_ds_process_instance.state 17").and_then(|(_, _, since)| since.clone());
    assert_eq!(since.as_deref(), Some("3.2.0"), "{found:?}");
}

/// A way over several generations names the one that brings each change.
#[test]
fn a_long_way_names_its_steps() {
    let run = check("dolphinscheduler", "1.3.9", "3.4.1", &["--format", "json"]).expect(1);
    let all = findings(&run);
    let since = |code: &str, subject: &str| {
        let found = of_code(&all, code).into_iter().find(|(s, _, _)| s == subject);
        found.unwrap_or_else(|| panic!("no {code} {subject} in {}", run.out)).2.unwrap()
    };
    assert_eq!(since("table-renamed", "t_ds_process_instance"), "3.3.0");
    assert_eq!(since("unreadable-state", "t_ds_process_instance.state 9"), "3.1.0");
    // Gone in 3.1.0, back in 3.1.7, gone for good in 3.3.0.
    assert_eq!(since("unreadable-state", "t_ds_task_instance.state 5"), "3.3.0");
}

/// Names that changed without a role that shows it; a way back.
#[test]
fn names_keys_and_ways_back() {
    let run = check("dolphinscheduler", "3.1.9", "3.3.0", &["--format", "json"]).expect(1);
    let all = findings(&run);
    let renamed: Vec<String> = of_code(&all, "table-renamed").into_iter().map(|(s, _, _)| s).collect();
    assert!(renamed.contains(&"t_ds_process_task_relation".to_owned()), "{renamed:?}");
    let columns: Vec<String> = of_code(&all, "column-renamed").into_iter().map(|(s, _, _)| s).collect();
    assert!(columns.contains(&"t_ds_schedules.process_definition_code".to_owned()), "{columns:?}");
    let back = findings(&check("airflow", "3.0.0", "2.10.5", &["--format", "json"]).expect(1));
    assert_eq!(of_code(&back, "way-back").len(), 1);
    // The old key's columns stay unique.
    let keys = findings(&check("airflow", "2.11.2", "3.0.0", &["--format", "json"]).expect(1));
    let tasks = keys.iter().find(|f| f["code"] == "key-changed" && f["subject"] == "task_instance").unwrap();
    assert_eq!(tasks["level"], "info");
}

#[test]
fn what_cannot_be_asked() {
    let run = check("dolphinscheduler", "9.9.9", "3.1.0", &[]).expect(2);
    assert!(run.err.contains("no manifest for dolphinscheduler 9.9.9"), "{}", run.err);
    let run = check("dolphinscheduler", "3.0.6", "3.1.0", &["--after"]).expect(2);
    assert!(run.err.contains("--after looks at a database"), "{}", run.err);
    let run = check("nobody", "1", "2", &[]).expect(2);
    assert!(run.err.contains("unknown scheduler"), "{}", run.err);
    check("dolphinscheduler", "3.1.9", "3.1.9", &[]).expect(0);
    let run = check("airflow", "2.11.2", "3.0.0", &["--table-prefix", "X_"]).expect(2);
    assert!(run.err.contains("are always the same"), "{}", run.err);
}

/// A file is for reading later, wherever the terminal's colours stand.
#[test]
fn a_file_has_no_colours() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("report");
    check("airflow", "2.11.2", "3.0.0", &["--color", "always", "--output", &file.display().to_string()]).expect(1);
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("warning") && !text.contains('\u{1b}'), "{text}");
}

/// All forms, and the file.
#[test]
fn forms() {
    let dir = tempfile::tempdir().unwrap();
    for (form, mark) in [
        ("human", "Rows"),
        ("sarif", "\"2.1.0\""),
        ("junit", "<testsuites"),
        ("markdown", "## Rows"),
        ("json", "\"format\": 1"),
    ] {
        let file = dir.path().join(form);
        let output = file.display().to_string();
        let run = check("airflow", "2.11.2", "3.0.0", &["--format", form, "--output", &output]).expect(1);
        assert!(run.out.is_empty(), "{}", run.out);
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains(mark) && text.contains("shutdown"), "{text}");
    }
}

/// A new column of states, whose default is a state that nobody chose for the rows of today.
#[test]
fn states_that_rows_of_today_get() {
    let run = check("xxl-job", "2.0.2", "2.3.1", &["--format", "json"]).expect(1);
    let found = findings(&run);
    let new = found
        .iter()
        .find(|f| f["code"] == "new-state-column" && f["subject"].as_str().unwrap().ends_with(".trigger_status"));
    let new = new.unwrap_or_else(|| panic!("{}", run.out));
    assert_eq!((new["about"].as_str(), new["since"].as_str()), (Some("before"), Some("2.1.0")), "{new}");
    assert!(new["help"][0].as_str().unwrap().contains("0 STOPPED"), "{new}");
    assert!(run.out.contains("schedule_type is new and NONE"), "{}", run.out);
}

//! `flowmend manifests`: show, diff, matrix, export, new.

use std::path::Path;

use flowmend::manifest::Manifests;
use serde_json::Value;

use crate::support::db::{Server, TestDb};
use crate::support::program::flowmend;

#[test]
fn show_in_every_form_and_generation() {
    let manifests = Manifests::load(None).unwrap();
    for m in manifests.all().unwrap() {
        let run = flowmend(["manifests", "show", &m.scheduler, &m.releases[0], "--format", "json"]).expect(0);
        let shown: Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(shown["states"].as_array().unwrap().len(), m.states.len());
    }
    let run = flowmend(["manifests", "show", "dolphinscheduler", "3.1.9"]).expect(0);
    assert!(run.out.contains("t_ds_task_instance.state (TaskExecutionStatus, number)"), "{}", run.out);
    let run = flowmend(["manifests", "show", "dolphinscheduler", "3.1.9", "--format", "markdown"]).expect(0);
    assert!(run.out.contains("| 5    | STOP"), "{}", run.out);
    flowmend(["manifests", "show", "dolphinscheduler", "0.0.1"]).expect(2);
}

#[test]
fn diff_says_what_differs() {
    let run = flowmend(["manifests", "diff", "dolphinscheduler", "3.0.6", "3.1.0"]).expect(1);
    for line in ["task_instance.state 5 STOP is gone", "column t_ds_process_instance.state_history is new: text"] {
        assert!(run.out.contains(line), "{}", run.out);
    }
    let run = flowmend(["manifests", "diff", "dolphinscheduler", "3.0.6", "3.1.9", "--steps"]).expect(1);
    assert!(
        run.out.contains("task_instance.state 5 STOP is gone") && run.out.contains("5 STOP (stopped"),
        "{}",
        run.out
    );
    let run = flowmend(["manifests", "diff", "quartz", "1.8.6", "2.3.2", "--format", "json"]).expect(1);
    let steps: Value = serde_json::from_str(&run.out).unwrap();
    assert!(steps[0]["changes"].as_array().unwrap().iter().any(|c| c["kind"] == "column-renamed"), "{}", run.out);
    let run = flowmend(["manifests", "diff", "quartz", "2.3.2", "2.3.2"]).expect(0);
    assert!(run.out.contains("nothing differs"), "{}", run.out);
}

/// A state may be over, and upstream counts it as unfinished, or the other way round.
#[test]
fn what_upstream_counts_otherwise_is_said() {
    let over = "over, but not finished for upstream";
    let held = "unfinished, but finished for upstream";
    for (scheduler, release, state, said) in [
        ("dolphinscheduler", "3.1.0", "NEED_FAULT_TOLERANCE", over),
        ("dolphinscheduler", "3.1.1", "NEED_FAULT_TOLERANCE", "yes"),
        ("dolphinscheduler", "3.1.6", "FORCED_SUCCESS", over),
        ("dolphinscheduler", "3.1.9", "STOP", over),
        ("dolphinscheduler", "3.2.0", "STOP", "yes"),
        ("airflow", "2.3.2", "REMOVED", over),
        ("airflow", "2.3.3", "REMOVED", "yes"),
        ("quartz", "2.3.2", "COMPLETE", held),
    ] {
        let run = flowmend(["manifests", "show", scheduler, release, "--format", "markdown"]).expect(0);
        let of_state = |l: &&str| l.split('|').nth(2).is_some_and(|name| name.trim() == state);
        let rows: Vec<&str> = run.out.lines().filter(of_state).collect();
        assert!(rows.iter().any(|row| row.contains(&format!("| {said} "))), "{scheduler} {release}: {rows:?}");
        let run = flowmend(["manifests", "export", scheduler, release, "--lang", "json"]).expect(0);
        assert!(run.out.contains("upstream_finished"), "{}", run.out);
    }
    let run = flowmend(["manifests", "diff", "dolphinscheduler", "3.1.9", "3.2.0"]).expect(1);
    let text = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for code in [5, 13] {
        let line = format!("task_instance.state {code} counts as finished; it was {over}");
        assert!(text.contains(&line), "{}", run.out);
    }
}

/// What the scheduler does may differ where no state and no table does, and between releases of one generation.
#[test]
fn diff_names_what_the_scheduler_does_otherwise() {
    for (scheduler, from, to, line) in [
        ("xxl-job", "2.4.1", "2.4.2", "bad_schedule_breaks_scan is false; it was true"),
        ("quartz", "2.2.3", "2.3.0", "start_blocks_misfired is false; it was true"),
        (
            "airflow",
            "2.7.0",
            "2.7.1",
            "orphan_sweep is [\"queued\", \"running\", \"restarting\"]; it was [\"queued\", \"running\"]",
        ),
    ] {
        for steps in [&[][..], &["--steps"]] {
            let args = ["manifests", "diff", scheduler, from, to];
            let run = flowmend([&args[..], steps].concat()).expect(1);
            let text = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(line) && text.contains("behaviour"), "{scheduler} {from} {to}: {}", run.out);
        }
    }
    let run = flowmend(["manifests", "diff", "xxl-job", "2.4.1", "2.4.2", "--format", "json"]).expect(1);
    let steps: Value = serde_json::from_str(&run.out).unwrap();
    let change = &steps[0]["changes"][0];
    let fields = ["kind", "subject", "before", "after"].map(|name| change[name].as_str().unwrap());
    assert_eq!(fields, ["behaviour-changed", "bad_schedule_breaks_scan", "true", "false"]);
    let run = flowmend(["manifests", "diff", "xxl-job", "2.4.0", "2.4.1"]).expect(0);
    assert!(run.out.contains("nothing differs"), "{}", run.out);
}

/// A code goes, comes back and goes again: the matrix shows each.
#[test]
fn matrix() {
    let run = flowmend(["manifests", "matrix", "dolphinscheduler", "--format", "json"]).expect(0);
    let sections: Value = serde_json::from_str(&run.out).unwrap();
    let tasks =
        sections.as_array().unwrap().iter().find(|s| s["column"].as_str().unwrap().starts_with("task_instance.state"));
    let (head, rows) = (&tasks.unwrap()["head"], &tasks.unwrap()["rows"]);
    let at = |release: &str| {
        let heads = head.as_array().unwrap().iter();
        heads.map(|h| h.as_str().unwrap()).position(|h| h.starts_with(release)).unwrap()
    };
    let stop = rows.as_array().unwrap().iter().find(|r| r[0] == "5" && r[1] == "STOP").unwrap();
    let cells = ["1.0.0", "3.1.0", "3.1.7", "3.3.0"].map(|release| &stop[at(release)]);
    assert_eq!(cells, ["finished", "·", "over", "·"]);
    let run = flowmend(["manifests", "matrix", "dolphinscheduler"]).expect(0);
    let tasks = run.out.split("\ntask_instance.state").nth(1).unwrap();
    let of_stop = tasks.split(" STOP ").nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let spans = "finished 1.0.0 – 3.0.6; over 3.1.7 – 3.1.9; finished 3.2.0 – 3.2.2";
    assert!(of_stop.starts_with(spans), "{of_stop}");
}

/// What is exported as SQL is a table that reports can join.
#[test]
fn exported_tables_can_be_made() {
    let manifests = Manifests::load(None).unwrap();
    for server in Server::available("exported_tables_can_be_made") {
        for scheduler in manifests.schedulers() {
            let m = *manifests.of(scheduler).unwrap().last().unwrap();
            let release = m.releases.last().unwrap();
            let dialect = server.dialect().name;
            let run =
                flowmend(["manifests", "export", scheduler, release, "--lang", "sql", "--dialect", &dialect]).expect(0);
            let db = TestDb::new(server);
            let file = db.path("states.sql");
            std::fs::write(&file, &run.out).unwrap();
            let done = db.stock(&file);
            assert!(done.status.success(), "{server:?}: {}", String::from_utf8_lossy(&done.stderr));
            let known: usize = m
                .states
                .values()
                .map(|s| s.states.len() + usize::from(s.null.is_some()) + usize::from(s.other.is_some()))
                .sum();
            assert_eq!(db.value("SELECT COUNT(*) FROM scheduler_states").unwrap(), known.to_string());
        }
    }
}

#[test]
fn exported_json_names_release_and_source() {
    let run = flowmend(["manifests", "export", "airflow", "2.11.2", "--lang", "json"]).expect(0);
    let json: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(json["release"], "2.11.2");
    assert!(!json["sources"].as_array().unwrap().is_empty());
    assert_eq!(json["columns"]["task_instance.state"]["null"]["name"], "NONE");
}

/// A manifest that is begun passes the check as it is.
#[test]
fn a_new_manifest_is_right_from_the_start() {
    let manifests = Manifests::load(None).unwrap();
    for scheduler in manifests.schedulers() {
        let last = manifests.of(scheduler).unwrap().last().unwrap().releases.last().unwrap().clone();
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().display().to_string();
        let args = ["manifests", "new", scheduler, "--from", &last, "--generation", "99.0.0", "--out", &out];
        flowmend(args).expect(0);
        flowmend(["manifests", "check", &out]).expect(0);
        let again = flowmend(args).expect(2);
        assert!(again.err.contains("99.0.0.toml"), "{}", again.err);
        let run = flowmend(["manifests", "diff", scheduler, &last, "99.0.0", "--enums", &out]).expect(0);
        assert!(run.out.contains("nothing differs"), "{}", run.out);
    }
    let known = flowmend(["manifests", "new", "quartz", "--from", "2.3.2", "--generation", "2.3.1"]).expect(2);
    assert!(known.err.contains("belongs to the generation"), "{}", known.err);
    flowmend(["manifests", "new", "quartz", "--from", "2.3.2", "--generation", "../x"]).expect(2);
}

/// The pages in docs are what the program prints. `FLOWMEND_UPDATE_EXAMPLES=1` writes them.
#[test]
fn the_pages_of_states_are_the_matrices() {
    let manifests = Manifests::load(None).unwrap();
    for scheduler in manifests.schedulers() {
        let run = flowmend(["manifests", "matrix", scheduler, "--format", "markdown"]).expect(0);
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/states/{scheduler}.md"));
        if std::env::var_os("FLOWMEND_UPDATE_EXAMPLES").is_some() {
            std::fs::write(&file, &run.out).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), run.out, "{}", file.display());
    }
}

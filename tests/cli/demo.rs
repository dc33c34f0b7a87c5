//! The demos: the whole road on SQLite, with its proof in the last lines. Every story of the data is told.

use std::path::Path;

use crate::support::demos::{Demo, demos};
use crate::support::program::{Run, command, flowmend};

/// What the story must show of its scheduler, in the folded text of the walk.
fn must_show(name: &str) -> &'static [&'static str] {
    match name {
        "dolphinscheduler" => &[
            "2 runs (owner-may-live): 103, 104",
            // A master that lives has a task that sleeps on: it is named.
            "1 task (waits-for-slot): 1021",
            "Task 1021 (load) of run 103 on 10.0.0.7:5678 waits for task group printer",
        ],
        "airflow" => &[
            // The task that beats, the deferred one, and the run that a scheduler ends by itself.
            "1 task (owner-may-live): stock/scheduled__2026-03-01T01:30:00+00:00/count",
            "trigger-of-dead-triggerer (missing-triggers): 1 task",
            "1 run (waits-for-scheduler): 7",
            "task-of-finished-run (zombie-tasks): 1 task",
            "state: queued → failed (1 row)",
            "state: running → failed (3 rows)",
            "--choose resume",
        ],
        "quartz" => &[
            // The living node, both choices, and what each trigger becomes.
            "1 fired trigger (owner-may-live): BillingScheduler/NODE_B1772352004077",
            "--recovery leave",
            "would fire every missed time",
            "TRIGGER_STATE: BLOCKED → WAITING (1 row)",
            "TRIGGER_STATE: PAUSED_BLOCKED → PAUSED (1 row)",
            "TRIGGER_STATE: ACQUIRED → PAUSED (1 row)",
        ],
        "xxl-job" => &[
            // What the restarted and the living executor run.
            "1 run (registered): 1003",
            "1 run (owner-with-time): 1006",
            "unanswered-trigger (unanswered-triggers): 1 run",
            "alarm-lock-left (alarm-locks): 1 run",
            "alarm_status: 0 DEFAULT → 1 NO_ALARM (2 rows)",
        ],
        other => panic!("say here what the story of {other} must show"),
    }
}

/// Words with one space between them, whatever the folding.
fn unfolded(run: &Run) -> String {
    format!("{}\n{}", run.out, run.err).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_ends_with_its_proof_in_80_columns() {
    for Demo { name, .. } in demos() {
        let run = flowmend(["demo", &name]).expect(0);
        let proof = "The repair changed rows, and the undo brought every byte back.";
        assert!(run.out.trim_end().ends_with(proof), "{name}: {}", run.out);
        let text = unfolded(&run);
        for what in must_show(&name) {
            assert!(text.contains(what), "{name} does not show `{what}`\n{}{}", run.out, run.err);
        }
        // A log keeps an error and its hint in one line each.
        let told = run.err.lines().filter(|l| !l.starts_with("error: ") && !l.starts_with("hint: "));
        let wide: Vec<&str> = run.out.lines().chain(told).filter(|l| l.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{name}: {wide:#?}");
    }
}

#[test]
fn what_is_kept_can_be_repeated() {
    for Demo { name, .. } in demos() {
        let dir = tempfile::tempdir().unwrap();
        let kept = dir.path().join("kept");
        let run = flowmend(["demo", &name, "--keep", &kept.display().to_string()]).expect(0);
        assert!(run.out.contains("repeat the commands above there"), "{}", run.out);
        repeat(&kept, &run.out);
        assert!(kept.join("walked/TICKET.md").is_file());
        let linted = flowmend(["lint", &kept.join("walked").display().to_string(), "--format", "json"]).expect(0);
        let report: serde_json::Value = serde_json::from_str(&linted.out).unwrap_or_default();
        assert_eq!((&report["errors"], &report["warnings"]), (&0.into(), &0.into()), "{name}: {}", linted.out);
        let plan = std::fs::read_to_string(kept.join("walked/plan.toml")).unwrap();
        let plan: toml::Table = plan.parse().unwrap();
        // A span of releases is named as the plan names it.
        let planned =
            format!("{} {}", plan["from"]["title"].as_str().unwrap(), plan["from"]["release"].as_str().unwrap());
        assert_eq!(report["files"][0]["against"], planned.as_str(), "{name}");
        let again = flowmend(["demo", &name, "--keep", &kept.display().to_string()]).expect(2);
        assert!(again.err.contains("not empty"), "{}", again.err);
    }
}

/// Every command that was shown does the same once more, in its order.
fn repeat(kept: &Path, shown: &str) {
    let shown = shown.replace(" \\\n    ", " ");
    let commands: Vec<&str> = shown.lines().filter_map(|l| l.strip_prefix("$ flowmend ")).collect();
    assert!(commands.len() > 7, "{commands:?}");
    let last_plan = commands.iter().rposition(|l| l.starts_with("plan ")).unwrap();
    for (at, line) in commands.iter().enumerate() {
        let args: Vec<&str> = line.split(' ').collect();
        // inspect finds something; each plan but the last asks for a choice.
        let expected = match args[0] {
            "inspect" => 1,
            "plan" if at < last_plan => 2,
            _ => 0,
        };
        let again = command(&args).current_dir(kept).output().unwrap();
        assert_eq!(again.status.code(), Some(expected), "{line}: {}", String::from_utf8_lossy(&again.stderr));
    }
}

#[test]
fn names_are_listed() {
    let list = flowmend(["demo", "--list"]).expect(0);
    let listed: Vec<&str> = list.out.lines().filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(listed, demos().iter().map(|d| d.name.as_str()).collect::<Vec<_>>());
    let unknown = flowmend(["demo", "airplane"]).expect(2);
    assert!(unknown.err.contains("no demo for `airplane`"), "{}", unknown.err);
    for Demo { name, .. } in demos() {
        assert!(unknown.err.contains(&name), "{}", unknown.err);
    }
}

/// Without a name the story is told that the data puts first.
#[test]
fn without_a_name_the_first_is_told() {
    let first: Vec<String> = demos().into_iter().filter(|d| d.first).map(|d| d.name).collect();
    assert_eq!(first, ["dolphinscheduler"]);
    let told = flowmend(["demo"]).expect(0);
    assert!(told.out.starts_with("A night with Apache DolphinScheduler "), "{}", told.out);
}

#[test]
fn a_mistake_in_a_story_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("quartz/demo");
    std::fs::create_dir_all(&folder).unwrap();
    let story = include_str!("../../templates/quartz/demo/demo.toml");
    for (wrong, says) in [
        (story.replace("plan = ", "recipe = "), "unknown field `recipe`"),
        (story.replace("choices = [[", "choices = [\"--dag\", ["), "choices"),
        (story.replace("\"2.3.2\"\nplan", "\"2.3.99\"\nplan"), "no manifest for quartz 2.3.99"),
    ] {
        assert_ne!(wrong, story);
        std::fs::write(folder.join("demo.toml"), wrong).unwrap();
        let run = flowmend(["demo", "quartz", "--templates", &dir.path().display().to_string()]).expect(2);
        assert!(run.err.contains(says), "{}", run.err);
        assert!(says.starts_with("no manifest") || run.err.contains("quartz/demo/demo.toml"), "{}", run.err);
    }
}

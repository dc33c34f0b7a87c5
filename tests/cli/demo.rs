//! The demo: the whole road on SQLite, with its proof in the last lines.

use crate::support::program::{command, flowmend};

#[test]
fn the_demo_ends_with_its_proof_in_80_columns() {
    let run = flowmend(["demo"]).expect(0);
    assert!(
        run.out.trim_end().ends_with("The repair changed rows, and the undo brought every byte back."),
        "{}",
        run.out
    );
    let wide: Vec<&str> = run.out.lines().filter(|l| l.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn what_is_kept_can_be_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("kept");
    let run = flowmend(["demo", "--keep", &kept.display().to_string()]).expect(0);
    assert!(run.out.contains("repeat the commands above there"), "{}", run.out);
    // Every command that was shown does the same once more, in its order.
    let shown = run.out.replace(" \\\n    ", " ");
    let commands: Vec<&str> = shown.lines().filter_map(|l| l.strip_prefix("$ flowmend ")).collect();
    assert!(commands.len() > 7, "{commands:?}");
    for line in commands {
        let args: Vec<&str> = line.split(' ').collect();
        let again = command(&args).current_dir(&kept).output().unwrap();
        let expected = if args[0] == "inspect" { 1 } else { 0 };
        assert_eq!(again.status.code(), Some(expected), "{line}: {}", String::from_utf8_lossy(&again.stderr));
    }
    // A master that lives has a task that sleeps on: it is named.
    let ticket = std::fs::read_to_string(kept.join("walked/TICKET.md")).unwrap();
    assert!(ticket.contains("Task 1021 (load) of run 103 on 10.0.0.7:5678 waits for task group printer"), "{ticket}");
    assert!(run.out.contains("1 task (waits-for-slot): 1021"), "{}", run.out);
    let again = flowmend(["demo", "--keep", &kept.display().to_string()]).expect(2);
    assert!(again.err.contains("not empty"), "{}", again.err);
    flowmend(["demo", "airplane"]).expect(2);
}

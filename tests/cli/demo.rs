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
    assert!(run.out.contains("repeat any command there"), "{}", run.out);
    let verify = command(["verify", "repair", "--url", "sqlite:scheduler.db"]).current_dir(&kept).output().unwrap();
    assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stderr));
    let again = flowmend(["demo", "--keep", &kept.display().to_string()]).expect(2);
    assert!(again.err.contains("not empty"), "{}", again.err);
    flowmend(["demo", "airplane"]).expect(2);
}

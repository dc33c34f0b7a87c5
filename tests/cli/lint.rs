//! `flowmend lint` on the command line: forms, exit codes, configuration, rewrites.

use std::process::Stdio;

use crate::support::program::{command, flowmend};

const SCRIPT: &str = "-- flowmend: scheduler=dolphinscheduler release=3.1.9 dialect=mysql\nSELECT id FROM t_ds_task_instance WHERE state = '7' AND update_time IS NULL;\n";

fn script(text: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fix.sql");
    std::fs::write(&file, text).unwrap();
    let name = file.display().to_string();
    (dir, name)
}

#[test]
fn forms_and_exit_codes() {
    let (dir, file) = script(SCRIPT);
    let human = flowmend(["lint", &file]).expect(1);
    assert!(human.out.contains("error[unknown-column]") && human.out.contains("fix.sql:2:"), "{}", human.out);
    let json: serde_json::Value =
        serde_json::from_str(&flowmend(["lint", &file, "--format", "json"]).expect(1).out).unwrap();
    assert_eq!(json["errors"], 1);
    assert_eq!(json["files"][0]["findings"][0]["line"], 2);
    let sarif: serde_json::Value =
        serde_json::from_str(&flowmend(["lint", &file, "--format", "sarif"]).expect(1).out).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 2);
    let junit = flowmend(["lint", &file, "--format", "junit"]).expect(1).out;
    assert!(junit.contains("<testsuites") && junit.contains("unknown-column"), "{junit}");
    let github = flowmend(["lint", &file, "--format", "github"]).expect(1).out;
    assert!(github.lines().any(|l| l.starts_with("::error file=") && l.contains("line=2")), "{github}");
    let output = dir.path().join("report.json");
    let run = flowmend(["lint", &file, "--format", "json", "--output", &output.display().to_string()]).expect(1);
    assert_eq!(run.out, "");
    assert!(std::fs::read_to_string(output).unwrap().contains("\"errors\": 1"));
    let (_dir, clean) = script("SELECT 1;\n");
    flowmend(["lint", &clean, "--scheduler", "airflow", "--release", "2.10.5", "--dialect", "postgresql"]).expect(0);
    let run = flowmend(["lint", &clean]).expect(2);
    assert!(run.err.contains("--scheduler"), "{}", run.err);
    flowmend(["lint", "no-such-file.sql"]).expect(2);
}

#[test]
fn standard_input_and_what_cannot_be_read() {
    use std::io::Write as _;
    let mut child =
        command(["lint", "-", "--format", "json"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(SCRIPT.as_bytes()).unwrap();
    let run = child.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("latin.sql");
    std::fs::write(&file, b"SELECT 1;\n-- \xe9\n").unwrap();
    let run = flowmend(["lint", &file.display().to_string()]).expect(2);
    assert!(run.err.contains("line 2: not UTF-8"), "{}", run.err);
}

#[test]
fn rewrites_are_shown_and_written() {
    let (_dir, file) = script(
        "-- flowmend: scheduler=dolphinscheduler release=3.1.9 dialect=mysql\nSELECT id FROM t_ds_task_instance WHERE state = '7';\n",
    );
    let shown = flowmend(["lint", &file, "--fix"]).expect(0);
    assert!(shown.out.contains("-SELECT id FROM t_ds_task_instance WHERE state = '7';"), "{}", shown.out);
    assert!(shown.out.contains("+SELECT id FROM t_ds_task_instance WHERE state = 7;"), "{}", shown.out);
    flowmend(["lint", &file, "--fix", "--write"]).expect(0);
    assert!(std::fs::read_to_string(&file).unwrap().contains("state = 7;"));
}

#[test]
fn levels_and_pages() {
    let (dir, file) = script(SCRIPT);
    let config = dir.path().join("flowmend.toml");
    std::fs::write(&config, "[lint]\nrules = { unknown-column = \"off\" }\n").unwrap();
    flowmend(["lint", &file, "--config", &config.display().to_string()]).expect(0);
    std::fs::write(&config, "[lint]\nrules = { unknown-colum = \"off\" }\n").unwrap();
    let run = flowmend(["lint", &file, "--config", &config.display().to_string()]).expect(2);
    assert!(run.err.contains("did you mean unknown-column?"), "{}", run.err);
    let page = flowmend(["lint", "--explain", "null-blind"]).expect(0);
    assert!(page.out.starts_with("# null-blind"), "{}", page.out);
    let rules = flowmend(["lint", "--rules"]).expect(0);
    assert!(rules.out.lines().count() > 50, "{}", rules.out);
    flowmend(["lint", "--explain", "null-blnd"]).expect(2);
}

/// Who asks for a fix and gets none is told so, and what is left.
#[test]
fn nothing_to_rewrite_is_said() {
    let told = "-- flowmend: scheduler=dolphinscheduler release=3.1.9 dialect=mysql\n";
    let (_dir, file) = script(&format!("{told}DELETE FROM t_ds_command;\n"));
    let bad = flowmend(["lint", &file, "--fix"]).expect(1);
    assert!(bad.err.contains("nothing to rewrite") && bad.err.contains("are left for you"), "{}", bad.err);
    let (_dir, file) = script(&format!("{told}SELECT id FROM t_ds_command;\n"));
    let good = flowmend(["lint", &file, "--fix"]).expect(0);
    assert!(good.err.contains("nothing to rewrite") && !good.err.contains("are left"), "{}", good.err);
}

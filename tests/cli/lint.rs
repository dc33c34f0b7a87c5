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

const DELETE: &str = "DELETE FROM t_ds_command;\n";
const FOR_3_1_9: &str = "-- flowmend: scheduler=dolphinscheduler release=3.1.9 dialect=mysql\n";

/// The codes of all findings of scripts in a folder, with a configuration.
fn codes(dir: &tempfile::TempDir, config: &str, args: &[&str]) -> Vec<String> {
    let file = dir.path().join("levels.toml");
    std::fs::write(&file, config).unwrap();
    let run = flowmend([&["lint", "--format", "json", "--config", &file.display().to_string()], args].concat());
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap_or_else(|e| panic!("{e}: {run:?}"));
    let mut found = Vec::new();
    for file in report["files"].as_array().unwrap() {
        found.extend(file["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap().to_owned()));
    }
    found
}

/// Levels hold for what comments are told, too, and a comment for a rule that is off is of use elsewhere.
#[test]
fn levels_of_what_is_said_of_comments() {
    let (dir, file) = script(&format!("{FOR_3_1_9}-- flowmend: allow missing-where\nSELECT id FROM t_ds_command;\n"));
    let args = [file.as_str()];
    assert_eq!(codes(&dir, "", &args), ["allow-without-reason", "unused-allow"]);
    let off = "[lint.rules]\nunused-allow = \"off\"\nallow-without-reason = \"off\"\n";
    assert_eq!(codes(&dir, off, &args), [""; 0]);
    let (dir, file) = script(&format!("{FOR_3_1_9}-- flowmend: allow missing-where on purpose\n{DELETE}"));
    let found = codes(&dir, "[lint.rules]\nmissing-where = \"off\"\n", &[&file]);
    assert!(!found.iter().any(|f| f == "unused-allow" || f == "missing-where"), "{found:?}");
}

#[test]
fn levels_of_paths_however_they_are_written() {
    let (dir, file) = script(&format!("{FOR_3_1_9}{DELETE}"));
    let name = std::path::Path::new(&file).file_name().unwrap().to_str().unwrap();
    let config = format!("[[lint.paths]]\npath = \"./{name}\"\nrules = {{ missing-where = \"off\" }}\n");
    let config_file = dir.path().join("levels.toml");
    std::fs::write(&config_file, config).unwrap();
    for said in [name.to_owned(), format!("./{name}"), file.clone()] {
        let run = command(["lint", &said, "--config", "levels.toml"]).current_dir(dir.path()).output().unwrap();
        let out = String::from_utf8_lossy(&run.stdout);
        assert!(out.contains("commands-deleted") && !out.contains("missing-where"), "{said}: {run:?}");
    }
}

/// A mistake in a configuration is never passed over.
#[test]
fn what_a_configuration_does_not_have() {
    let (dir, file) = script(&format!("{FOR_3_1_9}{DELETE}"));
    let config = dir.path().join("c.toml");
    for text in
        ["[lnt]\nx = 1\n", "[rules]\nmissing-where = \"off\"\n", "scheduler = \"x\"\n", "[lint]\nschedular = \"x\"\n"]
    {
        std::fs::write(&config, text).unwrap();
        let run = flowmend(["lint", &file, "--config", &config.display().to_string()]).expect(2);
        assert!(run.err.contains("c.toml") && run.err.contains("unknown field"), "{text}: {}", run.err);
    }
    // What a file says of one scheduler is not for the scripts of another.
    std::fs::write(
        &config,
        "[lint]\nscheduler = \"quartz\"\nrelease = \"2.3.2\"\ndialect = \"mysql\"\ntable-prefix = \"B_\"\n",
    )
    .unwrap();
    let run = flowmend(["lint", &file, "--config", &config.display().to_string()]).expect(1);
    assert!(run.out.contains("missing-where"), "{}", run.out);
}

/// What a script says of itself, where it says it in its dialect's comments, once.
#[test]
fn what_scripts_say_of_themselves() {
    let said = "flowmend: scheduler=dolphinscheduler release=3.1.9 dialect=mysql";
    for head in [format!("# {said}\n"), format!("/*\n * {said}\n */\n"), format!("SELECT 'it\\'s';\n-- {said}\n")] {
        let (_dir, file) = script(&format!("{head}{DELETE}"));
        let run = flowmend(["lint", &file]).expect(1);
        assert!(run.out.contains("missing-where"), "{head}: {run:?}");
    }
    let (_dir, file) = script(&format!("{FOR_3_1_9}{DELETE}-- flowmend: release=2.0.5\n"));
    let run = flowmend(["lint", &file]).expect(2);
    assert!(run.err.contains("release=3.1.9 and release=2.0.5"), "{}", run.err);
    let run = flowmend(["lint", &file, "--release", "3.1.8"]).expect(1);
    assert!(run.err.contains("its comment says release=3.1.9, but --release says 3.1.8"), "{}", run.err);
    let (_dir, file) = script("-- flowmend: scheduler=dolphinscheduler release=9.9 dialect=mysql\nSELECT 1;\n");
    let run = flowmend(["lint", &file]).expect(2);
    assert!(run.err.contains(&file) && run.err.contains("9.9"), "{}", run.err);
}

/// A folder of scripts is checked as a whole; one without any is told from a bundle.
#[test]
fn folders_of_scripts() {
    let (dir, _file) = script(&format!("{FOR_3_1_9}{DELETE}"));
    std::fs::create_dir(dir.path().join("below")).unwrap();
    std::fs::write(dir.path().join("below/other.sql"), format!("{FOR_3_1_9}{DELETE}")).unwrap();
    std::fs::write(dir.path().join("notes.txt"), DELETE).unwrap();
    let run = flowmend(["lint", &dir.path().display().to_string()]).expect(1);
    assert_eq!(run.out.matches("[missing-where]").count(), 2, "{}", run.out);
    let empty = tempfile::tempdir().unwrap();
    let run = flowmend(["lint", &empty.path().display().to_string()]).expect(2);
    assert!(run.err.contains("no .sql file is below it"), "{}", run.err);
}

//! The commands of the README, word for word, on a database where nothing has run for years.

use std::path::Path;

use super::round::zombie_rows;
use crate::support::db::{Server, TestDb, same};
use crate::support::demos::{Demo, demos};
use crate::support::fixture::manifest;
use crate::support::program::{Run, command, seal};

const DIR: &str = env!("CARGO_MANIFEST_DIR");

/// The lines of the shell blocks below a heading of the README.
fn below(heading: &str) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(DIR).join("README.md")).unwrap();
    let section = text.split(&format!("\n{heading}\n")).nth(1).unwrap_or_else(|| panic!("no section {heading}"));
    let level = heading.split(' ').next().unwrap();
    let section = section.split(&format!("\n{level} ")).next().unwrap().split("\n## ").next().unwrap();
    let blocks = section.split("```").skip(1).step_by(2);
    blocks.flat_map(str::lines).map(ToOwned::to_owned).collect()
}

fn lines() -> Vec<String> {
    below("## Five minutes on a real server")
}

fn old(server: Server, release: &str) -> TestDb {
    let db = TestDb::with_schema(server, &manifest(release));
    let rows = zombie_rows(server, release);
    db.exec_all(&rows.iter().map(|sql| sql.replace("2026-11-", "2020-11-")).collect::<Vec<_>>());
    db
}

/// Runs a line of the README in the test's own directory, with the seal that the bundle has.
fn run(db: &TestDb, line: &str, zone: Option<&str>) -> Run {
    let line = line.split(" #").next().unwrap();
    let mut words: Vec<String> = line.split_whitespace().skip(1).map(ToOwned::to_owned).collect();
    if let Some(at) = words.iter().position(|w| w == "--seal") {
        words[at + 1] = seal(&db.path("repair"));
    }
    let mut command = command(&words);
    command.current_dir(db.dir.path()).env("FLOWMEND_URL", &db.url);
    if let Some(zone) = zone {
        command.env("FLOWMEND_ZONE", zone);
    }
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn walk(server: Server, release: &str) {
    let db = old(server, release);
    let fresh = db.dump();
    let lines = lines();
    let zone = lines.iter().find_map(|l| l.strip_prefix("export FLOWMEND_ZONE=")).unwrap();
    let zone = zone.split_whitespace().next();
    let commands: Vec<&String> = lines.iter().filter(|l| l.starts_with("flowmend ")).collect();
    let mut said = Vec::new();
    for line in commands {
        let run = run(&db, line, zone);
        let what = line.split_whitespace().nth(1).unwrap();
        // inspect finds something; the first plan asks for the choice.
        let expected = match what {
            "inspect" => 1,
            "plan" if !line.contains("--choose") => 2,
            _ => 0,
        };
        assert_eq!(run.code, expected, "{server:?} {release}: {line}\n{}{}", run.out, run.err);
        if what == "apply" {
            assert!(db.dump() != fresh, "{server:?}");
        }
        said.push(format!("{what} {}", run.code));
    }
    let road = ["inspect 1", "inspect 1", "plan 2", "plan 0", "plan 0"];
    assert_eq!(said[..5], road);
    assert_eq!(said[5..], ["rehearse 0", "apply 0", "verify 0", "rollback 0", "clean 0"]);
    same(&db.dump(), &fresh, &format!("{server:?} {release}: rolled back"));
}

#[test]
fn its_commands_work_as_written() {
    for server in Server::available("readme") {
        for release in ["1.3.9", "3.1.9"] {
            walk(server, release);
        }
    }
}

/// Who did not say the zone gets the line that says it.
#[test]
fn without_the_zone_the_error_says_the_line() {
    for server in Server::available("readme") {
        let db = old(server, "1.3.9");
        run(&db, "flowmend inspect", None).expect(1);
        for line in lines().iter().filter(|l| l.contains("--older-than")) {
            let stopped = run(&db, line, None).expect(2);
            let paste = stopped.err.lines().find_map(|l| l.split_once("export FLOWMEND_ZONE=")).unwrap().1;
            let zone = paste.split_whitespace().next();
            let again = run(&db, line, zone);
            assert!(!again.err.contains("time zone of the scheduler's clock"), "{}", again.err);
        }
    }
}

/// The commands for a scheduler find and repair, on each of its servers, what its demo tells of.
fn other(demo: &Demo) {
    let manifest = demo.manifest();
    let own = below(&format!("### {}", manifest.title));
    let road = lines().into_iter().filter(|l| !l.starts_with("flowmend inspect") && !l.starts_with("flowmend plan"));
    for server in Server::available("readme").into_iter().filter(|s| demo.runs_on(*s)) {
        let db = demo.database(server);
        let fresh = db.dump();
        for line in own.iter().cloned().chain(road.clone()).filter(|l| l.starts_with("flowmend ")) {
            let looks = line.starts_with("flowmend inspect") || line.starts_with("flowmend plan");
            let now = if looks { format!(" --now {}", demo.now) } else { String::new() };
            let run = run(&db, &format!("{}{now}", line.split(" #").next().unwrap()), Some("+00:00"));
            let expected = i32::from(line.starts_with("flowmend inspect"));
            assert_eq!(run.code, expected, "{server:?} {}: {line}\n{}{}", demo.name, run.out, run.err);
            if line.starts_with("flowmend apply") {
                assert!(db.dump() != fresh, "{server:?} {}", demo.name);
            }
        }
        same(&db.dump(), &fresh, &format!("{server:?} {}: rolled back", demo.name));
    }
}

#[test]
fn the_commands_of_other_schedulers_work_as_written() {
    // The first one told has the long section.
    for demo in demos().iter().filter(|demo| !demo.first) {
        other(demo);
    }
}

/// The check of a script, as the README writes it, of one such as people paste.
#[test]
fn a_script_is_checked() {
    let db = TestDb::new(Server::Sqlite);
    let sql = "UPDATE t_ds_process_instance SET state = 7;\n";
    std::fs::write(db.path("fix.sql"), sql).unwrap();
    let lines = below("## Check a script of your own");
    let line = lines.iter().find(|l| l.starts_with("flowmend lint")).unwrap();
    let run = run(&db, line, None);
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("error[missing-where]"), "{}", run.out);
}

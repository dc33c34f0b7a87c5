//! Bundles that somebody changed: copies, other numbers, other seals.

use std::path::{Path, PathBuf};

use super::db::{Server, TestDb};
use super::program::{Run, flowmend, flowmend_env, seal};

/// The runner of a bundle (`apply` or `rollback`) for the database's stock client.
pub fn runner(db: &TestDb, bundle: &str, what: &str) -> PathBuf {
    db.path(bundle).join(format!("{what}.{}", db.server.client()))
}

/// The id of a bundle.
pub fn id(db: &TestDb, bundle: &str) -> String {
    id_in(&std::fs::read_to_string(db.path(bundle).join("clean.sql")).unwrap()).to_owned()
}

/// A copy of a bundle without its receipts.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Writes SHA256SUMS anew, as somebody would who wants a change to go unnoticed.
pub fn reseal(dir: &Path) {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|n| n != "SHA256SUMS" && n != "receipts");
    names.sort();
    let line = |n: &String| format!("{}  {n}\n", flowmend::digest::sha256(&[&std::fs::read(dir.join(n)).unwrap()]));
    std::fs::write(dir.join("SHA256SUMS"), names.iter().map(line).collect::<String>()).unwrap();
}

/// Runs `apply` or `rollback` with the seal that a directory has now.
pub fn run_sealed(command: &str, db: &TestDb, dir: &Path, extra: &[&str]) -> Run {
    let (seal, dir) = (seal(dir), dir.display().to_string());
    let mut args = vec![command, &dir, "--url", &db.url, "--seal", &seal];
    args.extend(extra);
    flowmend(args)
}

/// The same of a bundle that was edited, which the program lets pass for tests only.
pub fn run_edited(command: &str, db: &TestDb, dir: &Path) -> Run {
    let (seal, dir) = (seal(dir), dir.display().to_string());
    let args = [command, &dir, "--url", &db.url, "--seal", &seal];
    flowmend_env(args, &[("FLOWMEND_TEST_EDITED", "1")])
}

/// A runner's text in which one guard expects one row more than it will find.
pub fn off_by_one(text: &str, guard: &str) -> String {
    let (checked, written) = numbers(text, guard);
    let mut text = text.to_owned();
    // From the back, so that places stay right.
    for place in checked.into_iter().chain([written]) {
        plus_one(&mut text, place);
    }
    text
}

/// The same, but only in the number that the ledger's CHECK compares.
pub fn off_by_one_check(text: &str, guard: &str) -> String {
    let mut changed = text.to_owned();
    plus_one(&mut changed, numbers(text, guard).1);
    changed
}

/// The same, but only in the form that fails where no CHECK is enforced.
pub fn off_by_one_form(text: &str, guard: &str) -> String {
    let mut changed = text.to_owned();
    plus_one(&mut changed, numbers(text, guard).0.unwrap());
    changed
}

/// Where a guard's number stands: in its own IF (MySQL), and in the ledger's row.
fn numbers(text: &str, guard: &str) -> (Option<usize>, usize) {
    let sign = format!("'{}', '{guard}', ", id_in(text));
    let starts: Vec<usize> = text.match_indices(&sign).map(|(at, _)| at + sign.len()).collect();
    let [written] = starts[..] else { panic!("{guard} stands {} times in the text", starts.len()) };
    let statement = &text[written..written + text[written..].find(";\n").unwrap()];
    let form = statement.find(", 1, (SELECT 1 UNION ALL SELECT 2))");
    (form.map(|end| written + statement[..end].rfind("= ").unwrap() + 2), written)
}

/// The bundle's id, which every file names in its first line.
pub fn id_in(text: &str) -> &str {
    text.strip_prefix("-- flowmend bundle ").and_then(|t| t.split_once(':')).unwrap().0
}

fn plus_one(text: &mut String, at: usize) {
    let digits = text[at..].chars().take_while(char::is_ascii_digit).count();
    let number: u64 = text[at..at + digits].parse().unwrap();
    text.replace_range(at..at + digits, &(number + 1).to_string());
}

/// A runner's text without the line that makes the client stop at an error, and
/// the client's flag for the same.
pub fn going_on(server: Server, text: &str) -> (String, &'static [&'static str]) {
    let (line, flags): (&str, &[&str]) = match server {
        Server::Sqlite => (".bail on\n", &[]),
        Server::PostgreSql => ("\\set ON_ERROR_STOP on\n", &[]),
        Server::MariaDb | Server::MySql => ("", &["--force"]),
    };
    assert!(text.contains(line), "the runner stops at errors by itself");
    (text.replacen(line, "", 1), flags)
}

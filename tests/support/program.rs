//! Runs the real program.

use std::path::Path;
use std::process::Command;

use super::db::TestDb;

/// What the program did.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs the program with arguments.
pub fn flowmend<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Run {
    flowmend_env(args, &[])
}

/// The same with extra environment variables.
pub fn flowmend_env<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>, env: &[(&str, &str)]) -> Run {
    let output = command(args).envs(env.iter().copied()).output().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The program, ready to start.
pub fn command<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowmend"));
    for name in [
        "FLOWMEND_URL",
        "FLOWMEND_ZONE",
        "FLOWMEND_TABLE_PREFIX",
        "FLOWMEND_REGISTRY",
        "FLOWMEND_REGISTRY_PASSWORD",
        "FLOWMEND_ENUMS",
        "FLOWMEND_TEMPLATES",
    ] {
        command.env_remove(name);
    }
    command.env("USER", "tester").env("NO_COLOR", "1").stdin(std::process::Stdio::null()).args(args);
    command
}

impl Run {
    /// The run, which must have ended with this code.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\n--- stdout\n{}\n--- stderr\n{}", self.out, self.err);
        self
    }
}

/// The first twelve characters of a bundle's seal.
pub fn seal(dir: &Path) -> String {
    let sums = std::fs::read(dir.join("SHA256SUMS")).unwrap();
    flowmend::digest::sha256(&[&sums])[..12].to_owned()
}

/// Plans a recipe into a folder of the database's own, with the scheduler on UTC.
#[allow(dead_code)]
pub fn plan_recipe(db: &TestDb, recipe: &str, name: &str, extra: &[&str]) -> Run {
    let out = db.path(name).display().to_string();
    let moment = ["--now", "2026-11-29T00:00:00Z", "--zone", "+00:00"];
    flowmend([&["plan", recipe, "--url", &db.url, "--out", &out], &moment[..], extra].concat())
}

/// Plans `zombie-tasks` into a folder of the database's own.
pub fn plan(db: &TestDb, name: &str, extra: &[&str]) -> Run {
    plan_in_zone(db, name, "+00:00", extra)
}

/// The same for a scheduler whose clock runs in another zone.
pub fn plan_in_zone(db: &TestDb, name: &str, zone: &str, extra: &[&str]) -> Run {
    let out = db.path(name).display().to_string();
    let mut args = vec![
        "plan",
        "zombie-tasks",
        "--url",
        &db.url,
        "--out",
        &out,
        "--now",
        "2026-11-29T00:00:00Z",
        "--zone",
        zone,
        "--choose",
        "finish",
    ];
    args.extend(extra);
    flowmend(args)
}

/// Runs a command on a bundle with its seal.
pub fn sealed(command: &str, db: &TestDb, bundle: &str, extra: &[&str]) -> Run {
    let dir = db.path(bundle);
    let (seal, dir) = (seal(&dir), dir.display().to_string());
    let mut args = vec![command, &dir, "--url", &db.url, "--seal", &seal];
    args.extend(extra);
    flowmend(args)
}

/// Runs a command that needs no seal.
pub fn on_bundle(command: &str, db: &TestDb, bundle: &str) -> Run {
    let dir = db.path(bundle).display().to_string();
    flowmend([command, &dir, "--url", &db.url])
}

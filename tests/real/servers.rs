//! Servers of a real scheduler, each a process of its own: the launchers of `scripts/real`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::db::TestDb;

/// The servers of one installation.
pub struct Servers {
    script: &'static str,
    release: &'static str,
    url: String,
    pub dir: PathBuf,
}

/// A launcher, with arguments.
fn launcher<S: AsRef<std::ffi::OsStr>>(script: &str, args: impl IntoIterator<Item = S>) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/real");
    let mut command = Command::new(folder.join(format!("{script}.sh")));
    command.args(args);
    command
}

/// Whether the release lies in the cache, noting if not.
pub fn got(what: &str, script: &str, release: &str) -> bool {
    let there = launcher(script, ["got", release]).output().unwrap().status.success();
    if !there {
        crate::support::skipped(what, &format!("not there (scripts/real/{script}.sh get {release})"));
    }
    there
}

/// What a launcher prints; it must succeed.
#[track_caller]
pub fn must<S: AsRef<std::ffi::OsStr>>(script: &str, args: impl IntoIterator<Item = S>) -> String {
    let mut command = launcher(script, args);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert!(output.status.success(), "{command:?}\n{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said
}

impl Servers {
    /// Nothing runs yet.
    pub fn new(script: &'static str, release: &'static str, db: &TestDb) -> Self {
        let dir = db.path("servers");
        std::fs::create_dir_all(&dir).unwrap();
        Self { script, release, url: db.url.clone(), dir }
    }

    /// Starts servers and waits until they are up.
    pub fn up(&self, servers: &[&str]) {
        self.of_release("start", servers);
    }

    /// A command of the launcher that takes the release, the folder, the address
    /// and more.
    #[track_caller]
    pub fn of_release(&self, command: &str, args: &[&str]) -> String {
        let dir = self.dir.display().to_string();
        must(self.script, [&[command, self.release, &dir, &self.url], args].concat())
    }

    /// A command of the launcher that takes the folder and more.
    #[track_caller]
    pub fn of_folder(&self, command: &str, args: &[&str]) {
        let dir = self.dir.display().to_string();
        must(self.script, [&[command, &dir], args].concat());
    }

    /// `kill -9`.
    pub fn kill(&self, servers: &[&str]) {
        self.of_folder("kill", servers);
    }

    /// `kill -9`, with every process that came of them.
    pub fn crash(&self, servers: &[&str]) {
        self.of_folder("crash", servers);
    }

    /// Asks them to end and waits.
    pub fn stop(&self, servers: &[&str]) {
        self.of_folder("stop", servers);
    }

    /// Sends a signal to one server.
    pub fn signal(&self, server: &str, name: &str) {
        self.of_folder("signal", &[server, name]);
    }

    pub fn alive(&self, server: &str) -> bool {
        let dir = self.dir.display().to_string();
        launcher(self.script, ["alive", &dir, server]).output().unwrap().status.success()
    }

    /// What a server has logged since it was started last.
    pub fn log(&self, server: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.dir.join(server).join("log")).unwrap_or_default()).into_owned()
    }

    /// Lines of a server's log that hold one of these words.
    pub fn says(&self, server: &str, words: &[&str]) -> Vec<String> {
        let log = self.log(server);
        log.lines().filter(|l| words.iter().any(|w| l.contains(w))).map(str::to_owned).collect()
    }

    /// Copies the logs to where FLOWMEND_REAL_LOGS says.
    pub fn keep_logs(&self, name: &str) {
        let Some(keep) = std::env::var_os("FLOWMEND_REAL_LOGS") else { return };
        let to = Path::new(&keep).join(name);
        let _ = std::fs::create_dir_all(&to);
        for entry in std::fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let server = entry.file_name().display().to_string();
            for log in ["log", "log.old"] {
                let _ = std::fs::copy(entry.path().join(log), to.join(format!("{server}.{log}")));
            }
        }
    }
}

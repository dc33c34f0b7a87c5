//! Every guard of a bundle fails when its count is off by one, and then nothing
//! in the scheduler's tables changes, whatever the client does about the error.

use super::round::zombies;
use crate::support::bundle::{
    copy, going_on, id_in, off_by_one, off_by_one_check, off_by_one_form, reseal, run_edited, runner,
};
use crate::support::db::{Dump, Server, TestDb, Watch, same};
use crate::support::long;
use crate::support::program::{plan, sealed};

/// How many of the guards a server tries with each client, unless long tests are asked for.
const SHARE: usize = 3;

/// What a guard must not let through.
struct Trial {
    db: TestDb,
    watch: Watch,
    what: &'static str,
    before: Dump,
    ledger: usize,
    text: String,
}

impl Trial {
    fn new(db: TestDb, what: &'static str) -> Self {
        let mut watch = Watch::new(&db);
        let before = watch.rows();
        let ledger = if what == "apply" { 0 } else { db.ledger().len() };
        let text = std::fs::read_to_string(runner(&db, "b", what)).unwrap();
        Self { db, watch, what, before, ledger, text }
    }

    /// The guards of a good run, in any order: what the ledger gains by it.
    fn guards(&self) -> Vec<String> {
        let twin = zombies(self.db.server, &self.release());
        plan(&twin, "b", DEAD).expect(0);
        sealed("apply", &twin, "b", &[]).expect(0);
        let steps = |db: &TestDb| db.ledger().into_iter().map(|r| r[1].clone().unwrap()).collect::<Vec<_>>();
        let applied = steps(&twin);
        if self.what == "apply" {
            return applied;
        }
        sealed("rollback", &twin, "b", &[]).expect(0);
        steps(&twin).into_iter().filter(|s| !applied.contains(s)).collect()
    }

    fn release(&self) -> String {
        self.db.value("SELECT version FROM t_ds_version").unwrap()
    }

    fn unchanged(&mut self, how: &str) {
        same(&self.watch.rows(), &self.before, &format!("{:?} {how}", self.db.server));
        // The ledger's table may not even be there: PostgreSQL and SQLite made it inside.
        let last = if self.what == "apply" { "end" } else { "rollback.end" };
        let mut session = crate::support::db::Session::new(&self.db);
        if let Ok(rows) = session.rows("SELECT step FROM flowmend_ledger") {
            assert_eq!(rows.len(), self.ledger, "{:?} {how}: the ledger grew", self.db.server);
            assert!(!rows.iter().flatten().flatten().any(|s| s == last), "{:?} {how}", self.db.server);
        }
    }

    /// Stops at the first error, as the runner tells the client to.
    fn stopping(&mut self, guard: &str, text: &str) {
        let file = self.write("stop", text);
        let output = self.db.stock(&file);
        assert!(!output.status.success(), "{:?} {guard}: the failure must show", self.db.server);
        self.unchanged(&format!("{guard}, client that stops"));
    }

    /// Goes on after every error.
    fn going_on(&mut self, guard: &str, text: &str) {
        let (text, flags) = going_on(self.db.server, text);
        let file = self.write("go_on", &text);
        self.db.stock_with(&file, flags);
        self.unchanged(&format!("{guard}, client that goes on"));
    }

    /// A bundle that was changed and sealed again.
    fn program(&mut self, guard: &str, text: &str) {
        let dir = self.db.path("resealed");
        copy(&self.db.path("b"), &dir);
        std::fs::write(dir.join(format!("{}.{}", self.what, self.db.server.client())), text).unwrap();
        reseal(&dir);
        let run = run_edited(self.what, &self.db, &dir).expect(3);
        assert!(run.err.contains("everything was rolled back"), "{}", run.err);
        self.unchanged(&format!("{guard}, the program"));
    }

    fn write(&self, name: &str, text: &str) -> std::path::PathBuf {
        let file = self.db.path(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    fn all(&mut self) {
        let guards = self.guards();
        assert!(guards.len() > 4, "{guards:?}");
        let every = self.db.server == Server::Sqlite || long();
        for (number, guard) in guards.iter().enumerate() {
            let text = off_by_one(&self.text, guard);
            let turn = number % SHARE;
            if every || turn == 0 {
                self.stopping(guard, &text);
            }
            if every || turn == 1 {
                self.going_on(guard, &text);
            }
            if every || turn == 2 {
                self.program(guard, &text);
            }
        }
        // No guard in the text that the ledger of a good run does not know.
        assert_eq!(self.text.matches(&format!("'{}', '", id_in(&self.text))).count(), guards.len());
    }
}

const DEAD: &[&str] = &["--dead-owner", "10.0.0.9:5678"];

fn planned(server: Server, release: &str) -> TestDb {
    let db = zombies(server, release);
    plan(&db, "b", DEAD).expect(0);
    db
}

fn applied(server: Server, release: &str) -> TestDb {
    let db = planned(server, release);
    sealed("apply", &db, "b", &[]).expect(0);
    db
}

#[test]
fn every_guard_of_apply_can_fail() {
    for server in Server::available("every_guard_of_apply_can_fail") {
        Trial::new(planned(server, "3.1.9"), "apply").all();
    }
}

#[test]
fn every_guard_of_rollback_can_fail() {
    for server in Server::available("every_guard_of_rollback_can_fail") {
        Trial::new(applied(server, "3.1.9"), "rollback").all();
    }
}

#[test]
fn every_guard_of_a_bundle_that_deletes_can_fail() {
    for server in Server::available("every_guard_of_a_bundle_that_deletes_can_fail") {
        Trial::new(planned(server, "3.4.0"), "apply").all();
        Trial::new(applied(server, "3.4.0"), "rollback").all();
    }
}

/// On MySQL a guard fails in two ways, each of which is enough: the CHECK, and a
/// form for servers that read CHECK and forget it.
#[test]
fn both_forms_of_a_guard_are_enough() {
    for server in [Server::MariaDb, Server::MySql] {
        if !server.is_there("both_forms_of_a_guard_are_enough") {
            continue;
        }
        let mut trial = Trial::new(planned(server, "3.1.9"), "apply");
        for guard in ["01_preflight.triggers", "02_backup.03_task_instance", "03_task_instance", "end"] {
            let (check, form) = (off_by_one_check(&trial.text, guard), off_by_one_form(&trial.text, guard));
            trial.stopping(guard, &check);
            trial.stopping(guard, &form);
            trial.going_on(guard, &check);
            trial.going_on(guard, &form);
            trial.program(guard, &form);
        }
    }
}

/// What a stock client shows of a guard that fails is told where it is read at night: in the file and in the ticket.
#[test]
fn what_the_client_shows_is_explained() {
    for server in Server::available("what_the_client_shows_is_explained") {
        let db = zombies(server, "3.1.9");
        plan(&db, "b", DEAD).expect(0);
        db.exec("UPDATE t_ds_process_instance SET state = 7 WHERE state = 1");
        let file = runner(&db, "b", "apply");
        let output = db.stock(&file);
        let said = format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        let shown = server.dialect().guard_fails;
        let words = shown.split_once(": ").map_or([shown.as_str(), ""], |(kind, text)| [kind, text]);
        assert!(words.iter().all(|words| said.contains(words)), "{server:?}: no `{shown}` in {said}");
        for page in [file, db.path("b").join("TICKET.md")] {
            assert!(std::fs::read_to_string(&page).unwrap().contains(&shown), "{server:?}: {}", page.display());
        }
    }
}

//! The program is killed at every guard: nothing of the scheduler's changed, and
//! the next run takes it from there.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::round::zombies;
use crate::support::db::{Server, Session, TestDb, Watch, same};
use crate::support::long;
use crate::support::program::{command, flowmend_env, on_bundle, plan, seal, sealed};

pub const DEAD: &[&str] = &["--dead-owner", "10.0.0.9:5678"];
/// Of how many guards a server tries one.
const SHARE: usize = 4;
const ABORT: &str = "FLOWMEND_TEST_ABORT_AT";

pub fn killed_at(command: &str, db: &TestDb, guard: &str) {
    let dir = db.path("b");
    let (seal, dir) = (seal(&dir), dir.display().to_string());
    let mut args = vec![command, &dir, "--url", &db.url];
    if command != "rehearse" {
        args.extend(["--seal", &seal]);
    }
    let run = flowmend_env(args, &[(ABORT, guard)]);
    assert_eq!(run.code, -1, "{:?}: {command} was not killed at {guard}: {}", db.server, run.err);
}

/// Where a run can be killed: at each guard that the program names as it works
/// (`begin` is behind the first of them), and just before the commit.
pub fn places(text: &str, server: Server) -> Vec<String> {
    let statements = text.lines().filter_map(|l| l.strip_prefix("-- guard ").or_else(|| l.strip_prefix("-- ")));
    let mut found: Vec<String> = Vec::new();
    for line in statements {
        let Some((name, _)) = line.split_once(": ") else { continue };
        let numbered = name.starts_with(|c: char| c.is_ascii_digit()) || name.starts_with("rollback.") || name == "end";
        if numbered && !name.contains(' ') {
            found.push(name.to_owned());
        }
    }
    assert!(found.len() > 8, "{server:?} {found:?}");
    // Servers try some of them, unless long tests are asked for: the last guards always.
    if server != Server::Sqlite && !long() {
        let last = found.split_off(found.len() - 2);
        found = found.into_iter().step_by(SHARE).chain(last).collect();
    }
    found.push("commit".to_owned());
    found
}

pub fn runner_text(db: &TestDb, what: &str) -> String {
    std::fs::read_to_string(crate::support::bundle::runner(db, "b", what)).unwrap()
}

fn crashes(server: Server, release: &str) {
    let db = zombies(server, release);
    plan(&db, "b", DEAD).expect(0);
    let mut watch = Watch::new(&db);
    let fresh = watch.rows();
    for place in places(&runner_text(&db, "apply"), server) {
        killed_at("apply", &db, &place);
        same(&watch.rows(), &fresh, &format!("{server:?} killed at {place}"));
        on_bundle("verify", &db, "b").expect(4);
    }
    // Also over the empty tables that MySQL keeps.
    sealed("apply", &db, "b", &[]).expect(0);
    let applied = watch.rows();
    for place in places(&runner_text(&db, "rollback"), server) {
        killed_at("rollback", &db, &place);
        same(&watch.rows(), &applied, &format!("{server:?} killed at {place}"));
    }
    on_bundle("verify", &db, "b").expect(0);
    sealed("rollback", &db, "b", &[]).expect(0);
    same(&watch.rows(), &fresh, "rolled back");
}

#[test]
fn killed_at_every_guard() {
    for server in Server::available("killed_at_every_guard") {
        crashes(server, "3.1.9");
    }
}

/// After each single crash the very next run succeeds.
#[test]
fn the_next_run_succeeds() {
    let db = zombies(Server::Sqlite, "3.1.9");
    plan(&db, "b", DEAD).expect(0);
    let file = db.sqlite_file();
    let fresh = std::fs::read(&file).unwrap();
    for place in places(&runner_text(&db, "apply"), Server::Sqlite) {
        killed_at("apply", &db, &place);
        sealed("apply", &db, "b", &[]).expect(0);
        on_bundle("verify", &db, "b").expect(0);
        let journal = file.with_extension("db-journal");
        assert!(!journal.exists());
        std::fs::write(&file, &fresh).unwrap();
    }
}

fn start_apply(db: &TestDb) -> Child {
    let dir = db.path("b");
    let (seal, dir) = (seal(&dir), dir.display().to_string());
    command(["apply", &dir, "--url", &db.url, "--seal", &seal])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// How many sessions on this database wait for a lock.
pub fn waiting(db: &TestDb) -> String {
    let sql = match db.server {
        Server::PostgreSql => {
            "SELECT COUNT(*)::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        }
        _ => {
            "SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.INNODB_TRX t JOIN information_schema.PROCESSLIST p \
              ON p.ID = t.trx_mysql_thread_id WHERE p.DB = DATABASE() AND t.trx_state = 'LOCK WAIT'"
        }
    };
    db.value(sql).unwrap()
}

/// How many sessions on this database have a transaction open, this one aside.
pub fn open_transactions(db: &TestDb) -> String {
    let sql = match db.server {
        Server::PostgreSql => {
            "SELECT COUNT(*)::text FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL"
        }
        _ => {
            "SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.INNODB_TRX t JOIN information_schema.PROCESSLIST p \
              ON p.ID = t.trx_mysql_thread_id WHERE p.DB = DATABASE() AND p.ID <> CONNECTION_ID()"
        }
    };
    db.value(sql).unwrap()
}

#[track_caller]
pub fn wait_until(what: &str, mut yes: impl FnMut() -> bool) {
    let began = Instant::now();
    while !yes() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        // InnoDB shows its transactions from a copy, which it does not renew for
        // those who look more often than ten times a second.
        std::thread::sleep(Duration::from_millis(250));
    }
}

fn killed_while_it_waits(server: Server) {
    let db = zombies(server, "3.1.9");
    plan(&db, "b", DEAD).expect(0);
    let fresh = db.dump();
    let mut other = Session::new(&db);
    other.exec("BEGIN").exec("SELECT id FROM t_ds_process_instance WHERE id = 1 FOR UPDATE");
    let mut apply = start_apply(&db);
    wait_until("apply waits for the row", || waiting(&db) == "1");
    apply.kill().unwrap();
    apply.wait().unwrap();
    other.exec("ROLLBACK");
    wait_until("the server lets the dead session go", || open_transactions(&db) == "0");
    same(&db.dump(), &fresh, "killed while it waited");
    sealed("apply", &db, "b", &[]).expect(0);
    on_bundle("verify", &db, "b").expect(0);
}

#[test]
fn killed_from_outside_while_it_waits_for_a_row() {
    for server in [Server::MariaDb, Server::PostgreSql, Server::MySql] {
        if server.is_there("killed_from_outside_while_it_waits_for_a_row") {
            killed_while_it_waits(server);
        }
    }
}

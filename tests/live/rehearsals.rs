//! Rehearsals that are killed, and rehearsals beside other runs of the same bundle.

use std::process::Child;
use std::time::Duration;

use super::clean::own_tables;
use super::crash::{DEAD, killed_at, open_transactions, wait_until, waiting};
use super::locks::{held, start, text};
use super::round::zombies;
use crate::support::db::{Server, Session, TestDb, same};
use crate::support::program::{on_bundle, plan, sealed};

const SERVERS: [Server; 3] = [Server::MariaDb, Server::PostgreSql, Server::MySql];

fn planned(server: Server) -> TestDb {
    let db = zombies(server, "3.1.9");
    plan(&db, "b", DEAD).expect(0);
    db
}

/// The next rehearsal takes up what a killed one left, and leaves nothing.
#[test]
fn killed_at_a_guard() {
    for server in Server::available("killed_at_a_guard") {
        let db = planned(server);
        let fresh = db.dump();
        for place in ["01_preflight.own_tables", "02_backup.03_task_instance", "end", "rollback.end"] {
            killed_at("rehearse", &db, place);
            same(&db.dump(), &fresh, &format!("{server:?} killed at {place}"));
            let again = on_bundle("rehearse", &db, "b").expect(0);
            assert!(again.out.replace("\n  ", " ").contains("nothing stays behind"), "{}", again.out);
            assert!(own_tables(&db).is_empty(), "{server:?} {place}: {:?}", own_tables(&db));
        }
        killed_at("rehearse", &db, "end");
        if matches!(server, Server::MariaDb | Server::MySql) {
            sealed("clean", &db, "b", &[]).expect(0);
        }
        assert!(own_tables(&db).is_empty(), "{server:?}: {:?}", own_tables(&db));
        killed_at("rehearse", &db, "end");
        sealed("apply", &db, "b", &[]).expect(0);
        on_bundle("verify", &db, "b").expect(0);
        sealed("rollback", &db, "b", &[]).expect(0);
        same(&db.dump(), &fresh, &format!("{server:?}: rolled back"));
    }
}

/// A master that holds a row of the bundle; on SQLite, the file.
fn master(db: &TestDb) -> Session {
    held(
        db,
        match db.server {
            Server::Sqlite => "UPDATE t_ds_version SET version = version",
            _ => "SELECT id FROM t_ds_task_instance WHERE id = 1 FOR UPDATE",
        },
    )
}

/// SIGKILL, while it waits for a row that somebody holds.
#[test]
fn killed_from_outside() {
    for server in SERVERS.into_iter().filter(|s| s.is_there("killed_from_outside")) {
        let db = planned(server);
        let fresh = db.dump();
        let mut master = master(&db);
        let mut rehearse = start(&db, "rehearse");
        wait_until("rehearse waits for the row", || waiting(&db) == "1");
        rehearse.kill().unwrap();
        rehearse.wait().unwrap();
        master.exec("ROLLBACK");
        wait_until("the server lets the dead session go", || open_transactions(&db) == "0");
        same(&db.dump(), &fresh, "killed while it waited");
        on_bundle("rehearse", &db, "b").expect(0);
        assert!(own_tables(&db).is_empty(), "{server:?}: {:?}", own_tables(&db));
        sealed("apply", &db, "b", &[]).expect(0);
    }
}

/// The first waits for a row while the second begins; then the row is free.
fn beside(db: &TestDb, first: &str, second: &str) -> [(Option<i32>, String); 2] {
    let mut master = master(db);
    let first = start(db, first);
    match db.server {
        // Nobody can look into a file that somebody holds.
        Server::Sqlite => std::thread::sleep(Duration::from_secs(1)),
        _ => wait_until("the first waits for the row", || waiting(db) == "1"),
    }
    let second = start(db, second);
    std::thread::sleep(Duration::from_secs(1));
    master.exec("ROLLBACK");
    [first, second].map(ended)
}

fn ended(run: Child) -> (Option<i32>, String) {
    let output = run.wait_with_output().unwrap();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

const BUSY: &str = "another session is at work on this bundle";

#[test]
fn two_rehearsals() {
    for server in Server::available("two_rehearsals") {
        let db = planned(server);
        let fresh = db.dump();
        let [first, second] = beside(&db, "rehearse", "rehearse");
        assert_eq!(first.0, Some(0), "{server:?} {}", first.1);
        let named_lock = matches!(server, Server::MariaDb | Server::MySql);
        assert_eq!(second.0, Some(if named_lock { 4 } else { 0 }), "{server:?} {}", second.1);
        assert!(!named_lock || second.1.contains(BUSY), "{}", second.1);
        assert!(own_tables(&db).is_empty(), "{server:?}: {:?}", own_tables(&db));
        same(&db.dump(), &fresh, &format!("{server:?}: two rehearsals"));
    }
}

#[test]
fn an_apply_beside_a_rehearsal() {
    for server in Server::available("an_apply_beside_a_rehearsal") {
        let db = planned(server);
        let fresh = db.dump();
        let [rehearsal, apply] = beside(&db, "rehearse", "apply");
        assert_eq!(apply.0, Some(0), "{server:?} apply: {}", apply.1);
        // Whoever finds the file of SQLite free first goes first; then nothing is left to rehearse.
        let overtaken = server == Server::Sqlite && rehearsal.0 == Some(4) && rehearsal.1.contains("applied");
        assert!(rehearsal.0 == Some(0) || overtaken, "{server:?} rehearsal: {}", rehearsal.1);
        on_bundle("verify", &db, "b").expect(0);
        sealed("rollback", &db, "b", &[]).expect(0);
        same(&db.dump(), &fresh, &format!("{server:?}: rolled back"));
    }
}

#[test]
fn a_rehearsal_beside_an_apply() {
    for server in Server::available("a_rehearsal_beside_an_apply") {
        let db = planned(server);
        let [apply, rehearsal] = beside(&db, "apply", "rehearse");
        assert_eq!(apply.0, Some(0), "{server:?} {}", apply.1);
        if server == Server::Sqlite && rehearsal.0 == Some(0) {
            // Whoever finds the file free first goes first.
            assert!(rehearsal.1.contains("rehearsed:"), "{}", rehearsal.1);
        } else {
            assert_eq!(rehearsal.0, Some(4), "{server:?} {}", rehearsal.1);
            let why = [BUSY, "this bundle was applied by another session meanwhile", "this bundle is applied already"];
            assert!(why.iter().any(|w| rehearsal.1.contains(w)), "{server:?} {}", rehearsal.1);
        }
        on_bundle("verify", &db, "b").expect(0);
    }
}

/// Many at once end well or are refused; nothing is half done.
#[test]
fn many_at_once() {
    for server in Server::available("many_at_once") {
        let db = planned(server);
        let fresh = db.dump();
        let runs: Vec<Child> = (0..4).map(|_| start(&db, "rehearse")).collect();
        let ended: Vec<_> = runs.into_iter().map(ended).collect();
        assert!(ended.iter().any(|(code, _)| *code == Some(0)), "{server:?} {ended:?}");
        assert!(ended.iter().all(|(code, _)| matches!(code, Some(0 | 4 | 6))), "{server:?} {ended:?}");
        assert!(own_tables(&db).is_empty(), "{server:?}: {:?}", own_tables(&db));
        same(&db.dump(), &fresh, &format!("{server:?}: many rehearsals"));
    }
}

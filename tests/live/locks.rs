//! Locks: a row that somebody else holds, and two runs of one bundle at once.

use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use super::round::zombies;
use crate::support::bundle::runner;
use crate::support::db::{Server, Session, TestDb, same};
use crate::support::program::{command, on_bundle, plan, seal, sealed};

const DEAD: &[&str] = &["--dead-owner", "10.0.0.9:5678"];
/// The time-out of a bundle, and some time for the rest of the run.
const PATIENCE: Duration = Duration::from_secs(30);

fn planned(server: Server) -> TestDb {
    let db = zombies(server, "3.1.9");
    plan(&db, "b", DEAD).expect(0);
    db
}

/// A master that holds a row which the bundle will write, or of a run it will close.
pub fn held(db: &TestDb, sql: &str) -> Session {
    let mut master = Session::new(db);
    master.exec(if db.server == Server::Sqlite { "BEGIN IMMEDIATE" } else { "BEGIN" }).exec(sql);
    master
}

fn gives_up(server: Server, sql: &str) {
    let db = planned(server);
    let before = db.dump();
    let master = held(&db, sql);
    let began = Instant::now();
    let run = sealed("apply", &db, "b", &[]).expect(6);
    assert!(began.elapsed() < PATIENCE, "{server:?}: {:?}", began.elapsed());
    assert!(run.err.contains("a lock could not be had"), "{server:?} {}", run.err);
    let holder = match server {
        Server::Sqlite => "another process has the file open".to_owned(),
        Server::PostgreSql => format!("held by pid {} (", master.id),
        Server::MariaDb | Server::MySql => format!("held by connection {} (", master.id),
    };
    assert!(run.err.contains(&holder), "{server:?}: not `{holder}` in {}", run.err);
    drop(master);
    same(&db.dump(), &before, &format!("{server:?}: gave up"));
    // The lock is gone: the same bundle applies.
    sealed("apply", &db, "b", &[]).expect(0);
}

/// A task that a master holds, and the run of a task: a master about to take it over.
#[test]
fn apply_gives_up_and_names_the_holder() {
    let task = "SELECT id FROM t_ds_task_instance WHERE id = 1 FOR UPDATE";
    let run = "UPDATE t_ds_process_instance SET host = '10.0.0.1:5678' WHERE id = 1";
    let cases = [
        (Server::Sqlite, "UPDATE t_ds_version SET version = version"),
        (Server::MariaDb, task),
        (Server::MySql, task),
        (Server::PostgreSql, task),
        (Server::MariaDb, run),
        (Server::PostgreSql, run),
    ];
    at_once(&cases, |(server, sql)| {
        if server.is_there("apply_gives_up_and_names_the_holder") {
            gives_up(*server, sql);
        }
    });
}

/// Mostly these wait, so they wait together.
fn at_once<T: Sync>(cases: &[T], each: impl Fn(&T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| each(case));
        }
    });
}

/// The stock client gives up as well, with the server's own words.
#[test]
fn the_stock_client_gives_up_too() {
    at_once(&[Server::MariaDb, Server::PostgreSql, Server::MySql], |server| {
        if !server.is_there("the_stock_client_gives_up_too") {
            return;
        }
        let db = planned(*server);
        let before = db.dump();
        let master = held(&db, "SELECT id FROM t_ds_task_instance WHERE id = 1 FOR UPDATE");
        let began = Instant::now();
        assert!(!db.stock(&runner(&db, "b", "apply")).status.success());
        assert!(began.elapsed() < PATIENCE, "{server:?}");
        drop(master);
        same(&db.dump(), &before, &format!("{server:?}: stock client gave up"));
    });
}

/// While apply waits the holder takes the run over and commits: a guard fails.
#[test]
fn taken_over_while_it_waits() {
    for server in [Server::MariaDb, Server::PostgreSql, Server::MySql] {
        if !server.is_there("taken_over_while_it_waits") {
            continue;
        }
        let db = planned(server);
        let mut master = held(&db, "UPDATE t_ds_process_instance SET host = '10.0.0.1:5678' WHERE id = 1");
        let apply = start(&db, "apply");
        std::thread::sleep(Duration::from_secs(1));
        master.exec("COMMIT");
        let moved = db.dump();
        let output = apply.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{server:?} {}", text(&output.stderr));
        same(&db.dump(), &moved, &format!("{server:?}: taken over"));
    }
}

pub fn start(db: &TestDb, what: &str) -> Child {
    let dir = db.path("b");
    let (seal, dir) = (seal(&dir), dir.display().to_string());
    let mut args = vec![what, &dir, "--url", &db.url];
    if what != "rehearse" {
        args.extend(["--seal", &seal]);
    }
    command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Several runs of one bundle at once: one does it, the others find it done.
fn race(db: &TestDb, what: &str, done: &str) {
    let runs: Vec<Child> = (0..4).map(|_| start(db, what)).collect();
    let outputs: Vec<Output> = runs.into_iter().map(|r| r.wait_with_output().unwrap()).collect();
    let said = |sign: &str| outputs.iter().filter(|o| text(&o.stdout).contains(sign)).count();
    let all = || {
        outputs
            .iter()
            .map(|o| format!("{:?}\n{}{}", o.status.code(), text(&o.stdout), text(&o.stderr)))
            .collect::<String>()
    };
    assert_eq!(said(&format!("{done}: bundle")), 1, "{:?} {}", db.server, all());
    for output in &outputs {
        // Whoever lost may have found a deadlock instead; that is no change either.
        assert!(matches!(output.status.code(), Some(0 | 6)), "{:?} {}", db.server, all());
    }
}

#[test]
fn one_of_several_runs_applies() {
    for server in Server::available("one_of_several_runs_applies") {
        let (db, twin) = (planned(server), planned(server));
        let fresh = db.dump();
        sealed("apply", &twin, "b", &[]).expect(0);
        race(&db, "apply", "applied");
        assert_eq!(db.guards(), twin.guards(), "{server:?}");
        on_bundle("verify", &db, "b").expect(0);
        race(&db, "rollback", "rolled back");
        same(&db.dump(), &fresh, &format!("{server:?}: rolled back once"));
    }
}

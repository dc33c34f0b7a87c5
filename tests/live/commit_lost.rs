//! The connection breaks at the commit: the program reads the ledger and reports.

use super::round::zombies;
use crate::support::db::{Server, TestDb, same};
use crate::support::program::{Run, flowmend, on_bundle, plan, seal, sealed};
use crate::support::proxy::{Cut, Proxy};

const DEAD: &[&str] = &["--dead-owner", "10.0.0.9:5678"];

fn servers(what: &str) -> Vec<Server> {
    [Server::MariaDb, Server::PostgreSql, Server::MySql].into_iter().filter(|s| s.is_there(what)).collect()
}

fn planned(server: Server) -> TestDb {
    let db = zombies(server, "3.1.9");
    plan(&db, "b", DEAD).expect(0);
    db
}

/// Runs a command through a proxy that cuts the line at the commit.
fn cut(db: &TestDb, command: &str, how: Cut) -> Run {
    let proxy = Proxy::new(db, how);
    let dir = db.path("b");
    let (seal, dir) = (seal(&dir), dir.display().to_string());
    let run = flowmend([command, &dir, "--url", &proxy.url(db), "--seal", &seal]);
    assert!(proxy.has_cut(), "{:?}: no commit came by: {}", db.server, run.err);
    run
}

#[test]
fn lost_before_the_commit() {
    for server in servers("lost_before_the_commit") {
        let db = planned(server);
        let fresh = db.dump();
        let lost = cut(&db, "apply", Cut::Before).expect(6);
        assert!(lost.err.contains("nothing was committed"), "{server:?} {}", lost.err);
        same(&db.dump(), &fresh, &format!("{server:?}: lost before the commit"));
        sealed("apply", &db, "b", &[]).expect(0);
        let applied = db.dump();
        let lost = cut(&db, "rollback", Cut::Before).expect(6);
        assert!(lost.err.contains("nothing was committed"), "{server:?} {}", lost.err);
        same(&db.dump(), &applied, &format!("{server:?}: rollback lost before the commit"));
        sealed("rollback", &db, "b", &[]).expect(0);
        same(&db.dump(), &fresh, "rolled back");
    }
}

#[test]
fn lost_after_the_commit() {
    for server in servers("lost_after_the_commit") {
        let db = planned(server);
        let fresh = db.dump();
        let lost = cut(&db, "apply", Cut::After).expect(0);
        assert!(lost.err.contains("the ledger says that it was committed"), "{server:?} {}", lost.err);
        assert!(lost.out.contains("applied: bundle"), "{}", lost.out);
        on_bundle("verify", &db, "b").expect(0);
        let again = sealed("apply", &db, "b", &[]).expect(0);
        assert!(again.out.contains("already applied"), "{}", again.out);
        let lost = cut(&db, "rollback", Cut::After).expect(0);
        assert!(lost.err.contains("the ledger says that it was committed"), "{server:?} {}", lost.err);
        same(&db.dump(), &fresh, &format!("{server:?}: rolled back"));
    }
}

/// The server stays away: the outcome is unknown, and the next run finds out.
#[test]
fn lost_for_good() {
    for server in servers("lost_for_good") {
        let db = planned(server);
        let fresh = db.dump();
        let lost = cut(&db, "apply", Cut::BeforeForGood).expect(6);
        assert!(lost.err.contains("the outcome is unknown"), "{server:?} {}", lost.err);
        same(&db.dump(), &fresh, &format!("{server:?}: lost for good"));
        sealed("apply", &db, "b", &[]).expect(0);
    }
}

/// The server commits after the line is gone: that the ledger is empty at first proves nothing.
#[test]
fn committed_a_little_later() {
    for server in servers("committed_a_little_later") {
        let db = planned(server);
        let lost = cut(&db, "apply", Cut::Late).expect(0);
        assert!(lost.err.contains("the ledger says that it was committed"), "{server:?} {}", lost.err);
        on_bundle("verify", &db, "b").expect(0);
    }
}

/// The server waits for a client that is gone: it could still commit.
#[test]
fn the_session_stays_open() {
    std::thread::scope(|scope| {
        for server in servers("the_session_stays_open") {
            scope.spawn(move || {
                let db = planned(server);
                let fresh = db.dump();
                let lost = cut(&db, "apply", Cut::Silent).expect(6);
                assert!(
                    lost.err.contains("the outcome is unknown") && lost.err.contains("session"),
                    "{server:?} {}",
                    lost.err
                );
                same(&db.dump(), &fresh, &format!("{server:?}: the session is open"));
            });
        }
    });
}

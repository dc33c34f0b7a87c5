//! Rows that the scheduler locks before it writes: taken first, in its order, held to
//! the end, never written.

use std::path::Path;
use std::process::{Child, Output};
use std::time::{Duration, Instant};

use flowmend::bundle::Bundle;
use flowmend::manifest::Manifests;

use super::locks::{held, start, text};
use crate::manifests::in_house;
use crate::support::bundle::runner;
use crate::support::db::{Server, Session, TestDb, same};
use crate::support::program::{flowmend, on_bundle, sealed};
use crate::support::quartz::{self, LOCKS, RELEASE, manifest, node_locks, store};

/// The products on which a row can be locked alone.
fn servers(what: &str) -> Vec<Server> {
    Server::available(what).into_iter().filter(|s| *s != Server::Sqlite).collect()
}

fn planned(server: Server) -> TestDb {
    let db = store(server, &manifest(RELEASE), &["S1"]);
    quartz::plan(&db, &[]).expect(0);
    db
}

fn file(db: &TestDb, name: &str) -> String {
    std::fs::read_to_string(db.path("b").join(name)).unwrap()
}

/// Whether a node could take a lock right now.
fn is_free(db: &TestDb, sql: &str) -> bool {
    Session::new(db).rows(sql).is_ok()
}

/// Waits until a lock is taken.
fn until_taken(db: &TestDb, sql: &str) {
    let began = Instant::now();
    while is_free(db, sql) {
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}: never taken: {sql}", db.server);
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[track_caller]
fn ends_well(child: Child, what: &str) {
    let output: Output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{what}: {}{}", text(&output.stdout), text(&output.stderr));
}

/// A node that has TRIGGER_ACCESS is waited for; STATE_ACCESS is taken before it, as nodes do.
#[test]
fn state_before_trigger() {
    let m = manifest(RELEASE);
    for server in servers("state_before_trigger") {
        let db = planned(server);
        let now = |lock: &str| node_locks(&db, &m, "S1", lock, " NOWAIT");
        let mut node = held(&db, &node_locks(&db, &m, "S1", LOCKS[1], ""));
        let apply = start(&db, "apply");
        until_taken(&db, &now(LOCKS[0]));
        node.exec("COMMIT");
        ends_well(apply, &format!("{server:?}"));

        let mut node = held(&db, &node_locks(&db, &m, "S1", LOCKS[0], ""));
        let rollback = start(&db, "rollback");
        std::thread::sleep(Duration::from_secs(1));
        assert!(is_free(&db, &now(LOCKS[1])), "{server:?}: the second lock is not taken before the first");
        node.exec("COMMIT");
        ends_well(rollback, &format!("{server:?}"));
    }
}

/// A node that keeps its lock: apply and the stock client give up, and nothing changes.
#[test]
fn a_node_that_does_not_let_go() {
    let m = manifest(RELEASE);
    std::thread::scope(|scope| {
        for server in servers("a_node_that_does_not_let_go") {
            let m = &m;
            scope.spawn(move || {
                let db = planned(server);
                let before = db.dump();
                let node = held(&db, &node_locks(&db, m, "S1", LOCKS[1], ""));
                let run = sealed("apply", &db, "b", &[]).expect(6);
                let said = ["a lock could not be had at 01_preflight.locks", "everything was rolled back", &node.id];
                assert!(said.iter().all(|s| run.err.contains(s)), "{server:?}: {}", run.err);
                assert!(!db.stock(&runner(&db, "b", "apply")).status.success(), "{server:?}");
                drop(node);
                same(&db.dump(), &before, &format!("{server:?}: gave up"));
                sealed("apply", &db, "b", &[]).expect(0);
            });
        }
    });
}

/// While a command waits in its middle, no node gets the lock under which it would fire.
#[test]
fn no_node_fires_meanwhile() {
    let m = manifest(RELEASE);
    for server in servers("no_node_fires_meanwhile") {
        let db = planned(server);
        let d = server.dialect();
        let role = &m.roles["trigger"];
        let row =
            format!("SELECT * FROM {} WHERE {} = 'a' FOR UPDATE", d.ident(&role.table), d.ident(&role.columns["name"]));
        let now = node_locks(&db, &m, "S1", LOCKS[1], " NOWAIT");
        for what in ["rehearse", "apply", "rollback"] {
            let mut other = held(&db, &row);
            let command = start(&db, what);
            until_taken(&db, &now);
            other.exec("COMMIT");
            ends_well(command, &format!("{server:?} {what}"));
            assert!(is_free(&db, &now), "{server:?} {what}: let go at the end");
        }
    }
}

/// Each scheduler of the plan has locks of its own: all first locks, then all second ones.
#[test]
fn several_schedulers() {
    for server in servers("several_schedulers") {
        let db = store(server, &manifest(RELEASE), &["S2", "S1", "other"]);
        quartz::plan(&db, &["--sched-name", "S2", "--sched-name", "S1"]).expect(0);
        let plan = Bundle::read(&db.path("b")).unwrap().plan;
        let rows: Vec<String> = plan.locks.iter().map(|l| l.row.join(" ")).collect();
        assert_eq!(rows, ["S1 STATE_ACCESS", "S2 STATE_ACCESS", "S1 TRIGGER_ACCESS", "S2 TRIGGER_ACCESS"]);
        assert!(plan.locks.iter().all(|l| l.there));
        let before = db.dump();
        on_bundle("rehearse", &db, "b").expect(0);
        for what in ["apply", "rollback"] {
            let output = db.stock(&runner(&db, "b", what));
            assert!(output.status.success(), "{server:?} {}", String::from_utf8_lossy(&output.stderr));
        }
        same(&db.dump(), &before, &format!("{server:?}"));
    }
}

/// Releases before 2.0 have one scheduler in a set of tables, and one row for each lock.
#[test]
fn without_a_scope() {
    for server in servers("without_a_scope") {
        let m = manifest("1.8.6");
        let db = store(server, &m, &[""]);
        let args = ["--release", "1.8.6"];
        crate::support::program::plan_recipe(&db, "orphan-triggers", "b", &args).expect(0);
        let plan = Bundle::read(&db.path("b")).unwrap().plan;
        assert_eq!(plan.locks.iter().map(|l| l.row.join(" ")).collect::<Vec<_>>(), LOCKS);
        let before = db.dump();
        sealed("apply", &db, "b", &[]).expect(0);
        sealed("rollback", &db, "b", &[]).expect(0);
        same(&db.dump(), &before, &format!("{server:?}"));
    }
}

/// A scheduler that is not clustered has no lock rows: the ticket asks to stop it, and
/// the repair works all the same.
#[test]
fn rows_that_are_not_there() {
    let m = manifest(RELEASE);
    for server in servers("rows_that_are_not_there") {
        let db = TestDb::with_schema(server, &m);
        quartz::fill(&db, &m, &["S1"]);
        quartz::plan(&db, &[]).expect(0);
        let ticket = file(&db, "TICKET.md");
        assert!(ticket.contains("STATE_ACCESS (not there when this was planned)"), "{ticket}");
        assert!(ticket.contains("**Stop the scheduler first**"), "{ticket}");
        let before = db.dump();
        sealed("apply", &db, "b", &[]).expect(0);
        sealed("rollback", &db, "b", &[]).expect(0);
        same(&db.dump(), &before, &format!("{server:?}"));
    }
}

/// What was there when it was planned must be held; the undo does without.
#[test]
fn rows_that_went() {
    let m = manifest(RELEASE);
    for server in servers("rows_that_went") {
        let db = planned(server);
        assert!(!file(&db, "TICKET.md").contains("**Stop the scheduler first**"));
        let locks = format!("DELETE FROM {}", server.dialect().ident(&m.roles["lock"].table));
        db.exec(&locks);
        let before = db.dump();
        let run = sealed("apply", &db, "b", &[]).expect(3);
        assert!(run.err.contains("a guard failed at 01_preflight.locks"), "{server:?}: {}", run.err);
        same(&db.dump(), &before, &format!("{server:?}: refused"));
        quartz::locks(&db, &m, "S1");
        sealed("apply", &db, "b", &[]).expect(0);
        db.exec(&locks);
        sealed("rollback", &db, "b", &[]).expect(0);
        same(&db.dump(), &before, &format!("{server:?}: undone"));
    }
}

/// SQLite locks the whole file.
#[test]
fn nothing_to_lock_on_sqlite() {
    let db = planned(Server::Sqlite);
    assert!(Bundle::read(&db.path("b")).unwrap().plan.locks.is_empty());
    assert!(!file(&db, "TICKET.md").contains("Locks of the scheduler"));
    sealed("apply", &db, "b", &[]).expect(0);
}

/// A table whose engine locks no rows cannot be trusted to hold anybody back.
#[test]
fn a_lock_table_that_holds_nobody() {
    for server in [Server::MariaDb, Server::MySql] {
        if !server.is_there("a_lock_table_that_holds_nobody") {
            continue;
        }
        let db = planned(server);
        db.exec("ALTER TABLE QRTZ_LOCKS ENGINE=MyISAM");
        let run = sealed("apply", &db, "b", &[]).expect(4);
        assert!(run.err.contains("QRTZ_LOCKS uses the storage engine MyISAM"), "{}", run.err);
        assert!(!db.stock(&runner(&db, "b", "apply")).status.success());
    }
}

/// A scheduler of one's own.
#[test]
fn in_house_locks() {
    let m = Manifests::load(Some(&in_house::data("enums"))).unwrap();
    let m = m.release("nightshift", "1.1").unwrap();
    for server in servers("in_house_locks") {
        let db = in_house::night(server, "1.1");
        in_house::plan(&db, &["--dead-owner", "w1"]).expect(0);
        let d = server.dialect();
        let now =
            format!("SELECT * FROM {} WHERE name = 'dispatch' FOR UPDATE NOWAIT", d.ident(&m.roles["lock"].table));
        assert!(is_free(&db, &now));
        let mut other = held(&db, "SELECT * FROM ns_run FOR UPDATE");
        let folders = [in_house::data("enums"), in_house::data("templates")].map(|p| p.display().to_string());
        let (dir, seal) = (db.path("b").display().to_string(), crate::support::program::seal(&db.path("b")));
        std::thread::scope(|scope| {
            let apply = scope.spawn(|| {
                let args = ["apply", &dir, "--url", &db.url, "--seal", &seal];
                flowmend([&args[..], &["--enums", &folders[0], "--templates", &folders[1]]].concat())
            });
            until_taken(&db, &now);
            other.exec("COMMIT");
            apply.join().unwrap().expect(0);
        });
        assert!(is_free(&db, &now));
    }
}

/// What is rendered, word for word.
#[test]
fn the_statements() {
    for server in servers("the_statements") {
        let db = planned(server);
        let id = Bundle::read(&db.path("b")).unwrap().id;
        let part = |name: &str, from: &str, to: &str| {
            let text = file(&db, name);
            let begin = text.find(from).unwrap();
            let end = begin + text[begin..].find(to).unwrap();
            text[begin..end].replace(&id, "ID")
        };
        let ticket = file(&db, "TICKET.md").replace(&db.name, "DATABASE");
        let ticket = |from: &str, to: &str| {
            let begin = ticket.find(from).unwrap();
            ticket[begin..begin + ticket[begin..].find(to).unwrap()].to_owned()
        };
        let shown = format!(
            "{}\n{}\n{}\n{}",
            part("01_preflight.sql", "-- 01_preflight.locks", "-- guard 01_preflight.place"),
            part("rollback.sql", "-- rollback.locks", "-- guard rollback."),
            ticket("**Locks of the scheduler.**", "The seal is not"),
            ticket("Privileges", "## Verification"),
        );
        let name = format!("locks_{}", server.dialect().name);
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, shown);
        });
    }
}

/// A node's own rows stay as they are: the plan names no column of the lock table to write.
#[test]
fn lock_rows_are_never_written() {
    let writes = ["UPDATE", "INSERT INTO", "DELETE FROM", "DELETE t FROM"];
    for server in servers("lock_rows_are_never_written") {
        let db = planned(server);
        let table = server.dialect().ident(&manifest(RELEASE).roles["lock"].table);
        for entry in std::fs::read_dir(db.path("b")).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() && path.file_name() != Some(Path::new("TICKET.md").as_os_str()) {
                let text = std::fs::read_to_string(&path).unwrap();
                let bad = text.lines().find(|l| writes.iter().any(|w| l.starts_with(w)) && l.contains(&table));
                assert_eq!(bad, None, "{}", path.display());
            }
        }
    }
}

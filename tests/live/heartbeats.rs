//! An owner said to be dead whose heartbeat moves is refused, when planning and
//! when applying; a claim with a time says nothing of now.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::live::round::zombies;
use crate::support::db::{Server, TestDb};
use crate::support::program::{plan, sealed};

/// Makes the registry of the database and lets one address beat until dropped.
struct Beating {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Beating {
    fn start(db: &TestDb) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (url, stopped) = (db.url.clone(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                crate::support::db::exec_on(&url, "UPDATE t_ds_mysql_registry_data SET last_term = last_term + 2000");
                std::thread::sleep(std::time::Duration::from_millis(500));
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Beating {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}

fn with_registry(server: Server) -> TestDb {
    let db = zombies(server, "3.1.9");
    db.exec(
        "INSERT INTO t_ds_mysql_registry_data (id, `key`, data, type, last_term) VALUES (1, '/nodes/master/10.0.0.9:5678', '', 1, 1700000000000)",
    );
    db
}

#[test]
fn a_heart_that_beats_contradicts_the_operator() {
    let server = Server::MariaDb;
    if !server.is_there("heartbeats") {
        return;
    }
    let db = with_registry(server);
    let silent = plan(&db, "silent", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
    assert!(silent.err.is_empty(), "{}", silent.err);
    let before = db.dump()["t_ds_task_instance"].clone();
    let beating = Beating::start(&db);
    let refused = plan(&db, "b", &["--dead-owner", "10.0.0.9"]).expect(4);
    assert!(refused.err.contains("the heartbeat of 10.0.0.9:5678 moved"), "{}", refused.err);
    let refused = sealed("apply", &db, "silent", &[]).expect(4);
    assert!(refused.err.contains("the heartbeat of 10.0.0.9:5678 moved"), "{}", refused.err);
    assert_eq!(db.dump()["t_ds_task_instance"], before);
    plan(&db, "timed", &["--dead-owner", "10.0.0.9:5678@2026-11-28T12:00:00"]).expect(0);
    drop(beating);
    sealed("apply", &db, "silent", &[]).expect(0);
}

//! An owner said to be dead whose heartbeat moves is refused, when planning and
//! when applying; a claim with a time says nothing of now.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::live::round::zombies;
use crate::support::db::{Server, TestDb};
use crate::support::program::{flowmend, plan, sealed};

/// Makes the registry of the database and lets one address beat until dropped.
pub struct Beating {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Beating {
    fn start(db: &TestDb) -> Self {
        Self::with(db, "UPDATE t_ds_mysql_registry_data SET last_term = last_term + 2000")
    }

    pub fn with(db: &TestDb, beat: &str) -> Self {
        let beat = beat.to_owned();
        let stop = Arc::new(AtomicBool::new(false));
        let (url, stopped) = (db.url.clone(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                crate::support::db::exec_on(&url, &beat);
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
    // Nothing but why it stood still.
    assert!(silent.err.lines().all(|l| l.starts_with("watching the heartbeat of 10.0.0.9:5678")), "{}", silent.err);
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

/// The registry of a release in which two servers beat and one is silent since long ago.
struct Registry {
    server: Server,
    release: &'static str,
    rows: &'static [&'static str],
    silent: &'static str,
    beat: &'static str,
}

const REGISTRIES: [Registry; 5] = [
    Registry {
        server: Server::MariaDb,
        release: "1.1.0",
        rows: &[
            "INSERT INTO t_escheduler_master_server (id, host, last_heartbeat_time) VALUES (1, '10.0.0.7:5678', '2026-11-28 12:00:00'), (2, '10.0.0.7:5678', '2019-11-28 12:00:00')",
        ],
        silent: "INSERT INTO t_escheduler_master_server (id, host, last_heartbeat_time) VALUES (3, '10.0.0.9:5678', '2026-11-28 11:50:00')",
        beat: "UPDATE t_escheduler_master_server SET last_heartbeat_time = last_heartbeat_time + INTERVAL 1 SECOND WHERE id = 1",
    },
    Registry {
        server: Server::MariaDb,
        release: "3.1.9",
        rows: &[
            "INSERT INTO t_ds_mysql_registry_data (id, `key`, data, type, last_term) VALUES (1, '/nodes/master/10.0.0.7:5678', '', 1, 1700000100000), (2, '/nodes/worker/10.0.0.4:1234', '', 1, 1700000100000)",
        ],
        silent: "INSERT INTO t_ds_mysql_registry_data (id, `key`, data, type, last_term) VALUES (3, '/nodes/master/10.0.0.9:5678', '', 1, 1700000000000)",
        beat: "UPDATE t_ds_mysql_registry_data SET last_term = last_term + 500 WHERE id < 3",
    },
    Registry {
        server: Server::MariaDb,
        release: "3.2.2",
        rows: &[
            "INSERT INTO t_ds_jdbc_registry_data (id, data_key, data_value, data_type, last_term) VALUES (1, '/nodes/master/10.0.0.7:5678', '', 1, 1700000100000), (2, '/nodes/worker/10.0.0.4:1234', '', 1, 1700000100000)",
        ],
        silent: "INSERT INTO t_ds_jdbc_registry_data (id, data_key, data_value, data_type, last_term) VALUES (3, '/nodes/master/10.0.0.9:5678', '', 1, 1700000000000)",
        beat: "UPDATE t_ds_jdbc_registry_data SET last_term = last_term + 500 WHERE id < 3",
    },
    Registry {
        server: Server::PostgreSql,
        release: "3.2.2",
        rows: &[
            "INSERT INTO t_ds_jdbc_registry_data (id, data_key, data_value, data_type, last_term) VALUES (1, '/nodes/master/10.0.0.7:5678', '', 1, 1700000100000), (2, '/nodes/worker/10.0.0.4:1234', '', 1, 1700000100000)",
        ],
        silent: "INSERT INTO t_ds_jdbc_registry_data (id, data_key, data_value, data_type, last_term) VALUES (3, '/nodes/master/10.0.0.9:5678', '', 1, 1700000000000)",
        beat: "UPDATE t_ds_jdbc_registry_data SET last_term = last_term + 500 WHERE id < 3",
    },
    Registry {
        server: Server::PostgreSql,
        release: "3.3.2",
        rows: &[
            "INSERT INTO t_ds_jdbc_registry_data (id, data_key, data_value, data_type, client_id) VALUES (1, '/nodes/master/10.0.0.7:5678', '', 'EPHEMERAL', 71), (2, '/nodes/worker/10.0.0.4:1234', '', 'EPHEMERAL', 41)",
            "INSERT INTO t_ds_jdbc_registry_client_heartbeat (id, client_name, last_heartbeat_time, connection_config) VALUES (71, 'a', 1700000100000, ''), (41, 'b', 1700000100000, ''), (91, 'c', 1700000000000, '')",
        ],
        silent: "INSERT INTO t_ds_jdbc_registry_data (id, data_key, data_value, data_type, client_id) VALUES (3, '/nodes/master/10.0.0.9:5678', '', 'EPHEMERAL', 91)",
        beat: "UPDATE t_ds_jdbc_registry_client_heartbeat SET last_heartbeat_time = last_heartbeat_time + 500 WHERE id < 90",
    },
];

/// Absent from a registry that lives, or silent in it for longer than it waits: dead, without anybody's word.
#[test]
fn the_registry_shows_who_is_dead() {
    for registry in &REGISTRIES {
        if !registry.server.is_there("the_registry_shows_who_is_dead") {
            continue;
        }
        let what = format!("{:?} {}", registry.server, registry.release);
        let db = zombies(registry.server, registry.release);
        let heartbeat = ["--dead-owner", "heartbeat"];
        let empty = plan(&db, "empty", &heartbeat).expect(4);
        assert!(empty.err.contains("no heartbeat is in this database"), "{what}: {}", empty.err);
        registry.rows.iter().for_each(|row| db.exec(row));
        let still = plan(&db, "still", &heartbeat).expect(4);
        assert!(still.err.contains("nothing in this database beats"), "{what}: {}", still.err);
        let beating = Beating::with(&db, registry.beat);
        plan(&db, "absent", &heartbeat).expect(0);
        let ticket = |bundle: &str| std::fs::read_to_string(db.path(bundle).join("TICKET.md")).unwrap();
        let absent = ticket("absent");
        assert!(
            absent.contains("10.0.0.9:5678: shown by the heartbeats in this database: it is not in the registry"),
            "{what}: {absent}"
        );
        assert!(!absent.contains("10.0.0.7:5678: shown"), "{what}: it lives");
        let looked = flowmend([&["inspect", "--url", &db.url, "--zone", "+00:00"], &heartbeat[..]].concat());
        let line = looked.out.lines().find(|l| l.trim_start().starts_with("10.0.0.9:5678")).unwrap_or_default();
        assert!(line.contains("said or shown to be dead"), "{what}: {}", looked.out);
        db.exec(registry.silent);
        plan(&db, "silent", &heartbeat).expect(0);
        let silent = ticket("silent");
        assert!(
            silent.contains("10.0.0.9:5678: shown by the heartbeats in this database: its last heartbeat is"),
            "{what}: {silent}"
        );
        sealed("apply", &db, "silent", &[]).expect(0);
        drop(beating);
    }
}

/// Most releases keep their registry elsewhere.
#[test]
fn a_release_without_heartbeats_says_so() {
    let db = zombies(Server::Sqlite, "2.0.9");
    let refused = plan(&db, "b", &["--dead-owner", "heartbeat"]).expect(2);
    assert!(
        refused.err.contains("keeps no heartbeats in the database") && refused.err.contains("--dead-owner HOST"),
        "{}",
        refused.err
    );
}

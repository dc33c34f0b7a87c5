//! Rows that a repair inserts: once, counted, and taken back only while nobody took them.

use crate::support::db::{Server, TestDb};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::{Run, flowmend, seal};

const TEMPLATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/inserts");

fn waiting(server: Server) -> TestDb {
    let m = manifest("3.1.9");
    let db = TestDb::with_schema(server, &m);
    let mut rows = Rows::new(&m, server.dialect());
    for id in ["501", "502", "503"] {
        rows.add(
            "workflow_instance",
            &[
                ("id", Some(id)),
                ("name", Some("w")),
                ("state", Some("14")),
                ("definition_code", Some("77")),
                ("definition_version", Some("3")),
            ],
        );
    }
    rows.add(
        "command",
        &[("id", Some("900")), ("type", Some("11")), ("run_id", Some("503")), ("definition_code", Some("77"))],
    );
    rows.add("version", &[("id", Some("1")), ("version", Some("3.1.9"))]);
    db.exec_all(&rows.statements);
    if server == Server::PostgreSql {
        // The sequence knows nothing of ids that were given.
        db.exec("SELECT setval(pg_get_serial_sequence('t_ds_command', 'id'), 900)");
    }
    db
}

fn on_bundle(command: &str, db: &TestDb) -> Run {
    let dir = db.path("b");
    let (approved, dir) = (seal(&dir), dir.display().to_string());
    let mut args = vec![command, &dir, "--url", &db.url, "--templates", TEMPLATES];
    if command != "verify" && command != "rehearse" {
        args.extend(["--seal", &approved]);
    }
    flowmend(args)
}

fn plan(db: &TestDb) {
    let out = db.path("b").display().to_string();
    let args = [
        "plan",
        "wake",
        "--url",
        &db.url,
        "--out",
        &out,
        "--now",
        "2026-11-29T00:00:00Z",
        "--zone",
        "+00:00",
        "--templates",
        TEMPLATES,
    ];
    flowmend(args).expect(0);
}

fn queued(db: &TestDb) -> Vec<String> {
    let rows = db
        .rows("SELECT process_instance_id, command_param FROM t_ds_command WHERE command_param IS NOT NULL ORDER BY 1");
    rows.into_iter().map(|r| format!("{} {}", r[0].clone().unwrap(), r[1].clone().unwrap())).collect()
}

#[test]
fn inserted_once_verified_and_taken_back() {
    for server in Server::available("inserts") {
        let db = waiting(server);
        let before = db.dump();
        plan(&db);
        on_bundle("rehearse", &db).expect(0);
        assert_eq!(db.dump(), before);
        on_bundle("apply", &db).expect(0);
        assert_eq!(queued(&db), ["501 {\"ProcessInstanceId\":501}", "502 {\"ProcessInstanceId\":502}"]);
        on_bundle("verify", &db).expect(0);
        on_bundle("apply", &db).expect(0);
        assert_eq!(queued(&db).len(), 2, "not a second time");
        on_bundle("rollback", &db).expect(0);
        assert_eq!(db.dump(), before);
        on_bundle("verify", &db).expect(0);
    }
}

#[test]
fn by_the_stock_client_too() {
    for server in Server::available("inserts") {
        let db = waiting(server);
        let before = db.dump();
        plan(&db);
        let runner = |what: &str| db.path("b").join(format!("{what}.{}", server.client()));
        assert!(db.stock(&runner("apply")).status.success());
        on_bundle("verify", &db).expect(0);
        assert!(!db.stock(&runner("apply")).status.success(), "a second run fails");
        assert_eq!(queued(&db).len(), 2);
        assert!(db.stock(&runner("rollback")).status.success());
        assert_eq!(db.dump(), before);
    }
}

#[test]
fn a_command_that_came_meanwhile_stops_it() {
    for server in Server::available("inserts") {
        let db = waiting(server);
        plan(&db);
        db.exec("INSERT INTO t_ds_command (command_type, process_definition_code, process_instance_id) VALUES (11, 77, 501)");
        let before = db.dump();
        on_bundle("apply", &db).expect(3);
        assert_eq!(db.dump(), before);
    }
}

#[test]
fn a_command_that_was_consumed_is_not_taken_back() {
    for server in Server::available("inserts") {
        let db = waiting(server);
        plan(&db);
        on_bundle("apply", &db).expect(0);
        db.exec("DELETE FROM t_ds_command WHERE process_instance_id = 501");
        let seen = on_bundle("verify", &db).expect(0);
        assert!(seen.out.contains("consumed"), "{}", seen.out);
        let before = db.dump();
        let refused = on_bundle("rollback", &db).expect(4);
        assert!(refused.err.contains("consumed"), "{}", refused.err);
        assert_eq!(db.dump(), before);
    }
}

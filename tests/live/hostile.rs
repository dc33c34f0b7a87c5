//! Somebody else's objects: keys from other schemas, functions and ledgers made
//! beforehand, identity columns, a report that nobody reads.

use std::process::Stdio;

use crate::live::round::zombies;
use crate::support::db::{Server, TestDb};
use crate::support::program::{command, flowmend, on_bundle, plan, plan_recipe, sealed};

const DEAD: [&str; 2] = ["--dead-owner", "10.0.0.9:5678"];

/// Rows that a cascade takes elsewhere are in no backup.
#[test]
fn a_cascade_into_another_schema_is_refused() {
    for server in [Server::MariaDb, Server::PostgreSql, Server::MySql] {
        if !server.is_there("a_cascade_into_another_schema_is_refused") {
            continue;
        }
        let db = zombies(server, "3.1.9");
        db.exec("INSERT INTO t_ds_command (id, command_type, process_definition_code, process_instance_id) VALUES (99, 2, 1, 4711)");
        let other = format!("{}_other", db.name);
        db.exec(&format!("CREATE SCHEMA {other}"));
        let scheduler = if server == Server::PostgreSql { "public" } else { db.name.as_str() };
        db.exec(&format!(
            "CREATE TABLE {other}.kid (id int PRIMARY KEY, cid int, FOREIGN KEY (cid) REFERENCES {scheduler}.t_ds_command (id) ON DELETE CASCADE)"
        ));
        db.exec(&format!("INSERT INTO {other}.kid VALUES (1, 99)"));
        plan_recipe(&db, "dead-commands", "b", &[]).expect(0);
        let refused = sealed("apply", &db, "b", &[]).expect(4);
        assert!(refused.err.contains("kid") && refused.err.contains("CASCADE"), "{}", refused.err);
        assert_eq!(db.value(&format!("SELECT id FROM {other}.kid")).as_deref(), Some("1"));
        db.exec(&format!("DROP SCHEMA {other}{}", if server == Server::PostgreSql { " CASCADE" } else { "" }));
    }
}

/// A function of a built-in's name in the schema must not run in the operator's session.
#[test]
fn a_function_of_the_schema_does_not_shadow_a_built_in() {
    if !Server::PostgreSql.is_there("shadow") {
        return;
    }
    let db = zombies(Server::PostgreSql, "3.1.9");
    db.exec("CREATE FUNCTION public.date_trunc(text, timestamp) RETURNS timestamp LANGUAGE sql AS $$ SELECT timestamp '1999-01-01' $$");
    plan(&db, "b", &DEAD).expect(0);
    sealed("apply", &db, "b", &[]).expect(0);
    assert_eq!(
        db.value("SELECT COUNT(*)::text FROM t_ds_process_instance WHERE update_time < '2000-01-01'").as_deref(),
        Some("0")
    );
    sealed("rollback", &db, "b", &[]).expect(0);
    assert!(db.stock(&db.path("b").join("apply.psql")).stderr.len() > 1, "a second run fails");
}

fn ledger_without_its_check(db: &TestDb) {
    db.exec(
        "CREATE TABLE flowmend_ledger (bundle varchar(64) NOT NULL, step varchar(190) NOT NULL, expected bigint NOT NULL, actual bigint NOT NULL, \
         held int NOT NULL, recorded_at timestamp DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (bundle, step))",
    );
}

#[test]
fn a_ledger_that_cannot_hold_is_not_used() {
    for server in [Server::Sqlite, Server::PostgreSql] {
        if !server.is_there("a_ledger_that_cannot_hold_is_not_used") {
            continue;
        }
        let db = zombies(server, "3.1.9");
        ledger_without_its_check(&db);
        plan(&db, "b", &DEAD).expect(0);
        db.exec("UPDATE t_ds_process_instance SET host = 'moved' WHERE id = 1");
        let before = db.dump();
        let refused = sealed("apply", &db, "b", &[]).expect(4);
        assert!(refused.err.contains("not the ledger that flowmend makes"), "{}", refused.err);
        let by_hand = db.stock(&db.path("b").join(format!("apply.{}", server.client())));
        assert!(!by_hand.status.success());
        assert_eq!(db.dump(), before, "{server:?}");
    }
}

#[test]
fn a_ledger_that_cannot_roll_back_is_not_used() {
    if !Server::MariaDb.is_there("a_ledger_that_cannot_roll_back_is_not_used") {
        return;
    }
    let db = zombies(Server::MariaDb, "3.1.9");
    ledger_without_its_check(&db);
    db.exec("ALTER TABLE flowmend_ledger ENGINE=Aria");
    plan(&db, "b", &DEAD).expect(0);
    let before = db.dump();
    sealed("apply", &db, "b", &[]).expect(4);
    let by_hand = db.stock(&db.path("b").join("apply.mysql"));
    assert!(!by_hand.status.success());
    assert_eq!(db.dump(), before);
}

/// Deleted rows come back under their keys, also where the key is GENERATED ALWAYS.
#[test]
fn identity_keys_come_back() {
    if !Server::PostgreSql.is_there("identity_keys_come_back") {
        return;
    }
    let db = zombies(Server::PostgreSql, "3.1.9");
    db.exec("INSERT INTO t_ds_command (id, command_type, process_definition_code, process_instance_id) VALUES (99, 2, 1, 4711)");
    db.exec("ALTER TABLE t_ds_command ALTER id DROP IDENTITY IF EXISTS");
    db.exec("ALTER TABLE t_ds_command ALTER id ADD GENERATED ALWAYS AS IDENTITY");
    let before = db.dump();
    plan_recipe(&db, "dead-commands", "b", &[]).expect(0);
    on_bundle("rehearse", &db, "b").expect(0);
    sealed("apply", &db, "b", &[]).expect(0);
    assert_eq!(db.value("SELECT COUNT(*)::text FROM t_ds_command").as_deref(), Some("0"));
    sealed("rollback", &db, "b", &[]).expect(0);
    assert_eq!(db.dump(), before);
}

/// The exit code says what was found, whoever reads the report.
#[test]
fn a_report_that_cannot_be_written() {
    let db = zombies(Server::Sqlite, "3.1.9");
    let inspect = |out: Stdio| {
        let args = ["inspect", "--url", &db.url, "--dead-owner", "10.0.0.9:5678"];
        command(args).stdout(out).stderr(Stdio::null()).status().unwrap().code()
    };
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    assert_eq!(inspect(full.into()), Some(70));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(inspect(writer.into()), Some(1));
}

/// An empty value is a variable that was not set; it must not widen a plan.
#[test]
fn no_value_widens_a_plan_in_silence() {
    let db = zombies(Server::Sqlite, "3.1.9");
    for bad in [
        "--instance=",
        "--instance=,",
        "--workflow=",
        "--dead-owner=*:1",
        "--dead-owner=10.0.0.*",
        "--dead-owner=fe80::zz",
    ] {
        let run =
            flowmend(["plan", "zombie-tasks", "--url", &db.url, "--choose", "finish", "--zone", "UTC", bad]).expect(2);
        assert!(run.err.contains("--"), "{}", run.err);
    }
}

/// What a person typed in the wrong place may be a secret.
#[test]
fn secrets_in_the_wrong_place_are_not_repeated() {
    for url in [
        "mysql://u@127.0.0.1/d?password=s3cret",
        "mysql://ann:12/s3cret@127.0.0.1/d",
        "postgres://u@127.0.0.1/d?x=s3cret",
    ] {
        let run = flowmend(["inspect", "--url", url]).expect(2);
        assert!(!run.err.contains("s3cret"), "{}", run.err);
    }
    let db = zombies(Server::Sqlite, "3.1.9");
    let file = db.path("wrong.txt");
    std::fs::write(&file, "PASSWORD=s3cret and more\n").unwrap();
    let owners = format!("@{}", file.display());
    let run = flowmend(["inspect", "--url", &db.url, "--dead-owner", &owners]).expect(2);
    assert!(run.err.contains("line 1") && !run.err.contains("s3cret"), "{}", run.err);
}

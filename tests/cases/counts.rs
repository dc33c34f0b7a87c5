//! hhyo/Archery#643, #1547: a count must be the statement's own, and a fact.
//! transact-rs/sqlx#1366: and it must not hang on a driver's flag.

use crate::live::round::zombies;
use crate::support::db::Server;
use crate::support::program::plan;

#[test]
fn each_statement_has_its_own_exact_count() {
    for server in Server::available("counts") {
        let db = zombies(server, "3.1.9");
        plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
        let bundle = flowmend::bundle::Bundle::read(&db.path("b")).unwrap();
        let rows: Vec<(&str, usize)> = bundle.plan.steps.iter().map(|s| (s.role.as_str(), s.rows.len())).collect();
        assert_eq!(rows, [("task_instance", 2), ("workflow_instance", 1), ("task_group_queue", 1), ("task_group", 1)]);
    }
}

/// Matched and changed rows are the same, because every UPDATE pins the old
/// value of what it writes and writes another one.
#[test]
fn every_update_pins_old_values_and_has_no_limit() {
    for server in Server::available("counts") {
        let db = zombies(server, "3.1.9");
        plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
        let bundle = flowmend::bundle::Bundle::read(&db.path("b")).unwrap();
        for (name, text) in bundle.files.iter().filter(|(n, _)| n.ends_with(".sql") && n.contains("_t")) {
            assert!(!text.to_uppercase().contains(" LIMIT "), "{name}");
        }
        for step in &bundle.plan.steps {
            for set in step.set.iter() {
                assert!(step.pins.contains(&set.column), "{} of {}", set.column.name, step.role);
            }
        }
        let all: String = bundle.files.values().cloned().collect();
        assert!(!all.to_uppercase().contains("EXPLAIN"));
        assert!(!all.to_uppercase().contains("TEMPORARY"));
    }
}

/// MySQL and MariaDB commit at CREATE TABLE, and refuse CREATE … SELECT under GTID.
#[test]
fn ddl_comes_before_the_transaction_where_it_commits() {
    for server in [Server::MariaDb, Server::MySql] {
        if !server.is_there("ddl_first") {
            continue;
        }
        let db = zombies(server, "3.1.9");
        plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
        let text = std::fs::read_to_string(db.path("b").join("apply.mysql")).unwrap();
        let (before, after) = text.split_once("START TRANSACTION;").unwrap();
        assert!(before.contains("CREATE TABLE") && !after.contains("CREATE TABLE"));
        assert!(
            before.matches("CREATE TABLE").count()
                == before.matches("LIKE").count() + before.matches("ENGINE=InnoDB").count()
        );
    }
}

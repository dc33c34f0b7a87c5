//! Which release: by names, by types and keys, and never in a database upstream does not know.

use super::Site;
use crate::support::db::{Server, TestDb};
use crate::support::program::{Run, flowmend};

fn inspect(db: &TestDb, rest: &[&str]) -> Run {
    flowmend([&["inspect", "--url", &db.url][..], rest].concat())
}

#[test]
fn keys_and_types_choose_and_the_operator_overrules_them() {
    for server in [Server::MariaDb, Server::MySql].into_iter().filter(|s| s.is_there("keys_and_types")) {
        let key = "ALTER TABLE xxl_job_registry ADD UNIQUE KEY i (registry_group, registry_key, registry_value)";
        let site = Site::new(server, "2.4.2");
        let old = inspect(&site.db, &[]).expect(1);
        assert!(old.out.contains("2.3.0 to 2.4.2"), "{}", old.out);
        site.db.exec(key);
        let new = inspect(&site.db, &[]).expect(1);
        assert!(new.out.contains("2.5.0 to 3.1.1"), "{}", new.out);
        let said = |run: &Run| format!("{}{}", run.out, run.err).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said(&new).contains("only types, keys or indexes tell 2.5.0 to 3.1.1 from 2.3.0 to 2.4.2"),
            "{}",
            new.out
        );
        let told = inspect(&site.db, &["--release", "2.4.1"]).expect(1);
        let doubt = "you say 2.4.1, but xxl_job_registry(registry_group,registry_key,registry_value) unique is there";
        assert!(told.out.contains("2.4.1") && said(&told).contains(doubt), "{}", told.out);
        for (release, range) in [("3.3.2", "3.2.0 to 3.3.2"), ("3.4.2", "3.4.0 to 3.4.2")] {
            let run = inspect(&Site::new(server, release).db, &[]).expect(1);
            assert!(run.out.contains(range), "{}", run.out);
        }
    }
}

#[test]
fn a_port_to_another_database_is_named() {
    if !Server::PostgreSql.is_there("a_port") {
        return;
    }
    let db = TestDb::new(Server::PostgreSql);
    let m = flowmend::manifest::Manifests::load(None).unwrap().release("xxl-job", "3.4.2").unwrap().clone();
    for table in m.tables.values() {
        let columns: Vec<String> = table.columns.iter().map(|c| format!("\"{}\" text", c.name)).collect();
        db.exec(&format!(
            "CREATE TABLE {} ({}, PRIMARY KEY ({}))",
            table.name,
            columns.join(", "),
            table.primary_key.join(", ")
        ));
    }
    for rest in [&[][..], &["--release", "3.4.2"], &["--scheduler", "xxl-job"]] {
        let run = inspect(&db, rest).expect(4);
        let port = "these are the tables of XXL-JOB, but upstream has no schema for PostgreSQL";
        assert!(run.err.contains(port) && run.err.contains("somebody ported it"), "{}", run.err);
    }
}

//! Tables whose names differ in the case of their letters only.

use flowmend::manifest::Manifest;

use crate::support::db::{Server, TestDb, same};
use crate::support::program::{Run, flowmend, sealed};
use crate::support::quartz::{RELEASE, manifest, plan, store};

/// Servers that take such names for different tables.
fn servers(what: &str) -> Vec<Server> {
    let tell_apart = |s: &Server| match s {
        Server::Sqlite => false,
        Server::PostgreSql => true,
        Server::MariaDb | Server::MySql => {
            TestDb::new(*s).value("SELECT CAST(@@lower_case_table_names AS CHAR)").as_deref() == Some("0")
        }
    };
    Server::available(what).into_iter().filter(tell_apart).collect()
}

/// The manifest of a store whose tables have names in lower case.
fn lower() -> Manifest {
    let mut m = manifest(RELEASE);
    m.roles.values_mut().for_each(|role| role.table = role.table.to_lowercase());
    m.fingerprint.present.iter_mut().for_each(|mark| *mark = mark.to_lowercase());
    let specs = std::mem::take(&mut m.tables).into_values().map(|mut spec| {
        spec.name = spec.name.to_lowercase();
        let keys = spec.foreign_keys_mysql.iter_mut().chain(&mut spec.foreign_keys_postgresql);
        keys.for_each(|key| key.references = key.references.to_lowercase());
        (spec.name.clone(), spec)
    });
    m.tables = specs.collect();
    m
}

fn stray(db: &TestDb, name: &str) {
    let name = db.server.dialect().ident(name);
    db.exec(&format!(
        "CREATE TABLE {name} (SCHED_NAME varchar(120), ENTRY_ID varchar(95), PRIMARY KEY (SCHED_NAME, ENTRY_ID))"
    ));
}

fn inspect(db: &TestDb) -> Run {
    flowmend(["inspect", "--url", &db.url, "--zone", "+00:00", "--release", RELEASE])
}

fn names_both(server: Server, run: Run, pair: [&str; 2]) {
    let run = run.expect(4);
    let said = |names: [&str; 2]| run.err.contains(&format!("{} and {}", names[0], names[1]));
    assert!(said(pair) || said([pair[1], pair[0]]), "{server:?}: {}", run.err);
    assert!(run.err.contains("rename or drop the other"), "{server:?}: {}", run.err);
    let variable = run.err.contains("(lower_case_table_names is 0)");
    assert_eq!(variable, server != Server::PostgreSql, "{server:?}: {}", run.err);
}

/// An empty table from a script that was written elsewhere, beside the real one, whichever is which.
#[test]
fn a_stray_table_is_named() {
    let pair = ["QRTZ_FIRED_TRIGGERS", "qrtz_fired_triggers"];
    for server in servers("a_stray_table_is_named") {
        for (m, name) in [(manifest(RELEASE), pair[1]), (lower(), pair[0])] {
            let db = store(server, &m, &["S1"]);
            plan(&db, &[]).expect(0);
            let before = db.dump();
            stray(&db, name);
            names_both(server, inspect(&db), pair);
            names_both(server, sealed("apply", &db, "b", &[]), pair);
            same(&db.dump(), &before, &format!("{server:?}: nothing was changed"));
            db.exec(&format!("DROP TABLE {}", server.dialect().ident(name)));
            sealed("apply", &db, "b", &[]).expect(0);
        }
    }
}

/// The real set is damaged: the message speaks of the two names, not of what is missing.
#[test]
fn a_stray_table_beside_a_damaged_set() {
    for server in servers("a_stray_table_beside_a_damaged_set") {
        let db = store(server, &manifest(RELEASE), &["S1"]);
        db.exec(&format!("DROP TABLE {}", server.dialect().ident("QRTZ_SIMPROP_TRIGGERS")));
        stray(&db, "qrtz_fired_triggers");
        names_both(server, inspect(&db), ["QRTZ_FIRED_TRIGGERS", "qrtz_fired_triggers"]);
    }
}

/// One set, in lower case, is as good as one in upper case.
#[test]
fn a_set_in_lower_case() {
    for server in servers("a_set_in_lower_case") {
        let db = store(server, &lower(), &["S1"]);
        let before = db.dump();
        plan(&db, &[]).expect(0);
        sealed("apply", &db, "b", &[]).expect(0);
        assert_ne!(db.dump(), before);
        sealed("rollback", &db, "b", &[]).expect(0);
        same(&db.dump(), &before, &format!("{server:?}"));
    }
}

/// A table of somebody else's may be there in any number of spellings.
#[test]
fn tables_of_others_do_not_matter() {
    for server in servers("tables_of_others_do_not_matter") {
        let db = store(server, &manifest(RELEASE), &["S1"]);
        stray(&db, "Notes");
        stray(&db, "notes");
        inspect(&db).expect(1);
    }
}

//! Every generation's tables can be made, with the keys that its foreign keys refer to.

use flowmend::manifest::{Engine, Manifests};

use crate::support::db::{Server, TestDb};

#[test]
fn every_schema_can_be_made() {
    let manifests = Manifests::load(None).unwrap();
    for server in Server::available("schemas") {
        let mut seen = std::collections::BTreeSet::new();
        // On a server, where each costs seconds, the newest generation of each scheduler.
        let all: Vec<_> = manifests.iter().collect();
        let whole = server == Server::Sqlite || crate::support::long();
        for manifest in all.into_iter().rev().filter(|m| seen.insert(m.scheduler.clone()) || whole) {
            let db = TestDb::with_schema(server, manifest);
            for table in manifest.roles.values().filter_map(|r| manifest.tables.get(&r.table)) {
                let there = table.on(server.dialect().engine);
                assert!(
                    !there || !db.columns(&table.name).is_empty(),
                    "{server:?} {}: {}",
                    manifest.origin,
                    table.name
                );
            }
        }
    }
}

/// MySQL and PostgreSQL want a unique key under every foreign key.
#[test]
fn foreign_keys_refer_to_keys() {
    for manifest in Manifests::load(None).unwrap().iter() {
        for engine in [Engine::MySql, Engine::PostgreSql] {
            for table in manifest.tables.values().filter(|t| t.on(engine)) {
                for foreign in table.foreign_keys_on(engine) {
                    let Some(parent) = manifest.tables.get(&foreign.references) else { continue };
                    let known = parent.key_on(engine) == foreign.ref_columns
                        || parent.unique_on(engine).contains(&foreign.ref_columns);
                    assert!(
                        known,
                        "{} {engine:?}: {} refers to {} ({:?})",
                        manifest.origin, table.name, parent.name, foreign.ref_columns
                    );
                }
            }
        }
    }
}

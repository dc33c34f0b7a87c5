//! Every generation's tables can be made, with the keys that its foreign keys refer to.

use flowmend::data::Tree;
use flowmend::manifest::{Engine, Manifest, Manifests};
use flowmend::recipe::Recipes;

use crate::support::db::{Server, TestDb};

#[test]
fn every_schema_can_be_made() {
    let manifests = Manifests::load(None).unwrap();
    for server in Server::available("schemas") {
        let mut seen = std::collections::BTreeSet::new();
        // On a server, where each costs seconds, the newest generation of each scheduler.
        let all: Vec<_> = manifests.all().unwrap().into_iter().collect();
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
    for manifest in Manifests::load(None).unwrap().all().unwrap().into_iter() {
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

/// What comes with the program is only read by it: its mistakes are found here.
#[test]
fn every_built_in_recipe_fits_every_manifest() {
    let manifests = Manifests::load(None).unwrap();
    assert!(!manifests.all().unwrap().is_empty());
    let recipes = Recipes::checked(&Tree::templates(None).unwrap(), &manifests).unwrap();
    for scheduler in manifests.schedulers() {
        assert!(recipes.of(scheduler).count() > 0, "{scheduler}");
    }
}

/// A manifest that comes with the program is read for its release alone, and not checked then.
#[test]
fn every_built_in_manifest_passes_the_checks_of_ones_own() {
    let tree = Tree::enums(None).unwrap();
    let own = Tree::of(tree.iter().map(|(path, file)| (path, file.text.as_ref())));
    let checked = Manifests::from_tree(&own).unwrap();
    let built_in = Manifests::load(None).unwrap();
    for manifest in checked.all().unwrap() {
        // Read with the others or alone, it is the same.
        let alone = Manifests::load(None).unwrap();
        let alone = alone.generation(&manifest.scheduler, &manifest.generation).unwrap();
        let beside = built_in.generation(&manifest.scheduler, &manifest.generation).unwrap();
        assert_eq!((&alone.sha256, &beside.sha256), (&manifest.sha256, &manifest.sha256), "{}", manifest.origin);
        let shown = |m: &Manifest| format!("{:?}", Manifest { origin: String::new(), ..m.clone() });
        assert_eq!(shown(alone), shown(manifest), "{}", manifest.origin);
    }
}

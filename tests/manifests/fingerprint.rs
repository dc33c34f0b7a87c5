//! A schema is recognised as its own generation, or as one of those that look alike.

use std::collections::{BTreeMap, BTreeSet};

use flowmend::manifest::{Engine, Manifest, Manifests};

const SCHEDULERS: [&str; 4] = ["airflow", "dolphinscheduler", "quartz", "xxl-job"];

/// The generations that a generation's file says have the same schema.
fn same_schema_as(scheduler: &str) -> BTreeMap<String, BTreeSet<String>> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("enums").join(scheduler);
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let file: toml::Table = std::fs::read_to_string(entry.unwrap().path()).unwrap().parse().unwrap();
        let listed =
            file["fingerprint"].get("same_schema_as").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        let listed = listed.iter().map(|v| v.as_str().unwrap().to_owned()).collect();
        found.insert(file["generation"].as_str().unwrap().to_owned(), listed);
    }
    found
}

fn fits(m: &Manifest, live: &BTreeSet<String>) -> bool {
    let there = |mark: &String| live.contains(&mark.to_lowercase());
    m.fingerprint.present.iter().all(there) && !m.fingerprint.absent.iter().any(there)
}

/// The marks of a generation with, and without, the tables that may be missing.
fn schemas(m: &Manifest, engine: Engine) -> [BTreeSet<String>; 2] {
    let whole = m.marks(engine);
    let optional: Vec<String> =
        m.tables.values().filter(|t| t.optional.is_some()).map(|t| t.name.to_lowercase()).collect();
    let table = |mark: &String| mark.split('.').next().unwrap_or_default().to_owned();
    let lean = whole.iter().filter(|mark| !optional.contains(&table(mark))).cloned().collect();
    [whole, lean]
}

#[test]
fn a_schema_fits_itself_and_its_twins_only() {
    let manifests = Manifests::load(None).unwrap();
    for scheduler in SCHEDULERS {
        let twins = same_schema_as(scheduler);
        // What a scheduler carries in its database is looked for only when it is asked for.
        let others: Vec<&Manifest> =
            manifests.all().unwrap().into_iter().filter(|o| !o.carried_by.iter().any(|c| c == scheduler)).collect();
        for m in manifests.of(scheduler).unwrap() {
            // Not every release came for every database.
            for (engine, live) in [Engine::MySql, Engine::PostgreSql, Engine::Sqlite]
                .into_iter()
                .flat_map(|engine| schemas(m, engine).map(|live| (engine, live)))
                .filter(|(_, live)| !live.is_empty())
            {
                let name = |o: &Manifest| (o.scheduler.clone(), o.generation.clone());
                let fitting: BTreeSet<_> = others.iter().filter(|o| fits(o, &live)).map(|o| name(o)).collect();
                let mut expected: BTreeSet<_> =
                    twins[&m.generation].iter().map(|twin| (scheduler.to_owned(), twin.clone())).collect();
                expected.insert(name(m));
                assert_eq!(fitting, expected, "{scheduler} {} on {engine:?}", m.generation);
            }
        }
    }
}

/// The generations that types, keys and indexes leave, where names leave several.
fn by_details(scheduler: &str, generation: &str, engine: Engine) -> Vec<String> {
    let manifests = Manifests::load(None).unwrap();
    let all = manifests.of(scheduler).unwrap();
    let m = all.iter().find(|m| m.generation == generation).unwrap();
    let (names, details) = (m.marks(engine), m.details(engine));
    assert_eq!(m.details_against(&details), [""; 0], "{scheduler} {generation} on {engine:?}");
    let fitting = all.iter().filter(|o| fits(o, &names) && o.details_against(&details).is_empty());
    fitting.map(|o| o.generation.clone()).collect()
}

#[test]
fn types_keys_and_indexes_tell_twins_apart_where_the_database_shows_it() {
    for generation in ["2.3.0", "2.5.0", "3.2.0", "3.4.0"] {
        assert_eq!(by_details("xxl-job", generation, Engine::MySql), [generation]);
    }
    // Longer names prove nothing: later releases of Quartz run on older tables.
    let (all, later) = (["2.2.0", "2.3.0", "2.3.1", "2.4.0"], ["2.3.0", "2.3.1", "2.4.0"]);
    assert_eq!(by_details("quartz", "2.2.0", Engine::MySql), all);
    for generation in later {
        assert_eq!(by_details("quartz", generation, Engine::MySql), later);
        assert_eq!(by_details("quartz", generation, Engine::PostgreSql), all);
    }
}

#[test]
fn details_never_speak_against_their_own_generation() {
    let manifests = Manifests::load(None).unwrap();
    for m in manifests.all().unwrap().into_iter() {
        for engine in [Engine::MySql, Engine::PostgreSql].into_iter().filter(|e| m.runs_on(*e)) {
            assert_eq!(m.details_against(&m.details(engine)), [""; 0], "{} on {engine:?}", m.origin);
        }
    }
}

#[test]
fn twins_name_each_other() {
    for scheduler in SCHEDULERS {
        let twins = same_schema_as(scheduler);
        for (generation, others) in &twins {
            for other in others {
                let back = twins.get(other).unwrap_or_else(|| panic!("{generation}: no generation {other}"));
                assert!(back.contains(generation), "{generation} names {other}, but not the other way round");
            }
        }
    }
}

#[test]
fn version_marks_name_own_releases() {
    let manifests = Manifests::load(None).unwrap();
    for m in manifests.all().unwrap().into_iter() {
        for release in m.version_marks.keys() {
            assert!(m.releases.contains(release), "{}: version_marks names {release}", m.origin);
        }
    }
}

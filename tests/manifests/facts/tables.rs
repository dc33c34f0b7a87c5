//! Tables, columns and keys on each engine.

use std::collections::BTreeSet;

use flowmend::manifest::{ColumnSpec, DefaultValue, Engine, ForeignKey, TableSpec};
use serde_json::Value;

use super::{Differences, Facts, releases, text, texts};

const ENGINES: [(Engine, &str); 2] = [(Engine::MySql, "mysql"), (Engine::PostgreSql, "postgresql")];

#[test]
fn tables_columns_and_keys_are_upstreams() {
    let Some(releases) = releases("tables_columns_and_keys_are_upstreams") else { return };
    let mut differences = Differences::default();
    for (facts, manifest) in releases {
        for (engine, name) in ENGINES {
            let upstream = tables(&facts, name);
            let ours: BTreeSet<&str> =
                manifest.tables.values().filter(|t| t.on(engine)).map(|t| t.name.as_str()).collect();
            differences.same(
                format!("{} {name}: tables", facts.version),
                &ours,
                &upstream.keys().map(String::as_str).collect(),
            );
            for (table, shape) in &upstream {
                let Some(ours) = manifest.tables.get(table) else { continue };
                let place = format!("{} {name} {table}", facts.version);
                compare(&mut differences, &place, ours, engine, shape);
            }
        }
    }
    differences.none();
}

fn tables(facts: &Facts, engine: &str) -> serde_json::Map<String, Value> {
    facts.json["tables"][engine].as_object().cloned().unwrap_or_default()
}

fn compare(differences: &mut Differences, place: &str, ours: &TableSpec, engine: Engine, shape: &Value) {
    let columns: Vec<(String, ColumnSpec)> =
        ours.columns_on(engine).map(|c| (c.name.clone(), c.on(engine).unwrap())).collect();
    let upstream: Vec<(String, ColumnSpec)> = shape["columns"].as_array().unwrap().iter().map(column).collect();
    let names = |list: &[(String, ColumnSpec)]| {
        let mut names: Vec<String> = list.iter().map(|(name, _)| name.clone()).collect();
        // A manifest lists columns in MySQL's order; PostgreSQL's differs in places.
        if engine == Engine::PostgreSql {
            names.sort();
        }
        names
    };
    differences.same(format!("{place}: columns"), &names(&columns), &names(&upstream));
    for (name, theirs) in &upstream {
        if let Some((_, spec)) = columns.iter().find(|(n, _)| n == name) {
            differences.same(format!("{place}.{name}"), spec, theirs);
        }
    }
    let unique = if engine == Engine::MySql { &ours.unique_mysql } else { &ours.unique_postgresql };
    differences.same(
        format!("{place}: primary key"),
        &lower(ours.key_on(engine)),
        &lower(&texts(&shape["primary_key"])),
    );
    differences.same(format!("{place}: unique keys"), &key_set(unique), &key_set(&lists(&shape["unique_keys"])));
    let indexes = if engine == Engine::MySql { &ours.indexes_mysql } else { &ours.indexes_postgresql };
    differences.same(format!("{place}: indexes"), &key_set(indexes), &key_set(&lists(&shape["indexes"])));
    let foreign = shape["foreign_keys"].as_array().unwrap().iter().map(foreign_key).collect();
    let ours_foreign: BTreeSet<_> = ours.foreign_keys_on(engine).iter().map(foreign_parts).collect();
    differences.same(format!("{place}: foreign keys"), &ours_foreign, &foreign);
    differences.same(format!("{place}: optional"), &ours.optional.is_some(), &is_optional(shape));
}

fn column(value: &Value) -> (String, ColumnSpec) {
    let default = value["default"].as_str().map(|text| match text {
        "CURRENT_TIMESTAMP" => DefaultValue::Keyword(text.to_owned()),
        _ => DefaultValue::Text(text.to_owned()),
    });
    let spec = ColumnSpec {
        type_sql: text(&value["type"]),
        nullable: value["nullable"].as_bool().unwrap(),
        default,
        auto_increment: value["auto_increment"].as_bool().unwrap(),
        on_update: value["on_update"].as_str().map(ToOwned::to_owned),
    };
    (text(&value["name"]), spec)
}

/// PostgreSQL folds names without quotes, so the case of a key's column does not count.
fn lower(columns: &[String]) -> Vec<String> {
    columns.iter().map(|c| c.to_lowercase()).collect()
}

fn lists(value: &Value) -> Vec<Vec<String>> {
    value.as_array().unwrap().iter().map(texts).collect()
}

fn key_set(keys: &[Vec<String>]) -> BTreeSet<Vec<String>> {
    keys.iter().map(|k| lower(k)).collect()
}

type ForeignParts = (Vec<String>, String, Vec<String>, String);

fn foreign_key(value: &Value) -> ForeignParts {
    let on_delete = value["on_delete"].as_str().unwrap_or("NO ACTION").to_owned();
    (lower(&texts(&value["columns"])), text(&value["references"]), lower(&texts(&value["ref_columns"])), on_delete)
}

fn foreign_parts(key: &ForeignKey) -> ForeignParts {
    (lower(&key.columns), key.references.clone(), lower(&key.ref_columns), key.on_delete.clone())
}

fn is_optional(shape: &Value) -> bool {
    shape.get("optional").is_some_and(|o| !o.is_null() && o != &Value::Bool(false))
}

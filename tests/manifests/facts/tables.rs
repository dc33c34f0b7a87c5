//! Tables, columns and keys on each product.

use std::collections::BTreeSet;

use flowmend::manifest::{ColumnSpec, Engine, ForeignKey, Manifest, Manifests, TableSpec};

use super::readers::Reader;
use super::{Differences, Foreign, Product, Shape, Upstream};

/// Every table that some generation of a scheduler lists.
pub fn listed(manifests: &Manifests, scheduler: &str) -> BTreeSet<String> {
    manifests.of(scheduler).unwrap().iter().flat_map(|m| m.tables.keys().cloned()).collect()
}

/// Every table that some generation of a scheduler lists or names.
pub fn named(manifests: &Manifests, scheduler: &str) -> BTreeSet<String> {
    manifests.of(scheduler).unwrap().iter().flat_map(|m| m.table_names().map(str::to_owned)).collect()
}

/// Compares the tables of a release. Where a scheduler's manifests list only some tables,
/// a release must list all of these that it has.
pub fn compare(
    differences: &mut Differences,
    reader: &Reader,
    upstream: &Upstream,
    manifest: &Manifest,
    listed: &BTreeSet<String>,
) {
    for product in reader.products {
        let Some(theirs) = upstream.tables.get(product.name) else { continue };
        let names: BTreeSet<&String> =
            theirs.keys().filter(|name| reader.every_table || listed.contains(*name)).collect();
        let ours = manifest.tables.values().filter(|t| t.on(product.engine)).map(|t| &t.name).collect();
        differences.same(format!("{}: tables", product.name), &ours, &names);
        for (name, shape) in theirs {
            let Some(table) = manifest.tables.get(name).filter(|t| t.on(product.engine)) else { continue };
            compare_table(differences, product, table, shape, listed);
            if product.full && reader.indexes {
                let known = reader.other_indexes.contains(&(upstream.version.as_str(), product.name, name.as_str()));
                compare_indexes(differences, product, table, shape, known);
            }
        }
    }
}

/// Compares one table.
pub fn compare_table(
    differences: &mut Differences,
    product: &Product,
    ours: &TableSpec,
    theirs: &Shape,
    listed: &BTreeSet<String>,
) {
    let engine = product.engine;
    let place = format!("{} {}", product.name, ours.name);
    let columns: Vec<(String, ColumnSpec)> =
        ours.columns_on(engine).map(|c| (c.name.clone(), c.on(engine).unwrap().into_owned())).collect();
    differences.same(format!("{place}: columns"), &names(&columns, engine), &names(&theirs.columns, engine));
    for (name, upstream) in &theirs.columns {
        let Some((_, ours)) = columns.iter().find(|(n, _)| n == name) else { continue };
        if product.full {
            differences.same(format!("{place}.{name}"), ours, upstream);
        } else {
            differences.same(format!("{place}.{name}: NULL"), &ours.nullable, &upstream.nullable);
        }
    }
    differences.same(format!("{place}: primary key"), &lower(ours.key_on(engine)), &theirs.primary_key);
    differences.same(format!("{place}: optional"), &ours.optional.is_some(), &theirs.optional);
    if product.full {
        compare_keys(differences, engine, &place, ours, theirs, listed);
    }
}

fn compare_keys(
    differences: &mut Differences,
    engine: Engine,
    place: &str,
    ours: &TableSpec,
    theirs: &Shape,
    listed: &BTreeSet<String>,
) {
    let mysql = engine == Engine::MySql;
    let unique = if mysql { &ours.unique_mysql } else { &ours.unique_postgresql };
    differences.same(format!("{place}: unique keys"), &key_set(unique), &theirs.unique);
    // A key that leads to a table that no manifest lists cannot be told.
    let told: BTreeSet<Foreign> = theirs.foreign.iter().filter(|k| listed.contains(&k.1)).cloned().collect();
    let foreign: BTreeSet<Foreign> = ours.foreign_keys_on(engine).iter().map(foreign_parts).collect();
    differences.same(format!("{place}: foreign keys"), &foreign, &told);
}

/// Compares the other indexes of one table; `known`: they are known to differ.
pub fn compare_indexes(
    differences: &mut Differences,
    product: &Product,
    ours: &TableSpec,
    theirs: &Shape,
    known: bool,
) {
    let indexes = if product.engine == Engine::MySql { &ours.indexes_mysql } else { &ours.indexes_postgresql };
    let indexes = key_set(indexes);
    if known {
        assert_ne!(indexes, theirs.indexes, "{} {}: indexes differ no more", differences.place, ours.name);
    } else {
        differences.same(format!("{} {}: indexes", product.name, ours.name), &indexes, &theirs.indexes);
    }
}

/// A manifest lists columns in MySQL's order; elsewhere it differs in places.
fn names(list: &[(String, ColumnSpec)], engine: Engine) -> Vec<String> {
    let mut names: Vec<String> = list.iter().map(|(name, _)| name.clone()).collect();
    if engine != Engine::MySql {
        names.sort();
    }
    names
}

/// PostgreSQL folds names without quotes, so the case of a key's column does not count.
pub fn lower(columns: &[String]) -> Vec<String> {
    columns.iter().map(|c| c.to_lowercase()).collect()
}

fn key_set(keys: &[Vec<String>]) -> BTreeSet<Vec<String>> {
    keys.iter().map(|k| lower(k)).collect()
}

fn foreign_parts(key: &ForeignKey) -> Foreign {
    (lower(&key.columns), key.references.clone(), lower(&key.ref_columns), key.on_delete.clone())
}

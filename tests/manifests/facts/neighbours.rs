//! What `manifests diff` says between neighbouring releases is what upstream changed: nothing
//! missed, nothing invented.

use std::collections::{BTreeMap, BTreeSet};

use flowmend::manifest::compare::{Change, ChangeKind, compare};
use flowmend::manifest::{Engine, Manifest, Manifests};

use super::tables::{listed, lower, named};
use super::{Codes, Differences, Known, Product, Upstream, known};

type Names = BTreeSet<String>;

/// A key as it is written, and its columns by the newer names.
type Key<'k> = (&'k Vec<String>, Names);

#[test]
fn changes_are_upstreams() {
    let Some(known) = known("changes_are_upstreams") else { return };
    let manifests = Manifests::load(None).unwrap();
    let mut differences = Differences::default();
    let mut compared = 0;
    for Known { reader, releases } in known {
        let told = named(&manifests, reader.scheduler);
        let described = listed(&manifests, reader.scheduler);
        for pair in releases.windows(2) {
            let of = |release: &Upstream| manifests.release(reader.scheduler, &release.version).ok();
            let (Some(from), Some(to)) = (of(&pair[0]), of(&pair[1])) else { continue };
            differences.place = format!("{} {} → {}", reader.scheduler, pair[0].version, pair[1].version);
            let changes = compare(from, to);
            for product in reader.products.iter().filter(|p| p.full) {
                let upstream = (&pair[0], &pair[1]);
                compared += usize::from(tables(&mut differences, product, upstream, &changes, (&told, &described)));
            }
            states(&mut differences, (&pair[0], from), (&pair[1], to), &changes);
        }
    }
    differences.none();
    assert!(compared > 60, "{compared} pairs");
}

/// The changes of some kinds on one kind of database.
fn of(changes: &[Change], engine: Engine, kind: ChangeKind) -> impl Iterator<Item = &Change> {
    changes.iter().filter(move |c| c.kind == kind && c.engine.is_none_or(|e| e == engine))
}

fn tables(
    differences: &mut Differences,
    product: &Product,
    (old, new): (&Upstream, &Upstream),
    changes: &[Change],
    (told, described): (&Names, &Names),
) -> bool {
    let engine = product.engine;
    let (Some(old), Some(new)) = (old.tables.get(product.name), new.tables.get(product.name)) else { return false };
    let names = |tables: &BTreeMap<String, super::Shape>| -> Names {
        tables.keys().filter(|name| told.contains(*name)).cloned().collect()
    };
    let (was, is) = (names(old), names(new));
    let subjects = |kind| of(changes, engine, kind).map(|c| c.subject.clone());
    let renamed: BTreeMap<String, String> =
        of(changes, engine, ChangeKind::TableRenamed).map(|c| (c.subject.clone(), c.after.clone().unwrap())).collect();
    let gone: Names = subjects(ChangeKind::TableDropped).chain(renamed.keys().cloned()).collect();
    let came: Names = subjects(ChangeKind::TableAdded).chain(renamed.values().cloned()).collect();
    differences.same(format!("{}: tables that go", product.name), &gone, &was.difference(&is).cloned().collect());
    differences.same(format!("{}: tables that come", product.name), &came, &is.difference(&was).cloned().collect());
    // Of the others nothing but the name is known.
    for table in was.intersection(described) {
        let Some(after) = new.get(renamed.get(table).unwrap_or(table)) else { continue };
        columns(differences, engine, table, &old[table], after, changes);
        keys(
            differences,
            engine,
            (table, renamed.get(table).unwrap_or(table)),
            (&old[table], after),
            (changes, described),
        );
    }
    true
}

/// Unique keys and foreign keys, by the names of the newer release.
fn keys(
    differences: &mut Differences,
    engine: Engine,
    (table, now): (&String, &String),
    (old, new): (&super::Shape, &super::Shape),
    (changes, described): (&[Change], &Names),
) {
    let renames = |table: &str| -> BTreeMap<String, String> {
        let inside = |c: &Change| Some(c.subject.strip_prefix(table)?.strip_prefix('.')?.to_lowercase());
        let renamed = of(changes, engine, ChangeKind::ColumnRenamed);
        renamed.filter_map(|c| Some((inside(c)?, c.after.clone().unwrap().to_lowercase()))).collect()
    };
    let named = |table: &str, columns: &[String]| -> Vec<String> {
        let renames = renames(table);
        columns.iter().map(|c| renames.get(c).unwrap_or(c).clone()).collect()
    };
    let text = |columns: &[String]| format!("{table}({})", columns.join(", "));
    let said = |kind| -> Names {
        of(changes, engine, kind)
            .map(|c| c.subject.clone())
            .filter(|s| s.split('(').next() == Some(table))
            .map(|s| same_case(&s, table))
            .collect()
    };
    let set = |key: &[String]| -> Names { key.iter().cloned().collect() };
    let was: Vec<Key<'_>> = old.unique.iter().map(|key| (key, set(&named(table, key)))).collect();
    let is: Vec<Key<'_>> = new.unique.iter().map(|key| (key, set(key))).collect();
    let only = |one: &[Key<'_>], other: &[Key<'_>]| -> Names {
        one.iter().filter(|(_, key)| !other.iter().any(|(_, o)| o == key)).map(|(key, _)| text(key)).collect()
    };
    let place = format!("{engine:?} {table} → {now}");
    differences.same(format!("{place}: unique keys that come"), &said(ChangeKind::UniqueAdded), &only(&is, &was));
    differences.same(format!("{place}: unique keys that go"), &said(ChangeKind::UniqueDropped), &only(&was, &is));
    let renamed: BTreeMap<String, String> =
        of(changes, engine, ChangeKind::TableRenamed).map(|c| (c.subject.clone(), c.after.clone().unwrap())).collect();
    let target =
        |parent: &str, columns: &[String], effect: &str| format!("{parent}({}) ON DELETE {effect}", columns.join(", "));
    let told = |key: &&super::Foreign| described.contains(&key.1);
    let was: BTreeMap<Vec<String>, String> = old
        .foreign
        .iter()
        .filter(told)
        .map(|(columns, parent, there, effect)| {
            let now = renamed.get(parent).unwrap_or(parent);
            (named(table, columns), target(now, &named(parent, there), effect))
        })
        .collect();
    let is: BTreeMap<Vec<String>, String> = new
        .foreign
        .iter()
        .filter(told)
        .map(|(columns, parent, there, effect)| (columns.clone(), target(parent, there, effect)))
        .collect();
    let of_keys = |keep: &dyn Fn(&Vec<String>) -> bool| -> Names {
        was.keys().chain(is.keys()).filter(|c| keep(c)).map(|c| text(c)).collect()
    };
    let came = of_keys(&|c| !was.contains_key(c));
    let gone = of_keys(&|c| !is.contains_key(c));
    let other = of_keys(&|c| was.contains_key(c) && is.contains_key(c) && was[c] != is[c]);
    differences.same(format!("{place}: foreign keys that come"), &said(ChangeKind::ForeignKeyAdded), &came);
    differences.same(format!("{place}: foreign keys that go"), &said(ChangeKind::ForeignKeyDropped), &gone);
    differences.same(format!("{place}: foreign keys that change"), &said(ChangeKind::ForeignKeyChanged), &other);
}

/// A key with its columns in lower case, as the facts have them.
fn same_case(key: &str, table: &str) -> String {
    format!("{table}{}", key[table.len()..].to_lowercase())
}

fn columns(
    differences: &mut Differences,
    engine: Engine,
    table: &str,
    old: &super::Shape,
    new: &super::Shape,
    changes: &[Change],
) {
    let own = |kind| -> Vec<(String, &Change)> {
        let inside = |c: &Change| Some(c.subject.strip_prefix(table)?.strip_prefix('.')?.to_lowercase());
        of(changes, engine, kind).filter_map(|c| Some((inside(c)?, c))).collect()
    };
    let column = |shape: &super::Shape, name: &str| {
        shape.columns.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, spec)| spec.clone())
    };
    let names = |shape: &super::Shape| -> Names { shape.columns.iter().map(|(n, _)| n.to_lowercase()).collect() };
    let (was, is) = (names(old), names(new));
    let renamed: BTreeMap<String, String> = own(ChangeKind::ColumnRenamed)
        .into_iter()
        .map(|(from, c)| (from, c.after.clone().unwrap().to_lowercase()))
        .collect();
    let gone = own(ChangeKind::ColumnDropped).into_iter().map(|(n, _)| n).chain(renamed.keys().cloned()).collect();
    let came = own(ChangeKind::ColumnAdded).into_iter().map(|(n, _)| n).chain(renamed.values().cloned()).collect();
    let place = format!("{engine:?} {table}");
    differences.same(format!("{place}: columns that go"), &gone, &was.difference(&is).cloned().collect::<Names>());
    differences.same(format!("{place}: columns that come"), &came, &is.difference(&was).cloned().collect::<Names>());
    let differs = |name: &&String| {
        let after = column(new, renamed.get(*name).unwrap_or(name));
        after.is_some() && column(old, name) != after
    };
    let retyped: Names = own(ChangeKind::ColumnRetyped).into_iter().map(|(n, _)| n).collect();
    differences.same(format!("{place}: columns retyped"), &retyped, &was.iter().filter(differs).cloned().collect());
    let key: Vec<String> = old.primary_key.iter().map(|c| renamed.get(c).unwrap_or(c).clone()).collect();
    let said = of(changes, engine, ChangeKind::KeyChanged).any(|c| c.subject == table);
    differences.same(format!("{place}: key changes"), &said, &(lower(&key) != lower(&new.primary_key)));
}

fn states(
    differences: &mut Differences,
    (old, from): (&Upstream, &Manifest),
    (new, to): (&Upstream, &Manifest),
    changes: &[Change],
) {
    for column in from.states.keys().filter(|column| to.states.contains_key(*column)) {
        let (Some(was), Some(is)) = (pairs(old, from, column), pairs(new, to, column)) else { continue };
        let (mut gone, mut came) = (BTreeSet::new(), BTreeSet::new());
        // A state whose meaning hangs on another column is ours to tell apart.
        let plain = |c: &&Change| c.subject == *column && c.code.as_ref().is_some_and(|code| !code.contains(" ("));
        for change in changes.iter().filter(plain) {
            let (code, before) = (change.code.clone().unwrap(), change.before.clone().unwrap_or_default());
            let after = change.after.clone().unwrap_or_default();
            let name = |text: &str| text.split(" (").next().unwrap_or_default().to_owned();
            match change.kind {
                ChangeKind::StateRemoved => drop(gone.insert((code, before))),
                ChangeKind::StateAdded => drop(came.insert((code, name(&after)))),
                ChangeKind::StateRenamed => {
                    gone.insert((code.clone(), before));
                    came.insert((code, after));
                }
                ChangeKind::StateRenumbered => {
                    gone.insert((before, code.clone()));
                    came.insert((after, code));
                }
                _ => {}
            }
        }
        differences.same(format!("{column}: codes that go"), &gone, &was.difference(&is).cloned().collect());
        differences.same(format!("{column}: codes that come"), &came, &is.difference(&was).cloned().collect());
    }
}

/// Code and name of every state of a role column, as upstream has them.
fn pairs(upstream: &Upstream, m: &Manifest, column: &str) -> Option<BTreeSet<(String, String)>> {
    let role = column.split('.').next()?;
    let real = format!("{}.{}", m.roles.get(role)?.table, m.column(column).ok()?);
    let holds = |codes: &&Codes| codes.columns.iter().any(|c| c.eq_ignore_ascii_case(&real));
    Some(upstream.codes.iter().find(holds)?.values.iter().cloned().collect())
}

//! Every recipe on every generation: what is planned is written and nothing
//! else, and rollback is the identity. No oracle: the recipes' own tests say
//! which rows are right.

use std::collections::BTreeMap;

use flowmend::apply::BundleState;
use flowmend::db::Access;
use flowmend::dialect::Dialect;
use flowmend::manifest::Manifest;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::changes::compare;
use super::snapshot::snapshot;
use super::{drive, generate};
use crate::support::db::{Server, block_on};
use crate::support::long;

/// How often each recipe repaired something.
type Hits = BTreeMap<String, usize>;

/// What the operator says, in turns.
fn flags(m: &Manifest, turn: u64) -> BTreeMap<String, Vec<String>> {
    let pick = |values: &[&str]| values[usize::try_from(turn).unwrap() % values.len()].to_owned();
    let mut said = BTreeMap::from([
        ("choose".to_owned(), vec![pick(&["finish", "finish", "resume"])]),
        ("waiters".to_owned(), vec![pick(&["wake", "newest", "stop", "leave"])]),
        ("children".to_owned(), vec![pick(&["finish", "keep"])]),
        ("dead-owner".to_owned(), vec!["*".to_owned()]),
        ("outcome".to_owned(), vec![pick(&["failed", "killed"])]),
    ]);
    if turn % 2 == 1 {
        said.insert("older-than".to_owned(), vec!["6h".to_owned()]);
    }
    // Four of five codes of earlier releases.
    let codes = (0u64..).zip(&m.legacy).filter(|(at, _)| at % 5 != turn % 5);
    let confirmed: Vec<String> = codes.map(|(_, l)| m.confirmation(l)).collect();
    if !confirmed.is_empty() {
        said.insert("map".to_owned(), confirmed);
    }
    said
}

/// Rows with a code that no release has get one that an earlier release had, in turns.
fn left_by_upgrade(m: &Manifest, d: &Dialect, seed: u64) -> Vec<String> {
    let write = |column: &String| {
        let of: Vec<&str> = m.legacy.iter().filter(|l| l.column == *column).map(|l| l.code.as_str()).collect();
        let code = of.get(usize::try_from(seed).unwrap() % of.len().max(1))?;
        let (table, state) = (&m.role(column.split('.').next()?).ok()?.table, d.ident(m.column(column).ok()?));
        Some(format!("UPDATE {} SET {state} = {code} WHERE {state} = {}", d.ident(table), generate::UNKNOWN))
    };
    m.states.keys().filter_map(write).collect()
}

/// One generated database, every recipe on it, one after the other.
fn case(server: Server, m: &Manifest, seed: u64, hits: &mut Hits) {
    let mut bytes = [3u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let model = generate::database(m).new_tree(&mut runner).unwrap().current();
    let test = drive::database(server, m);
    let recipes = drive::app().recipes.of("dolphinscheduler");
    let writing = recipes.filter(|r| r.applies_to(m) && !r.file.steps.is_empty()).map(|r| Some(r.file.name.clone()));
    let all: Vec<Option<String>> = writing.chain([None]).collect();
    block_on(async {
        let mut db = drive::open(&test, Access::ReadWrite).await;
        drive::fill(&mut db, &model.statements(m, &server.dialect())).await;
        // Runs of the first workflow were all started for one slot of its schedule.
        let run = &m.roles["workflow_instance"];
        let column = |name: &str| db.dialect.ident(&run.columns[name]);
        let definition = if run.columns.contains_key("definition_code") { "definition_code" } else { "definition_id" };
        let slot = format!(
            "UPDATE {} SET {} = '2026-11-25 09:00:00', {} = 6, {} = 0 WHERE {} = 1",
            db.dialect.ident(&run.table),
            column("schedule_time"),
            column("command_type"),
            column("is_sub"),
            column(definition)
        );
        db.rows(&slot).await.unwrap();
        for sql in left_by_upgrade(m, &db.dialect, seed) {
            db.rows(&sql).await.unwrap();
        }
        if server == Server::PostgreSql {
            // Rows came with keys of their own, which a sequence does not see.
            let command = &m.roles["command"].table;
            let next = format!("SELECT setval(pg_get_serial_sequence('{command}', 'id'), 100000)");
            db.rows(&next).await.unwrap();
        }
        for (n, recipe) in all.iter().enumerate() {
            let name = recipe.as_deref().unwrap_or("all");
            let what = format!("{server:?} {} seed {seed}, {name}\n{}", m.generation, model.lines());
            let flags = flags(m, seed + u64::try_from(n).unwrap());
            let planned = drive::plan_any(&test, m, &flags, recipe.as_deref()).await;
            let (plan, files) = planned.unwrap_or_else(|e| panic!("{e}\n{what}"));
            if plan.steps.is_empty() {
                continue;
            }
            *hits.entry(name.to_owned()).or_default() += 1;
            let before = snapshot(&mut db).await;
            let bundle = drive::bundle(&test, &files, &format!("bundle{n}")).await;
            drive::apply(&mut db, &bundle).await.unwrap_or_else(|e| panic!("apply: {e}\n{what}"));
            let after = snapshot(&mut db).await;
            compare(m, &plan, &before, &after).unwrap_or_else(|e| panic!("{e}\n{what}"));
            drive::verify(&mut db, &bundle, BundleState::Applied)
                .await
                .unwrap_or_else(|e| panic!("verify: {e}\n{what}"));
            drive::rollback(&mut db, &bundle).await.unwrap_or_else(|e| panic!("rollback: {e}\n{what}"));
            assert!(snapshot(&mut db).await == before, "rollback is the identity: {what}");
        }
        db.close().await;
    });
}

/// Some seeds for each generation; on a server, where each costs time, a share of them in turns.
fn all(server: Server, seeds: u64, one_in: usize) -> Hits {
    let mut hits = Hits::new();
    if !server.is_there("property::every_recipe") {
        return hits;
    }
    let only = std::env::var("FLOWMEND_TEST_GENERATION").ok();
    for (at, m) in (0u64..).zip(drive::generations(server)) {
        let named = only.as_ref().is_none_or(|o| m.generation == *o);
        let last = m.generation == "3.4.1";
        if named && (last || usize::try_from(at).unwrap() % one_in == 0) {
            (0..seeds).for_each(|seed| case(server, m, at * 100 + seed, &mut hits));
        }
    }
    eprintln!("{server:?}: {hits:?}");
    hits
}

#[test]
fn sqlite() {
    let hits = all(Server::Sqlite, if long() { 20 } else { 2 }, 1);
    if std::env::var_os("FLOWMEND_TEST_GENERATION").is_none() {
        let writing = drive::app().recipes.of("dolphinscheduler").filter(|r| !r.file.steps.is_empty());
        let never: Vec<&str> = writing.map(|r| r.file.name.as_str()).filter(|n| !hits.contains_key(*n)).collect();
        assert!(never.is_empty(), "the databases are too tame: nothing for {never:?}");
    }
}

#[test]
fn mariadb() {
    all(Server::MariaDb, 1, if long() { 1 } else { 6 });
}

#[test]
fn postgresql() {
    all(Server::PostgreSql, 1, if long() { 1 } else { 6 });
}

#[test]
fn mysql() {
    all(Server::MySql, 1, if long() { 1 } else { 6 });
}

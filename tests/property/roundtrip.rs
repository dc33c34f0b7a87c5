//! Generated databases there and back: plan, apply, verify, roll back.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use flowmend::Kind;
use flowmend::apply::BundleState;
use flowmend::db::Access;
use flowmend::manifest::Manifest;
use flowmend::plan::Plan;
use flowmend::recipe::{Op, SetKind};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::ask::{Ask, ask};
use super::changes::compare;
use super::model::Model;
use super::oracle::{Changes, Prediction, predict};
use super::snapshot::{Snapshot, snapshot};
use super::{drive, generate};
use crate::support::db::{Server, block_on};
use crate::support::long;

/// How often a failing case is made smaller.
const SHRINKS: usize = 60;

/// One case on a server. Panics where a promise is broken; says whether rows were repaired.
pub fn case(server: Server, m: &Manifest, model: &Model, ask: &Ask) -> bool {
    let test = drive::database(server, m);
    block_on(async {
        let mut db = drive::open(&test, Access::ReadWrite).await;
        drive::fill(&mut db, &model.statements(m, &server.dialect())).await;
        let flags = ask.flags(model);
        let planned = drive::plan(&test, m, &flags).await;
        let expected = match predict(m, model, ask) {
            Prediction::Choice => {
                let error = planned.expect_err("a choice is open");
                assert_eq!(error.kind, Kind::Usage, "{error}");
                return false;
            }
            Prediction::Rows(expected) => expected,
        };
        let (plan, files) = planned.unwrap();
        agree(&as_changes(m, &plan, &expected), &expected, &plan);
        assert_eq!(drive::plan(&test, m, &flags).await.unwrap().1, files, "planned twice, written twice");
        if plan.steps.is_empty() {
            return false;
        }
        let before = snapshot(&mut db).await;
        let bundle = drive::bundle(&test, &files, "bundle").await;
        drive::apply(&mut db, &bundle).await.unwrap();
        let after = snapshot(&mut db).await;
        compare(m, &plan, &before, &after).unwrap();
        ends(m, &plan, &before, &after);
        holds(m, &expected, &after);
        drive::verify(&mut db, &bundle, BundleState::Applied).await.unwrap();
        drive::rollback(&mut db, &bundle).await.unwrap();
        assert_eq!(snapshot(&mut db).await, before, "rollback is the identity");
        drive::verify(&mut db, &bundle, BundleState::RolledBack).await.unwrap();
        db.close().await;
        true
    })
}

/// The plan and the oracle name the same rows and values; says where they do not.
fn agree(planned: &Changes, expected: &Changes, plan: &Plan) {
    let differ = |a: &Changes, b: &Changes| -> Vec<String> {
        a.iter().filter(|(k, v)| b.get(*k) != Some(*v)).map(|((role, id), v)| format!("{role} {id} {v:?}")).collect()
    };
    let (more, fewer) = (differ(planned, expected), differ(expected, planned));
    let left: Vec<_> = plan.left_out.iter().map(|l| format!("{} {} {:?}", l.reason, l.role, l.sample)).collect();
    assert!(
        more.is_empty() && fewer.is_empty(),
        "only the plan: {more:#?}\nonly the oracle: {fewer:#?}\nthe plan left out: {left:#?}"
    );
}

/// A plan in the oracle's words. A column that keeps its value in every row of a step
/// is pinned and not written; where the oracle names it, its pin is its value.
fn as_changes(m: &Manifest, plan: &Plan, expected: &Changes) -> Changes {
    let mut found = Changes::new();
    for step in &plan.steps {
        let (role, columns) = m.roles.get_key_value(&step.role).map(|(k, r)| (known(k), &r.columns)).unwrap();
        for change in &step.rows {
            let id = change.key[0].as_deref().unwrap().parse().unwrap();
            let mut values = BTreeMap::new();
            for (set, new) in step.set.iter().zip(&change.new).filter(|(s, _)| s.kind != SetKind::Now) {
                let name = columns.iter().find(|(_, real)| **real == set.column.name).map(|(k, _)| known(k)).unwrap();
                values.insert(name, new.clone().unwrap_or_else(|| "NULL".to_owned()));
            }
            for name in expected.get(&(role, id)).into_iter().flat_map(BTreeMap::keys) {
                let real = &columns[*name];
                if let Some(pin) = step.pin_index(real).filter(|_| step.set_column(real).is_none()) {
                    values.insert(*name, change.old[pin].clone().unwrap_or_else(|| "NULL".to_owned()));
                }
            }
            assert!(found.insert((role, id), values).is_none(), "{role} {id} is planned twice");
        }
    }
    found
}

fn known(name: &str) -> &'static str {
    const NAMES: [&str; 11] = [
        "workflow_instance",
        "task_instance",
        "serial_command",
        "task_group_queue",
        "task_group",
        "command",
        "state",
        "end_time",
        "status",
        "in_queue",
        "used",
    ];
    NAMES.into_iter().find(|n| *n == name).unwrap_or_else(|| panic!("the oracle knows no {name}"))
}

/// An end that stood is never overwritten, and none lies before its start.
fn ends(m: &Manifest, plan: &Plan, before: &Snapshot, after: &Snapshot) {
    for step in plan.steps.iter().filter(|s| s.op == Op::Update) {
        let columns = &m.roles[&step.role].columns;
        let (Some(start), Some(end)) = (columns.get("start_time"), columns.get("end_time")) else { continue };
        let (old, new) = (&before[&step.table], &after[&step.table]);
        let id = &step.key[0].name;
        for now in &new.rows {
            let then = old.rows.iter().find(|row| old.cell(row, id) == new.cell(now, id)).expect("no row came");
            let ended = new.cell(now, end);
            if old.cell(then, end) != ended {
                assert!(old.cell(then, end).is_none(), "an end that stood is never overwritten");
                assert!(ended.is_some() && new.cell(now, start).is_none_or(|s| ended >= Some(s)), "{ended:?}: {now:?}");
            }
        }
    }
}

/// The database holds what the oracle said, and no closed row without an end.
fn holds(m: &Manifest, expected: &Changes, after: &Snapshot) {
    for ((role, id), values) in expected {
        let role = &m.roles[*role];
        let table = &after[&role.table];
        let row = table.rows.iter().find(|r| table.cell(r, &role.columns["id"]) == Some(&id.to_string()));
        assert_eq!(row.is_none(), values.is_empty(), "{} {id}", role.table);
        for (name, value) in values {
            assert_eq!(
                table.cell(row.unwrap(), &role.columns[*name]),
                Some(value.as_str()),
                "{} {id} {name}",
                role.table
            );
        }
    }
}

/// Runs a case whose failure is not the last word: `None` is a panic.
fn quietly<T>(run: impl FnOnce() -> T) -> Option<T> {
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(false);
    result.ok()
}

thread_local! {
    static QUIET: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The panics of cases that are tried out are not printed.
fn hush() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
}

/// Makes a failing case smaller, prints it, and fails.
fn report(server: Server, m: &Manifest, seed: u64, tree: &mut impl ValueTree<Value = (Model, Ask)>) {
    let mut smallest = tree.current();
    let mut more = tree.simplify();
    for _ in 0..SHRINKS {
        if !more {
            break;
        }
        let value = tree.current();
        more = match quietly(|| case(server, m, &value.0, &value.1)) {
            Some(_) => tree.complicate(),
            None => {
                smallest = value;
                tree.simplify()
            }
        };
    }
    let generation = &m.generation;
    eprintln!(
        "{}\n{:?}\n{server:?}: to repeat it, FLOWMEND_TEST_GENERATION={generation} FLOWMEND_TEST_SEED={seed}",
        smallest.0.lines(),
        smallest.1
    );
    case(server, m, &smallest.0, &smallest.1);
    panic!("the failure did not repeat");
}

/// A generation's cases for a number of seeds; prints what repeats a failure.
fn cases(server: Server, m: &Manifest, seeds: std::ops::Range<u64>) -> usize {
    let strategy = generate::database(m).prop_flat_map(|model| {
        let asked = ask(model.runs.len(), model.definitions.len());
        (Just(model), asked)
    });
    let mut repaired = 0;
    for seed in seeds {
        let mut bytes = [0u8; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let mut tree = strategy.new_tree(&mut runner).unwrap();
        let value = tree.current();
        match quietly(|| case(server, m, &value.0, &value.1)) {
            Some(did) => repaired += usize::from(did),
            None => report(server, m, seed, &mut tree),
        }
    }
    repaired
}

/// Runs a server's generations; without a few repairs in most of them the test tests nothing.
fn all(server: Server, number: u64) {
    if !server.is_there("property::roundtrip") {
        return;
    }
    let seeds = match std::env::var("FLOWMEND_TEST_SEED").ok().and_then(|s| s.parse::<u64>().ok()) {
        Some(seed) => seed..seed + 1,
        None => 1..1 + number,
    };
    hush();
    let only = std::env::var("FLOWMEND_TEST_GENERATION").ok();
    let generations = drive::generations(server);
    let (mut tried, mut repaired) = (0, 0);
    for (at, m) in (0..).zip(generations.iter().filter(|m| only.as_ref().is_none_or(|o| m.generation == *o))) {
        // Each generation has seeds of its own.
        let seeds = if std::env::var_os("FLOWMEND_TEST_SEED").is_some() {
            seeds.clone()
        } else {
            seeds.start + at * 1000..seeds.end + at * 1000
        };
        tried += usize::try_from(seeds.end - seeds.start).unwrap();
        repaired += cases(server, m, seeds);
    }
    eprintln!("{server:?}: {repaired} of {tried} cases repaired rows");
    assert!(only.is_some() || tried < 10 || repaired * 4 > tried, "the cases are too tame");
}

#[test]
fn sqlite() {
    all(Server::Sqlite, if long() { 60 } else { 6 });
}

#[test]
fn mariadb() {
    all(Server::MariaDb, if long() { 20 } else { 1 });
}

#[test]
fn postgresql() {
    all(Server::PostgreSql, if long() { 20 } else { 1 });
}

#[test]
fn mysql() {
    all(Server::MySql, if long() { 20 } else { 1 });
}

//! Every scheduler, recipe and generation on databases that are made from the
//! manifests alone, so that a new release or a new scheduler needs no new test.
//!
//! `links` says how the tables hang together, `values` what a column may hold,
//! `world` makes the rows, `said` what the operator says, `trip` takes one world
//! through every recipe. `hints` holds words that only a scheduler's code knows.

mod dice;
mod hints;
mod links;
mod said;
mod trip;
mod values;
mod world;

use std::collections::BTreeSet;

use flowmend::manifest::{Engine, Manifest};
use flowmend::recipe::Recipe;

use self::trip::Outcome;
use super::drive;
use crate::support::db::Server;
use crate::support::long;

/// It has tests of its own that say more; here it has a share for the sake of the worlds.
const KNOWN_BETTER: &str = "dolphinscheduler";
/// How many worlds of each generation are tried at most until each recipe had one to repair.
const MOST: u64 = 40;

/// Every generation that the server has a schema for.
fn generations(server: Server) -> Vec<&'static Manifest> {
    let engine = server.dialect().engine;
    let there = |m: &&Manifest| m.roles.values().all(|r| m.tables[&r.table].on(engine));
    let schedulers: BTreeSet<&str> = drive::app().recipes.iter().map(|r| r.scheduler.as_str()).collect();
    let of = |scheduler| drive::app().manifests.of(scheduler).unwrap();
    schedulers.into_iter().flat_map(of).filter(there).collect()
}

/// Whether a manifest is tried to the full here: on SQLite, or where upstream's tables are.
fn at_home(server: Server, m: &Manifest) -> bool {
    let mysql_only = m.roles.values().all(|r| m.tables[&r.table].only == Some(Engine::MySql));
    m.scheduler != KNOWN_BETTER && server == if mysql_only { Server::MariaDb } else { Server::Sqlite }
}

/// How many worlds of a manifest a server sees, and of one manifest in how many.
fn share(server: Server, m: &Manifest) -> (u64, usize) {
    match (at_home(server, m), long()) {
        (true, true) => (MOST, 1),
        (true, false) => (if server == Server::Sqlite { 2 } else { 1 }, 1),
        (false, true) => (2, 1),
        (false, false) if m.scheduler == KNOWN_BETTER => (1, 12),
        (false, false) => (1, 6),
    }
}

/// Worlds of every scheduler on a server. Where it is at home, they go on until each
/// recipe has repaired something: a test that plans nothing says nothing.
fn all(server: Server) {
    if !server.is_there("property::worlds") {
        return;
    }
    let mut outcome = Outcome::default();
    if let Ok(name) = std::env::var("FLOWMEND_TEST_GENERATION") {
        let named = |m: &&Manifest| name == format!("{}/{}", m.scheduler, m.generation);
        let m = generations(server).into_iter().find(named).expect("the server has the generation");
        let said = std::env::var("FLOWMEND_TEST_SEED").ok().map(|s| s.parse::<u64>().unwrap());
        let seeds = said.map_or(0..MOST, |seed| seed..seed + 1);
        seeds.for_each(|seed| trip::every_recipe(server, m, seed, &mut outcome));
    } else {
        for (at, m) in generations(server).into_iter().enumerate() {
            let (worlds, one_in) = share(server, m);
            let seeds = if at % one_in == 0 { 0..worlds } else { 0..0 };
            seeds.for_each(|seed| trip::every_recipe(server, m, seed, &mut outcome));
        }
        go_on(server, &mut outcome);
    }
    eprintln!("{server:?}: {:?}", outcome.hits);
    outcome.is_good();
}

/// More worlds for the recipes that had nothing to repair yet.
fn go_on(server: Server, outcome: &mut Outcome) {
    let home: Vec<&Manifest> = generations(server).into_iter().filter(|m| at_home(server, m)).collect();
    for seed in 0..MOST {
        for m in home.iter().filter(|m| seed >= share(server, m).0) {
            let never = outcome.never(&m.scheduler);
            let untried: Vec<&Recipe> = trip::writing(m).into_iter().filter(|r| never.contains(&r.file.name)).collect();
            if outcome.faults.is_empty() && !untried.is_empty() {
                let names = untried.iter().map(|r| Some(r.file.name.as_str()));
                trip::recipes(server, m, seed, names, outcome);
            }
        }
    }
    for m in home {
        let never = outcome.never(&m.scheduler);
        // What went wrong says more, and keeps the rest from being tried.
        assert!(
            never.is_empty() || !outcome.faults.is_empty(),
            "the worlds of {} are too tame: nothing for {never:?}",
            m.scheduler
        );
    }
}

#[test]
fn sqlite() {
    all(Server::Sqlite);
}

#[test]
fn mariadb() {
    all(Server::MariaDb);
}

#[test]
fn postgresql() {
    all(Server::PostgreSql);
}

#[test]
fn mysql() {
    all(Server::MySql);
}

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

use self::trip::{Hits, Outcome};
use super::drive;
use crate::support::db::Server;
use crate::support::long;

/// Every generation that the server has a schema for.
fn generations(server: Server) -> Vec<&'static Manifest> {
    let engine = server.dialect().engine;
    let there = |m: &&Manifest| m.roles.values().all(|r| m.tables[&r.table].on(engine));
    let schedulers: BTreeSet<&str> = drive::app().recipes.iter().map(|r| r.scheduler.as_str()).collect();
    let of = |scheduler| drive::app().manifests.of(scheduler).unwrap();
    schedulers.into_iter().flat_map(of).filter(there).collect()
}

/// Worlds on a server: so many of a generation, of one generation in so many.
fn all(server: Server, share: impl Fn(&Manifest) -> (u64, usize)) -> Hits {
    let mut outcome = Outcome::default();
    if !server.is_there("property::worlds") {
        return outcome.hits;
    }
    let said = |name: &str| std::env::var(name).ok();
    let only = said("FLOWMEND_TEST_GENERATION");
    let seed = said("FLOWMEND_TEST_SEED").map(|s| s.parse::<u64>().unwrap());
    for (at, m) in generations(server).into_iter().enumerate() {
        let name = format!("{}/{}", m.scheduler, m.generation);
        let (seeds, one_in) = share(m);
        if only.as_ref().map_or(at % one_in == 0, |o| *o == name) {
            // Seeds of its own: worlds of one seed are alike.
            let first = seed.unwrap_or(at as u64 * 100);
            let seeds = first..first + seed.map_or(seeds, |_| 1);
            seeds.for_each(|seed| trip::every_recipe(server, m, seed, &mut outcome));
        }
    }
    eprintln!("{server:?}: {:?}", outcome.hits);
    let heads = outcome.faults.iter().map(|fault| fault.lines().take(3).collect::<Vec<_>>().join("\n"));
    let heads: Vec<String> = heads.collect();
    assert!(heads.is_empty(), "{}\n\nthe first of {}:\n{}", heads.join("\n"), heads.len(), outcome.faults[0]);
    outcome.hits
}

/// A scheduler whose tables are there on MySQL alone.
fn is_mysql_only(m: &Manifest) -> bool {
    m.roles.values().all(|r| m.tables[&r.table].only == Some(Engine::MySql))
}

/// Which worlds of a manifest a server sees. All are tried on SQLite, or where the
/// scheduler is at home; DolphinScheduler has tests of its own that say more.
fn share(server: Server, m: &Manifest) -> (u64, usize) {
    let home = if is_mysql_only(m) { Server::MariaDb } else { Server::Sqlite };
    match (long(), m.scheduler == "dolphinscheduler") {
        (true, _) => (if server == home { 40 } else { 2 }, 1),
        (false, true) => (1, 12),
        (false, false) if server == home => (if server == Server::Sqlite { 4 } else { 2 }, 1),
        (false, false) => (1, 6),
    }
}

/// A test that plans nothing for a recipe says nothing of it.
fn tries_every_recipe(hits: &Hits, schedulers: &[&str]) {
    if std::env::var_os("FLOWMEND_TEST_GENERATION").is_some() || hits.is_empty() {
        return;
    }
    let tried = hits.iter().filter(|((scheduler, _), _)| schedulers.contains(&scheduler.as_str()));
    let never: Vec<_> = tried.filter(|(_, times)| **times == 0).map(|(key, _)| key).collect();
    assert!(never.is_empty(), "the worlds are too tame: nothing for {never:?}");
}

#[test]
#[ignore = "still finds faults: run it with -- --ignored"]
fn sqlite() {
    let hits = all(Server::Sqlite, |m| if is_mysql_only(m) { (0, 1) } else { share(Server::Sqlite, m) });
    let schedulers: Vec<&str> = hits.keys().map(|(s, _)| s.as_str()).filter(|s| *s != "dolphinscheduler").collect();
    tries_every_recipe(&hits, &schedulers);
}

#[test]
#[ignore = "still finds faults: run it with -- --ignored"]
fn mariadb() {
    let hits = all(Server::MariaDb, |m| share(Server::MariaDb, m));
    let mysql_only = generations(Server::MariaDb).into_iter().filter(|m| is_mysql_only(m));
    tries_every_recipe(&hits, &mysql_only.map(|m| m.scheduler.as_str()).collect::<Vec<_>>());
}

#[test]
#[ignore = "still finds faults: run it with -- --ignored"]
fn postgresql() {
    all(Server::PostgreSql, |m| share(Server::PostgreSql, m));
}

#[test]
#[ignore = "still finds faults: run it with -- --ignored"]
fn mysql() {
    all(Server::MySql, |m| share(Server::MySql, m));
}

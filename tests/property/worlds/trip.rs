//! One world, and every recipe on it: inspect, plan, rehearse, apply, verify, roll back.

use std::collections::BTreeMap;
use std::path::Path;

use flowmend::apply::BundleState;
use flowmend::bundle::Bundle;
use flowmend::db::{Access, Database};
use flowmend::manifest::Manifest;
use flowmend::plan::Plan;
use flowmend::recipe::Recipe;

use super::dice::Dice;
use super::world::{World, generate};
use super::{drive, said};
use crate::property::changes::compare;
use crate::property::snapshot::snapshot;
use crate::support::bundle::runner;
use crate::support::db::{Server, TestDb, block_on};

/// Scheduler and recipe → how often rows were repaired.
pub type Hits = BTreeMap<(String, String), usize>;

type Flags = BTreeMap<String, Vec<String>>;

/// What every message says, so that a failure can be repeated.
struct Case<'a> {
    server: Server,
    m: &'a Manifest,
    seed: u64,
    test: TestDb,
    world: World<'a>,
}

/// What came of many trips.
#[derive(Default)]
pub struct Outcome {
    pub hits: Hits,
    /// What went wrong, and how to repeat it.
    pub faults: Vec<String>,
}

/// The world of a seed, and every recipe on it.
pub fn every_recipe(server: Server, m: &Manifest, seed: u64, outcome: &mut Outcome) {
    let world = generate(server, m, seed);
    let case = Case { server, m, seed, test: drive::database(server, m), world };
    block_on(async {
        let mut db = drive::open(&case.test, Access::ReadWrite).await;
        drive::fill(&mut db, &case.world.statements(&server.dialect())).await;
        let recipes = drive::app().recipes.of(&m.scheduler);
        let writing: Vec<&Recipe> = recipes.filter(|r| r.applies_to(m) && !r.file.steps.is_empty()).collect();
        let names = writing.iter().map(|r| Some(r.file.name.as_str())).chain([None]);
        for (turn, recipe) in (0u64..).zip(names) {
            let flags = said::flags(m, &writing, &case.world, &mut Dice::new(seed * 1000 + turn));
            let key = (m.scheduler.clone(), recipe.unwrap_or("--all").to_owned());
            match case.trip(&mut db, recipe, &flags, turn).await {
                Ok(repaired) => *outcome.hits.entry(key).or_default() += usize::from(repaired),
                Err(fault) => {
                    outcome.faults.push(case.what(recipe, &flags, &fault));
                    break;
                }
            }
        }
        db.close().await;
    });
}

/// A fault in words, with what was being done.
fn said(doing: &'static str) -> impl Fn(flowmend::Error) -> String {
    move |e| format!("{doing}: {e:?}")
}

impl Case<'_> {
    /// Whether there was something to repair.
    async fn trip(&self, db: &mut Database, recipe: Option<&str>, flags: &Flags, turn: u64) -> Result<bool, String> {
        if recipe.is_none() {
            drive::inspect(&self.test, self.m, flags).await.map_err(said("inspect"))?;
        }
        let (plan, files) = drive::plan_any(&self.test, self.m, flags, recipe).await.map_err(said("plan"))?;
        let again = drive::plan_any(&self.test, self.m, flags, recipe).await.map_err(said("plan again"))?;
        same(&again.1, &files, "what is planned twice is written twice")?;
        if plan.steps.is_empty() {
            return Ok(false);
        }
        let name = format!("bundle{turn}");
        let bundle = drive::bundle(&self.test, &files, &name).await;
        // Every other one by the stock client.
        let stock = (self.seed + turn) % 2 == 1;
        self.there_and_back(db, &plan, &bundle, stock.then_some(name.as_str())).await?;
        Ok(true)
    }

    async fn there_and_back(
        &self,
        db: &mut Database,
        plan: &Plan,
        bundle: &Bundle,
        stock: Option<&str>,
    ) -> Result<(), String> {
        let before = snapshot(db).await;
        drive::rehearse(db, bundle).await.map_err(said("rehearse"))?;
        same(&snapshot(db).await, &before, "rehearse leaves no trace")?;
        match stock {
            Some(name) => self.by_hand(&runner(&self.test, name, "apply"))?,
            None => drive::apply(db, bundle).await.map_err(said("apply"))?,
        }
        compare(self.m, plan, &before, &snapshot(db).await)?;
        drive::verify(db, bundle, BundleState::Applied).await.map_err(said("verify"))?;
        match stock {
            Some(name) => self.by_hand(&runner(&self.test, name, "rollback"))?,
            None => drive::rollback(db, bundle).await.map_err(said("rollback"))?,
        }
        same(&snapshot(db).await, &before, "rollback is the identity")?;
        drive::verify(db, bundle, BundleState::RolledBack).await.map_err(said("verify after rollback"))
    }

    /// A file of the bundle by the stock client.
    fn by_hand(&self, file: &Path) -> Result<(), String> {
        let done = self.test.stock(file);
        let said = String::from_utf8_lossy(&done.stderr);
        if done.status.success() { Ok(()) } else { Err(format!("{}: {said}", file.display())) }
    }

    fn what(&self, recipe: Option<&str>, flags: &Flags, fault: &str) -> String {
        let Self { server, m, seed, .. } = self;
        let name = format!("{}/{}", m.scheduler, m.generation);
        let rows = self.world.lines(&server.dialect());
        format!(
            "{server:?} {name}, {} with {flags:?}\n{fault}\nto repeat it, FLOWMEND_TEST_GENERATION={name} FLOWMEND_TEST_SEED={seed}\n{rows}",
            recipe.unwrap_or("--all")
        )
    }
}

fn same<T: PartialEq>(found: &T, expected: &T, what: &str) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("it does not hold that {what}")) }
}

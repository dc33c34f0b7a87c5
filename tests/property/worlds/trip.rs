//! One world, and every recipe on it: inspect, plan, rehearse, apply, verify, roll back.

use std::collections::{BTreeMap, BTreeSet};
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

impl Outcome {
    /// Recipes of a scheduler that were tried and had nothing to repair.
    pub fn never(&self, scheduler: &str) -> BTreeSet<String> {
        let tried = self.hits.iter().filter(|((s, _), times)| s == scheduler && **times == 0);
        tried.map(|((_, recipe), _)| recipe.clone()).collect()
    }

    /// Fails with what went wrong, shortly, and then the first fault with all its rows.
    pub fn is_good(&self) {
        let head = |fault: &String| fault.lines().take(3).collect::<Vec<_>>().join("\n");
        let heads: Vec<String> = self.faults.iter().map(head).collect();
        assert!(heads.is_empty(), "{}\n\nthe first of {}:\n{}", heads.join("\n"), heads.len(), self.faults[0]);
    }
}

/// The world of a seed, and every recipe on it.
pub fn every_recipe(server: Server, m: &Manifest, seed: u64, outcome: &mut Outcome) {
    let names = writing(m).into_iter().map(|r| Some(r.file.name.as_str()));
    recipes(server, m, seed, names.chain([None]), outcome);
}

/// The recipes of a manifest that write.
pub fn writing(m: &Manifest) -> Vec<&'static Recipe> {
    let recipes = drive::app().recipes.of(&m.scheduler);
    recipes.filter(|r| r.applies_to(m) && !r.file.steps.is_empty()).collect()
}

/// The world of a seed, and some recipes on it; `None` is all in one plan.
pub fn recipes<'r>(
    server: Server,
    m: &Manifest,
    seed: u64,
    names: impl Iterator<Item = Option<&'r str>>,
    outcome: &mut Outcome,
) {
    let world = generate(server, m, seed);
    let case = Case { server, m, seed, test: drive::database(server, m), world };
    block_on(async {
        let mut db = drive::open(&case.test, Access::ReadWrite).await;
        drive::fill(&mut db, &case.world.statements(&server.dialect())).await;
        for (turn, recipe) in (0u64..).zip(names) {
            let flags = said::flags(m, &writing(m), &case.world, &mut Dice::new(recipe.unwrap_or("--all"), seed));
            let hit = |recipe: &str| (m.scheduler.clone(), recipe.to_owned());
            outcome.hits.entry(hit(recipe.unwrap_or("--all"))).or_default();
            match case.trip(&mut db, recipe, &flags, turn).await {
                Ok(repaired) => repaired.iter().for_each(|r| *outcome.hits.entry(hit(r)).or_default() += 1),
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
    /// The recipes that repaired something.
    async fn trip(
        &self,
        db: &mut Database,
        recipe: Option<&str>,
        flags: &Flags,
        turn: u64,
    ) -> Result<BTreeSet<String>, String> {
        if recipe.is_none() {
            drive::inspect(&self.test, self.m, flags).await.map_err(said("inspect"))?;
        }
        let (plan, files) = drive::plan_any(&self.test, self.m, flags, recipe).await.map_err(said("plan"))?;
        let again = drive::plan_any(&self.test, self.m, flags, recipe).await.map_err(said("plan again"))?;
        same(&again.1, &files, "what is planned twice is written twice")?;
        if plan.steps.is_empty() {
            return Ok(BTreeSet::new());
        }
        let name = format!("bundle{turn}");
        let bundle = drive::bundle(&self.test, &files, &name).await;
        // Every other one by the stock client.
        let stock = (self.seed + turn) % 2 == 1;
        self.there_and_back(db, &plan, &bundle, stock.then_some(name.as_str())).await?;
        Ok(plan.steps.iter().map(|s| s.recipe.clone()).chain(recipe.is_none().then(|| "--all".to_owned())).collect())
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

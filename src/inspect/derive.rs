//! Derives a plan from a database: looks under one snapshot, again and again,
//! until what is planned uncovers nothing more.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::reported::{add_reported, written_rows};
use super::{
    Identified, Skew, Told, begin_snapshot, end_snapshot, look, look_at_effects, look_at_names, schema_digest, target,
};
use crate::catalog::Catalog;
use crate::db::Database;
use crate::plan::{Answers, Before, Draft, From, Inputs, Params, PassedOver, Plan, Site, Zone, lock_rows};
use crate::recipe::{Parameter, Recipe, Recipes};
use crate::render::locks;
use crate::{Error, Result};

/// How often a plan may uncover something new. Families of runs are nested less deep.
const PASSES: usize = 100;

/// What a plan is derived from.
pub struct PlanRequest<'a> {
    /// The live tables.
    pub catalog: &'a Catalog,
    /// The release.
    pub found: &'a Identified,
    /// The recipes: the one that was asked for, then those that follow; or all.
    pub parts: Vec<PlanPart<'a>>,
    /// The scheduler's zone, if it is known.
    pub zone: Option<&'a Zone>,
    /// The newest heartbeat beside the database's clock, if it was looked at.
    pub skew: Option<&'a Skew>,
    /// The moment.
    pub now: Timestamp,
}

/// One recipe of a plan.
pub struct PlanPart<'a> {
    /// The recipe.
    pub recipe: &'a Recipe,
    /// What the operator said, as far as the recipe knows of it.
    pub params: Params,
    /// What it contributes.
    pub takes: Takes,
    /// Filters that were given and that it does not know, for which it takes less than
    /// it was asked for; what it would take without them is said.
    pub beyond: Vec<String>,
}

/// What a recipe contributes to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// All that it finds: it was asked for.
    Found,
    /// All that it finds, beside the recipe that was asked for.
    Beside,
    /// Only what the plan itself uncovers.
    Uncovered,
    /// Nothing: what it would do afterwards is said.
    Nothing,
    /// Nothing: it only shows rows.
    Shows,
}

impl Takes {
    /// Whether rows of it may be planned.
    fn takes_part(self) -> bool {
        matches!(self, Self::Found | Self::Beside | Self::Uncovered)
    }
}

/// What the operator said: flag name → texts.
pub type Given = BTreeMap<String, Vec<String>>;

/// What of it a recipe knows.
#[must_use]
pub fn of_recipe(given: &Given, recipe: &Recipe) -> Given {
    let known = given.iter().filter(|(name, _)| recipe.parameter(name).is_some());
    known.map(|(name, texts)| (name.clone(), texts.clone())).collect()
}

/// Filters that were given and that narrow nothing of what a recipe finds.
#[must_use]
pub fn beyond(recipes: &Recipes, recipe: &Recipe, given: &Given) -> Vec<String> {
    let narrows =
        |name: &String| recipes.of(&recipe.scheduler).filter_map(|r| r.parameter(name)).any(Parameter::narrows_all);
    given.keys().filter(|name| recipe.parameter(name).is_none() && narrows(name)).cloned().collect()
}

/// A recipe and, in the order of their places, all recipes that stand beside it or may follow it.
///
/// # Errors
/// A flag that none of them knows, or a value of the wrong kind.
pub fn parts<'a>(
    recipes: &'a Recipes,
    recipe: &'a Recipe,
    found: &Identified,
    read: impl Fn(&Recipe, &Given) -> Result<Params>,
    given: &Given,
) -> Result<Vec<PlanPart<'a>>> {
    let mut names: Vec<&str> = vec![&recipe.file.name];
    let mut next = 0;
    while let Some(known) = names.get(next).and_then(|n| recipes.get(&recipe.scheduler, n).ok()) {
        names.extend(known.file.then.iter().chain(&known.file.also).map(String::as_str));
        let mut first = std::collections::BTreeSet::new();
        names.retain(|n| first.insert(*n));
        next += 1;
    }
    let followers = recipes.of(&recipe.scheduler).filter(|r| {
        r.file.name != recipe.file.name && names.contains(&r.file.name.as_str()) && r.applies_to(&found.manifest)
    });
    let takes = |r: &Recipe| if recipe.file.also.contains(&r.file.name) { Takes::Beside } else { Takes::Uncovered };
    let chosen: Vec<(&Recipe, Takes)> =
        std::iter::once((recipe, Takes::Found)).chain(followers.map(|r| (r, takes(r)))).collect();
    if !beyond(recipes, recipe, given).is_empty() {
        // Those that follow may know the filter; what was asked for is not narrowed by it.
        read(recipe, given)?;
    }
    read_parts(recipes, chosen, &read, given)
}

/// Every recipe of the release that writes. Those of `except` take nothing, and those
/// that do not know a filter only what the others uncover.
///
/// # Errors
/// As [`parts`].
pub fn all_parts<'a>(
    recipes: &'a Recipes,
    found: &Identified,
    read: impl Fn(&Recipe, &Given) -> Result<Params>,
    given: &Given,
    except: &[String],
) -> Result<Vec<PlanPart<'a>>> {
    let writes = |r: &&Recipe| !r.file.steps.is_empty() && r.applies_to(&found.manifest);
    let all: Vec<&Recipe> = recipes.of(&found.manifest.scheduler).filter(writes).collect();
    if let Some(unknown) = except.iter().find(|name| !all.iter().any(|r| r.file.name == **name)) {
        let known: Vec<&str> = all.iter().map(|r| r.file.name.as_str()).collect();
        return Err(Error::usage(format!("--except: no recipe `{unknown}` would take part"))
            .hint(format!("these would: {}", known.join(", "))));
    }
    let takes = |r: &Recipe| if except.contains(&r.file.name) { Takes::Nothing } else { Takes::Found };
    let shows = |r: &&Recipe| r.file.steps.is_empty() && r.applies_to(&found.manifest);
    // What cannot be narrowed to what was asked for is not shown.
    let shows = recipes.of(&found.manifest.scheduler).filter(shows).filter(|r| beyond(recipes, r, given).is_empty());
    let chosen = all.into_iter().map(|r| (r, takes(r))).chain(shows.map(|r| (r, Takes::Shows)));
    read_parts(recipes, chosen.collect(), &read, given)
}

fn read_parts<'a>(
    recipes: &Recipes,
    chosen: Vec<(&'a Recipe, Takes)>,
    read: &impl Fn(&Recipe, &Given) -> Result<Params>,
    given: &Given,
) -> Result<Vec<PlanPart<'a>>> {
    let known = |name: &String| chosen.iter().any(|(r, _)| r.parameter(name).is_some());
    if let (Some(_), Some((first, _))) = (given.keys().find(|name| !known(name)), chosen.first()) {
        // The recipe that was asked for says what it knows.
        read(first, given)?;
    }
    let part = |(recipe, takes): (&'a Recipe, Takes)| {
        let params = read(recipe, &of_recipe(given, recipe))?;
        let beyond = match takes {
            Takes::Found | Takes::Beside => beyond(recipes, recipe, given),
            Takes::Uncovered | Takes::Nothing | Takes::Shows => Vec::new(),
        };
        let takes = if beyond.is_empty() { takes } else { Takes::Uncovered };
        Ok(PlanPart { recipe, params, takes, beyond })
    };
    chosen.into_iter().map(part).collect()
}

/// A recipe at work on one database.
struct Worker<'a> {
    inputs: Inputs<'a>,
    takes: Takes,
    /// Filters that narrow nothing of it.
    beyond: &'a [String],
    /// What it said of the database as it is.
    before: Before,
    /// How many changes it has looked at.
    looked_at: Option<usize>,
}

/// The recipes of a plan, by what they do for it.
#[derive(Default)]
struct Staff<'a> {
    workers: Vec<Worker<'a>>,
    excepted: Vec<Inputs<'a>>,
    shows: Vec<Inputs<'a>>,
}

fn staff<'a>(site: Site<'a>, request: &'a PlanRequest<'a>) -> Result<Staff<'a>> {
    let mut staff = Staff::default();
    for PlanPart { recipe, params, takes, beyond } in &request.parts {
        let inputs = Inputs::new(site, recipe, params)?;
        match *takes {
            Takes::Nothing => staff.excepted.push(inputs),
            Takes::Shows => staff.shows.push(inputs),
            takes @ (Takes::Found | Takes::Beside | Takes::Uncovered) => {
                let before = Before { seen: None, follows: takes == Takes::Uncovered };
                staff.workers.push(Worker { inputs, takes, beyond, before, looked_at: None });
            }
        }
    }
    Ok(staff)
}

/// The plan of one or more recipes for a database, as it stands at one moment.
/// It allows no trigger and keeps its own tables beside the scheduler's: the
/// caller says otherwise in the plan's target.
///
/// # Errors
/// A choice is open, a recipe does not render, two recipes want one row, or
/// what the server said.
pub async fn derive(db: &mut Database, request: &PlanRequest<'_>) -> Result<Plan> {
    let (dialect, schema) = (db.dialect.clone(), db.schema.clone());
    let site = Site {
        manifest: &request.found.manifest,
        dialect: &dialect,
        catalog: request.catalog,
        schema: schema.as_deref(),
        zone: request.zone,
        now: request.now,
    };
    let Staff { mut workers, mut excepted, mut shows } = staff(site, request)?;
    let from = from(request)?;
    begin_snapshot(db).await?;
    let mut draft = settle(db, &mut workers, &from).await?;
    for inputs in &mut excepted {
        pass_over(db, &mut draft, inputs, &PassedOver::Excepted).await?;
    }
    for Worker { inputs, beyond, .. } in workers.iter_mut().filter(|w| !w.beyond.is_empty()) {
        pass_over(db, &mut draft, inputs, &PassedOver::Beyond(beyond)).await?;
    }
    for inputs in &mut shows {
        inputs.look_through(draft.overlay())?;
    }
    let asked: Vec<usize> = (0..workers.len()).filter(|n| workers[*n].takes == Takes::Found).collect();
    let mut inputs: Vec<Inputs<'_>> = workers.into_iter().map(|w| w.inputs).collect();
    will_hold(db, &draft, &mut inputs).await?;
    let mut told = Told::default();
    for inputs in inputs.iter().filter(|_| !draft.overlay().is_empty()) {
        look_at_effects(db, inputs, &mut told).await?;
    }
    let mut plan = draft.finish(&inputs, from, target(db).await?)?;
    let mut known = written_rows(&plan);
    for inputs in asked.iter().filter_map(|n| inputs.get(*n)).chain(&shows) {
        add_reported(db, inputs, &mut plan, &mut known).await?;
    }
    if let Some(inputs) = inputs.first() {
        let mut runs: Vec<&str> = plan.instances().into_iter().collect();
        // Numbers in their own order.
        runs.sort_by_key(|run| (run.len(), *run));
        plan.runs = look_at_names(db, inputs, &runs).await?;
    }
    plan.locks = lock_rows(&site, &plan.steps)?;
    for lock in &mut plan.locks {
        lock.there = db.value(&locks::count(&dialect, schema.as_deref(), lock)).await?.as_deref() == Some("1");
    }
    end_snapshot(db).await?;
    told.tell(&mut plan);
    plan.target.schema_sha256 = schema_digest(request.catalog, &plan.tables());
    Ok(plan)
}

/// Notes what a recipe would still do in the database as it will be.
async fn pass_over(db: &mut Database, draft: &mut Draft, inputs: &mut Inputs<'_>, why: &PassedOver<'_>) -> Result<()> {
    inputs.look_through(draft.overlay())?;
    let answers = Answers::read(inputs, look(db, inputs).await?)?;
    draft.pass_over(inputs, answers, why);
    Ok(())
}

/// A bundle whose own check fails could never be applied.
async fn will_hold(db: &mut Database, draft: &Draft, inputs: &mut [Inputs<'_>]) -> Result<()> {
    for inputs in inputs.iter_mut() {
        inputs.look_through(draft.overlay())?;
    }
    for foreseen in draft.foresee(inputs)? {
        let rows = db.value(&foreseen.sql).await?.unwrap_or_default();
        if rows != "0" {
            let message = format!("after these changes it would not be true that {} ({rows} rows)", foreseen.title);
            return Err(Error::refused(message).hint(
                "something that the plan hangs on is left out of it: see `flowmend inspect` for the reason, then plan \
with another choice or a wider scope",
            ));
        }
    }
    Ok(())
}

/// Looks until no recipe finds anything new in the database as it will be.
async fn settle(db: &mut Database, workers: &mut [Worker<'_>], from: &From) -> Result<Draft> {
    let mut draft = Draft::default();
    // Counts changes, so that a recipe looks again only when something was planned since.
    let mut changes = 0;
    for _ in 0..PASSES {
        let mut settled = true;
        for (number, worker) in workers.iter_mut().enumerate() {
            let nothing_to_follow = worker.before.follows && draft.overlay().is_empty();
            if nothing_to_follow || worker.looked_at == Some(changes) {
                continue;
            }
            worker.looked_at = Some(changes);
            if worker.look(db, number, &mut draft, from).await? {
                changes += 1;
                settled = false;
            }
        }
        draft.ask_for_choices(&workers.iter().map(|w| &w.inputs).collect::<Vec<_>>())?;
        if settled {
            return Ok(draft);
        }
    }
    Err(Error::refused(format!("after {PASSES} looks the repair still uncovers more: this is no sane database"))
        .hint("name some runs with the recipe's own parameters, repair them, and inspect again"))
}

impl<'a> Worker<'a> {
    async fn look(&mut self, db: &mut Database, number: usize, draft: &mut Draft, from: &From) -> Result<bool> {
        let first = draft.overlay().is_empty();
        if !first && self.before.seen.is_none() {
            self.before.seen = Some(self.ask(db).await?.seen());
        }
        self.inputs.look_through(draft.overlay())?;
        let answers = self.ask(db).await?;
        if first {
            self.before.seen = Some(answers.seen());
        }
        draft.add(number, &self.inputs, from, answers, &self.before)
    }

    async fn ask(&self, db: &mut Database) -> Result<Answers<'a>> {
        Answers::read(&self.inputs, look(db, &self.inputs).await?)
    }
}

fn from(request: &PlanRequest<'_>) -> Result<From> {
    let found = request.found;
    let parts: Vec<&PlanPart<'_>> = request.parts.iter().filter(|p| p.takes.takes_part()).collect();
    let first = parts.first().ok_or_else(|| Error::usage("no recipe of this release writes anything"))?;
    let asked: Vec<&&PlanPart<'_>> = parts.iter().filter(|p| p.takes == Takes::Found).collect();
    let manifest = &found.manifest;
    let (recipe, recipe_title) = match asked.as_slice() {
        [one] => (one.recipe.file.name.clone(), one.recipe.file.title.clone()),
        _ => (ALL.to_owned(), "Every repair that was found and accepted, in one bundle".to_owned()),
    };
    let recipe_sha256 = match asked.as_slice() {
        [one] => one.recipe.sha256(),
        _ => {
            let all: Vec<String> = parts.iter().map(|p| p.recipe.sha256()).collect();
            crate::digest::sha256(&all.iter().map(String::as_bytes).collect::<Vec<_>>())
        }
    };
    Ok(From {
        scheduler: manifest.scheduler.clone(),
        title: manifest.title.clone(),
        release: found.release.clone(),
        identified_by: found.by.clone(),
        words: found.manifest.words.clone(),
        approximate: manifest.approximate.contains(&found.release).then(|| manifest.approximate_because.clone()),
        generation: manifest.generation.clone(),
        manifest_sha256: manifest.sha256.clone(),
        table_prefix: manifest.table_prefix.clone(),
        own_manifest: !manifest.origin.starts_with("enums/"),
        recipe,
        recipe_title,
        recipe_sha256,
        recipes: Vec::new(),
        now: request.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        zone: request.zone.cloned(),
        skew: request.skew.map(Skew::says),
        cutoff: first.params.cutoff().map(ToOwned::to_owned),
    })
}

/// The name of a plan of all recipes.
pub const ALL: &str = "all";

//! `flowmend plan`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::ArgMatches;

use super::App;
use super::args::{given, path_of, recipe_args, wants_json};
use super::context::{
    Ground, from_heartbeats, ground, open, operator, owners_with_scope, registered, registry_address,
    warn_of_idle_claims,
};
use super::self_check::{allows, self_checked};
use crate::bundle::{self, Bundle};
use crate::db::{Access, Database};
use crate::inspect::{
    Beats, Given, Owners, PlanPart, PlanRequest, Sightings, add_owners, all_parts, derive, owners_of_rows, parts,
    refuse_beating, refuse_idle_filters, refuse_open_which, refuse_without_age,
};
use crate::manifest::{Engine, Manifest, Words};
use crate::plan::{HEARTBEAT, LeftOut, OwnerClaim, Params, Plan};
use crate::recipe::{Recipe, Recipes};
use crate::{Error, Result, report, ui};

/// Plans a repair and writes the bundle.
pub(super) async fn run(app: &App, m: &ArgMatches) -> Result<u8> {
    if m.contains_id("except") && !m.get_flag("all") {
        return Err(Error::usage("--except leaves a recipe out of --all; without --all there is nothing to leave out"));
    }
    if let Some(dir) = path_of(m, "out") {
        bundle::must_be_free(dir)?;
    }
    let allows = allows(m)?;
    let mut db = open(m, Access::ReadOnly).await?;
    let ground = ground(app, &mut db, m).await?;
    for warning in &ground.found.warnings {
        ui::warn(warning);
    }
    let mut given = recipe_args(&app.recipes, m)?;
    refuse_idle_filters(&mut db, &ground.catalog, &ground.found.manifest, &app.recipes, &given).await?;
    owners_with_scope(app, &mut db, &ground, &mut given).await?;
    refuse_open_which(&mut db, &ground.catalog, &ground.found.manifest, &app.recipes, &given).await?;
    let address = registry_address(m)?;
    let registry = registered(address.as_ref(), &ground)?;
    // What the command line alone shows wrong is said before anything is watched.
    let said = chosen_parts(app, &ground, &without_the_word(&given), &[], m)?;
    refuse_without_age(&mut db, &ground.catalog, &ground.found.manifest, &said, &given).await?;
    let shown_dead =
        from_heartbeats(app, &mut db, &ground, &mut given, registry.as_ref(), &mut Sightings::default()).await?;
    let parts = chosen_parts(app, &ground, &given, &shown_dead, m)?;
    let claims: Vec<OwnerClaim> = parts.iter().flat_map(|p| p.params.owners()).collect();
    refuse_beating(&mut db, &ground.catalog, &ground.found.manifest, &claims, "give").await?;
    if let Some(registry) = &registry {
        registry.refuse_listed(&claims, "give").await?;
    }
    let columns: BTreeSet<String> = parts.iter().filter_map(|p| p.recipe.file.owner.clone()).collect();
    let mut plan = make(&mut db, &ground, parts, m).await?;
    let mut owners = Vec::new();
    for column in &columns {
        let found = owners_of_rows(&mut db, &ground.found.manifest, column, &Beats::new()).await?;
        add_owners(&mut owners, found.into_iter().filter(|o| in_scope(o, &ground.found.manifest, &given)));
    }
    db.close().await;
    // A recipe whose rows name no owner says nothing of a name.
    if !columns.is_empty() {
        warn_of_idle_claims(&claims, &owners);
    }
    if plan.steps.is_empty() {
        return nothing(&plan, &app.recipes, (&owners, &claims), m);
    }
    let rendered = self_checked(app, &mut plan, &allows, &operator(m))?;
    let (_, id) = bundle::plan_text(&plan)?;
    let dir = path_of(m, "out").cloned().unwrap_or_else(|| PathBuf::from(format!("flowmend-{}", &id[..12])));
    bundle::write(&dir, &rendered)?;
    let written = Bundle::read(&dir)?;
    if wants_json(m) {
        report::json(&report::bundle_summary(&written))?;
    } else {
        report::human::planned(&written);
    }
    Ok(0)
}

/// What was given, without the word that asks the heartbeats.
fn without_the_word(given: &Given) -> Given {
    let named = |values: &[String]| values.iter().filter(|v| *v != HEARTBEAT).cloned().collect::<Vec<_>>();
    let kept = given.iter().map(|(name, values)| (name.clone(), named(values)));
    kept.filter(|(_, values)| !values.is_empty()).collect()
}

/// The recipes to plan with, and what the operator said to each.
fn chosen_parts<'a>(
    app: &'a App,
    ground: &Ground,
    given: &Given,
    shown_dead: &[OwnerClaim],
    m: &ArgMatches,
) -> Result<Vec<PlanPart<'a>>> {
    let said_by = operator(m);
    let read = |r: &Recipe, given: &Given| {
        let mut params = Params::read(r, &ground.found.manifest, given, ground.now, ground.zone.as_ref(), &said_by)?;
        params.add_owners(shown_dead);
        Ok(params)
    };
    if m.get_flag("all") {
        let except: Vec<String> = m.get_many::<String>("except").into_iter().flatten().cloned().collect();
        return all_parts(&app.recipes, &ground.found, read, given, &except);
    }
    let recipe =
        app.recipes.get(&ground.found.manifest.scheduler, super::args::given(m, "recipe").unwrap_or_default())?;
    if recipe.file.steps.is_empty() {
        return Err(Error::usage(format!("{} only reports: it has nothing to plan", recipe.file.name))
            .hint("see what it finds with flowmend inspect --explain"));
    }
    let release = &ground.found.manifest;
    let lacking = recipe.lacking(release);
    if !lacking.is_empty() {
        let (title, range, lacking) = (&release.title, release.release_range(), lacking.join(", "));
        return Err(Error::usage(format!("{} is not for {title} {range}, which has no {lacking}", recipe.file.name))
            .hint("flowmend inspect says what it finds, and which recipe is for it"));
    }
    parts(&app.recipes, recipe, &ground.found, read, given)
}

async fn make(db: &mut Database, ground: &Ground, parts: Vec<PlanPart<'_>>, m: &ArgMatches) -> Result<Plan> {
    let (found, zone) = (&ground.found, ground.zone.as_ref());
    let skew = ground.skew.as_ref();
    let request = PlanRequest { catalog: &ground.catalog, found, parts, zone, skew, now: ground.now };
    let mut plan = derive(db, &request).await?;
    plan.target.work_schema = work_schema(db, m).await?;
    plan.target.allowed_triggers = triggers(&plan, ground, m)?;
    Ok(plan)
}

async fn work_schema(db: &mut Database, m: &ArgMatches) -> Result<Option<String>> {
    let Some(schema) = given(m, "work-schema") else { return Ok(None) };
    if db.dialect.system_schemas.iter().any(|s| s.eq_ignore_ascii_case(schema)) {
        let message = format!("--work-schema: {} is the server's own", ui::safe(schema, 60));
        return Err(Error::usage(message).hint("create a schema for it: backups must lie where dumps find them"));
    }
    let literal = db.dialect.text_literal(schema);
    let sql = match db.dialect.engine {
        Engine::Sqlite => return Err(Error::usage("--work-schema: SQLite has one schema")),
        Engine::MySql => format!("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {literal}"),
        Engine::PostgreSql => format!("SELECT nspname::text FROM pg_catalog.pg_namespace WHERE nspname = {literal}"),
    };
    let found = db.value(&sql).await?;
    if found.is_none() || schema.chars().any(char::is_control) {
        return Err(Error::usage(format!(
            "--work-schema: there is no schema `{}` that this login sees",
            ui::safe(schema, 60)
        ))
        .hint("create it and grant it to the login first"));
    }
    Ok(found)
}

/// Triggers on the target tables: refused unless the operator accepts them.
fn triggers(plan: &Plan, ground: &Ground, m: &ArgMatches) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for table in plan.steps.iter().filter_map(|s| ground.catalog.get(&s.table)) {
        found.extend(table.triggers.iter().map(|t| format!("{}.{t}", table.name)));
    }
    found.sort();
    found.dedup();
    if !found.is_empty() && !m.get_flag("allow-triggers") {
        ui::warn(format!(
            "trigger-present {}: apply will refuse this bundle until the trigger is gone, or plan with --allow-triggers",
            found.join(", ")
        ));
        return Ok(Vec::new());
    }
    Ok(found)
}

/// Whether an owner is of a scope that the operator named, by the parameter that has the scope's name.
fn in_scope(owner: &Owners, m: &Manifest, given: &Given) -> bool {
    let scopes = m.heartbeats.iter().filter_map(|h| h.scope.as_ref());
    let named = scopes.into_iter().find_map(|scope| given.get(&scope.replace('_', "-")));
    named.zip(owner.scope.as_ref()).is_none_or(|(named, scope)| named.contains(scope))
}

fn is_claimed(owner: &Owners, claims: &[OwnerClaim]) -> bool {
    let everybody = |c: &OwnerClaim| c.is_any() && c.scope.is_none();
    claims.iter().any(|c| everybody(c) || owner.name().is_some_and(|name| c.speaks_of(&name)))
}

/// Nothing to repair: say what was looked at, and whether a proof is missing.
fn nothing(plan: &Plan, recipes: &Recipes, (owners, claims): (&[Owners], &[OwnerClaim]), m: &ArgMatches) -> Result<u8> {
    let needs_owner =
        |code: &str| recipes.of(&plan.from.scheduler).filter_map(|r| r.reason(code)).any(|reason| reason.needs_owner);
    let unproved: Vec<&LeftOut> = plan.left_out.iter().filter(|l| needs_owner(&l.reason)).collect();
    if wants_json(m) {
        report::json(plan)?;
    } else {
        report::human::nothing(plan);
    }
    if !unproved.is_empty() && !owners.is_empty() {
        return Err(unproved_owners(&unproved, (owners, claims), &plan.from.words));
    }
    let asked = |code: &str| recipes.of(&plan.from.scheduler).find_map(|r| r.reason(code)?.asks.as_deref());
    let is_open = |l: &&LeftOut| asked(&l.reason).is_some_and(|flag| !m.try_contains_id(flag).unwrap_or(false));
    let unchosen: Vec<&LeftOut> = plan.left_out.iter().filter(is_open).collect();
    if unchosen.is_empty() { Ok(0) } else { Err(unmade_choice(&unchosen, &plan.from.words)) }
}

/// That rows wait for a choice that nobody made.
fn unmade_choice(left: &[&LeftOut], words: &Words) -> Error {
    let mut rows: BTreeMap<String, usize> = BTreeMap::new();
    left.iter().for_each(|l| *rows.entry(l.role.clone()).or_default() += l.count);
    let message = format!("nothing was planned; {} wait for a choice that nobody made", words.counts(&rows));
    let ways: BTreeSet<&str> = left.iter().map(|l| l.way_out.as_str()).collect();
    ways.into_iter().fold(Error::usage(message), Error::hint)
}

/// That the owners of rows may be alive, and the ways out that stand beside these rows: no others, or
/// the two lists would speak of different rows.
fn unproved_owners(left: &[&LeftOut], (owners, claims): (&[Owners], &[OwnerClaim]), words: &Words) -> Error {
    let mut rows: BTreeMap<String, usize> = BTreeMap::new();
    left.iter().for_each(|l| *rows.entry(l.role.clone()).or_default() += l.count);
    let unclaimed = owners.iter().filter(|o| !is_claimed(o, claims));
    let named: Vec<String> = unclaimed.filter_map(|o| Some(o.name()?.for_people())).collect();
    let nameless = |o: &Owners| o.name().is_none();
    let whose = if owners.iter().all(nameless) {
        "no row names an owner".to_owned()
    } else if named.is_empty() {
        "what was said of their owners does not cover them".to_owned()
    } else {
        // Rows of owners that were named may be among them: with a time, or listed as living.
        let rest = match () {
            () if owners.iter().any(|o| is_claimed(o, claims)) => "; what was said of others may not cover their rows",
            () if owners.iter().any(nameless) => "; some rows name none",
            () => "",
        };
        format!("the owners may be alive: {}{rest}", named.join(", "))
    };
    let message =
        format!("nothing was planned; {} left out because nothing proves them dead, and {whose}", words.counts(&rows));
    let mut ways: Vec<&str> = Vec::new();
    for way in left.iter().map(|l| l.way_out.as_str()) {
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    ways.into_iter().fold(Error::refused(message), Error::hint)
}

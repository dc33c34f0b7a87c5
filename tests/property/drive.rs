//! The library's calls that the commands make, on one open database.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock};

use flowmend::apply::{self, BundleState, Events, check_target};
use flowmend::bundle::{self, Bundle};
use flowmend::data::Tree;
use flowmend::db::{Access, Address, Database};
use flowmend::inspect::{
    InspectReport, PlanRequest, Said, SurveyRequest, Takes, all_parts, derive, identify, parts, survey,
};
use flowmend::lint::{DataRules, Level, faults_of};
use flowmend::manifest::{Engine, Manifest, Manifests, TableSpec, ddl};
use flowmend::plan::{Params, Plan, Zone};
use flowmend::recipe::{Recipe, Recipes};
use flowmend::render::files;
use flowmend::{Error, Result};

use crate::support::db::{Server, TestDb};

/// The data files, read once.
pub struct App {
    pub manifests: Manifests,
    pub recipes: Recipes,
    pub templates: Tree,
    pub rules: DataRules,
}

pub fn app() -> &'static App {
    static APP: OnceLock<App> = OnceLock::new();
    APP.get_or_init(|| {
        let manifests = Manifests::load(None).unwrap();
        let templates = Tree::templates(None).unwrap();
        let recipes = Recipes::load(&templates, &manifests).unwrap();
        let rules = DataRules::load(&manifests).unwrap();
        App { manifests, recipes, templates, rules }
    })
}

/// Every generation that the engine has a schema for.
pub fn generations(server: Server) -> Vec<&'static Manifest> {
    let engine = server.dialect().engine;
    let has_schema = |m: &&Manifest| m.tables[&m.roles["task_instance"].table].on(engine);
    app().manifests.of("dolphinscheduler").unwrap().into_iter().filter(has_schema).collect()
}

/// A database of a generation. On SQLite with every table; on a server, where
/// each table costs time, with those that matter to a repair.
pub fn database(server: Server, m: &Manifest) -> TestDb {
    let db = TestDb::new(server);
    if server == Server::Sqlite {
        std::fs::write(db.sqlite_file(), sqlite_image(m)).unwrap();
        return db;
    }
    let mut small = m.clone();
    let wanted = tables(server, m);
    small.tables.retain(|name, _| wanted.contains(name));
    db.exec_all(&ddl::create_all(&small, &server.dialect()));
    db
}

/// The tables that [`database`] makes.
pub fn tables(server: Server, m: &Manifest) -> BTreeSet<String> {
    let engine = server.dialect().engine;
    let there = m.tables.values().filter(|t| t.on(engine));
    if server == Server::Sqlite || crate::support::long() {
        return there.map(|t| t.name.clone()).collect();
    }
    let named = |t: &&TableSpec| {
        m.roles.values().any(|r| r.table == t.name)
            || m.fingerprint.present.iter().any(|mark| mark.split('.').next() == Some(t.name.as_str()))
    };
    let mut found: BTreeSet<String> = there.filter(named).map(|t| t.name.clone()).collect();
    loop {
        let bound = found.iter().flat_map(|name| m.tables[name].foreign_keys_on(engine));
        let more: BTreeSet<String> = bound.map(|key| key.references.clone()).filter(|t| !found.contains(t)).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// The bytes of an empty SQLite database of a generation, made once.
fn sqlite_image(m: &Manifest) -> Vec<u8> {
    static IMAGES: Mutex<BTreeMap<String, Vec<u8>>> = Mutex::new(BTreeMap::new());
    if let Some(image) = IMAGES.lock().unwrap().get(&m.origin) {
        return image.clone();
    }
    let db = TestDb::new(Server::Sqlite);
    let mut statements = vec!["BEGIN".to_owned()];
    statements.extend(ddl::create_all(m, &Server::Sqlite.dialect()));
    statements.push("COMMIT".to_owned());
    db.exec_all(&statements);
    let image = std::fs::read(db.sqlite_file()).unwrap();
    IMAGES.lock().unwrap().insert(m.origin.clone(), image.clone());
    image
}

pub async fn open(db: &TestDb, access: Access) -> Database {
    let mut opened = Database::open(&Address::parse(&db.url).unwrap(), None, access).await.unwrap();
    if db.server == Server::PostgreSql {
        // The tests' own statements name no schema.
        opened.rows("SET search_path = public").await.unwrap();
    }
    opened
}

/// Runs statements in one transaction.
pub async fn fill(db: &mut Database, statements: &[String]) {
    db.run(if db.dialect.engine == Engine::MySql { "START TRANSACTION" } else { "BEGIN" }).await.unwrap();
    for sql in statements {
        if let Err(fault) = db.run(sql).await {
            panic!("{fault}\nin {sql}");
        }
    }
    db.run("COMMIT").await.unwrap();
}

type Flags = BTreeMap<String, Vec<String>>;

fn now() -> jiff::Timestamp {
    "2026-11-29T00:00:00Z".parse().unwrap()
}

fn zone() -> Zone {
    Zone { offset_minutes: 0, known_by: "the test".to_owned() }
}

/// `flowmend plan zombie-tasks` with what hangs on its runs and tasks, but without
/// other families of runs: the plan and, when it has rows, the files of its bundle.
pub async fn plan(test: &TestDb, m: &Manifest, flags: &Flags) -> Result<(Plan, BTreeMap<String, String>)> {
    planned(test, m, flags, Some("zombie-tasks"), &["serial-chain", "task-groups"]).await
}

/// `flowmend plan` of one recipe and what follows from it, or of all. Flags that
/// no recipe of the plan knows are left out.
pub async fn plan_any(
    test: &TestDb,
    m: &Manifest,
    flags: &Flags,
    recipe: Option<&str>,
) -> Result<(Plan, BTreeMap<String, String>)> {
    planned(test, m, flags, recipe, &[]).await
}

/// What an operator says who knows the release.
fn said(m: &Manifest) -> Said<'_> {
    let release = m.releases.first().map(String::as_str);
    Said { scheduler: Some(&m.scheduler), release, table_prefix: None }
}

async fn planned(
    test: &TestDb,
    m: &Manifest,
    flags: &Flags,
    recipe: Option<&str>,
    followers: &[&str],
) -> Result<(Plan, BTreeMap<String, String>)> {
    let mut db = open(test, Access::ReadOnly).await;
    let catalog = db.catalog().await?;
    let found = identify(&mut db, &catalog, &app().manifests, said(m)).await?;
    assert_eq!(found.manifest.generation, m.generation);
    let (now, zone) = (now(), zone());
    let read = |r: &Recipe, given: &Flags| Params::read(r, m, given, now, Some(&zone), "tester");
    let mut parts = match recipe {
        Some(name) => {
            let recipe = app().recipes.get(&m.scheduler, name)?;
            let known = |flag: &String| app().recipes.iter().any(|r| r.parameter(flag).is_some());
            let all = parts(&app().recipes, recipe, &found, read, &Flags::new())?;
            let taken = |flag: &String| known(flag) && all.iter().any(|p| p.recipe.parameter(flag).is_some());
            let flags = flags.iter().filter(|(f, _)| taken(f)).map(|(f, v)| (f.clone(), v.clone())).collect();
            parts(&app().recipes, recipe, &found, read, &flags)?
        }
        None => all_parts(&app().recipes, &found, read, flags, &[])?,
    };
    parts.retain(|p| {
        followers.is_empty() || p.takes == Takes::Found || followers.contains(&p.recipe.file.name.as_str())
    });
    let request = PlanRequest { catalog: &catalog, found: &found, parts, zone: Some(&zone), skew: None, now };
    let plan = derive(&mut db, &request).await?;
    db.close().await;
    let files = if plan.steps.is_empty() { BTreeMap::new() } else { files::render(&plan, &app().templates)? };
    passes_the_linter(&plan, &files)?;
    Ok((plan, files))
}

/// Every bundle of every test passes flowmend's own linter, as `flowmend plan` asks.
fn passes_the_linter(plan: &Plan, files: &BTreeMap<String, String>) -> Result<()> {
    let script = files.iter().find(|(name, _)| name.starts_with("apply."));
    let Some((name, script)) = script else { return Ok(()) };
    let faults = faults_of(plan, name, script, &app().manifests, &app().rules, Level::Warning)?;
    if faults.is_empty() {
        return Ok(());
    }
    if let Some(file) = std::env::var_os("FLOWMEND_TEST_KEEP") {
        std::fs::write(file, script).unwrap();
    }
    let steps: Vec<String> = plan.steps.iter().map(|s| format!("{} {:?} {}", s.recipe, s.op, s.table)).collect();
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    Err(Error::internal(format!("{}: {}\nin {}", plan.target.dialect, said.join("\n"), steps.join(", "))))
}

/// `flowmend inspect`.
pub async fn inspect(test: &TestDb, m: &Manifest, given: &Flags) -> Result<InspectReport> {
    let mut db = open(test, Access::ReadOnly).await;
    let catalog = db.catalog().await?;
    let found = identify(&mut db, &catalog, &app().manifests, said(m)).await?;
    let zone = zone();
    let request = SurveyRequest {
        recipes: &app().recipes,
        given,
        now: now(),
        zone: Some(&zone),
        skew: None,
        said_by: "tester",
        said_dead: &[],
        shown_dead: &[],
        registered: None,
    };
    let report = survey(&mut db, &catalog, &found, &request).await?;
    db.close().await;
    Ok(report)
}

/// Writes the bundle, reads it back and opens its database as apply does.
pub async fn bundle(test: &TestDb, files: &BTreeMap<String, String>, name: &str) -> Bundle {
    let dir = test.path(name);
    bundle::write(&dir, files).unwrap();
    Bundle::read(&dir).unwrap()
}

struct Quiet;

impl Events for Quiet {
    fn guard(&mut self, _: &str, _: &str) {}
    fn committing(&mut self) {}
}

/// What a command checks first. Heartbeats are not watched: no row of these tests
/// moves, and the watch takes as long as the scheduler's interval.
async fn check(db: &mut Database, bundle: &Bundle) -> Result<()> {
    let mut unwatched = bundle.clone();
    unwatched.plan.owners.clear();
    check_target(db, &unwatched, &app().manifests, None).await
}

pub async fn rehearse(db: &mut Database, bundle: &Bundle) -> Result<()> {
    check(db, bundle).await?;
    apply::rehearse(db, bundle, &mut Quiet).await.map(drop)
}

pub async fn apply(db: &mut Database, bundle: &Bundle) -> Result<()> {
    check(db, bundle).await?;
    apply::apply(db, bundle, &mut Quiet).await.map(drop)
}

pub async fn verify(db: &mut Database, bundle: &Bundle, state: BundleState) -> Result<()> {
    let report = apply::verify(db, bundle).await?;
    if report.state == state && report.is_good() {
        return Ok(());
    }
    Err(Error::internal(format!("verify says {report:?}")))
}

pub async fn rollback(db: &mut Database, bundle: &Bundle) -> Result<()> {
    check(db, bundle).await?;
    let (text, moved) = apply::rollback_text(db, bundle, apply::Extent::Whole).await?;
    assert!(moved.is_empty());
    apply::rollback(db, bundle, &text, &mut Quiet).await.map(drop)
}

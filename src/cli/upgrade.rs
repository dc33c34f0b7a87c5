//! `flowmend upgrade-check`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::ArgMatches;

use super::App;
use super::args::{given, path_of};
use super::context::{open, table_prefix};
use super::lint::scripts_below;
use crate::catalog::Catalog;
use crate::db::{Access, Database};
use crate::dialect::Dialect;
use crate::inspect::{
    Identified, Said, begin_snapshot, end_snapshot, identify_alike, nothing_hidden, nothing_unseen, or_hidden, shared,
    stored,
};
use crate::lint::{Config, DataRules, Finding as LintFinding, Knowledge, lint};
use crate::manifest::{Engine, Manifest, Manifests, VersionIs, version_order};
use crate::report::print_to;
use crate::report::upgrade::UpgradeReport;
use crate::sql::Places;
use crate::upgrade::{Finding, Seen, Upgrade};
use crate::{Error, Kind, Result, ui};

/// Says what an upgrade breaks. Exit 1 when something does.
pub(super) async fn run(app: &App, m: &ArgMatches) -> Result<u8> {
    let text = |flag: &str| given(m, flag).ok_or_else(|| Error::usage(format!("--{flag} is missing")));
    let (scheduler, from, to) = (text("scheduler")?, text("from")?, text("to")?);
    let manifests = app.manifests.prefixed(scheduler, table_prefix(m)?)?;
    let upgrade = Upgrade::between(&manifests, scheduler, from, to)?;
    let mut db = match given(m, "url") {
        Some(_) => Some(open(m, Access::ReadOnly).await?),
        None if m.get_flag("after") => {
            return Err(Error::usage("--after looks at a database").hint("give --url"));
        }
        None => {
            if std::env::var_os("FLOWMEND_URL").is_some_and(|url| !url.is_empty()) {
                ui::note(
                    "no rows are counted: FLOWMEND_URL is for commands that repair, here a database is named by --url",
                );
            }
            None
        }
    };
    let place = db.as_ref().map(|db| db.address.to_string());
    let mut upgrade = upgrade.repaired_by(&app.recipes, m.get_flag("after"), place.as_deref());
    if let Some(dialect) = dialect(m, db.as_ref())? {
        upgrade = upgrade.on(dialect.engine);
    }
    let mut findings = match &mut db {
        Some(db) => of_database(app, db, &manifests, &upgrade, m).await?,
        None if path_of(m, "sql").is_some() => upgrade.beside_scripts(),
        None => upgrade.findings(&app.recipes),
    };
    let mut files = None;
    if let Some(path) = path_of(m, "sql") {
        let dialect = dialect(m, db.as_ref())?.ok_or_else(|| {
            Error::usage("--sql: which dialect the scripts are in is not said").hint("give --dialect or --url")
        })?;
        let found = files.insert(scripts(path)?);
        findings.extend(of_scripts(app, &manifests, &upgrade, found, &dialect)?);
    }
    let mut report = UpgradeReport::new(&upgrade.to.title, from, to, findings);
    report.after = m.get_flag("after");
    report.scripts = files.map(|files| files.len());
    report.database = place;
    if let Some(db) = db {
        db.close().await;
    }
    let text = report.render(given(m, "format").unwrap_or("human"))?;
    print_to(&text, path_of(m, "output"))?;
    Ok(u8::from(report.breaks()))
}

/// The kind of database that is meant, where it is said.
fn dialect(m: &ArgMatches, db: Option<&Database>) -> Result<Option<Dialect>> {
    given(m, "dialect").map(Dialect::load).or_else(|| db.map(|db| Ok(db.dialect.clone()))).transpose()
}

async fn of_database(
    app: &App,
    db: &mut Database,
    manifests: &Manifests,
    upgrade: &Upgrade<'_>,
    m: &ArgMatches,
) -> Result<Vec<Finding>> {
    nothing_hidden(db).await?;
    let catalog = db.catalog().await?;
    if catalog.is_empty() {
        let error = Error::refused(format!("{} holds no tables", db.address));
        return Err(or_hidden(db, error.hint("check the database's name in --url, and --schema")).await);
    }
    let after = m.get_flag("after");
    let manifest = if after { upgrade.to } else { upgrade.from };
    if !manifest.roles.values().any(|role| catalog.get(&role.table).is_some()) {
        let error = Error::refused(format!("{} holds no table of {}", db.address, manifest.title));
        return Err(or_hidden(db, error.hint("check the database's name in --url, --schema and --table-prefix")).await);
    }
    if !manifest.runs_on(db.dialect.engine) {
        let message = format!("upstream has no schema of {} for {}", manifest.title, db.dialect.title);
        return Err(Error::refused(message));
    }
    let mut findings: Vec<Finding> =
        recognised(db, &catalog, manifests, upgrade, after, m).await?.into_iter().collect();
    if findings.iter().any(Finding::ends_the_check) {
        return Ok(findings);
    }
    begin_snapshot(db).await?;
    let engine = db.dialect.engine;
    let doubts = if after { BTreeMap::new() } else { upgrade.doubts() };
    let roles = if after { BTreeSet::new() } else { upgrade.must_be_empty() };
    let counted = stored(db, &catalog, manifest, &doubts, &roles).await?;
    let shared = shared(db, &catalog, upgrade.new_keys()).await?;
    end_snapshot(db).await?;
    let codes: Vec<_> = counted.values().flat_map(|s| s.codes.clone()).collect();
    let of_role = |(name, role): (&String, &crate::manifest::Role)| {
        let live = catalog.get(&role.table)?;
        Some((name.clone(), counted.get(&live.name)?.rows))
    };
    let rows = manifest.roles.iter().filter_map(of_role).collect();
    let doubts = counted.into_iter().map(|(table, s)| (table, s.doubts)).collect();
    let there = |table: &str, column: Option<&str>| {
        catalog.get(table).is_some_and(|t| column.is_none_or(|c| t.column(c).is_some()))
    };
    let live = live(&catalog);
    let seen = Seen {
        engine,
        there: &there,
        live: &live,
        codes: &codes,
        rows: &rows,
        doubts: &doubts,
        shared: &shared,
        scripts: path_of(m, "sql").is_some(),
    };
    findings.extend(if after {
        upgrade.left(manifests, &seen)
    } else {
        upgrade.counted(manifests, &app.recipes, &seen)
    });
    if findings.iter().any(Finding::is_missing) {
        nothing_unseen(db).await?;
    }
    Ok(findings)
}

fn live(catalog: &Catalog) -> BTreeMap<String, Vec<String>> {
    let columns = |t: &crate::catalog::LiveTable| t.stored_columns().map(|c| c.name.clone()).collect();
    catalog.iter().map(|t| (t.name.clone(), columns(t))).collect()
}

/// A version row that is further on than the database: upgrade tools go by it.
fn marked_ahead(found: &[Identified], upgrade: &Upgrade<'_>) -> Option<Finding> {
    let row = found.iter().find_map(|f| f.version_row.as_deref())?;
    let (from, to) = (&upgrade.releases.0, &upgrade.releases.1);
    let by_release = upgrade.from.version_is == VersionIs::Release;
    let ahead = version_order(row) >= version_order(to) && version_order(row) > version_order(from);
    (by_release && ahead && !upgrade.is_way_back()).then(|| Finding::version_row_ahead(row, from, to))
}

/// Where the database is known as another release than the one that was named.
async fn recognised(
    db: &mut Database,
    catalog: &Catalog,
    manifests: &Manifests,
    upgrade: &Upgrade<'_>,
    after: bool,
    m: &ArgMatches,
) -> Result<Option<Finding>> {
    let (manifest, release) =
        if after { (upgrade.to, &upgrade.releases.1) } else { (upgrade.from, &upgrade.releases.0) };
    let scheduler = Some(manifest.scheduler.as_str());
    let said = Said { scheduler, release: None, table_prefix: table_prefix(m)? };
    match identify_alike(db, catalog, manifests, said).await {
        Ok(found) if found.iter().any(|f| f.manifest.generation == manifest.generation) => {
            Ok(marked_ahead(&found, upgrade).filter(|_| !after))
        }
        Ok(found) => {
            let is = found.iter().map(|f| f.manifest.release_range()).collect::<Vec<_>>().join(", ");
            // Of a database that is further on, nothing that this upgrade does can be said.
            let order = |m: &Manifest| version_order(&m.generation);
            let further = !after && found.iter().all(|f| order(&f.manifest) >= order(upgrade.to));
            Ok(Some(Finding::another_release(&manifest.title, release, &is, (further, after))))
        }
        // What does not fit is named by the findings, table by table.
        Err(e) if e.kind == Kind::Refused => {
            nothing_unseen(db).await?;
            Ok(Some(Finding::not_recognised(&manifest.title, release, &e.to_string())))
        }
        Err(e) => Err(e),
    }
}

/// What the linter finds in scripts at the new release, and not at the old one.
fn of_scripts(
    app: &App,
    manifests: &Manifests,
    upgrade: &Upgrade<'_>,
    files: &[PathBuf],
    dialect: &Dialect,
) -> Result<Vec<Finding>> {
    let data = DataRules::load(&app.manifests)?;
    let (scheduler, engine): (&str, Engine) = (&upgrade.from.scheduler, dialect.engine);
    let before = Knowledge::of(manifests, scheduler, &upgrade.releases.0, engine)?;
    let after = Knowledge::of(manifests, scheduler, &upgrade.releases.1, engine)?;
    // What they allow they allow at the release of today.
    let config = Config { comments_allow_nothing: true, ..Config::default() };
    let mut findings = Vec::new();
    for file in files {
        let text = match crate::data::read_text(file) {
            Ok(text) => text,
            Err(e) => {
                findings.push(Finding::unread_script(&file.display().to_string(), &e.to_string()));
                continue;
            }
        };
        let known = lint(&text, &before, &data, &config)?.findings;
        let places = Places::of(&text);
        // What was a remark so far may be an error from now on.
        let was = |k: &LintFinding, f: &LintFinding| k.rule == f.rule && k.range == f.range && k.level >= f.level;
        let is_new = |f: &&LintFinding| !known.iter().any(|k| was(k, f));
        for found in lint(&text, &after, &data, &config)?.findings.iter().filter(is_new) {
            let place = places.place(found.range.start);
            let finding = Finding::of_script(&file.display().to_string(), (place.line, place.column), found);
            findings.push(finding);
        }
    }
    Ok(findings)
}

/// A file, or the `.sql` files below a folder.
fn scripts(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_dir() {
        return scripts_below(path);
    }
    if !path.exists() {
        return Err(Error::usage(format!("--sql: there is no {}", path.display())));
    }
    Ok(vec![path.to_owned()])
}

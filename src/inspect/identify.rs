//! Which release made this schema. The schema decides; the version row and the
//! operator must agree with it, because the version row is often wrong.

use std::collections::BTreeSet;

use super::tables::{self, fits};
use crate::catalog::Catalog;
use crate::db::Database;
use crate::manifest::{Engine, Manifest, Manifests, TableSpec, VersionIs, version_order};
use crate::{Error, Result};

/// A release that was identified.
#[derive(Clone, Debug)]
pub struct Identified {
    /// Its manifest.
    pub manifest: Manifest,
    /// The release, as exactly as it is known.
    pub release: String,
    /// How it is known.
    pub by: String,
    /// What the version row says.
    pub version_row: Option<String>,
    /// Things a careful reader should know.
    pub warnings: Vec<String>,
}

/// What the operator says of the database.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said<'a> {
    /// The scheduler.
    pub scheduler: Option<&'a str>,
    /// The release.
    pub release: Option<&'a str>,
    /// What the scheduler's table names begin with.
    pub table_prefix: Option<&'a str>,
}

/// Finds the manifest for a database.
///
/// # Errors
/// The database is empty, foreign, half upgraded, or the signs disagree or do not decide.
pub async fn identify(
    db: &mut Database,
    catalog: &Catalog,
    manifests: &Manifests,
    said: Said<'_>,
) -> Result<Identified> {
    let mut found = identify_alike(db, catalog, manifests, said).await?;
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (last, _) => {
            found.extend(last);
            Err(several(&found))
        }
    }
}

/// Finds the manifests that the signs leave for a database, oldest first: one, unless
/// several generations look alike. Then each is called by the releases of all.
///
/// # Errors
/// The database is empty, foreign, half upgraded, or the signs disagree.
pub async fn identify_alike(
    db: &mut Database,
    catalog: &Catalog,
    manifests: &Manifests,
    said: Said<'_>,
) -> Result<Vec<Identified>> {
    if catalog.is_empty() {
        return Err(Error::refused(format!("{} holds no tables", db.address)).hint(where_to_look(db)));
    }
    let Said { scheduler, release, table_prefix } = said;
    let chosen =
        table_prefix.map(|prefix| tables::with_prefix(db, catalog, manifests, scheduler, prefix)).transpose()?;
    let manifests = chosen.as_ref().unwrap_or(manifests);
    let known: Vec<&Manifest> = match scheduler {
        Some(name) => manifests.of(name)?,
        None => {
            let all = manifests.all()?;
            all.iter().copied().filter(|m| !is_carried(m, &all, catalog)).collect()
        }
    };
    let live = catalog.marks();
    let fitting: Vec<&Manifest> = known.iter().copied().filter(|m| fits(m, &live)).collect();
    let strangers = |m: &Manifest| strangers(m, &known, catalog);
    let whole = |m: &&Manifest| missing_role_columns(m, catalog).is_empty();
    let exact: Vec<&Manifest> = fitting.iter().copied().filter(whole).filter(|m| strangers(m).is_empty()).collect();
    // With `--release` a schema may have more than the release made.
    let told = |m: &&Manifest| release.is_some_and(|r| m.releases.iter().any(|x| x == r));
    let matching = if exact.is_empty() { fitting.into_iter().filter(told).collect() } else { exact };
    if let (Some(release), Some(scheduler)) = (release, scheduler.or_else(|| only_scheduler(&matching))) {
        manifests.release(scheduler, release)?;
    }
    if matching.is_empty() {
        return Err(no_match(db, &known, catalog, &live).await);
    }
    for m in &matching {
        tables::no_twins(db, m, catalog).await?;
    }
    if table_prefix.is_none() {
        tables::one_set(&matching, catalog, &live)?;
    }
    let (matching, ported): (Vec<_>, Vec<_>) = matching.into_iter().partition(|m| m.runs_on(db.dialect.engine));
    if let (true, Some(m)) = (matching.is_empty(), ported.first()) {
        return Err(foreign_port(m, db));
    }
    let version_row = version_row(db, catalog, &matching).await?;
    let details = if db.dialect.engine == Engine::Sqlite { None } else { Some(catalog.details()) };
    let found = choose(&matching, release, version_row.as_deref(), &known, &live, details.as_ref())?;
    let alike = (found.len() > 1).then(|| ranges(&found));
    let mut all = Vec::new();
    for m in found {
        complete(m, catalog)?;
        let by_details = warning_of_details(m, &matching, release, details.as_ref()).filter(|_| alike.is_none());
        let mut one = describe(m, catalog, release, version_row.clone());
        if let Some(prefix) = table_prefix {
            one.by += &format!(", with --table-prefix {prefix}");
        }
        one.warnings.extend(by_details);
        let strangers = strangers(&one.manifest);
        if !strangers.is_empty() {
            one.warnings.push(format!("the schema also has what other releases have: {}", strangers.join(", ")));
        }
        if let Some(alike) = &alike {
            one.release.clone_from(alike);
        }
        all.push(one);
    }
    Ok(all)
}

/// The releases of some generations.
fn ranges(found: &[&Manifest]) -> String {
    found.iter().map(|m| m.release_range()).collect::<Vec<_>>().join(", ")
}

/// The error for generations that look alike where one must be known.
#[must_use]
pub fn several(found: &[Identified]) -> Error {
    let ranges = ranges(&found.iter().map(|f| &f.manifest).collect::<Vec<_>>());
    let row = found.first().and_then(|f| f.version_row.as_ref());
    let of = row.map(|r| format!(" of which the version row ({r}) may speak")).unwrap_or_default();
    Error::refused(format!("the schema fits several generations{of}: {ranges}")).hint(
        "their tables look alike and the version row does not tell them apart; say which release runs with --release",
    )
}

/// Whether another scheduler, which keeps this one's tables inside its own
/// database, is there. Then the carrier is meant, unless `--scheduler` says otherwise.
fn is_carried(m: &Manifest, all: &[&Manifest], catalog: &Catalog) -> bool {
    let is_there = |o: &Manifest| o.roles.values().any(|role| catalog.get(&role.table).is_some());
    all.iter().filter(|o| m.carried_by.contains(&o.scheduler)).any(|o| is_there(o))
}

/// The names are there, in a database that upstream has no schema for.
fn foreign_port(m: &Manifest, db: &Database) -> Error {
    let message = format!("these are the tables of {}, but upstream has no schema for {}", m.title, db.dialect.title);
    Error::refused(message).hint(
        "somebody ported it: types, keys and what the port writes are not known to flowmend; a manifest of your own can say them (docs/manifests.md)",
    )
}

fn only_scheduler<'m>(matching: &[&'m Manifest]) -> Option<&'m str> {
    matching.first().map(|m| m.scheduler.as_str())
}

fn where_to_look(db: &Database) -> String {
    match &db.schema {
        Some(schema) => format!("looked in the schema {schema}; name another one with --schema"),
        None => "check the database's name in --url".to_owned(),
    }
}

/// Columns in the tables of a generation's runs that only other generations of
/// the scheduler have: signs of an upgrade that ran in part. Other tables may
/// keep columns that an upgrade did not drop.
fn strangers(m: &Manifest, known: &[&Manifest], catalog: &Catalog) -> Vec<String> {
    let others: Vec<&&Manifest> = known.iter().filter(|o| o.scheduler == m.scheduler).collect();
    let mut found = Vec::new();
    for role in m.roles.values().filter(|r| !r.witnesses.is_empty()) {
        let (Some(live), Some(own)) = (catalog.get(&role.table), m.tables.get(&role.table)) else { continue };
        let has = |table: &TableSpec, name: &str| table.columns.iter().any(|c| c.name.eq_ignore_ascii_case(name));
        let of_others = |name: &str| others.iter().any(|o| o.tables.get(&role.table).is_some_and(|t| has(t, name)));
        let foreign = live.columns.iter().filter(|c| !has(own, &c.name) && of_others(&c.name));
        found.extend(foreign.map(|c| format!("{}.{}", live.name, c.name)));
    }
    found
}

async fn version_row(db: &mut Database, catalog: &Catalog, matching: &[&Manifest]) -> Result<Option<String>> {
    for m in matching {
        let Some(role) = m.roles.get("version") else {
            continue;
        };
        if let (Some(table), Some(column)) = (catalog.get(&role.table), role.columns.get("version")) {
            let sql = format!(
                "SELECT {} FROM {}",
                db.dialect.ident(column),
                db.dialect.table(db.schema.as_deref(), &table.name)
            );
            let rows = db.rows(&sql).await?;
            let mut versions: Vec<String> = rows.into_iter().filter_map(|r| r.into_iter().next().flatten()).collect();
            versions.iter_mut().for_each(|v| *v = v.trim().to_owned());
            return Ok(match m.version_is {
                VersionIs::Release => versions.into_iter().max_by_key(|v| version_order(v)),
                VersionIs::Revision => {
                    versions.sort();
                    Some(versions.join(" and ")).filter(|v| !v.is_empty())
                }
            });
        }
    }
    Ok(None)
}

/// What a version row says, as half a sentence.
fn says(m: &Manifest, row: &str) -> String {
    match m.version_is {
        VersionIs::Release => format!("the version row says {row}"),
        VersionIs::Revision => format!("the schema revision is {row}"),
    }
}

fn claims(m: &Manifest, version: &str) -> bool {
    m.releases.iter().any(|r| r == version) || m.version_marks.values().any(|mark| mark == version)
}

fn choose<'m>(
    matching: &[&'m Manifest],
    release: Option<&str>,
    row: Option<&str>,
    known: &[&'m Manifest],
    live: &BTreeSet<String>,
    details: Option<&BTreeSet<String>>,
) -> Result<Vec<&'m Manifest>> {
    let ranges = || ranges(matching);
    if let Some(release) = release {
        let told = matching.iter().copied().find(|m| m.releases.iter().any(|r| r == release));
        return told.map(|m| vec![m]).ok_or_else(|| {
            // Two schedulers may have releases of one name.
            let akin = |m: &&&Manifest| matching.iter().any(|o| o.scheduler == m.scheduler);
            let of_release = |m: &&&Manifest| m.releases.iter().any(|r| r == release);
            let why = known.iter().filter(akin).find(of_release).map(|m| misfit(m, live));
            Error::refused(format!("the schema is not that of {release}: {}", why.unwrap_or_default()))
                .hint(format!("the schema fits {}; give --release of these if you know that it is right", ranges()))
        });
    }
    let agreeing: Vec<&Manifest> = match row {
        Some(row) => matching.iter().copied().filter(|m| claims(m, row)).collect(),
        None => matching.to_vec(),
    };
    let agreeing = by_details(agreeing, details);
    match (agreeing.as_slice(), row) {
        ([], Some(row)) => {
            let claimant = known.iter().find(|m| claims(m, row));
            let why = match claimant.map(|m| misfit(m, live)) {
                None => " (flowmend does not know that release)".to_owned(),
                Some(why) if why.is_empty() => String::new(),
                Some(why) => format!(" ({why})"),
            };
            let hint = match claimant {
                None => {
                    "a newer release needs a manifest of its own (docs/manifests.md); with the facts of another one the codes may be wrong"
                }
                Some(_) => {
                    "one of them is wrong: a fresh install may carry a wrong row, an upgrade may have skipped a step; say which release runs with --release"
                }
            };
            let said = matching.first().map_or_else(String::new, |m| says(m, row));
            Err(Error::refused(format!("{said}, but the schema is that of {}{why}", ranges())).hint(hint))
        }
        _ => Ok(agreeing),
    }
}

/// Of generations whose names fit alike, those whose types, keys and indexes fit, if there are any.
fn by_details<'m>(fitting: Vec<&'m Manifest>, details: Option<&BTreeSet<String>>) -> Vec<&'m Manifest> {
    let Some(details) = details else { return fitting };
    let kept: Vec<&Manifest> = fitting.iter().copied().filter(|m| m.details_against(details).is_empty()).collect();
    if kept.is_empty() { fitting } else { kept }
}

/// Types, keys and indexes are weaker signs than names: where they decide, or speak
/// against what the operator says, people must know.
fn warning_of_details(
    found: &Manifest,
    matching: &[&Manifest],
    release: Option<&str>,
    details: Option<&BTreeSet<String>>,
) -> Option<String> {
    let details = details?;
    if let Some(release) = release {
        let against = found.details_against(details);
        return (!against.is_empty()).then(|| {
            format!("you say {release}, but {}: an upgrade skipped it, or somebody changed it", against.join(", "))
        });
    }
    let others: Vec<&&Manifest> =
        matching.iter().filter(|m| m.scheduler == found.scheduler && m.generation != found.generation).collect();
    let against: BTreeSet<String> = others.iter().flat_map(|m| m.details_against(details)).collect();
    let ranges: Vec<String> =
        others.iter().filter(|m| !m.details_against(details).is_empty()).map(|m| m.release_range()).collect();
    (!ranges.is_empty()).then(|| {
        format!(
            "only types, keys or indexes tell {} from {} ({}); say --release if an upgrade skipped them or somebody changed them",
            found.release_range(),
            ranges.join(", "),
            against.into_iter().collect::<Vec<_>>().join(", ")
        )
    })
}

/// What in the schema does not fit a generation, with the release it came in.
fn misfit(m: &Manifest, live: &BTreeSet<String>) -> String {
    let missing = m.fingerprint.present.iter().filter(|mark| !live.contains(&mark.to_lowercase()));
    let extra = m.fingerprint.absent.iter().filter(|mark| live.contains(&mark.to_lowercase()));
    let mut parts: Vec<String> = missing.map(|mark| format!("{mark} is missing")).collect();
    parts.extend(extra.map(|mark| format!("{mark} is there, which came later or went before")));
    parts.join(", ")
}

async fn no_match(db: &mut Database, known: &[&Manifest], catalog: &Catalog, live: &BTreeSet<String>) -> Error {
    let run_tables = |m: &Manifest| m.roles.values().filter(|r| catalog.get(&r.table).is_some()).count();
    let nearest = known.iter().copied().filter(|m| run_tables(m) > 1).min_by_key(|m| distance(m, live));
    let Some(nearest) = nearest else {
        if let Some(error) = tables::other_prefix(known, catalog, live) {
            return error;
        }
        let tables: Vec<&str> = catalog.iter().take(5).map(|t| t.name.as_str()).collect();
        let message = format!(
            "{} is not the database of a scheduler that flowmend knows (it holds {} …)",
            db.address,
            tables.join(", ")
        );
        return Error::refused(message).hint(where_to_look(db));
    };
    if let Err(twins) = tables::no_twins(db, nearest, catalog).await {
        return twins;
    }
    let missing = missing_role_columns(nearest, catalog);
    let strangers = strangers(nearest, known, catalog);
    let mut what = Vec::new();
    if !missing.is_empty() {
        what.push(format!("{} missing", missing.join(", ")));
    }
    if !strangers.is_empty() {
        what.push(format!("{} there, which other releases have", strangers.join(", ")));
    }
    if what.is_empty() {
        what.push(misfit(nearest, live));
    }
    let what = what.join("; ");
    Error::refused(format!(
        "the schema is half upgraded or changed by hand: it looks most like {} {}, but: {what}",
        nearest.title,
        nearest.release_range()
    ))
    .hint("look first whether the login may read all tables: MySQL and MariaDB show it no others (SHOW GRANTS)")
    .hint(
        "then finish or repeat the upgrade step that brings these; flowmend does not write to a schema it cannot name",
    )
}

fn distance(m: &Manifest, live: &BTreeSet<String>) -> usize {
    let tables: Vec<String> = m.roles.values().map(|r| r.table.to_lowercase()).collect();
    let of_roles = |mark: &&String| tables.contains(&mark.split('.').next().unwrap_or_default().to_owned());
    let own: BTreeSet<String> = m
        .roles
        .values()
        .flat_map(|r| {
            m.tables
                .get(&r.table)
                .into_iter()
                .flat_map(|t| t.columns.iter().map(|c| format!("{}.{}", t.name, c.name).to_lowercase()))
        })
        .collect();
    let extra = live.iter().filter(of_roles).filter(|mark| mark.contains('.') && !own.contains(*mark)).count();
    own.iter().filter(|mark| !live.contains(*mark)).count() + extra
}

fn missing_role_columns(m: &Manifest, catalog: &Catalog) -> Vec<String> {
    let mut missing = Vec::new();
    for role in m.roles.values() {
        let optional = m.tables.get(&role.table).is_some_and(|t| t.optional.is_some());
        match catalog.get(&role.table) {
            None if optional => {}
            None => missing.push(role.table.clone()),
            Some(table) => {
                let gone = role.columns.values().filter(|c| table.column(c).is_none());
                missing.extend(gone.map(|c| format!("{}.{c}", role.table)));
            }
        }
    }
    missing.sort();
    missing.dedup();
    missing
}

/// Every column that a recipe may name is there.
fn complete(m: &Manifest, catalog: &Catalog) -> Result<()> {
    let missing = missing_role_columns(m, catalog);
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::refused(format!(
        "the schema of {} {} is not complete: {} missing",
        m.title,
        m.release_range(),
        missing.join(", ")
    ))
    .hint("an upgrade step was skipped, or somebody dropped it; finish the upgrade first"))
}

/// The manifest with every name in the letter case of the live database:
/// servers fold names differently, and a quoted name must match exactly.
#[must_use]
pub fn with_live_names(m: &Manifest, catalog: &Catalog) -> Manifest {
    let mut m = m.clone();
    let mut renamed = Vec::new();
    for role in m.roles.values_mut() {
        let Some(table) = catalog.get(&role.table) else { continue };
        renamed.push((role.table.clone(), table.name.clone()));
        role.table.clone_from(&table.name);
        for column in role.columns.values_mut() {
            if let Some(live) = table.column(column) {
                column.clone_from(&live.name);
            }
        }
    }
    for (old, new) in renamed.iter().filter(|(old, new)| old != new) {
        if let Some(mut spec) = m.tables.remove(old) {
            spec.name.clone_from(new);
            m.tables.insert(new.clone(), spec);
        }
    }
    m
}

fn describe(m: &Manifest, catalog: &Catalog, release: Option<&str>, row: Option<String>) -> Identified {
    let mut warnings = Vec::new();
    if let (Some(release), Some(row)) = (release, &row)
        && row != release
        && m.version_marks.get(release) != Some(row)
    {
        warnings.push(format!("{}, you say {release}; the schema fits {}", says(m, row), m.release_range()));
    }
    let exact = release.or_else(|| row.as_deref().filter(|r| m.releases.iter().any(|x| x == r)));
    let from_mark = || {
        let row = row.as_deref()?;
        let marked: Vec<&String> =
            m.releases.iter().filter(|r| m.version_marks.get(*r).is_some_and(|mark| mark == row)).collect();
        match (marked.as_slice(), m.version_is) {
            ([only], _) => Some((*only).clone()),
            ([first, .., last], VersionIs::Revision) => Some(format!("{first} to {last}")),
            _ => None,
        }
    };
    let by = match (release, &row) {
        (Some(_), _) => "schema and --release".to_owned(),
        (None, Some(row)) if m.releases.contains(row) => format!("schema and version row ({row})"),
        (None, Some(row)) if m.version_is == VersionIs::Revision => format!("schema and its revision ({row})"),
        (None, Some(row)) => format!("schema; the version row says {row}, as a fresh install of this release does"),
        (None, None) => "schema".to_owned(),
    };
    let found = exact.map(ToOwned::to_owned).or_else(from_mark).unwrap_or_else(|| m.release_range());
    if m.approximate.contains(&found) {
        warnings.push(format!("what is known of {found} is approximate: {}", m.approximate_because));
    }
    Identified {
        manifest: with_live_names(m, catalog).behaving_as(&found),
        release: found,
        by,
        version_row: row,
        warnings,
    }
}

//! The survey: counts per state, anomalies, owners and the findings of every recipe.

use std::collections::BTreeSet;

use serde::Serialize;

use super::beats::{is_missing, merged, read_tables};
use super::findings::{FindingReport, Findings, LeftReport};
use super::last::{last_beats, note_last_beats};
use super::owners::{OwnerState, Owners, add_owners, owners_of_rows};
use super::request::SurveyRequest;
use super::skew::Skew;
use super::{Identified, begin_snapshot, end_snapshot};
use crate::Result;
use crate::catalog::Catalog;
use crate::db::Database;
use crate::manifest::{Legacy, Manifest, State, StateSet, Words};
use crate::plan::{Zone, said_dead_now};
use crate::recipe::Recipes;

/// The version of the JSON form.
pub const REPORT_FORMAT: u32 = 1;
/// How many sample rows a report shows.
const SAMPLE: usize = 5;

/// Everything that inspect reports.
#[derive(Debug, Serialize)]
pub struct InspectReport {
    /// The version of this form.
    pub format: u32,
    /// The scheduler's short name.
    pub scheduler: String,
    /// The release.
    pub release: String,
    /// How it is known.
    pub identified_by: String,
    /// What the version row says.
    pub version_row: Option<String>,
    /// The database, without secrets.
    pub database: String,
    /// The server.
    pub server: String,
    /// The moment, UTC.
    pub now: String,
    /// The scheduler's zone, if it is known.
    pub zone: Option<Zone>,
    /// The newest heartbeat beside the database's clock, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew: Option<Skew>,
    /// Things a careful reader should know.
    pub warnings: Vec<String>,
    /// Counts per state.
    pub states: Vec<StateCount>,
    /// NULL and unknown values that break the scheduler or a query.
    pub anomalies: Vec<Anomaly>,
    /// Owners of unfinished rows, and those that the tables list besides.
    pub owners: Vec<Owners>,
    /// What people call the rows that are owned.
    #[serde(skip)]
    pub owned: String,
    /// What the recipes found.
    pub findings: Vec<FindingReport>,
    /// What they looked at and left out.
    pub left_out: Vec<LeftReport>,
    /// What people call the rows.
    #[serde(skip)]
    pub words: Words,
}

impl InspectReport {
    /// Owners that are silent for too long, or missing, while rows hang on them that wait for a proof of death.
    pub fn silent(&self) -> impl Iterator<Item = &Owners> {
        self.owners.iter().filter(|owner| owner.is_silent())
    }

    /// Whether the database gives somebody something to look at.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        !self.findings.is_empty() || !self.anomalies.is_empty() || self.silent().next().is_some()
    }
}

/// A count of one state.
#[derive(Debug, Serialize)]
pub struct StateCount {
    /// The real column, `table.column`.
    pub column: String,
    /// The code; `None` is SQL NULL.
    pub code: Option<String>,
    /// The name, if the release knows the code.
    pub name: Option<String>,
    /// Whether nothing runs any more under such a row.
    pub finished: Option<bool>,
    /// How many rows.
    pub rows: u64,
}

/// A value that breaks the scheduler or a query.
#[derive(Debug, Serialize)]
pub struct Anomaly {
    /// `null-state`, `unknown-state`, `illegal-state` or `null-column`.
    pub kind: String,
    /// The real column, `table.column`.
    pub column: String,
    /// The value.
    pub value: Option<String>,
    /// How many rows.
    pub rows: u64,
    /// The first keys.
    pub sample: Vec<String>,
    /// What to know about it.
    pub note: String,
    /// The command that repairs it, where flowmend can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub way_out: Option<String>,
}

/// Surveys a database.
///
/// # Errors
/// What the server said, or a recipe that does not render.
pub async fn survey(
    db: &mut Database,
    catalog: &Catalog,
    found: &Identified,
    request: &SurveyRequest<'_>,
) -> Result<InspectReport> {
    let tables = read_tables(db, catalog, &found.manifest).await?;
    let (beats, last) = (merged(&tables), last_beats(&tables, &found.manifest, request.zone));
    begin_snapshot(db).await?;
    let (states, mut anomalies) = states(db, found, request.recipes).await?;
    anomalies.extend(null_columns(db, found).await?);
    let mut report = InspectReport {
        format: REPORT_FORMAT,
        scheduler: found.manifest.scheduler.clone(),
        release: found.release.clone(),
        identified_by: found.by.clone(),
        version_row: found.version_row.clone(),
        database: db.address.to_string(),
        server: format!("{} {}", db.dialect.title, db.version),
        now: request.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        zone: request.zone.cloned(),
        skew: request.skew.cloned(),
        warnings: found.warnings.clone(),
        states,
        anomalies,
        owners: Vec::new(),
        owned: String::new(),
        findings: Vec::new(),
        left_out: Vec::new(),
        words: found.manifest.words.clone(),
    };
    for column in request.recipes.owner_columns(&found.manifest) {
        let owners = owners_of_rows(db, &found.manifest, column, &beats).await?;
        let role = column.split('.').next().unwrap_or_default();
        let owns = found.manifest.states.contains_key(&format!("{role}.state"));
        if owns && report.owned.is_empty() {
            report.owned = found.manifest.words.noun(role, 2);
        }
        // Where the rows are the owners themselves, nothing unfinished is theirs.
        let rows = |o: Owners| if owns { o } else { Owners { rows: 0, ..o } };
        add_owners(&mut report.owners, owners.into_iter().map(rows));
    }
    note_last_beats(&mut report.owners, &last, request.zone, request.now);
    for owner in &mut report.owners {
        owner.missing = owner.name().is_some_and(|name| is_missing(&tables, &name));
    }
    look_up(&mut report.owners, request.registered);
    mark_dead(&mut report.owners, request);
    let mut findings = Findings::default();
    for recipe in request.recipes.of(&found.manifest.scheduler).filter(|r| r.applies_to(&found.manifest)) {
        findings.add(db, catalog, found, recipe, request).await?;
    }
    let unproved = findings.unproved();
    for owner in &mut report.owners {
        owner.unproved = owner.name().map_or(0, |name| unproved.iter().filter(|of| **of == name).count());
    }
    (report.findings, report.left_out) = findings.finish();
    end_snapshot(db).await?;
    Ok(report)
}

async fn states(db: &mut Database, found: &Identified, recipes: &Recipes) -> Result<(Vec<StateCount>, Vec<Anomaly>)> {
    let m = &found.manifest;
    let (mut counts, mut anomalies) = (Vec::new(), Vec::new());
    for (name, set) in &m.states {
        let column = m.column(name)?;
        let real = format!("{}.{column}", m.role(name.split('.').next().unwrap_or_default())?.table);
        // What another column's meaning hangs on says nothing of the row by itself.
        let part = m.states.values().any(|other| other.with.as_ref() == Some(name));
        for (code, state, rows) in count_states(db, found, name, set).await? {
            if let Some((kind, note)) = broken(code.as_deref(), state) {
                let column = db.dialect.ident(column);
                let condition = match &code {
                    None => format!("{column} IS NULL"),
                    Some(code) => format!("{} = {}", db.dialect.as_text(&column), db.dialect.text_literal(code)),
                };
                let legacy = code.as_deref().and_then(|code| m.legacy(name, code));
                let way_out = legacy.zip(recipes.mapping(m));
                let way_out = way_out.map(|(l, (plan, flag))| format!("{plan} {flag} {}", m.confirmation(l)));
                anomalies.push(Anomaly {
                    kind: kind.into(),
                    column: real.clone(),
                    value: code.clone(),
                    rows,
                    sample: sample_keys(db, found, name, &condition).await?,
                    note: legacy.map_or_else(|| note.to_owned(), |legacy| proposal(m, legacy)),
                    way_out,
                });
            }
            counts.push(StateCount {
                column: real.clone(),
                name: state.map(|s| s.name.clone()),
                finished: state.filter(|_| !part).map(|s| s.finished),
                code,
                rows,
            });
        }
    }
    Ok((counts, anomalies))
}

/// How many rows of a role hold each code of a column, told apart by what it means.
async fn count_states<'s>(
    db: &mut Database,
    found: &Identified,
    name: &str,
    set: &'s StateSet,
) -> Result<Vec<(Option<String>, Option<&'s State>, u64)>> {
    let (m, d) = (&found.manifest, &db.dialect);
    let role = m.role(name.split('.').next().unwrap_or_default())?;
    let mut columns = vec![d.ident(m.column(name)?)];
    if let Some(with) = &set.with {
        columns.push(d.ident(m.column(with)?));
    }
    let shown: Vec<String> = columns.iter().map(|c| d.as_text(c)).collect();
    let order: Vec<String> = columns.iter().map(|c| format!("MIN({c})")).collect();
    let sql = format!(
        "SELECT {}, {} FROM {} GROUP BY {} ORDER BY {}",
        d.as_text("COUNT(*)"),
        shown.join(", "),
        d.table(db.schema.as_deref(), &role.table),
        columns.join(", "),
        order.join(", ")
    );
    let mut counts: Vec<(Option<String>, Option<&State>, u64)> = Vec::new();
    for row in db.rows(&sql).await? {
        let mut cells = row.into_iter();
        let rows = cells.next().flatten().and_then(|n| n.parse().ok()).unwrap_or(0);
        let (code, with) = (cells.next().flatten(), cells.next().flatten());
        let state = set.of(code.as_deref(), with.as_deref());
        let same = |s: &Option<&State>| s.map(|s| &s.name) == state.map(|s| &s.name);
        match counts.iter_mut().find(|(c, s, _)| *c == code && same(s)) {
            Some((_, _, sum)) => *sum += rows,
            None => counts.push((code, state, rows)),
        }
    }
    Ok(counts)
}

/// What is wrong with a value that means no state of the release.
fn broken(code: Option<&str>, state: Option<&State>) -> Option<(&'static str, &'static str)> {
    match (code, state) {
        (None, None) => Some((
            "null-state",
            "a query that lists states, or lists states that are not wanted, does not see these rows",
        )),
        (Some(_), None) => Some(("unknown-state", "this release cannot read the code")),
        (Some(_), Some(s)) if !s.legal => Some(("illegal-state", "this release never writes the code here")),
        _ => None,
    }
}

/// What a code of an earlier release may become.
fn proposal(m: &Manifest, legacy: &Legacy) -> String {
    let (name, to, why) = (&legacy.name, m.proposed(legacy), &legacy.why);
    let caveat = legacy.caveat();
    format!("an earlier release wrote it as {name}, and this one cannot read it; {to} is proposed{caveat}: {why}")
}

async fn null_columns(db: &mut Database, found: &Identified) -> Result<Vec<Anomaly>> {
    let m = &found.manifest;
    let mut anomalies = Vec::new();
    for rule in &m.never_null {
        let role = m.role(rule.column.split('.').next().unwrap_or_default())?;
        let column = m.column(&rule.column)?;
        let condition = format!("{} IS NULL", db.dialect.ident(column));
        let table = db.dialect.table(db.schema.as_deref(), &role.table);
        let count =
            db.value(&format!("SELECT {} FROM {table} WHERE {condition}", db.dialect.as_text("COUNT(*)"))).await?;
        let rows: u64 = count.and_then(|n| n.parse().ok()).unwrap_or(0);
        if rows > 0 {
            anomalies.push(Anomaly {
                kind: "null-column".into(),
                column: format!("{}.{column}", role.table),
                value: None,
                rows,
                sample: sample_keys(db, found, &rule.column, &condition).await?,
                note: format!("upstream writes {} by default; {}", rule.default, rule.why),
                way_out: None,
            });
        }
    }
    Ok(anomalies)
}

async fn sample_keys(db: &mut Database, found: &Identified, name: &str, condition: &str) -> Result<Vec<String>> {
    let role = found.manifest.role(name.split('.').next().unwrap_or_default())?;
    let d = &db.dialect;
    let key: Vec<String> = role.key.iter().filter_map(|k| role.columns.get(k)).map(|k| d.ident(k)).collect();
    let fields: Vec<String> = key.iter().map(|k| d.as_text(k)).collect();
    let sql = format!(
        "SELECT {} FROM {} WHERE {condition} ORDER BY {} LIMIT {SAMPLE}",
        fields.join(", "),
        d.table(db.schema.as_deref(), &role.table),
        key.join(", ")
    );
    let shown = |row: crate::catalog::Row| row.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().join("/");
    Ok(db.rows(&sql).await?.into_iter().map(shown).collect())
}

/// What the registry says of each owner, where one was named.
fn look_up(owners: &mut [Owners], registered: Option<&BTreeSet<String>>) {
    let Some(names) = registered else { return };
    for owner in owners {
        owner.state = match owner.name() {
            Some(name) if names.contains(&name.address) => OwnerState::Registered,
            Some(_) => OwnerState::NotRegistered,
            None => OwnerState::Unknown,
        };
    }
}

/// Owners whose death the operator states, or heartbeats show. What a registry shows
/// is said in its own words.
fn mark_dead(owners: &mut [Owners], request: &SurveyRequest<'_>) {
    for owner in owners {
        let Some(name) = owner.name() else { continue };
        let shown = request.registered.is_none() && said_dead_now(request.shown_dead, &name);
        if shown || said_dead_now(request.said_dead, &name) {
            owner.state = OwnerState::Dead;
        }
    }
}

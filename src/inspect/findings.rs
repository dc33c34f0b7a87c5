//! What the recipes find in a database: findings, reports and what they leave out.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;
use serde::Serialize;

use super::request::SurveyRequest;
use super::{Identified, beyond, look, look_at_reports, of_recipe};
use crate::Result;
use crate::catalog::{Catalog, Row};
use crate::db::Database;
use crate::plan::{Inputs, OwnerName, Params, Site, StepRows, names_an_owner, place_in_step};
use crate::recipe::{Finding, Op, Recipe, StepFile};
use crate::render::{RecipeEnv, ser};

/// How many sample rows a report shows.
const SAMPLE: usize = 5;
/// How many rows of a finding get a paragraph of their own.
const PARAGRAPHS: usize = 20;

/// A finding of a recipe.
#[derive(Debug, Serialize)]
pub struct FindingReport {
    /// The recipe that repairs or reports it.
    pub recipe: String,
    /// Stable code.
    pub code: String,
    /// What it is.
    pub title: String,
    /// How many rows.
    pub rows: usize,
    /// The first rows: key and label.
    pub sample: Vec<String>,
    /// Whether it harms more than its own rows: such findings come first.
    pub urgent: bool,
    /// The rows of each role apart.
    pub of: Vec<FoundRows>,
    /// How many of the rows stand under an earlier finding, too.
    pub listed_above: usize,
    /// Whether no recipe writes such rows: somebody must decide.
    pub report_only: bool,
    /// Filters that were given and narrow nothing of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_narrowed_by: Vec<String>,
    /// A paragraph for each of the first rows, where the recipe has one.
    pub explained: Vec<Explained>,
}

/// The rows of one role under a finding.
#[derive(Debug, Serialize)]
pub struct FoundRows {
    /// The role.
    pub role: String,
    /// How many, as people say it.
    pub what: String,
    /// The first keys and labels.
    pub sample: Vec<String>,
    /// How many more there are.
    pub more: usize,
}

/// A paragraph about one row.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// The row's key.
    pub key: String,
    /// What stands for the row in a list: its key, or the label that names it in full.
    #[serde(skip)]
    pub handle: String,
    /// What it waits for, why nothing wakes it, what can be done.
    pub text: String,
}

/// Rows that recipes looked at and left out for one reason.
#[derive(Debug, Serialize)]
pub struct LeftReport {
    /// The recipes that gave the reason.
    pub recipes: Vec<String>,
    /// The reason's code.
    pub reason: String,
    /// The role of the rows.
    pub role: String,
    /// How many rows.
    pub rows: usize,
    /// Why.
    pub why: String,
    /// The way out.
    pub way_out: String,
    /// The first keys.
    pub sample: Vec<String>,
}

/// What all recipes of a scheduler said.
#[derive(Default)]
pub(super) struct Findings {
    findings: Vec<FindingReport>,
    /// Role and key of rows that a recipe repairs.
    found: BTreeSet<(String, String)>,
    left: Vec<Left>,
    /// Role and key of rows that wait for a proof of their owner's death, with that owner.
    unproved: BTreeMap<(String, String), OwnerName>,
}

struct Left {
    report: LeftReport,
    keys: BTreeSet<String>,
    /// The key of each row in the order of the queries, and what stands for it in a list.
    order: Vec<(String, String)>,
}

/// One row that a recipe looked at.
pub(super) struct LookedRow {
    pub(super) role: String,
    verdict: String,
    pub(super) finding: String,
    instance: String,
    pub(super) key: String,
    label: String,
    /// Who owns it, where its role names one.
    owner: Option<OwnerName>,
    /// Further columns, by name.
    gives: BTreeMap<String, Option<String>>,
}

impl LookedRow {
    /// What names it for people.
    fn name(&self, found: &Identified) -> Vec<&str> {
        found.manifest.words.row_name(&self.role, &self.key, &self.label)
    }
}

impl Findings {
    /// Adds what one recipe finds.
    pub(super) async fn add(
        &mut self,
        db: &mut Database,
        catalog: &Catalog,
        found: &Identified,
        recipe: &Recipe,
        request: &SurveyRequest<'_>,
    ) -> Result<()> {
        let given = of_recipe(request.given, recipe);
        let mut params = Params::read(recipe, &found.manifest, &given, request.now, request.zone, request.said_by)?;
        params.add_owners(request.shown_dead);
        let (dialect, schema) = (db.dialect.clone(), db.schema.clone());
        let site = Site {
            manifest: &found.manifest,
            dialect: &dialect,
            catalog,
            schema: schema.as_deref(),
            zone: request.zone,
            now: request.now,
        };
        let inputs = Inputs::new(site, recipe, &params)?;
        let looked = looked_rows(db, &inputs).await?;
        let is_found = |r: &LookedRow| r.verdict == REPORT || recipe.finds(&r.verdict);
        for finding in &recipe.file.findings {
            let rows: Vec<&LookedRow> = looked.iter().filter(|r| r.finding == finding.code && is_found(r)).collect();
            if !rows.is_empty() {
                let repaired = rows.iter().filter(|r| r.verdict != REPORT);
                let repaired: Vec<_> = repaired.map(|r| (r.role.clone(), r.key.clone())).collect();
                let mut report = report(recipe, finding, &rows, found, inputs.env())?;
                report.not_narrowed_by = beyond(request.recipes, recipe, request.given);
                report.listed_above = repaired.iter().filter(|row| self.found.contains(*row)).count();
                self.found.extend(repaired);
                self.findings.push(report);
            }
        }
        for row in looked.iter().filter(|r| !is_found(r)) {
            self.leave_out(recipe, row, row.name(found)[0]);
        }
        Ok(())
    }

    fn leave_out(&mut self, recipe: &Recipe, row: &LookedRow, handle: &str) {
        let Some(reason) = recipe.reason(&row.verdict) else { return };
        if let Some(owner) = row.owner.clone().filter(|_| reason.needs_owner) {
            self.unproved.insert((row.role.clone(), row.key.clone()), owner);
        }
        let same = |l: &Left| l.report.reason == row.verdict && l.report.role == row.role;
        let index = self.left.iter().position(same).unwrap_or_else(|| {
            self.left.push(Left {
                report: LeftReport {
                    recipes: Vec::new(),
                    reason: reason.code.clone(),
                    role: row.role.clone(),
                    rows: 0,
                    why: reason.why.clone(),
                    way_out: reason.way_out.clone(),
                    sample: Vec::new(),
                },
                keys: BTreeSet::new(),
                order: Vec::new(),
            });
            self.left.len() - 1
        });
        let left = &mut self.left[index];
        if !left.report.recipes.contains(&recipe.file.name) {
            left.report.recipes.push(recipe.file.name.clone());
        }
        if left.keys.insert(row.key.clone()) {
            left.order.push((row.key.clone(), handle.to_owned()));
        }
    }

    /// The owner of each row that waits for a proof of its death, and that no recipe repairs.
    pub(super) fn unproved(&self) -> Vec<OwnerName> {
        let waits = self.unproved.iter().filter(|(row, _)| !self.found.contains(*row));
        waits.map(|(_, owner)| owner.clone()).collect()
    }

    /// Everything that was said. A row that one recipe repairs is not left out by another.
    pub(super) fn finish(mut self) -> (Vec<FindingReport>, Vec<LeftReport>) {
        self.findings.sort_by_key(|f| !f.urgent);
        let found = self.found;
        let rest = |left: Left| {
            let mut report = left.report;
            let role = report.role.clone();
            let is_left = |(key, _): &(String, String)| !found.contains(&(role.clone(), key.clone()));
            let handles: Vec<String> = left.order.into_iter().filter(is_left).map(|(_, handle)| handle).collect();
            report.rows = handles.len();
            report.sample = handles.into_iter().take(SAMPLE).collect();
            (report.rows > 0).then_some(report)
        };
        (self.findings, self.left.into_iter().filter_map(rest).collect())
    }
}

/// The verdict of rows that are only shown.
pub const REPORT: &str = "report";

fn report(
    recipe: &Recipe,
    finding: &Finding,
    rows: &[&LookedRow],
    found: &Identified,
    env: &RecipeEnv,
) -> Result<FindingReport> {
    let all_gives = recipe.file.steps.iter().flat_map(|s| &s.gives);
    let all_gives = all_gives.chain(recipe.file.reports.iter().flat_map(|r| &r.gives));
    let unknown: BTreeMap<String, Option<String>> = all_gives.map(|name| (name.clone(), None)).collect();
    let mut explained = Vec::new();
    for row in to_explain(rows).into_iter().filter(|_| !finding.explain.is_empty()) {
        let mut gives = unknown.clone();
        gives.extend(row.gives.clone());
        let mut words: BTreeMap<&str, Value> = BTreeMap::from([
            ("key", Value::from(row.key.clone())),
            ("label", Value::from(row.label.clone())),
            ("instance", Value::from(row.instance.clone())),
            ("release", Value::from(found.release.clone())),
        ]);
        words.insert("row", ser(&gives));
        let text = env.text(&format!("findings.{}.explain", finding.code), &finding.explain, words)?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        explained.push(Explained { key: row.key.clone(), handle: row.name(found)[0].to_owned(), text });
    }
    Ok(FindingReport {
        recipe: recipe.file.name.clone(),
        code: finding.code.clone(),
        title: finding.title.clone(),
        rows: rows.len(),
        sample: rows.iter().take(SAMPLE).map(|r| r.name(found).join(" ")).collect(),
        urgent: finding.urgent,
        of: roles_apart(rows, found),
        listed_above: 0,
        report_only: rows.iter().all(|r| r.verdict == REPORT),
        not_narrowed_by: Vec::new(),
        explained,
    })
}

/// Rows by role: the keys of two tables look alike.
fn roles_apart(rows: &[&LookedRow], found: &Identified) -> Vec<FoundRows> {
    let mut roles: BTreeMap<&str, Vec<&LookedRow>> = BTreeMap::new();
    for row in rows {
        roles.entry(&row.role).or_default().push(row);
    }
    let of = |(role, rows): (&str, Vec<&LookedRow>)| FoundRows {
        role: role.to_owned(),
        what: found.manifest.words.count(role, rows.len()),
        sample: rows.iter().take(SAMPLE).map(|r| r.name(found).join(" ")).collect(),
        more: rows.len().saturating_sub(SAMPLE),
    };
    roles.into_iter().rev().map(of).collect()
}

/// The rows to explain: where several steps write what is found, the one that gives most speaks.
fn to_explain<'a>(rows: &[&'a LookedRow]) -> Vec<&'a LookedRow> {
    let known = rows.iter().map(|r| r.gives.len()).max().unwrap_or(0);
    let speaks = |r: &&&LookedRow| r.verdict == REPORT || r.gives.len() == known;
    rows.iter().filter(speaks).take(PARAGRAPHS).copied().collect()
}

async fn looked_rows(db: &mut Database, inputs: &Inputs<'_>) -> Result<Vec<LookedRow>> {
    let (manifest, file) = (inputs.site.manifest, &inputs.recipe.file);
    let mut looked = Vec::new();
    for (step, rows) in file.steps.iter().zip(look(db, inputs).await?) {
        let StepRows::Rows(rows) = rows else { continue };
        // A row that is to come has no key yet; the run it is for names it.
        let key = match step.op {
            Op::Insert => 2..3,
            Op::Update | Op::Delete => 4..4 + manifest.role(&step.role)?.key.len(),
        };
        let owner = owner_places(inputs, step)?;
        let looked_row =
            |row: Row| LookedRow { owner: owner.of(&row), ..looked_row(&step.role, &step.gives, &key, &row) };
        looked.extend(rows.into_iter().map(looked_row));
    }
    looked.extend(reported_rows(db, inputs).await?);
    Ok(looked)
}

/// Where a step's rows name their owner.
#[derive(Default)]
struct OwnerPlaces {
    address: Option<usize>,
    scope: Option<usize>,
}

impl OwnerPlaces {
    fn of(&self, row: &Row) -> Option<OwnerName> {
        let cell = |place: Option<usize>| row.get(place?).cloned().flatten();
        let address = cell(self.address).filter(|address| names_an_owner(address))?;
        Some(OwnerName { scope: cell(self.scope), address })
    }
}

fn owner_places(inputs: &Inputs<'_>, step: &StepFile) -> Result<OwnerPlaces> {
    let owner = inputs.recipe.file.owner.as_ref().and_then(|owner| owner.split_once('.'));
    let Some((_, address)) = owner.filter(|(role, _)| *role == step.role && step.op != Op::Insert) else {
        return Ok(OwnerPlaces::default());
    };
    let scope = inputs.site.manifest.owner_scope(&step.role);
    Ok(OwnerPlaces {
        address: place_in_step(inputs, step, address)?,
        scope: scope.map(|scope| place_in_step(inputs, step, scope)).transpose()?.flatten(),
    })
}

/// The rows that a recipe only shows.
pub(super) async fn reported_rows(db: &mut Database, inputs: &Inputs<'_>) -> Result<Vec<LookedRow>> {
    let mut looked = Vec::new();
    for (report, rows) in inputs.recipe.file.reports.iter().zip(look_at_reports(db, inputs).await?) {
        let StepRows::Rows(rows) = rows else { continue };
        let key = 4..4 + inputs.site.manifest.role(&report.role)?.key.len();
        looked.extend(rows.into_iter().map(|row| looked_row(&report.role, &report.gives, &key, &row)));
    }
    Ok(looked)
}

fn looked_row(role: &str, gives: &[String], key: &std::ops::Range<usize>, row: &Row) -> LookedRow {
    let text = |i: usize| row.get(i).cloned().flatten().unwrap_or_default();
    let first = row.len().saturating_sub(gives.len());
    LookedRow {
        role: role.to_owned(),
        verdict: text(0),
        finding: text(1),
        instance: text(2),
        label: text(3),
        owner: None,
        key: key.clone().map(text).collect::<Vec<_>>().join("/"),
        gives: gives.iter().zip(row.iter().skip(first)).map(|(n, v)| (n.clone(), v.clone())).collect(),
    }
}

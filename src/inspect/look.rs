//! Runs a recipe's queries: the rows a plan or a survey is made from.

use std::collections::BTreeMap;

use crate::Result;
use crate::db::Database;
use crate::plan::{Inputs, Plan, RunName, Starts, StepRows, effect_query, names_query, report_query, step_query};
use crate::recipe::{EffectFile, Tells};
use crate::render::ser;
use crate::ui::safe;

/// Runs every step query that the release needs, in the recipe's order.
///
/// # Errors
/// What the server said, or a recipe that does not render.
pub async fn look(db: &mut Database, inputs: &Inputs<'_>) -> Result<Vec<StepRows>> {
    let mut looked = Vec::new();
    for step in &inputs.recipe.file.steps {
        let when = inputs.env().text(&format!("steps.{}.when", step.role), &step.when, BTreeMap::new())?;
        looked.push(match when.as_str() {
            "yes" => ask(db, inputs, &step_query(inputs, step)?, &step.query).await?,
            _ => StepRows::NotNeeded(when),
        });
    }
    Ok(looked)
}

/// Runs every query of rows that are only shown, in the recipe's order.
///
/// # Errors
/// As [`look`].
pub async fn look_at_reports(db: &mut Database, inputs: &Inputs<'_>) -> Result<Vec<StepRows>> {
    let mut looked = Vec::new();
    for report in &inputs.recipe.file.reports {
        let when = inputs.env().text(&format!("reports.{}.when", report.role), &report.when, BTreeMap::new())?;
        looked.push(match when.as_str() {
            "yes" => ask(db, inputs, &report_query(inputs, report)?, &report.query).await?,
            _ => StepRows::NotNeeded(when),
        });
    }
    Ok(looked)
}

/// How many of the rows that start are named.
const STARTS: usize = 10;

/// What a repair does beyond the rows that it writes.
#[derive(Debug, Default)]
pub struct Told {
    felt: Vec<String>,
    starts: Vec<Starts>,
    dangers: Vec<String>,
}

impl Told {
    /// Two recipes may look at the same kind of row: what was said is not said again.
    fn add(&mut self, effect: &EffectFile, way_out: String, sentences: Vec<String>) {
        let known = match effect.tells {
            Tells::Felt => &mut self.felt,
            Tells::Danger => &mut self.dangers,
            Tells::Starts => {
                let (title, count) = (effect.title.clone(), sentences.len());
                let sample = sentences.into_iter().take(STARTS).collect();
                let starts = Starts { title, count, sample, way_out };
                if !self.starts.contains(&starts) {
                    self.starts.push(starts);
                }
                return;
            }
        };
        known.extend(sentences.into_iter().filter(|text| !known.contains(text)).collect::<Vec<_>>());
    }

    /// Writes it into the plan.
    pub fn tell(self, plan: &mut Plan) {
        (plan.effects, plan.starts, plan.dangers) = (self.felt, self.starts, self.dangers);
    }
}

/// Adds what a recipe's effects say: a sentence for each row.
///
/// # Errors
/// As [`look`].
pub async fn look_at_effects(db: &mut Database, inputs: &Inputs<'_>, told: &mut Told) -> Result<()> {
    for effect in &inputs.recipe.file.effects {
        let what = format!("effects.{}", effect.name);
        if inputs.env().text(&what, &effect.when, BTreeMap::new())? != "yes" {
            continue;
        }
        let StepRows::Rows(rows) = ask(db, inputs, &effect_query(inputs, effect)?, &effect.query).await? else {
            continue;
        };
        let mut sentences = Vec::new();
        for row in rows {
            // Names are somebody else's text.
            let shown = row.into_iter().map(|cell| cell.map(|text| safe(&text, 80)));
            let row: BTreeMap<&String, Option<String>> = effect.gives.iter().zip(shown).collect();
            let text = inputs.env().text(&what, &effect.text, BTreeMap::from([("row", ser(&row))]))?;
            sentences.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        if !sentences.is_empty() {
            let way_out = inputs.env().text(&what, &effect.way_out, BTreeMap::new())?;
            told.add(effect, way_out, sentences);
        }
    }
    Ok(())
}

/// How many runs are named in one question.
const NAMED: usize = 1_000;

/// The names of runs, where the scheduler's recipes know how to ask for them.
///
/// # Errors
/// As [`look`].
pub async fn look_at_names(db: &mut Database, inputs: &Inputs<'_>, runs: &[&str]) -> Result<Vec<RunName>> {
    let mut names = BTreeMap::new();
    for chunk in runs.chunks(NAMED) {
        let Some(sql) = names_query(inputs, chunk)? else { return Ok(Vec::new()) };
        let StepRows::Rows(mut rows) = ask(db, inputs, &sql, "run names").await? else { continue };
        // A run may have several names where tables disagree; the same one each time.
        rows.sort();
        for row in rows {
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || cells.next().unwrap_or_default();
            let run = RunName { id: next(), name: next(), workflow: next(), project: next() };
            names.entry(run.id.clone()).or_insert(run);
        }
    }
    Ok(runs.iter().filter_map(|run| names.remove(*run)).collect())
}

async fn ask(db: &mut Database, inputs: &Inputs<'_>, sql: &str, query: &str) -> Result<StepRows> {
    let rows = db.rows(sql).await;
    let rows = rows.map_err(|e| e.context(format!("recipe {}, {query}", inputs.recipe.file.name)))?;
    Ok(StepRows::Rows(rows))
}

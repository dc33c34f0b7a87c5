//! Runs a recipe's queries: the rows a plan or a survey is made from.

use std::collections::BTreeMap;

use crate::Result;
use crate::db::Database;
use crate::plan::{Inputs, RunName, StepRows, effect_query, names_query, report_query, step_query};
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

/// The sentences about rows that feel a repair although it does not write them.
///
/// # Errors
/// As [`look`].
pub async fn look_at_effects(db: &mut Database, inputs: &Inputs<'_>) -> Result<Vec<String>> {
    let mut sentences = Vec::new();
    for effect in &inputs.recipe.file.effects {
        let what = format!("effects.{}", effect.name);
        if inputs.env().text(&what, &effect.when, BTreeMap::new())? != "yes" {
            continue;
        }
        let StepRows::Rows(rows) = ask(db, inputs, &effect_query(inputs, effect)?, &effect.query).await? else {
            continue;
        };
        for row in rows {
            // Names are somebody else's text.
            let shown = row.into_iter().map(|cell| cell.map(|text| safe(&text, 80)));
            let row: BTreeMap<&String, Option<String>> = effect.gives.iter().zip(shown).collect();
            let text = inputs.env().text(&what, &effect.text, BTreeMap::from([("row", ser(&row))]))?;
            sentences.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    Ok(sentences)
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

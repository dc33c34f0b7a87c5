//! Runs a recipe's queries: the rows a plan or a survey is made from.

use std::collections::BTreeMap;

use crate::Result;
use crate::db::Database;
use crate::plan::{Inputs, StepRows, report_query, step_query};

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

async fn ask(db: &mut Database, inputs: &Inputs<'_>, sql: &str, query: &str) -> Result<StepRows> {
    let rows = db.rows(sql).await;
    let rows = rows.map_err(|e| e.context(format!("recipe {}, {query}", inputs.recipe.file.name)))?;
    Ok(StepRows::Rows(rows))
}

//! Runs a recipe's step queries: the rows a plan or a survey is made from.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::Identified;
use crate::Result;
use crate::catalog::Catalog;
use crate::db::Database;
use crate::dialect::Dialect;
use crate::plan::{Inputs, Overlay, Params, StepRows, Zone, report_query, step_query, wall_clock};
use crate::recipe::Recipe;
use crate::render::{RecipeEnv, RecipeScope};

/// What a look needs to know.
pub struct LookRequest<'a> {
    /// The live tables.
    pub catalog: &'a Catalog,
    /// The release.
    pub found: &'a Identified,
    /// The recipe.
    pub recipe: &'a Recipe,
    /// What the operator said.
    pub params: &'a Params,
    /// The scheduler's zone, if it is known.
    pub zone: Option<&'a Zone>,
    /// The moment.
    pub now: Timestamp,
}

impl LookRequest<'_> {
    /// What the step queries and the plan are built from.
    #[must_use]
    pub fn inputs<'b>(
        &'b self,
        dialect: &'b Dialect,
        schema: Option<&'b str>,
        env: &'b RecipeEnv,
        look_env: &'b RecipeEnv,
    ) -> Inputs<'b> {
        Inputs {
            recipe: self.recipe,
            manifest: &self.found.manifest,
            dialect,
            catalog: self.catalog,
            schema,
            env,
            look_env,
            params: self.params,
            zone: self.zone,
        }
    }
}

/// The recipe, ready to render for this database, as it will be after what is
/// planned already, and these parameters.
///
/// # Errors
/// A template that does not parse.
pub fn recipe_env(db: &Database, request: &LookRequest<'_>, overlay: &Overlay) -> Result<RecipeEnv> {
    let moment = request.zone.map(|zone| wall_clock(request.now, zone.offset_minutes));
    RecipeEnv::new(
        request.recipe,
        &RecipeScope {
            manifest: &request.found.manifest,
            dialect: &db.dialect,
            schema: db.schema.as_deref(),
            params: request.params,
            moment: moment.as_deref(),
            tables: tables_to_come(db, request, overlay),
        },
    )
}

/// The tables of the release that planned steps change, as they will be.
fn tables_to_come(db: &Database, request: &LookRequest<'_>, overlay: &Overlay) -> BTreeMap<String, String> {
    let roles = request.found.manifest.roles.values();
    let changed = roles.filter_map(|role| {
        let live = request.catalog.get(&role.table)?;
        Some((role.table.clone(), overlay.table(&db.dialect, db.schema.as_deref(), live)?))
    });
    changed.collect()
}

/// Runs every step query that the release needs, in the recipe's order.
///
/// # Errors
/// What the server said, or a recipe that does not render.
pub async fn look(db: &mut Database, request: &LookRequest<'_>, inputs: &Inputs<'_>) -> Result<Vec<StepRows>> {
    let mut looked = Vec::new();
    for step in &request.recipe.file.steps {
        let what = format!("steps.{}.when", step.role);
        let when = inputs.env.text(&what, &step.when, BTreeMap::new())?;
        if when != "yes" {
            looked.push(StepRows::NotNeeded(when));
            continue;
        }
        looked.push(ask(db, request, &step_query(inputs, step)?, &step.query).await?);
    }
    Ok(looked)
}

/// Runs every query of rows that are only shown, in the recipe's order.
///
/// # Errors
/// As [`look`].
pub async fn look_at_reports(
    db: &mut Database,
    request: &LookRequest<'_>,
    inputs: &Inputs<'_>,
) -> Result<Vec<StepRows>> {
    let mut looked = Vec::new();
    for report in &request.recipe.file.reports {
        let when = inputs.env.text(&format!("reports.{}.when", report.role), &report.when, BTreeMap::new())?;
        looked.push(match when.as_str() {
            "yes" => ask(db, request, &report_query(inputs, report)?, &report.query).await?,
            _ => StepRows::NotNeeded(when),
        });
    }
    Ok(looked)
}

async fn ask(db: &mut Database, request: &LookRequest<'_>, sql: &str, query: &str) -> Result<StepRows> {
    let rows = db.rows(sql).await;
    let rows = rows.map_err(|e| e.context(format!("recipe {}, {query}", request.recipe.file.name)))?;
    Ok(StepRows::Rows(rows))
}

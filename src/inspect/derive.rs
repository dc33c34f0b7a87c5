//! Derives a plan from a database: looks under one snapshot and builds.

use super::{LookRequest, begin_snapshot, end_snapshot, look, recipe_env, schema_digest, target};
use crate::Result;
use crate::db::Database;
use crate::plan::{From, Plan, build};

/// The plan of a recipe for a database, as it stands at one moment. It allows
/// no trigger and keeps its own tables beside the scheduler's: the caller says
/// otherwise in the plan's target.
///
/// # Errors
/// A choice is open, the recipe does not render, or what the server said.
pub async fn derive(db: &mut Database, request: &LookRequest<'_>) -> Result<Plan> {
    let env = recipe_env(db, request)?;
    let (dialect, schema) = (db.dialect.clone(), db.schema.clone());
    let inputs = request.inputs(&dialect, schema.as_deref(), &env);
    begin_snapshot(db).await?;
    let rows = look(db, request, &inputs).await?;
    end_snapshot(db).await?;
    let mut plan = build(&inputs, from(request), target(db).await?, rows)?;
    plan.target.schema_sha256 = schema_digest(request.catalog, &plan.tables());
    Ok(plan)
}

fn from(request: &LookRequest<'_>) -> From {
    let (found, recipe) = (request.found, request.recipe);
    let manifest = &found.manifest;
    From {
        scheduler: manifest.scheduler.clone(),
        title: manifest.title.clone(),
        release: found.release.clone(),
        identified_by: found.by.clone(),
        approximate: manifest.approximate.contains(&found.release).then(|| manifest.approximate_because.clone()),
        generation: manifest.generation.clone(),
        manifest_sha256: manifest.sha256.clone(),
        own_manifest: !manifest.origin.starts_with("enums/"),
        recipe: recipe.file.name.clone(),
        recipe_title: recipe.file.title.clone(),
        recipe_sha256: recipe.sha256.clone(),
        now: request.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        zone: request.zone.cloned(),
        cutoff: request.params.cutoff().map(ToOwned::to_owned),
    }
}

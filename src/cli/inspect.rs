//! `flowmend inspect`.

use clap::ArgMatches;

use super::App;
use super::args::{recipe_args, wants_json};
use super::context::{all_claims, from_heartbeats, ground, open, operator, registry_address, warn_of_idle_claims};
use crate::db::Access;
use crate::inspect::{Registered, SurveyRequest, survey};
use crate::{Result, report};

/// Surveys a database. Exit 1 when something was found.
pub(super) async fn run(app: &App, m: &ArgMatches) -> Result<u8> {
    let mut db = open(m, Access::ReadOnly).await?;
    let ground = ground(app, &mut db, m).await?;
    let mut given = recipe_args(&app.recipes, m)?;
    let address = registry_address(m)?;
    let registry =
        address.as_ref().map(|a| Registered::of(a, &ground.found.manifest, &ground.found.release)).transpose()?;
    let proofs = from_heartbeats(app, &mut db, &ground, &mut given, registry.as_ref()).await?;
    let registered = match &registry {
        Some(registry) => Some(registry.names().await?),
        None => None,
    };
    let said_by = operator(m);
    let request = SurveyRequest {
        recipes: &app.recipes,
        given: &given,
        now: ground.now,
        zone: ground.zone.as_ref(),
        said_by: &said_by,
        proofs: &proofs,
        registered: registered.as_ref(),
    };
    let found = survey(&mut db, &ground.catalog, &ground.found, &request).await?;
    db.close().await;
    warn_of_idle_claims(&all_claims(app, &ground, &given, &said_by), &found.owners);
    if wants_json(m) {
        report::json(&found)?;
    } else {
        report::human::inspect(&found, m.get_flag("explain"));
    }
    Ok(u8::from(!found.findings.is_empty() || !found.anomalies.is_empty()))
}

//! `flowmend inspect`.

use clap::ArgMatches;

use super::App;
use super::args::{recipe_args, wants_json};
use super::context::{
    from_heartbeats, ground, open, operator, registered, registry_address, said_dead, warn_of_idle_claims,
};
use crate::db::Access;
use crate::inspect::{SurveyRequest, refuse_idle_filters, survey};
use crate::{Result, report};

/// Surveys a database. Exit 1 when something was found.
pub(super) async fn run(app: &App, m: &ArgMatches) -> Result<u8> {
    let mut db = open(m, Access::ReadOnly).await?;
    let ground = ground(app, &mut db, m).await?;
    let mut given = recipe_args(&app.recipes, m)?;
    refuse_idle_filters(&mut db, &ground.catalog, &ground.found.manifest, &app.recipes, &given).await?;
    let address = registry_address(m)?;
    let registry = registered(address.as_ref(), &ground)?;
    let shown_dead = from_heartbeats(app, &mut db, &ground, &mut given, registry.as_ref()).await?;
    let names = match &registry {
        Some(registry) => Some(registry.names().await?),
        None => None,
    };
    let said_by = operator(m);
    let said_dead = said_dead(app, &ground, &given, &said_by)?;
    let request = SurveyRequest {
        recipes: &app.recipes,
        given: &given,
        now: ground.now,
        zone: ground.zone.as_ref(),
        skew: ground.skew.as_ref(),
        said_by: &said_by,
        said_dead: &said_dead,
        shown_dead: &shown_dead,
        registered: names.as_ref(),
    };
    let found = survey(&mut db, &ground.catalog, &ground.found, &request).await?;
    db.close().await;
    warn_of_idle_claims(&said_dead, &found.owners);
    if wants_json(m) {
        report::json(&found)?;
    } else {
        report::human::inspect(&found, m.get_flag("explain"));
    }
    Ok(u8::from(!found.findings.is_empty() || !found.anomalies.is_empty()))
}

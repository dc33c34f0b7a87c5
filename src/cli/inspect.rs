//! `flowmend inspect`.

use clap::ArgMatches;

use super::App;
use super::args::{recipe_args, wants_json};
use super::context::{
    Ground, from_heartbeats, grounds, open, operator, owners_with_scope, registered, registry_address, said_dead,
    warn_of_idle_claims,
};
use crate::db::{Access, Database};
use crate::inspect::{InspectReport, Sightings, SurveyRequest, refuse_idle_filters, several, stands_for, survey};
use crate::plan::OwnerClaim;
use crate::{Result, report};

/// Surveys a database. Exit 1 when something was found.
pub(super) async fn run(app: &App, m: &ArgMatches) -> Result<u8> {
    let mut db = open(m, Access::ReadOnly).await?;
    let (mut ground, others) = grounds(app, &mut db, m).await?;
    let mut seen = Sightings::default();
    let (mut found, said_dead) = look(app, &mut db, &ground, m, &mut seen).await?;
    let all = others.iter().chain([&ground.found]).cloned().collect::<Vec<_>>();
    for other in others {
        ground.found = other;
        let (other, _) = look(app, &mut db, &ground, m, &mut seen).await?;
        if !stands_for(&mut found, &other)? {
            return Err(several(&all).hint("what is to be found in this database hangs on it"));
        }
    }
    if all.len() > 1 {
        let alike =
            "these releases look alike, and what is shown is the same for each; plan wants --release".to_owned();
        found.warnings.insert(0, alike);
    }
    db.close().await;
    warn_of_idle_claims(&said_dead, &found.owners);
    if wants_json(m) {
        report::json(&found)?;
    } else {
        report::human::inspect(&found, m.get_flag("explain"));
    }
    Ok(u8::from(found.has_findings()))
}

/// The survey by one generation, and who was said to be dead.
async fn look(
    app: &App,
    db: &mut Database,
    ground: &Ground,
    m: &ArgMatches,
    seen: &mut Sightings,
) -> Result<(InspectReport, Vec<OwnerClaim>)> {
    let mut given = recipe_args(&app.recipes, m)?;
    refuse_idle_filters(db, &ground.catalog, &ground.found.manifest, &app.recipes, &given).await?;
    owners_with_scope(app, db, ground, &mut given).await?;
    let address = registry_address(m)?;
    let registry = registered(address.as_ref(), ground)?;
    let shown_dead = from_heartbeats(app, db, ground, &mut given, registry.as_ref(), seen).await?;
    let names = match &registry {
        Some(registry) => Some(registry.names_seen(seen).await?),
        None => None,
    };
    let said_by = operator(m);
    let said_dead = said_dead(app, ground, &given, &said_by)?;
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
    let found = survey(db, &ground.catalog, &ground.found, &request).await?;
    Ok((found, said_dead))
}

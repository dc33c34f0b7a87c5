//! What several commands do first: the address, the moment, the zone, the release.

use std::collections::{BTreeMap, BTreeSet};

use clap::ArgMatches;
use clap::parser::ValueSource;
use jiff::Timestamp;

use super::App;
use super::args::given;
use crate::catalog::Catalog;
use crate::db::{Access, Address, Database};
use crate::inspect::{
    Beats, Given, Identified, Owners, Registered, Said, Sightings, Skew, against_zone, identify_alike, measure_skew,
    measure_zone, nothing_hidden, of_recipe, or_hidden, owners_of_rows, parse_zone, read_beats, several, shown_dead,
};
use crate::manifest::{Engine, Manifest};
use crate::plan::{HEARTBEAT, OwnerClaim, OwnerName, Params, Proof, Zone, duration, shown_claim, with_scope};
use crate::recipe::OwnerForm;
use crate::registry;
use crate::{Error, Kind, Result, ui};

/// Opens the database of `--url`.
pub(super) async fn open(m: &ArgMatches, access: Access) -> Result<Database> {
    let url = given(m, "url").filter(|u| !u.trim().is_empty()).ok_or_else(|| {
        Error::usage("no database was named")
            .hint("give --url, or set FLOWMEND_URL: mysql://USER@HOST/DB, postgres://USER@HOST/DB or sqlite:FILE")
    })?;
    let mut db = Database::open(&Address::parse(url)?, given(m, "schema"), access).await?;
    db.limit(timeout(m)?).await?;
    Ok(db)
}

fn timeout(m: &ArgMatches) -> Result<std::time::Duration> {
    let text = given(m, "timeout").unwrap_or("5m");
    let read = duration(text).and_then(|d| std::time::Duration::try_from(d).ok());
    let read =
        read.ok_or_else(|| Error::usage(format!("--timeout: `{text}` is not a duration")).hint("write 30s, 5m or 1h"))?;
    if read > LONGEST {
        return Err(Error::usage(format!("--timeout: {text} is more than a server takes")).hint("a week is the most"));
    }
    Ok(read)
}

/// The longest time that one statement may take: servers count milliseconds in 31 bits.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(7 * 86_400);

/// The moment that a command speaks of.
struct Moment {
    now: Timestamp,
    /// The database's clock, where `--now` lies after it.
    still: Option<Timestamp>,
}

/// The moment of `--now`, else the database's clock.
async fn moment(db: &mut Database, m: &ArgMatches) -> Result<Moment> {
    let clock = clock(db).await?;
    let Some(text) = given(m, "now") else {
        // In whole seconds, and not before what was written a moment ago: nobody beats after that
        // who is dead by now.
        let now = clock.checked_add(jiff::SignedDuration::from_secs(1)).unwrap_or(clock);
        return Ok(Moment { now, still: None });
    };
    let now: Timestamp = text
        .parse()
        .map_err(|_| Error::usage(format!("--now: `{text}` is not a moment")).hint("write 2026-01-31T23:15:00Z"))?;
    if now < Timestamp::UNIX_EPOCH {
        return Err(Error::usage(format!("--now: {now} is before 1970")).hint("write 2026-01-31T23:15:00Z"));
    }
    let ahead = now.duration_since(clock) > CLOCKS_DIFFER;
    Ok(Moment { now, still: ahead.then_some(clock) })
}

/// How far two clocks may be apart.
const CLOCKS_DIFFER: jiff::SignedDuration = jiff::SignedDuration::from_mins(1);

/// A moment to come makes the living look dead: ages, and guards against owners that come
/// back, count from it. Where something beats that is refused, elsewhere said.
async fn still_to_come(
    db: &mut Database,
    catalog: &Catalog,
    found: &mut Identified,
    zone: Option<&Zone>,
    moment: &Moment,
) -> Result<()> {
    let Some(clock) = moment.still else { return Ok(()) };
    let says = format!("--now: {} is still to come: the database's clock says {clock}", moment.now);
    let skew = measure_skew(db, catalog, &found.manifest, zone, clock).await?;
    if let Some(beat) = skew.filter(Skew::shows_life) {
        return Err(Error::usage(says).hint(format!(
            "{} beats, and would look dead: leave --now out, or give a moment that has been",
            beat.owner
        )));
    }
    found.warnings.push(format!("{says}; what is young looks old by it"));
    Ok(())
}

/// The second that the database's clock is in.
async fn clock(db: &mut Database) -> Result<Timestamp> {
    let sql = match db.dialect.engine {
        Engine::MySql => "SELECT DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ')",
        Engine::PostgreSql => "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
        Engine::Sqlite => "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')",
    };
    let text = db.value(sql).await?.unwrap_or_default();
    text.parse().map_err(|_| Error::database(format!("the database's clock says `{text}`")))
}

/// What was found out about a database before anything is planned.
pub(super) struct Ground {
    pub catalog: Catalog,
    pub found: Identified,
    pub now: Timestamp,
    pub zone: Option<Zone>,
    /// The newest heartbeat beside the database's clock; not looked at with `--now`.
    pub skew: Option<Skew>,
}

/// Reads the catalog, identifies the release, fixes the moment and the zone.
pub(super) async fn ground(app: &App, db: &mut Database, m: &ArgMatches) -> Result<Ground> {
    match grounds(app, db, m).await? {
        (ground, others) if others.is_empty() => Ok(ground),
        (ground, mut others) => {
            others.push(ground.found);
            Err(several(&others))
        }
    }
}

/// The same, with the other generations that look alike where the signs do not decide;
/// the newest stands on the ground.
pub(super) async fn grounds(app: &App, db: &mut Database, m: &ArgMatches) -> Result<(Ground, Vec<Identified>)> {
    nothing_hidden(db).await?;
    let catalog = db.catalog().await?;
    let said = Said { scheduler: given(m, "scheduler"), release: given(m, "release"), table_prefix: table_prefix(m)? };
    let mut others = match identify_alike(db, &catalog, &app.manifests, said).await {
        Ok(others) => others,
        Err(e) if e.kind == Kind::Refused => return Err(or_hidden(db, e).await),
        Err(e) => return Err(e),
    };
    let mut found = others.pop().ok_or_else(|| Error::internal("no generation was identified"))?;
    let moment = moment(db, m).await?;
    let now = moment.now;
    let zone = match given(m, "zone").filter(|zone| !zone.trim().is_empty()) {
        Some(text) => {
            let zone = agreed_zone(parse_zone(text, now)?, &found.manifest)?;
            found.warnings.extend(against_zone(db, &found.manifest, &zone, now).await?);
            Some(zone)
        }
        None => measure_zone(db, &catalog, &found.manifest, now).await?,
    };
    still_to_come(db, &catalog, &mut found, zone.as_ref(), &moment).await?;
    let skew = match given(m, "now") {
        Some(_) => None,
        None => measure_skew(db, &catalog, &found.manifest, zone.as_ref(), now).await?,
    };
    if let Some(ahead) = skew.as_ref().filter(|s| s.is_ahead()) {
        found.warnings.push(format!("ages count from the database's clock, but of the scheduler's: {}", ahead.says()));
    }
    Ok((Ground { catalog, found, now, zone, skew }, others))
}

/// The prefix of `--table-prefix`. An empty one in the environment is none; on the
/// command line it says that the tables' names have no prefix.
pub(super) fn table_prefix(m: &ArgMatches) -> Result<Option<&str>> {
    let Some(prefix) = given(m, "table-prefix") else { return Ok(None) };
    if prefix.is_empty() && m.value_source("table-prefix") != Some(ValueSource::CommandLine) {
        return Ok(None);
    }
    if prefix.chars().any(char::is_control) {
        return Err(Error::usage(format!("--table-prefix: `{}` is no prefix of a table's name", ui::safe(prefix, 60))));
    }
    Ok(Some(prefix))
}

/// A scheduler that writes UTC has no other zone.
fn agreed_zone(zone: Zone, m: &Manifest) -> Result<Zone> {
    if m.clock.as_ref().is_some_and(|c| c.utc) && zone.offset_minutes != 0 {
        return Err(Error::usage(format!("{}: {} writes every time in UTC", zone.known_by, m.title))
            .hint("leave --zone and FLOWMEND_ZONE out"));
    }
    Ok(zone)
}

/// The registry of `--registry`, if one was named.
pub(super) fn registry_address(m: &ArgMatches) -> Result<Option<registry::Address>> {
    given(m, "registry").filter(|text| !text.trim().is_empty()).map(registry::Address::parse).transpose()
}

/// The place in it where the release lists its owners.
pub(super) fn registered<'a>(
    address: Option<&'a registry::Address>,
    ground: &'a Ground,
) -> Result<Option<Registered<'a>>> {
    address.map(|a| Registered::of(a, &ground.found.manifest, &ground.found.release)).transpose()
}

/// The owners that heartbeats, or the registry, show dead, where the operator asks
/// with the word `heartbeat`, which goes. A registry is named for
/// that, so it needs no word.
pub(super) async fn from_heartbeats(
    app: &App,
    db: &mut Database,
    ground: &Ground,
    given: &mut Given,
    registry: Option<&Registered<'_>>,
    seen: &mut Sightings,
) -> Result<Vec<OwnerClaim>> {
    let m = &ground.found.manifest;
    let parameters = app.recipes.of(&m.scheduler).flat_map(|r| &r.file.parameters);
    let forms: BTreeMap<&String, OwnerForm> =
        parameters.filter_map(|p| Some((&p.name, p.kind.owner_form()?))).collect();
    let asks = |name: &String| match given.get(name) {
        Some(values) => values.iter().any(|v| v == HEARTBEAT),
        None => registry.is_some(),
    };
    let Some((name, form)) = forms.into_iter().find(|(name, _)| asks(name)) else { return Ok(Vec::new()) };
    let columns = app.recipes.owner_columns(m);
    let owners: Vec<OwnerName> = owners_in_rows(app, db, m).await?.into_iter().collect();
    let (dead, witness) = match registry {
        Some(registry) => {
            (registry.shown_dead(db, m, columns.first().copied(), &owners, seen).await?, "registry shows")
        }
        None => (shown_dead(db, &ground.catalog, m, &owners, seen).await?, "heartbeats show"),
    };
    if dead.is_empty() {
        seen.warn(format!("the {witness} no owner of an unfinished row dead"));
    }
    let values = given.entry(name.clone()).or_default();
    values.retain(|v| v != HEARTBEAT);
    if values.is_empty() {
        given.remove(name);
    }
    Ok(named(form, &dead, seen))
}

/// Every owner that an unfinished row names.
async fn owners_in_rows(app: &App, db: &mut Database, m: &Manifest) -> Result<BTreeSet<OwnerName>> {
    let mut owners = BTreeSet::new();
    for column in app.recipes.owner_columns(m) {
        let rows = owners_of_rows(db, m, column, &Beats::new()).await?;
        owners.extend(rows.iter().filter_map(Owners::name));
    }
    Ok(owners)
}

/// Gives owners that were typed as reports show them, `'SCOPE'/'NAME'`, the quotes that a
/// shell took away.
pub(super) async fn owners_with_scope(app: &App, db: &mut Database, ground: &Ground, given: &mut Given) -> Result<()> {
    let m = &ground.found.manifest;
    let parameters = app.recipes.of(&m.scheduler).flat_map(|r| &r.file.parameters);
    let flags: BTreeSet<&String> =
        parameters.filter(|p| p.kind.owner_form() == Some(OwnerForm::Name)).map(|p| &p.name).collect();
    for flag in flags {
        let Some(values) = given.get_mut(flag).filter(|values| values.iter().any(|v| v.contains('/'))) else {
            continue;
        };
        let mut owners = owners_in_rows(app, db, m).await?;
        owners.extend(read_beats(db, &ground.catalog, m).await?.into_keys());
        for value in values {
            if let Some(written) = with_scope(flag, value, &owners)? {
                *value = written;
            }
        }
    }
    Ok(())
}

/// The claims of these owners. One that is no host is left alone, and that is said.
fn named(form: OwnerForm, dead: &BTreeMap<OwnerName, Proof>, seen: &mut Sightings) -> Vec<OwnerClaim> {
    let claim = |(owner, proof): (&OwnerName, &Proof)| {
        let claim = shown_claim(form, owner, proof);
        if claim.is_none() {
            let address = ui::safe(&owner.address, 60);
            seen.warn(format!("the owner `{address}` is no host with a port: its rows are left alone"));
        }
        claim
    };
    dead.iter().filter_map(claim).collect()
}

/// Who speaks: `--operator`, else the login name.
pub(super) fn operator(m: &ArgMatches) -> String {
    let login = |name: &str| std::env::var(name).ok().filter(|name| !name.trim().is_empty());
    let nobody = || "somebody who gave no name (--operator)".to_owned();
    given(m, "operator")
        .map(ToOwned::to_owned)
        .or_else(|| login("USER"))
        .or_else(|| login("LOGNAME"))
        .unwrap_or_else(nobody)
}

/// A claim that speaks of no owner is most likely misspelt.
pub(super) fn warn_of_idle_claims(claims: &[OwnerClaim], owners: &[Owners]) {
    let mut idle: Vec<String> = Vec::new();
    for claim in claims.iter().filter(|c| !c.is_any()) {
        let spoken_of = |o: &Owners| o.name().is_some_and(|name| claim.speaks_of(&name));
        let name = claim.who();
        if !owners.iter().any(spoken_of) && !idle.contains(&name) {
            ui::warn(format!("no unfinished row names the owner {name}: is it spelt right?"));
            idle.push(name);
        }
    }
}

/// The owners that the operator says are dead, to any recipe that looks.
///
/// # Errors
/// A value of the wrong kind.
pub(super) fn said_dead(app: &App, ground: &Ground, given: &Given, said_by: &str) -> Result<Vec<OwnerClaim>> {
    let m = &ground.found.manifest;
    let mut claims: Vec<OwnerClaim> = Vec::new();
    for recipe in app.recipes.of(&m.scheduler).filter(|r| r.applies_to(m)) {
        let params = Params::read(recipe, m, &of_recipe(given, recipe), ground.now, ground.zone.as_ref(), said_by)?;
        for claim in params.owners() {
            if !claims.contains(&claim) {
                claims.push(claim);
            }
        }
    }
    Ok(claims)
}

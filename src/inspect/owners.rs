//! Owners: who runs the unfinished rows, and what the database knows of their life.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::catalog::Catalog;
use crate::db::Database;
use crate::manifest::{BeatUnit, Heartbeat, Manifest};
use crate::plan::{OwnerClaim, Proof, bare_address};
use crate::{Error, Result};

/// What is known of an owner's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerState {
    /// The database holds no sign of it either way.
    Unknown,
    /// It is listed in this database; whether it still beats was not watched.
    Listed,
    /// It is listed in the registry that the operator named.
    Registered,
    /// It is not listed in the registry that the operator named.
    NotRegistered,
    /// The operator says that it is dead, or a proof does.
    Dead,
}

/// An owner of unfinished rows.
#[derive(Clone, Debug, Serialize)]
pub struct Owners {
    /// The address as the rows hold it; `None` is SQL NULL.
    pub address: Option<String>,
    /// How many unfinished rows it owns.
    pub rows: u64,
    /// When the oldest of them started, on the scheduler's clock.
    pub oldest: Option<String>,
    /// What is known of its life.
    pub state: OwnerState,
}

/// Address → its newest beat, as read from the heartbeat tables.
pub type Beats = BTreeMap<String, Option<i64>>;

/// Reads every heartbeat table of the release that is there.
///
/// # Errors
/// What the server said.
pub async fn read_beats(db: &mut Database, catalog: &Catalog, m: &Manifest) -> Result<Beats> {
    let mut beats = Beats::new();
    for heartbeat in &m.heartbeats {
        for (entry, beat) in read_all(db, catalog, m, heartbeat).await? {
            let Some(address) = entry.strip_prefix(&heartbeat.path_prefix) else { continue };
            let newest = beats.entry(address.to_owned()).or_default();
            *newest = (*newest).max(beat);
        }
    }
    Ok(beats)
}

fn beat_query(db: &Database, catalog: &Catalog, m: &Manifest, h: &Heartbeat) -> Result<Option<String>> {
    let role = m.role(&h.role)?;
    if catalog.get(&role.table).is_none() {
        return Ok(None);
    }
    let d = &db.dialect;
    let table = |name: &str| d.table(db.schema.as_deref(), name);
    let column = |role: &str, name: &str| m.column(&format!("{role}.{name}")).map(|c| d.ident(c));
    let address = d.as_text(&format!("a.{}", column(&h.role, &h.address)?));
    let (beat, join) = match (&h.beat, &h.beat_role, &h.beat_join) {
        (None, _, _) => ("NULL".to_owned(), String::new()),
        (Some(beat), Some(other), Some(key)) => {
            let other_role = m.role(other)?;
            let id = other_role.key.first().cloned().unwrap_or_default();
            let join = format!(
                " LEFT JOIN {} b ON b.{} = a.{}",
                table(&other_role.table),
                column(other, &id)?,
                column(&h.role, key)?
            );
            (d.as_text(&format!("b.{}", column(other, beat)?)), join)
        }
        (Some(beat), _, _) => (d.as_text(&format!("a.{}", column(&h.role, beat)?)), String::new()),
    };
    let mut conditions = Vec::new();
    for (name, values) in &h.only {
        let values: Vec<String> = values.iter().map(|v| d.text_literal(v)).collect();
        let real = d.as_text(&format!("a.{}", column(&h.role, name)?));
        conditions.push(format!("{real} IN ({})", values.join(", ")));
    }
    let filter = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    Ok(Some(format!("SELECT {address}, {beat} FROM {} a{join}{filter}", table(&role.table))))
}

/// A beat as milliseconds, comparable among the beats of one table only.
fn moment(unit: BeatUnit, beat: &str) -> Option<i64> {
    match unit {
        BeatUnit::EpochMs => beat.parse().ok(),
        BeatUnit::Listed => None,
        BeatUnit::Datetime => {
            // All texts are read in one session, so their zone, if they show one, is the same.
            let end = beat.rfind(['+', 'Z']).filter(|at| *at > 10).unwrap_or(beat.len());
            let time: jiff::civil::DateTime = beat.get(..end)?.trim().parse().ok()?;
            Some(jiff::tz::TimeZone::UTC.to_timestamp(time).ok()?.as_millisecond())
        }
    }
}

/// Whether a claim speaks of an address.
#[must_use]
pub fn claims_address(claim: &OwnerClaim, address: &str) -> bool {
    if claim.host == "*" {
        return true;
    }
    let address = bare_address(address);
    if claim.port.is_none() && address == claim.host {
        return true;
    }
    match (address.rsplit_once(':'), claim.port) {
        (Some((host, port)), Some(claimed)) => host == claim.host && port == claimed.to_string(),
        (Some((host, _)), None) => host == claim.host,
        (None, _) => false,
    }
}

/// Whether somebody says that an address is dead now. A claim with a time speaks of
/// earlier work only.
#[must_use]
pub fn said_dead_now(claims: &[OwnerClaim], address: &str) -> bool {
    claims.iter().any(|claim| claim.before.is_none() && claims_address(claim, address))
}

/// Addresses, among those said to be dead, whose heartbeat moved while it was
/// watched.
///
/// # Errors
/// What the server said.
async fn beating(db: &mut Database, catalog: &Catalog, m: &Manifest, claims: &[OwnerClaim]) -> Result<Vec<String>> {
    let first = read_beats(db, catalog, m).await?;
    let claimed = |address: &&String| said_dead_now(claims, address);
    if !first.keys().any(|a| claimed(&a)) {
        return Ok(Vec::new());
    }
    let interval = m.heartbeats.iter().filter(|h| h.unit != BeatUnit::Listed).map(|h| h.interval_ms).max();
    let Some(interval) = interval else {
        return Ok(Vec::new());
    };
    // Two beats and a little more, so that a living owner cannot be missed.
    tokio::time::sleep(Duration::from_millis(interval * 2 + 500)).await;
    let second = read_beats(db, catalog, m).await?;
    let moved = |address: &&String| second.get(*address).is_some_and(|beat| first.get(*address) != Some(beat));
    Ok(second.keys().filter(claimed).filter(moved).cloned().collect())
}

/// The word that stands for every owner that the heartbeats, or the registry, show dead.
pub const HEARTBEAT: &str = "heartbeat";

/// Owners among `addresses` that the heartbeats of the release show dead, each
/// with the proof.
///
/// Beats are moments on the servers' own clocks, so they are compared with each
/// other and never with the database's clock. The registry must be seen to live:
/// one that stands still may belong to stopped servers, or may have been given up
/// for another registry.
///
/// # Errors
/// The release keeps no readable heartbeats here, or they stand still.
pub async fn shown_dead(
    db: &mut Database,
    catalog: &Catalog,
    m: &Manifest,
    addresses: &[String],
) -> Result<BTreeMap<String, Proof>> {
    let readable = |h: &&Heartbeat| h.unit != BeatUnit::Listed && h.beat.is_some();
    let heartbeat = m.heartbeats.iter().find(readable).ok_or_else(|| {
        Error::usage(format!("{} {} keeps no heartbeats in the database", m.title, m.generation)).hint(OTHERWISE)
    })?;
    let first = read_all(db, catalog, m, heartbeat).await?;
    if first.is_empty() {
        return Err(Error::refused(
            "the registry tables are empty or missing: the scheduler keeps its registry elsewhere",
        )
        .hint(OTHERWISE));
    }
    tokio::time::sleep(Duration::from_millis(heartbeat.interval_ms * 2 + 500)).await;
    let second = read_all(db, catalog, m, heartbeat).await?;
    let moved = |key: &str| second.get(key).is_some_and(|beat| beat.is_some() && first.get(key) != Some(beat));
    let beating = second.keys().filter(|key| moved(key)).count();
    if beating == 0 {
        return Err(Error::refused(
            "nothing in the registry beats: all servers are stopped, or the registry is kept elsewhere",
        )
        .hint(OTHERWISE));
    }
    let newest = second.values().flatten().max().copied().unwrap_or_default();
    let expires = i64::try_from(heartbeat.expires_ms).unwrap_or(i64::MAX);
    let shown = |address: &str| {
        let key = format!("{}{}", heartbeat.path_prefix, bare_address(address));
        match second.get(&key) {
            None if !heartbeat.absence_proves => None,
            None => Some(format!("it is not in the registry, where {beating} of {} entries beat", second.len())),
            Some(Some(beat)) if !moved(&key) && newest - beat > expires => Some(format!(
                "its last heartbeat is {} s older than the newest in the registry, which gives up after {} s",
                (newest - beat) / 1000,
                expires / 1000
            )),
            Some(_) => None,
        }
    };
    let proof = |address: &String| {
        let said_by = format!("the heartbeats in this database: {}", shown(address)?);
        Some((address.clone(), Proof { said_by, registry: None }))
    };
    Ok(addresses.iter().filter_map(proof).collect())
}

/// What to do where nothing proves it.
pub(super) const OTHERWISE: &str =
    "say it with --dead-owner HOST[:PORT][@TIME], or --dead-owner '*' when all are stopped";

/// Every entry of a heartbeat table with its beat, whatever server it is of. An owner
/// may have several rows, of its earlier lives, too: the newest counts.
async fn read_all(db: &mut Database, catalog: &Catalog, m: &Manifest, heartbeat: &Heartbeat) -> Result<Beats> {
    let Some(sql) = beat_query(db, catalog, m, heartbeat)? else { return Ok(Beats::new()) };
    let mut entries = Beats::new();
    for row in db.rows(&sql).await? {
        let mut cells = row.into_iter();
        let Some(address) = cells.next().flatten() else { continue };
        let beat = cells.next().flatten().and_then(|beat| moment(heartbeat.unit, &beat));
        let newest = entries.entry(bare_address(&address).to_owned()).or_default();
        *newest = (*newest).max(beat);
    }
    Ok(entries)
}

/// Refuses claims that a heartbeat contradicts. `restate` says how the operator
/// gives another claim ("give", "plan again with").
///
/// # Errors
/// An owner said to be dead beats, or what the server said.
pub async fn refuse_beating(
    db: &mut Database,
    catalog: &Catalog,
    m: &Manifest,
    claims: &[OwnerClaim],
    restate: &str,
) -> Result<()> {
    let alive = beating(db, catalog, m, claims).await?;
    if alive.is_empty() {
        return Ok(());
    }
    Err(Error::refused(format!("an owner said to be dead is alive: the heartbeat of {} moved", alive.join(", ")))
        .hint(format!("stop it, or {restate} --dead-owner HOST:PORT@TIME for what ran before its restart")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims() {
        let claim = |host: &str, port| OwnerClaim {
            host: host.into(),
            port,
            before: None,
            said_by: String::new(),
            registry: None,
        };
        assert!(claims_address(&claim("10.0.0.1", None), "10.0.0.1:5678"));
        assert!(claims_address(&claim("10.0.0.1", Some(5678)), "10.0.0.1:5678"));
        assert!(!claims_address(&claim("10.0.0.1", Some(5679)), "10.0.0.1:5678"));
        assert!(!claims_address(&claim("10.0.0.1", None), "10.0.0.11:5678"));
        assert!(claims_address(&claim("10.0.0.1", None), "10.0.0.1"));
        assert!(claims_address(&claim("*", None), "x:1"));
        assert!(claims_address(&claim("10.0.0.1", Some(9999)), "http://10.0.0.1:9999/"));
        assert!(!claims_address(&claim("10.0.0.1", Some(9999)), "http://10.0.0.11:9999/"));
    }

    #[test]
    fn beats() {
        let ms = |text: &str| moment(BeatUnit::Datetime, text);
        assert_eq!(ms("1970-01-01 00:00:01.5"), Some(1500));
        assert_eq!(ms("1970-01-01 00:00:01+00"), Some(1000));
        assert_eq!(ms("1970-01-01T00:00:01Z"), Some(1000));
        assert_eq!(ms("soon"), None);
        let ms = |text: &str| moment(BeatUnit::EpochMs, text);
        assert!(ms("1000") > ms("999") && ms("999") <= ms("1000"));
        assert!(ms("1") > ms(""));
    }
}

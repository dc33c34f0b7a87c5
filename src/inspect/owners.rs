//! Owners: who runs the unfinished rows, and what the database knows of their life.

use std::collections::BTreeMap;

use serde::Serialize;

use super::beats::{Beat, Beats, may_stand_still, read_beats, read_entries, watch, watch_ms};
use crate::catalog::Catalog;
use crate::db::Database;
use crate::manifest::{BeatUnit, Heartbeat, Manifest};
use crate::plan::{OwnerClaim, OwnerName, Proof, bare_address, names_an_owner, said_dead_now, utc};
use crate::{Error, Result, ui};

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
    /// What tells it from other owners of the same address, where there is such a column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The address as the rows hold it; `None` is SQL NULL.
    pub address: Option<String>,
    /// How many unfinished rows it owns.
    pub rows: u64,
    /// When the oldest of them started, on the scheduler's clock.
    pub oldest: Option<String>,
    /// What is known of its life.
    pub state: OwnerState,
}

impl Owners {
    /// Its name, if the rows name an owner at all.
    #[must_use]
    pub fn name(&self) -> Option<OwnerName> {
        let address = self.address.clone().filter(|a| names_an_owner(a))?;
        Some(OwnerName { scope: self.scope.clone(), address })
    }
}

/// Owners of the unfinished rows of a role, by the role column that names them. A
/// role without states is one whose rows are the owners themselves: all of them count.
///
/// # Errors
/// What the server said.
pub async fn owners_of_rows(db: &mut Database, m: &Manifest, column: &str, beats: &Beats) -> Result<Vec<Owners>> {
    let role_name = column.split('.').next().unwrap_or_default();
    let Ok(role) = m.role(role_name) else { return Ok(Vec::new()) };
    let d = &db.dialect;
    let real = |name: &str| m.column(&format!("{role_name}.{name}")).map(|c| d.ident(c));
    let host = d.ident(m.column(column)?);
    let scope = m.owner_scope(role_name).map(real).transpose()?;
    let unfinished = match m.states.get(&format!("{role_name}.state")) {
        Some(set) => {
            let with = set.with.as_ref().map(|w| m.column(w).map(|c| d.ident(c))).transpose()?;
            set.condition(&real("state")?, with.as_deref(), |s| !s.finished)
        }
        None => "1 = 1".to_owned(),
    };
    let oldest = match real("start_time") {
        Ok(start) => d.as_text(&format!("MIN({start})")),
        Err(_) => "NULL".to_owned(),
    };
    let by = scope.iter().chain([&host]).cloned().collect::<Vec<_>>().join(", ");
    let sql = format!(
        "SELECT {host}, {}, {oldest}, {} FROM {} WHERE {unfinished} GROUP BY {by} ORDER BY {by}",
        d.as_text("COUNT(*)"),
        scope.unwrap_or_else(|| "NULL".to_owned()),
        d.table(db.schema.as_deref(), &role.table),
    );
    let rows = db.rows(&sql).await?;
    let owner = |row: crate::catalog::Row| {
        let mut cells = row.into_iter();
        let mut next = || cells.next().flatten();
        let address = next();
        let rows = next().and_then(|n| n.parse().ok()).unwrap_or(0);
        let mut owner = Owners { scope: None, address, rows, oldest: next(), state: OwnerState::Unknown };
        owner.scope = next();
        if m.is_epoch_ms(&format!("{role_name}.start_time")) {
            owner.oldest = owner.oldest.map(|ms| utc(&ms).unwrap_or(ms));
        }
        if owner.name().is_some_and(|name| beats.contains_key(&unwrapped(name))) {
            owner.state = OwnerState::Listed;
        }
        owner
    };
    Ok(rows.into_iter().map(owner).collect())
}

/// The owner as heartbeats list it.
fn unwrapped(owner: OwnerName) -> OwnerName {
    OwnerName { address: bare_address(&owner.address).to_owned(), ..owner }
}

/// Owners, among those said to be dead, whose heartbeat moved while it was watched.
async fn beating(db: &mut Database, catalog: &Catalog, m: &Manifest, claims: &[OwnerClaim]) -> Result<Vec<OwnerName>> {
    let first = read_beats(db, catalog, m).await?;
    let claimed = |owner: &OwnerName| said_dead_now(claims, owner);
    let interval = first.iter().filter(|(owner, _)| claimed(owner)).map(|(_, beat)| beat.interval_ms).max();
    let (Some(interval), true) = (interval, m.heartbeats.iter().any(is_readable)) else {
        return Ok(Vec::new());
    };
    let watched = watch_ms(interval);
    watch(watched).await;
    let second = read_beats(db, catalog, m).await?;
    let mut alive = Vec::new();
    for (owner, beat) in second.iter().filter(|(owner, _)| claimed(owner)) {
        if first.get(owner).map(|b| b.at) != Some(beat.at) {
            alive.push(owner.clone());
        } else if may_stand_still(beat.interval_ms, watched) {
            let owner = ui::safe(&owner.to_string(), 200);
            ui::warn(format!(
                "{owner} beats every {} s only, so that it did not in {} s says nothing of its life: be sure that it is stopped",
                beat.interval_ms / 1000,
                watched / 1000
            ));
        }
    }
    Ok(alive)
}

fn is_readable(heartbeat: &Heartbeat) -> bool {
    heartbeat.unit != BeatUnit::Listed && heartbeat.beat.is_some()
}

/// Owners among `owners` that the heartbeats of the release show dead, each with
/// the proof.
///
/// Beats are moments on the servers' own clocks, so they are compared with each
/// other and never with the database's clock. The registry must be seen to live,
/// in each scope apart: one that stands still may belong to stopped servers, or may
/// have been given up for another registry.
///
/// # Errors
/// The release keeps no readable heartbeats here, or they stand still.
pub async fn shown_dead(
    db: &mut Database,
    catalog: &Catalog,
    m: &Manifest,
    owners: &[OwnerName],
) -> Result<BTreeMap<OwnerName, Proof>> {
    let heartbeat = m.heartbeats.iter().find(|h| is_readable(h)).ok_or_else(|| {
        Error::usage(format!("{} {} keeps no heartbeats in the database", m.title, m.generation))
            .hint(m.words.otherwise())
    })?;
    let first = read_entries(db, catalog, m, heartbeat).await?;
    let Some(interval) = first.values().map(|b| b.interval_ms).max() else {
        return Err(Error::refused(
            "the registry tables are empty or missing: the scheduler keeps its registry elsewhere",
        )
        .hint(m.words.otherwise()));
    };
    watch(watch_ms(interval)).await;
    let watched = Watched { first, second: read_entries(db, catalog, m, heartbeat).await?, heartbeat };
    if watched.second.keys().all(|owner| !watched.moved(owner)) {
        return Err(Error::refused(
            "nothing in the registry beats: all servers are stopped, or the registry is kept elsewhere",
        )
        .hint(m.words.otherwise()));
    }
    let proof = |owner: &OwnerName| {
        let said_by = format!("the heartbeats in this database: {}", watched.against(owner)?);
        Some((owner.clone(), Proof { said_by, registry: None }))
    };
    Ok(owners.iter().filter_map(proof).collect())
}

/// A heartbeat table that was read twice.
struct Watched<'a> {
    first: Beats,
    second: Beats,
    heartbeat: &'a Heartbeat,
}

impl Watched<'_> {
    fn moved(&self, owner: &OwnerName) -> bool {
        let at = |beats: &Beats| beats.get(owner).and_then(|b| b.at);
        at(&self.second).is_some() && at(&self.second) != at(&self.first)
    }

    /// What shows an owner dead, if anything does: others of its scope beat, and it does not.
    fn against(&self, owner: &OwnerName) -> Option<String> {
        let entry = OwnerName {
            scope: owner.scope.clone(),
            address: format!("{}{}", self.heartbeat.path_prefix, bare_address(&owner.address)),
        };
        let peers: Vec<(&OwnerName, &Beat)> = self.second.iter().filter(|(o, _)| o.scope == owner.scope).collect();
        let beating = peers.iter().filter(|(peer, _)| self.moved(peer)).count();
        let newest = peers.iter().filter_map(|(_, beat)| beat.at).max()?;
        if beating == 0 {
            return None;
        }
        let Some(beat) = self.second.get(&entry) else {
            if !self.heartbeat.absence_proves {
                return None;
            }
            return Some(format!("it is not in the registry, where {beating} of {} entries beat", peers.len()));
        };
        let expires = i64::try_from(beat.expires_ms).unwrap_or(i64::MAX);
        let silent = newest - beat.at?;
        (!self.moved(&entry) && silent > expires).then(|| {
            format!(
                "its last heartbeat is {} s older than the newest in the registry, which gives up after {} s",
                silent / 1000,
                expires / 1000
            )
        })
    }
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
    let Some(first) = alive.first() else { return Ok(()) };
    let names: Vec<String> = alive.iter().map(|owner| ui::safe(&owner.to_string(), 200)).collect();
    let mut error =
        Error::refused(format!("an owner said to be dead is alive: the heartbeat of {} moved", names.join(", ")))
            .hint(m.words.stop_it(restate));
    if first.scope.is_some() {
        error = error.hint("if one of another scope was meant, name it by its scope: --dead-owner \"'SCOPE'/'NAME'\"");
    }
    Err(error)
}

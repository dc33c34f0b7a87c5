//! Owners that the heartbeats in the database show dead, without anybody's word.

use std::collections::BTreeMap;

use super::beats::{Beat, Beats, beat_query, entries, watch, watch_ms};
use super::owners::say_watch;
use super::sightings::Sightings;
use crate::catalog::Catalog;
use crate::db::Database;
use crate::manifest::{Heartbeat, Manifest};
use crate::plan::{OwnerName, Proof, bare_address};
use crate::{Error, Result};

/// Owners among `owners` that the heartbeats of the release show dead, each with
/// the proof. The kind of owner is that of the first readable heartbeats; all
/// tables of that kind are read together, and each must agree.
///
/// Beats are moments on the servers' own clocks, so they are compared with each
/// other and never with the database's clock. The owners must be seen to live, in
/// each scope apart: where all stand still, the servers may be stopped, or keep
/// their heartbeats elsewhere.
///
/// # Errors
/// The release keeps no readable heartbeats here, or they stand still.
pub async fn shown_dead(
    db: &mut Database,
    catalog: &Catalog,
    m: &Manifest,
    owners: &[OwnerName],
    seen: &mut Sightings,
) -> Result<BTreeMap<OwnerName, Proof>> {
    let kind = m.heartbeats.iter().find(|h| h.is_readable()).map(|h| &h.owner).ok_or_else(|| {
        Error::usage(format!("{} {} keeps no heartbeats in the database", m.title, m.generation))
            .hint(m.words.otherwise())
    })?;
    let mut queries: Vec<(&Heartbeat, String)> = Vec::new();
    for heartbeat in m.heartbeats.iter().filter(|h| h.is_readable() && h.owner == *kind) {
        queries.extend(beat_query(db, catalog, m, heartbeat)?.map(|sql| (heartbeat, sql)));
    }
    if !queries.iter().all(|(_, sql)| seen.beats.contains_key(sql)) && !watch_all(db, &queries, seen).await? {
        return Err(Error::refused(
            "no heartbeat is in this database: nothing of the scheduler runs, or it keeps its heartbeats elsewhere",
        )
        .hint(m.words.otherwise()));
    }
    let mut watched = Watched { lists: Vec::new() };
    for (heartbeat, sql) in queries {
        let Some([first, second]) = seen.beats.get(&sql) else { continue };
        watched.lists.push(List { first: entries(heartbeat, first), second: entries(heartbeat, second), heartbeat });
    }
    if !watched.anything_moved() {
        return Err(Error::refused(
            "nothing in this database beats: all servers are stopped, or the scheduler keeps its heartbeats elsewhere",
        )
        .hint(m.words.otherwise()));
    }
    let proof = |owner: &OwnerName| {
        let said_by = format!("the heartbeats in this database: {}", watched.against(owner)?);
        Some((owner.clone(), Proof { said_by, registry: None }))
    };
    Ok(owners.iter().filter_map(proof).collect())
}

/// Reads all tables twice, far enough apart that who lives must have moved. Says
/// whether there is anything to watch.
async fn watch_all(db: &mut Database, queries: &[(&Heartbeat, String)], seen: &mut Sightings) -> Result<bool> {
    let mut first = Vec::new();
    for (_, sql) in queries {
        first.push(db.rows(sql).await?);
    }
    let intervals = queries.iter().zip(&first).flat_map(|((heartbeat, _), rows)| {
        entries(heartbeat, rows).into_values().map(|beat| beat.interval_ms).collect::<Vec<_>>()
    });
    let Some(interval) = intervals.max() else { return Ok(false) };
    say_watch(watch_ms(interval), &[]);
    watch(watch_ms(interval)).await;
    for ((_, sql), first) in queries.iter().zip(first) {
        let second = db.rows(sql).await?;
        seen.beats.insert(sql.clone(), [first, second]);
    }
    Ok(true)
}

/// A heartbeat table that was read twice.
struct List<'a> {
    first: Beats,
    second: Beats,
    heartbeat: &'a Heartbeat,
}

/// What a list says of an owner.
enum Says {
    Nothing,
    /// It lives, or may.
    Alive,
    /// It is dead, and why.
    Dead(String),
}

impl List<'_> {
    fn moved(&self, owner: &OwnerName) -> bool {
        let at = |beats: &Beats| beats.get(owner).and_then(|b| b.at);
        at(&self.second).is_some() && at(&self.second) != at(&self.first)
    }

    /// The entries of an owner's scope.
    fn peers(&self, owner: &OwnerName) -> impl Iterator<Item = (&OwnerName, &Beat)> {
        self.second.iter().filter(move |(peer, _)| peer.scope == owner.scope)
    }

    /// What it says of an owner while `newest` is the newest beat among its like.
    fn says(&self, owner: &OwnerName, newest: Option<i64>) -> Says {
        let entry = OwnerName {
            scope: owner.scope.clone(),
            address: format!("{}{}", self.heartbeat.path_prefix, bare_address(&owner.address)),
        };
        let called = &self.heartbeat.called;
        let Some(beat) = self.second.get(&entry) else {
            let beating = self.peers(owner).filter(|(peer, _)| self.moved(peer)).count();
            return if self.heartbeat.absence_proves && beating > 0 {
                Says::Dead(format!(
                    "it is not in {called}, where {beating} of {} entries beat",
                    self.peers(owner).count()
                ))
            } else {
                Says::Nothing
            };
        };
        let silent = newest.zip(beat.at).map(|(newest, at)| newest - at);
        let expires = i64::try_from(beat.expires_ms).unwrap_or(i64::MAX);
        match silent {
            Some(silent) if !self.moved(&entry) && silent > expires => Says::Dead(format!(
                "its last heartbeat is {} s older than the newest in {called}, which gives up after {} s",
                silent / 1000,
                expires / 1000
            )),
            _ => Says::Alive,
        }
    }
}

/// The lists of one kind of owner.
struct Watched<'a> {
    lists: Vec<List<'a>>,
}

impl Watched<'_> {
    fn anything_moved(&self) -> bool {
        self.lists.iter().any(|list| list.second.keys().any(|owner| list.moved(owner)))
    }

    /// The newest beat of the owner's scope, in the lists whose beats compare with
    /// those of `like`; none if nothing of that scope moved.
    fn newest(&self, owner: &OwnerName, like: &List<'_>) -> Option<i64> {
        let lists = || self.lists.iter().filter(|list| list.heartbeat.unit == like.heartbeat.unit);
        let moved = lists().any(|list| list.peers(owner).any(|(peer, _)| list.moved(peer)));
        let newest = lists().flat_map(|list| list.peers(owner)).filter_map(|(_, beat)| beat.at).max();
        newest.filter(|_| moved)
    }

    /// What shows an owner dead, if anything does: others of its scope beat, it does
    /// not, and no list says that it may live.
    fn against(&self, owner: &OwnerName) -> Option<String> {
        let mut proofs = Vec::new();
        for list in &self.lists {
            match list.says(owner, self.newest(owner, list)) {
                Says::Nothing => {}
                Says::Alive => return None,
                Says::Dead(proof) => proofs.push(proof),
            }
        }
        (!proofs.is_empty()).then(|| proofs.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifests;

    fn owner(address: &str) -> OwnerName {
        OwnerName { scope: None, address: address.to_owned() }
    }

    fn beats(of: Reading<'_>, expires_ms: u64) -> Beats {
        let beat = |at| Beat { at: Some(at), interval_ms: 5000, expires_ms };
        of.iter().map(|(address, at)| (owner(address), beat(*at))).collect()
    }

    /// Beats in seconds.
    type Reading<'r> = &'r [(&'r str, i64)];

    /// Lists of a first and second reading, in seconds: with 30 s, then with 300 s to expire.
    fn watched<'a>(heartbeat: &'a Heartbeat, lists: &[(Reading<'_>, Reading<'_>)]) -> Watched<'a> {
        let list = |(n, (first, second)): (usize, &(Reading<'_>, Reading<'_>))| {
            let ms = |of: Reading<'_>| {
                let of: Vec<(&str, i64)> = of.iter().map(|(address, at)| (*address, at * 1000)).collect();
                beats(&of, if n == 0 { 30_000 } else { 300_000 })
            };
            List { first: ms(first), second: ms(second), heartbeat }
        };
        Watched { lists: lists.iter().enumerate().map(list).collect() }
    }

    #[test]
    fn every_list_of_a_kind_must_agree() {
        let manifests = Manifests::load(None).unwrap();
        let m = manifests.all().unwrap().into_iter().find(|m| m.heartbeats.iter().any(Heartbeat::is_readable)).unwrap();
        let mut heartbeat = m.heartbeats.iter().find(|h| h.is_readable()).unwrap().clone();
        (heartbeat.absence_proves, heartbeat.path_prefix) = (false, String::new());
        let jobs: (Reading<'_>, Reading<'_>) =
            (&[("a", 1000), ("b", 100), ("c", 100), ("d", 800)], &[("a", 1005), ("b", 100), ("c", 100), ("d", 800)]);
        let tasks: (Reading<'_>, Reading<'_>) =
            (&[("b", 100), ("c", 900), ("e", 1), ("f", 720)], &[("b", 100), ("c", 905), ("e", 1), ("f", 720)]);
        let both = watched(&heartbeat, &[jobs, tasks]);
        assert!(both.anything_moved());
        let dead = |name: &str| both.against(&owner(name)).is_some();
        assert!(!dead("a") && !dead("c"), "a beat in one list is life");
        assert!(dead("b") && dead("d") && dead("e"), "silent wherever they are");
        assert!(!dead("f"), "285 s are not 300 s");
        assert!(!dead("unlisted"));
        let still = watched(&heartbeat, &[(jobs.1, jobs.1)]);
        assert!(!still.anything_moved() && still.against(&owner("b")).is_none());
    }
}

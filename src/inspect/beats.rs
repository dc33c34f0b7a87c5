//! Heartbeats in the database, as they are read: whose, when, how often.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::Result;
use crate::catalog::{Catalog, Row};
use crate::db::Database;
use crate::manifest::{BeatUnit, Heartbeat, Manifest};
use crate::plan::{OwnerName, bare_address};

/// How long beats are watched at most: nobody waits longer at night.
const WATCH_AT_MOST_MS: u64 = 65_000;
/// A little more than the beats themselves take.
const SLACK_MS: u64 = 500;

/// An owner's entry in a heartbeat table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// The newest beat, as milliseconds that are comparable with others of the table.
    pub at: Option<i64>,
    /// How often it comes, in milliseconds.
    pub interval_ms: u64,
    /// How long the owner may be silent before the scheduler gives it up, in milliseconds.
    pub expires_ms: u64,
}

/// Entries by owner. An owner may have several rows, of its earlier lives, too: the
/// newest beat counts, and the longest interval.
pub type Beats = BTreeMap<OwnerName, Beat>;

/// A heartbeat table that was read.
pub(super) struct ReadTable<'m> {
    /// What it is.
    pub heartbeat: &'m Heartbeat,
    /// The entries of its kind of owner.
    pub entries: Beats,
    /// The scopes of all entries, of other kinds, too: whoever is listed shows that the table is kept.
    scopes: BTreeSet<Option<String>>,
}

/// Reads every heartbeat table of the release that is there.
///
/// # Errors
/// What the server said.
pub async fn read_beats(db: &mut Database, catalog: &Catalog, m: &Manifest) -> Result<Beats> {
    Ok(merged(&read_tables(db, catalog, m).await?))
}

/// The entries of every heartbeat table that is there, each table read once.
///
/// # Errors
/// What the server said.
pub(super) async fn read_tables<'m>(
    db: &mut Database,
    catalog: &Catalog,
    m: &'m Manifest,
) -> Result<Vec<ReadTable<'m>>> {
    let mut tables = Vec::new();
    for heartbeat in &m.heartbeats {
        let named = |(entry, beat): (OwnerName, Beat)| {
            let address = entry.address.strip_prefix(&heartbeat.path_prefix)?.to_owned();
            Some((OwnerName { address, ..entry }, beat))
        };
        let all = read_entries(db, catalog, m, heartbeat).await?;
        let scopes = all.keys().map(|entry| entry.scope.clone()).collect();
        tables.push(ReadTable { heartbeat, entries: all.into_iter().filter_map(named).collect(), scopes });
    }
    Ok(tables)
}

/// The entries of all tables by owner.
pub(super) fn merged(tables: &[ReadTable<'_>]) -> Beats {
    let mut beats = Beats::new();
    for (owner, beat) in tables.iter().flat_map(|table| &table.entries) {
        add(&mut beats, owner.clone(), *beat);
    }
    beats
}

/// Whether an owner is missing where every living one of its kind is listed, while somebody of its
/// scope is.
pub(super) fn is_missing(tables: &[ReadTable<'_>], owner: &OwnerName) -> bool {
    let kind = tables.iter().find(|table| table.heartbeat.is_readable()).map(|table| &table.heartbeat.owner);
    let of_kind = || tables.iter().filter(|table| Some(&table.heartbeat.owner) == kind);
    let entry = OwnerName { scope: owner.scope.clone(), address: bare_address(&owner.address).to_owned() };
    let lists_others = |table: &ReadTable<'_>| table.heartbeat.absence_proves && table.scopes.contains(&entry.scope);
    of_kind().any(lists_others) && !of_kind().any(|table| table.entries.contains_key(&entry))
}

/// Every entry of one heartbeat table, whatever kind of owner it is of.
///
/// # Errors
/// What the server said.
pub(super) async fn read_entries(
    db: &mut Database,
    catalog: &Catalog,
    m: &Manifest,
    heartbeat: &Heartbeat,
) -> Result<Beats> {
    let Some(sql) = beat_query(db, catalog, m, heartbeat)? else { return Ok(Beats::new()) };
    Ok(entries(heartbeat, &db.rows(&sql).await?))
}

/// The entries in the rows of [`beat_query`].
pub(super) fn entries(heartbeat: &Heartbeat, rows: &[Row]) -> Beats {
    let mut entries = Beats::new();
    for (owner, beat) in rows.iter().filter_map(|row| read_entry(heartbeat, row)) {
        add(&mut entries, owner, beat);
    }
    entries
}

fn add(beats: &mut Beats, owner: OwnerName, beat: Beat) {
    let known = beats.entry(owner).or_insert(beat);
    known.at = known.at.max(beat.at);
    known.interval_ms = known.interval_ms.max(beat.interval_ms);
    known.expires_ms = known.expires_ms.max(beat.expires_ms);
}

fn read_entry(heartbeat: &Heartbeat, row: &Row) -> Option<(OwnerName, Beat)> {
    let mut cells = row.iter();
    let mut next = || cells.next().cloned().flatten();
    let address = bare_address(&next()?).to_owned();
    let at = next().and_then(|beat| moment(heartbeat.unit, &beat));
    let scope = next();
    let interval_ms = next().and_then(|ms| ms.parse().ok()).unwrap_or(heartbeat.interval_ms);
    let owner = OwnerName { scope, address };
    Some((owner, Beat { at, interval_ms, expires_ms: heartbeat.expires_ms(interval_ms) }))
}

/// The query of a heartbeat table; none if the table is not there.
pub(super) fn beat_query(db: &Database, catalog: &Catalog, m: &Manifest, h: &Heartbeat) -> Result<Option<String>> {
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
    let of_row = |name: &Option<String>| -> Result<String> {
        let Some(name) = name else { return Ok("NULL".to_owned()) };
        Ok(d.as_text(&format!("a.{}", column(&h.role, name)?)))
    };
    let mut conditions = Vec::new();
    for (name, values) in &h.only {
        let values: Vec<String> = values.iter().map(|v| d.text_literal(v)).collect();
        let real = d.as_text(&format!("a.{}", column(&h.role, name)?));
        conditions.push(format!("{real} IN ({})", values.join(", ")));
    }
    let filter = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    Ok(Some(format!(
        "SELECT {address}, {beat}, {}, {} FROM {} a{join}{filter}",
        of_row(&h.scope)?,
        of_row(&h.interval)?,
        table(&role.table)
    )))
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

/// How long to watch owners that beat so often: two beats and a little more, so that
/// a living one cannot be missed, but no longer than people can wait.
pub(super) fn watch_ms(interval_ms: u64) -> u64 {
    interval_ms.saturating_mul(2).saturating_add(SLACK_MS).min(WATCH_AT_MOST_MS)
}

/// Whether a living owner may stand still that long.
pub(super) fn may_stand_still(interval_ms: u64, watched_ms: u64) -> bool {
    interval_ms.saturating_add(SLACK_MS) > watched_ms
}

/// Waits.
pub(super) async fn watch(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn watching_ends() {
        assert_eq!(watch_ms(7500), 15_500);
        assert_eq!(watch_ms(30_000), 60_500);
        assert_eq!(watch_ms(u64::MAX), WATCH_AT_MOST_MS);
        assert!(!may_stand_still(60_000, watch_ms(60_000)) && may_stand_still(65_000, watch_ms(65_000)));
    }
}

//! How far the scheduler's clock lies from the database's, by the newest heartbeat.

use jiff::Timestamp;
use serde::Serialize;

use super::beats::read_entries;
use crate::Result;
use crate::catalog::Catalog;
use crate::db::Database;
use crate::manifest::{BeatUnit, Heartbeat, Manifest};
use crate::plan::{OwnerName, Zone, utc};

/// Clocks that differ by less agree: the moment is known to the second, and reading takes a while.
const AGREE_MS: i64 = 2_000;

/// The newest heartbeat beside the database's clock.
#[derive(Clone, Debug, Serialize)]
pub struct Skew {
    /// Whose heartbeat it is.
    pub owner: String,
    /// When it was written, on the owner's clock, in UTC.
    pub beat: String,
    /// By how many milliseconds it lies behind the database's clock; before zero: ahead of it.
    pub behind_ms: i64,
    /// How often the owner beats, in milliseconds.
    pub interval_ms: u64,
}

impl Skew {
    /// Whether the owner's clock is surely ahead: nobody writes a heartbeat in the future.
    #[must_use]
    pub fn is_ahead(&self) -> bool {
        self.behind_ms < -AGREE_MS
    }

    /// Whether its owner surely lives: it was heard a few of its intervals ago, or its clock is ahead.
    #[must_use]
    pub fn shows_life(&self) -> bool {
        let interval = i64::try_from(self.interval_ms).unwrap_or(i64::MAX);
        self.behind_ms <= interval.saturating_mul(10).saturating_add(AGREE_MS)
    }

    /// What that says of the clocks, in a sentence.
    #[must_use]
    pub fn says(&self) -> String {
        let Self { owner, beat, behind_ms, interval_ms } = self;
        let interval = i64::try_from(*interval_ms).unwrap_or(i64::MAX);
        let apart = length(behind_ms.unsigned_abs());
        if self.is_ahead() {
            return format!(
                "its clock is at least {apart} ahead of the database's: the newest heartbeat ({owner}, {beat}) lies in the future"
            );
        }
        if *behind_ms <= interval.saturating_add(AGREE_MS) {
            let most = interval.saturating_add(AGREE_MS) / 1000;
            return format!(
                "it agrees with the database's clock to {most} s: the newest heartbeat ({owner}, {beat}) is {apart} old"
            );
        }
        format!(
            "the newest heartbeat ({owner}, {beat}) is {apart} behind the database's clock: nothing beats, or its clock is behind"
        )
    }
}

/// A length of time in its largest unit of which there are two or more.
#[must_use]
pub fn length(ms: u64) -> String {
    let seconds = ms.div_ceil(1000);
    let (unit, name) = match seconds {
        0..120 => (1, "s"),
        120..7_200 => (60, "min"),
        7_200..172_800 => (3_600, "h"),
        _ => (86_400, "days"),
    };
    format!("{} {name}", seconds / unit)
}

/// Compares the newest heartbeat with `now`, which must be the database's clock.
///
/// # Errors
/// What the server said.
pub async fn measure_skew(
    db: &mut Database,
    catalog: &Catalog,
    m: &Manifest,
    zone: Option<&Zone>,
    now: Timestamp,
) -> Result<Option<Skew>> {
    let Some((heartbeat, east_ms)) = m.heartbeats.iter().find_map(|h| Some((h, east_of_utc_ms(m, h, zone)?))) else {
        return Ok(None);
    };
    let entries = read_entries(db, catalog, m, heartbeat).await?;
    let beats = entries.iter().filter_map(|(owner, beat)| Some((beat.at?, owner, beat.interval_ms)));
    let newest = beats.max_by_key(|(at, ..)| *at);
    Ok(newest.and_then(|(at, owner, interval_ms)| {
        let at = at - east_ms;
        let address = owner.address.strip_prefix(&heartbeat.path_prefix).unwrap_or(&owner.address).to_owned();
        let owner = OwnerName { scope: owner.scope.clone(), address };
        let beat = utc(&at.to_string())?;
        Some(Skew { owner: owner.to_string(), beat, behind_ms: now.as_millisecond() - at, interval_ms })
    }))
}

/// How far a heartbeat lies east of UTC; none if it is not known to be on the
/// scheduler's clock (a database may stamp it), or that clock's zone is not known.
pub(super) fn east_of_utc_ms(m: &Manifest, h: &Heartbeat, zone: Option<&Zone>) -> Option<i64> {
    let name = format!("{}.{}", h.beat_role.as_ref().unwrap_or(&h.role), h.beat.as_ref()?);
    match h.unit {
        BeatUnit::EpochMs => Some(0),
        BeatUnit::Listed => None,
        BeatUnit::Datetime => {
            let by_scheduler = m.clock.as_ref().is_some_and(|c| c.utc || c.newest.contains(&name));
            zone.filter(|_| by_scheduler).map(|zone| zone.offset_minutes * 60_000)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_heartbeat_says_of_the_clocks() {
        let says = |behind_ms| Skew { owner: "n1".into(), beat: "then".into(), behind_ms, interval_ms: 5000 }.says();
        assert!(says(3200).contains("agrees with the database's clock to 7 s") && says(3200).contains("is 4 s old"));
        assert!(says(-1000).contains("agrees"));
        assert!(says(-60_000).contains("at least 60 s ahead") && says(-600_000).contains("at least 10 min ahead"));
        assert!(says(90_000).contains("90 s behind the database's clock: nothing beats, or"));
    }
}

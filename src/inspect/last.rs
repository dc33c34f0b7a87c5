//! When owners beat last: on the scheduler's clock, how long ago, and whether that is too long.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::beats::ReadTable;
use super::owners::Owners;
use super::skew::east_of_utc_ms;
use crate::manifest::Manifest;
use crate::plan::{OwnerName, Zone, bare_address};

/// The newest heartbeat of an owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastBeat {
    /// Milliseconds as its table holds them.
    at: i64,
    /// How far that lies east of UTC, where it is known.
    east_ms: Option<i64>,
    /// How long the owner may be silent before the scheduler gives it up, in milliseconds.
    expires_ms: u64,
}

/// The newest heartbeats by owner.
pub(super) type LastBeats = BTreeMap<OwnerName, LastBeat>;

/// The newest heartbeat of each owner in the tables that were read.
pub(super) fn last_beats(tables: &[ReadTable<'_>], m: &Manifest, zone: Option<&Zone>) -> LastBeats {
    let mut last = LastBeats::new();
    for table in tables {
        let east_ms = east_of_utc_ms(m, table.heartbeat, zone);
        for (owner, beat) in &table.entries {
            let Some(at) = beat.at else { continue };
            let beat = LastBeat { at, east_ms, expires_ms: beat.expires_ms };
            let known = last.entry(owner.clone()).or_insert(beat);
            if at > known.at {
                *known = beat;
            }
        }
    }
    last
}

/// Notes at each owner when it beat last.
pub(super) fn note_last_beats(owners: &mut [Owners], last: &LastBeats, zone: Option<&Zone>, now: Timestamp) {
    for owner in owners {
        let name = owner.name().map(|name| OwnerName { address: bare_address(&name.address).to_owned(), ..name });
        let Some(beat) = name.and_then(|name| last.get(&name)) else { continue };
        let silent_ms = beat.east_ms.and_then(|east| u64::try_from(now.as_millisecond() - (beat.at - east)).ok());
        owner.last_beat = beat.on_the_clock(zone);
        owner.silent_ms = silent_ms;
        owner.overdue = silent_ms.is_some_and(|ms| ms > beat.expires_ms);
    }
}

impl LastBeat {
    /// The moment on the scheduler's clock; in UTC where that clock's zone is not known.
    fn on_the_clock(&self, zone: Option<&Zone>) -> Option<String> {
        let (shift, mark) = match (self.east_ms, zone) {
            (Some(east), Some(zone)) => (zone.offset_minutes * 60_000 - east, ""),
            (Some(east), None) => (-east, "Z"),
            (None, _) => (0, ""),
        };
        let moment = Timestamp::from_millisecond(self.at + shift).ok()?;
        Some(format!("{}{mark}", moment.strftime("%Y-%m-%d %H:%M:%S")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_is_shown_on_the_schedulers_clock() {
        let zone = Zone { offset_minutes: 480, known_by: String::new() };
        let at = |east_ms, zone| LastBeat { at: 86_400_000, east_ms, expires_ms: 1 }.on_the_clock(zone).unwrap();
        // Milliseconds since the epoch; a time that is written on the clock itself; one on a clock nobody knows.
        assert_eq!(at(Some(0), Some(&zone)), "1970-01-02 08:00:00");
        assert_eq!(at(Some(28_800_000), Some(&zone)), "1970-01-02 00:00:00");
        assert_eq!(at(Some(0), None), "1970-01-02 00:00:00Z");
        assert_eq!(at(None, Some(&zone)), "1970-01-02 00:00:00");
    }
}

//! The scheduler's clock: how many minutes east of UTC it runs.
//!
//! Schedulers write times without zone, on their own clock. Two ways to measure:
//! a pair of columns written in one statement, one by the scheduler's clock and
//! one stamped by the database as an instant (right at any age); else the newest
//! row of a working scheduler. A row cannot lie in the future, so the second way
//! never gives a zone that is too far east, and a cut-off made from it never
//! takes in too much.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::catalog::Catalog;
use crate::db::Database;
use crate::manifest::{Clock, Manifest};
use crate::plan::Zone;
use crate::{Error, Result};

/// Zones lie on quarters of an hour.
const STEP_MINUTES: i64 = 15;
/// How far the pair of columns may lie apart for a transaction's sake.
const SLACK_SECONDS: i64 = 120;
/// How old the newest row may be to count as now.
const FRESH_SECONDS: i64 = 300;

/// Reads `--zone`: a name of the time zone database, or an offset.
///
/// # Errors
/// The text is neither.
pub fn parse_zone(text: &str, now: Timestamp) -> Result<Zone> {
    let bad =
        || Error::usage(format!("--zone: `{text}` is not a time zone")).hint("write Asia/Shanghai, UTC or +08:00");
    let zone = match offset(text) {
        Some(minutes) => {
            return Ok(Zone { offset_minutes: minutes, known_by: format!("--zone {text}") });
        }
        None => TimeZone::get(text).map_err(|_| bad())?,
    };
    let seconds = i64::from(zone.to_offset(now).seconds());
    Ok(Zone { offset_minutes: seconds / 60, known_by: format!("--zone {text}") })
}

fn offset(text: &str) -> Option<i64> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let digits = rest.chars().all(|c| c.is_ascii_digit() || c == ':');
    let total = hours * 60 + minutes;
    (digits && minutes < 60 && total <= 14 * 60).then_some(sign * total)
}

/// Measures the zone from the rows.
///
/// # Errors
/// What the server said.
pub async fn measure_zone(
    db: &mut Database,
    catalog: &Catalog,
    manifest: &Manifest,
    now: Timestamp,
) -> Result<Option<Zone>> {
    let Some(clock) = &manifest.clock else {
        return Ok(None);
    };
    if clock.utc {
        return Ok(Some(Zone { offset_minutes: 0, known_by: format!("{} writes UTC", manifest.title) }));
    }
    if let Some(zone) = from_pairs(db, catalog, manifest, clock).await? {
        return Ok(Some(zone));
    }
    from_newest(db, manifest, clock, now).await
}

async fn from_pairs(db: &mut Database, catalog: &Catalog, m: &Manifest, clock: &Clock) -> Result<Option<Zone>> {
    let Some((wall_role, instant_role)) = &clock.pair else { return Ok(None) };
    let (wall, instant) = (m.column(wall_role)?, m.column(instant_role)?);
    let role = m.role(wall_role.split('.').next().unwrap_or_default())?;
    let stamped = catalog.get(&role.table).and_then(|t| t.column(instant));
    if !stamped.is_some_and(|c| c.on_update && db.dialect.is_instant(&c.type_sql)) {
        return Ok(None);
    }
    let d = &db.dialect;
    let key = role.key.first().and_then(|k| role.columns.get(k)).map_or_else(|| d.ident(instant), |k| d.ident(k));
    let (wall, instant) = (d.ident(wall), d.ident(instant));
    let sql = format!(
        "SELECT CAST(TIMESTAMPDIFF(SECOND, '1970-01-01 00:00:00', {wall}) - UNIX_TIMESTAMP({instant}) AS CHAR) \
         FROM {} WHERE {wall} IS NOT NULL ORDER BY {key} DESC LIMIT 50",
        d.table(None, &role.table)
    );
    let rows = db.rows(&sql).await?;
    let offsets: Vec<i64> =
        rows.iter().filter_map(|r| r.first()?.as_deref()?.split('.').next()?.parse().ok()).collect();
    Ok(agreed(&offsets).map(|minutes| Zone {
        offset_minutes: minutes,
        known_by: format!("measured: {} beside {} in the newest rows", wall_role, instant_role),
    }))
}

/// The zone that nearly all pairs agree on; at least three.
fn agreed(offsets: &[i64]) -> Option<i64> {
    let rounded: Vec<i64> = offsets
        .iter()
        .filter_map(|seconds| {
            let step = STEP_MINUTES * 60;
            let nearest = (seconds + step / 2).div_euclid(step) * step;
            ((seconds - nearest).abs() <= SLACK_SECONDS).then_some(nearest / 60)
        })
        .filter(|minutes| (-12 * 60..=14 * 60).contains(minutes))
        .collect();
    let first = *rounded.first()?;
    let same = rounded.iter().filter(|m| **m == first).count();
    (same >= 3 && same * 10 >= offsets.len() * 8).then_some(first)
}

async fn from_newest(db: &mut Database, m: &Manifest, clock: &Clock, now: Timestamp) -> Result<Option<Zone>> {
    let Some((text, ahead)) = newest(db, m, clock, now).await? else { return Ok(None) };
    Ok(from_age(ahead).map(|minutes| Zone {
        offset_minutes: minutes,
        known_by: format!("measured: the newest row was written at {text} on the scheduler's clock, moments ago"),
    }))
}

/// The newest time that the scheduler wrote, and how many seconds it lies ahead of UTC.
async fn newest(db: &mut Database, m: &Manifest, clock: &Clock, now: Timestamp) -> Result<Option<(String, i64)>> {
    let mut newest: Option<String> = None;
    for name in clock.newest.iter().filter(|name| m.has(name)) {
        let role = m.role(name.split('.').next().unwrap_or_default())?;
        let column = db.dialect.ident(m.column(name)?);
        let table = db.dialect.table(db.schema.as_deref(), &role.table);
        let sql = format!("SELECT {} FROM {table}", db.dialect.as_text(&format!("MAX({column})")));
        newest = newest.max(db.value(&sql).await?);
    }
    let Some(text) = newest else { return Ok(None) };
    let Some(written) = text.parse().ok().and_then(|civil| TimeZone::UTC.to_timestamp(civil).ok()) else {
        return Ok(None);
    };
    let ahead = written.as_second() - now.as_second();
    Ok(Some((text, ahead)))
}

/// What speaks against a zone that was given: a row cannot be written in the future.
///
/// # Errors
/// What the server said.
pub async fn against_zone(db: &mut Database, m: &Manifest, zone: &Zone, now: Timestamp) -> Result<Option<String>> {
    let Some(clock) = &m.clock else { return Ok(None) };
    let Some((text, ahead)) = newest(db, m, clock, now).await? else { return Ok(None) };
    let future = ahead - zone.offset_minutes * 60;
    Ok((future > FRESH_SECONDS).then(|| {
        let (hours, minutes) = (future / 3600, future % 3600 / 60);
        format!(
            "{} cannot be right, or --now is in the past: the newest row was written at {text}, which would be {hours} h {minutes} min in the future; ages and times are wrong by as much",
            zone.known_by
        )
    }))
}

/// The zone in which a row that lies `ahead` seconds ahead of UTC is fresh.
fn from_age(ahead: i64) -> Option<i64> {
    let step = STEP_MINUTES * 60;
    let ceiling = (ahead - 60 + step - 1).div_euclid(step) * step;
    let fresh = ceiling - ahead <= FRESH_SECONDS;
    (fresh && (-12 * 3600..=14 * 3600).contains(&ceiling)).then_some(ceiling / 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones() {
        let now: Timestamp = "2026-07-01T00:00:00Z".parse().unwrap();
        for (text, minutes) in [("UTC", 0), ("+08:00", 480), ("-03:30", -210), ("Asia/Kolkata", 330), ("+5", 300)] {
            assert_eq!(parse_zone(text, now).unwrap().offset_minutes, minutes, "{text}");
        }
        for bad in ["", "+25:00", "+08:99", "Mars/Base", "+-8", "+14:59", "+08:+5"] {
            assert!(parse_zone(bad, now).is_err(), "{bad}");
        }
    }

    #[test]
    fn pairs_must_agree() {
        assert_eq!(agreed(&[28_800, 28_801, 28_799]), Some(480));
        assert_eq!(agreed(&[28_800, 28_801]), None);
        assert_eq!(agreed(&[28_800, 0, 3600, 0, 28_800]), None);
        assert_eq!(agreed(&[-19_800, -19_700, -19_801, -19_800]), Some(-330));
    }

    #[test]
    fn the_newest_row_never_gives_a_zone_too_far_east() {
        assert_eq!(from_age(8 * 3600 - 30), Some(480));
        // Idle for 52 minutes: no quarter is near enough.
        assert_eq!(from_age(8 * 3600 - 3120), None);
        for idle in 0..40_000 {
            assert!(from_age(8 * 3600 - idle).is_none_or(|minutes| minutes <= 480), "{idle}");
        }
        assert_eq!(from_age(-3 * 365 * 86_400), None);
        // A clock a few seconds ahead is no reason for another quarter.
        assert_eq!(from_age(8 * 3600 + 20), Some(480));
    }
}

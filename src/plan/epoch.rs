//! Times as milliseconds since the epoch, for people. Pure.

use jiff::Timestamp;

use super::Zone;

/// The number with its moment beside it: `1764454430123 (2026-11-29 22:13:50.123Z)`.
/// A number that is no moment (0, -1) and any other text stand alone.
#[must_use]
pub fn with_utc(text: &str) -> String {
    utc(text).map_or_else(|| text.to_owned(), |moment| format!("{text} ({moment})"))
}

/// The moment of a number of milliseconds, in UTC.
#[must_use]
pub fn utc(text: &str) -> Option<String> {
    let ms: i64 = text.parse().ok().filter(|ms| *ms > 0)?;
    let moment = Timestamp::from_millisecond(ms).ok()?;
    Some(moment.strftime("%Y-%m-%d %H:%M:%S%.fZ").to_string())
}

/// A time on the scheduler's clock as milliseconds since the epoch.
#[must_use]
pub fn epoch_ms(text: &str, zone: &Zone) -> Option<i64> {
    let civil: jiff::civil::DateTime = text.parse().ok()?;
    let ms = jiff::tz::TimeZone::UTC.to_timestamp(civil).ok()?.as_millisecond();
    Some(ms - zone.offset_minutes * 60_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        assert_eq!(with_utc("1764454430123"), "1764454430123 (2025-11-29 22:13:50.123Z)");
        assert_eq!(with_utc("1764454430000"), "1764454430000 (2025-11-29 22:13:50Z)");
        for alone in ["-1", "0", "", "x", "99999999999999999"] {
            assert_eq!(with_utc(alone), alone);
        }
        let zone = Zone { offset_minutes: 480, known_by: String::new() };
        assert_eq!(epoch_ms("1970-01-01 08:00:01", &zone), Some(1000));
    }
}

//! Days of a scheduler's clock.

use super::Dialect;
use crate::manifest::Engine;

impl Dialect {
    /// The first moment of a time's day.
    #[must_use]
    pub fn day(&self, time: &str) -> String {
        match self.engine {
            Engine::MySql => format!("CAST(CAST({time} AS DATE) AS DATETIME)"),
            Engine::PostgreSql => format!("date_trunc('day', {time})"),
            Engine::Sqlite => format!("strftime('%Y-%m-%d 00:00:00', {time})"),
        }
    }

    /// A time some days later, or earlier.
    #[must_use]
    pub fn days_later(&self, time: &str, days: i64) -> String {
        match self.engine {
            Engine::MySql => format!("({time} + INTERVAL {days} DAY)"),
            Engine::PostgreSql => format!("({time} + INTERVAL '{days} days')"),
            Engine::Sqlite => format!("strftime('%Y-%m-%d %H:%M:%S', {time}, '{days} days')"),
        }
    }
}

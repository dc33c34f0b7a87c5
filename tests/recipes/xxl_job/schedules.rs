//! Schedules that nobody can compute (xuxueli/xxl-job#2302), and next times that lie too far ahead.

use super::{Site, everywhere};
use crate::support::db::Server;
use crate::support::program::sealed;

/// Fixed rates, and whether `Integer.valueOf` refuses them.
const RATES: &[(&str, bool)] = &[
    ("30", false),
    ("+5", false),
    ("-5", false),
    ("0", false),
    ("007", false),
    ("2147483647", false),
    ("-2147483648", false),
    ("2147483648", true),
    ("-2147483649", true),
    ("99999999999999999999", true),
    ("", true),
    (" ", true),
    ("5 ", true),
    (" 5", true),
    ("-", true),
    ("+", true),
    ("1-2", true),
    ("--1", true),
    ("5-", true),
    ("3s", true),
    ("1.5", true),
];

/// Releases with fixed rates, in which one bad job stops all.
fn of_rates(what: &str) -> impl Iterator<Item = Site> {
    let servers = Server::available(what).into_iter().filter(|s| *s != Server::PostgreSql);
    servers.map(|server| Site::new(server, "2.4.1"))
}

fn job(site: &Site, id: &str, schedule: &[(&str, &str)]) {
    let on = [("id", id), ("group_id", "1"), ("name", "load"), ("state", "1")];
    site.add("job", &[&on[..], schedule].concat());
}

#[test]
fn what_java_reads_as_a_number_is_a_rate() {
    for site in of_rates("rates") {
        for (at, (rate, _)) in RATES.iter().enumerate() {
            job(&site, &(at + 10).to_string(), &[("schedule_type", "FIX_RATE"), ("schedule", rate)]);
        }
        let before = site.db.dump();
        site.plan("bad-schedules", "b", &[]).expect(0);
        let bad: Vec<String> =
            RATES.iter().enumerate().filter(|(_, (_, bad))| *bad).map(|(at, _)| (at + 10).to_string()).collect();
        assert_eq!(site.planned_of("job", "b"), bad, "{:?}", site.db.server);
        sealed("apply", &site.db, "b", &[]).expect(0);
        sealed("rollback", &site.db, "b", &[]).expect(0);
        crate::support::db::same(&site.db.dump(), &before, "rates");
    }
}

/// 2.4.2 has the tables of 2.4.1, and stops such a job by itself.
#[test]
fn the_release_decides_where_the_tables_do_not() {
    for (release, breaks) in [("2.3.1", true), ("2.4.1", true), ("2.4.2", false), ("2.5.0", false)] {
        let site = Site::new(Server::Sqlite, release);
        job(&site, "10", &[("schedule_type", "FIX_RATE"), ("schedule", "soon")]);
        let run = site.plan("bad-schedules", "b", &[]).expect(0);
        assert_eq!(site.db.path("b").exists(), breaks, "{release}: {}", run.out);
        assert_eq!(site.found("bad-schedule", &[]).len(), usize::from(breaks), "{release}");
    }
}

/// Midnight of 29 November 2026, the moment of the tests.
const NOW: i64 = 1_795_910_400_000;
const DAY: i64 = 86_400_000;

#[test]
fn a_next_time_far_ahead_is_shown() {
    for (server, release) in everywhere("far_ahead") {
        let site = Site::new(server, &release);
        if !site.m.has("job.next_time") {
            continue;
        }
        let at = |ms: i64| (NOW + ms).to_string();
        for (id, next) in [("10", at(33 * DAY)), ("11", at(31 * DAY)), ("12", at(-DAY)), ("13", "0".to_owned())] {
            let schedule = [("schedule_type", "CRON"), ("schedule", "0 0 5 * * ?"), ("next_time", next.as_str())];
            job(&site, id, &schedule);
        }
        let has_rates = site.m.has("job.schedule_type");
        if has_rates {
            for (id, next) in [("20", at(2 * DAY)), ("21", at(60_000)), ("22", at(-DAY))] {
                let schedule = [("schedule_type", "FIX_RATE"), ("schedule", "30"), ("next_time", next.as_str())];
                job(&site, id, &schedule);
            }
        }
        let rates: &[&str] = if has_rates { &["20"] } else { &[] };
        assert_eq!(site.found("next-time-far", &[]), [&["10"], rates].concat(), "{server:?} {release}");
        let nearer = site.found("next-time-far", &["--far-ahead-days", "30"]);
        assert_eq!(nearer, [&["10", "11"], rates].concat(), "{server:?} {release}");
        let report = site.inspect(&[]);
        let text = report["findings"].to_string();
        assert!(text.contains("(2027-01-01 00:00:00Z)"), "{release}: {text}");
    }
}

//! Two tables that no repair writes, but for one kind of row each; and days nobody counts.

use super::{OLD, Site, YOUNG, everywhere, here_and_there};
use crate::support::db::same;
use crate::support::program::sealed;

fn ticket(site: &Site, bundle: &str) -> String {
    std::fs::read_to_string(site.db.path(bundle).join("TICKET.md")).unwrap()
}

#[test]
fn silent_registrations_go_and_come_back() {
    for (server, release) in here_and_there("silent_registrations") {
        let site = Site::new(server, &release);
        for (id, host, beat) in [("1", "10.0.0.8", YOUNG), ("2", "10.0.0.7", OLD)] {
            site.add("registry", &[("id", id), ("app", host), ("address", &site.address(host)), ("beat", beat)]);
        }
        let before = site.db.dump();
        site.plan("stale-registry", "b", &["--older-than", "2h"]).expect(0);
        assert!(ticket(&site, "b").contains("by way of exception it writes the table"), "{release}");
        sealed("apply", &site.db, "b", &[]).expect(0);
        let table = site.db.server.dialect().ident(&site.m.roles["registry"].table);
        assert_eq!(
            site.db.value(&format!("SELECT MAX(id) FROM {table}")).as_deref(),
            Some("1"),
            "{server:?} {release}"
        );
        sealed("rollback", &site.db, "b", &[]).expect(0);
        same(&site.db.dump(), &before, &release);
    }
}

#[test]
fn the_missing_lock_comes_and_no_other() {
    for (server, release) in here_and_there("missing_lock") {
        let site = Site::new(server, &release);
        if !site.m.has("lock") {
            continue;
        }
        site.plan("schedule-lock", "b", &[]).expect(0);
        let said = ticket(&site, "b");
        assert!(
            said.contains("the table xxl_job_lock: only the one row") && said.contains("lock_name: the row must exist")
        );
        sealed("apply", &site.db, "b", &[]).expect(0);
        assert_eq!(site.db.value("SELECT lock_name FROM xxl_job_lock").as_deref(), Some("schedule_lock"), "{release}");
        let again = site.plan("schedule-lock", "again", &[]).expect(0);
        assert!(again.out.contains("Nothing to repair"), "{}", again.out);
    }
}

#[test]
fn days_are_counted_as_the_admin_counts_them() {
    for (server, release) in everywhere("days_are_counted") {
        let site = Site::new(server, &release);
        if !site.m.has("report") {
            continue;
        }
        let day = |d: &str| format!("2026-11-{d} 00:00:00");
        let counts = [("running", "7"), ("succeeded", "0"), ("failed", "0")];
        for (id, d) in [("1", "20"), ("2", "27"), ("3", "10")] {
            site.add("report", &[&[("id", id), ("day", &day(d))][..], &counts].concat());
        }
        let codes =
            [("200", "0"), ("0", "0"), ("200", "200"), ("500", "0"), ("200", "777"), ("200", "500"), ("200", "502")];
        for (at, pair) in codes.into_iter().enumerate() {
            for (base, d) in [(100, "20"), (200, "27"), (300, "10")] {
                // Of the tenth fewer runs are left than were counted.
                if d != "10" || at < 3 {
                    site.log(&(base + at).to_string(), pair, "10.0.0.9:9999", &format!("2026-11-{d} 23:59:59"));
                }
            }
        }
        site.plan("day-reports", "b", &[]).expect(0);
        sealed("apply", &site.db, "b", &[]).expect(0);
        let sql = "SELECT running_count, suc_count, fail_count FROM xxl_job_log_report ORDER BY id";
        let rows = site.db.rows(sql).into_iter().map(|r| r.into_iter().flatten().collect::<Vec<_>>().join(" "));
        assert_eq!(rows.collect::<Vec<_>>(), ["2 1 4", "7 0 0", "7 0 0"], "{server:?} {release}");
    }
}

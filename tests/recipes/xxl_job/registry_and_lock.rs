//! Two tables that no repair writes, but for one kind of row each; and days nobody counts.

use super::{OLD, Site, YOUNG, everywhere, here_and_there};
use crate::support::db::same;
use crate::support::program::{on_bundle, sealed};

#[test]
fn silent_registrations_go_and_come_back() {
    for (server, release) in here_and_there("silent_registrations") {
        let site = Site::new(server, &release);
        for (id, host, beat) in [("1", "10.0.0.8", YOUNG), ("2", "10.0.0.7", OLD)] {
            site.add("registry", &[("id", id), ("app", host), ("address", &site.address(host)), ("beat", beat)]);
        }
        let before = site.db.dump();
        site.plan("stale-registry", "b", &["--older-than", "2h"]).expect(0);
        assert!(site.ticket("b").contains("by way of exception it writes the table"), "{release}");
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

/// Where a unique key forbids it, a row that came back under a new id is seen before anything is tried.
#[test]
fn a_registration_that_came_back_ends_its_undo() {
    for (server, release) in here_and_there("registration_came_back") {
        let site = Site::new(server, &release);
        let table = site.db.server.dialect().ident(&site.m.roles["registry"].table);
        let unique = site.m.tables[&site.m.roles["registry"].table].unique_mysql.first();
        if let Some(columns) = unique {
            site.db.exec(&format!("CREATE UNIQUE INDEX i_g_k_v ON {table} ({})", columns.join(", ")));
        }
        let again = |id: &str| {
            let host = site.address("10.0.0.7");
            site.add("registry", &[("id", id), ("app", "a"), ("address", &host), ("beat", OLD)]);
        };
        site.add("registry", &[("id", "1"), ("app", "a"), ("address", &site.address("10.0.0.8")), ("beat", YOUNG)]);
        again("2");
        site.plan("stale-registry", "b", &["--older-than", "2h"]).expect(0);
        sealed("apply", &site.db, "b", &[]).expect(0);
        on_bundle("verify", &site.db, "b").expect(0);
        again("7");
        if unique.is_some() {
            let verified = on_bundle("verify", &site.db, "b").expect(1);
            assert!(verified.out.contains("came-back"), "{server:?} {release}: {}", verified.out);
            sealed("rollback", &site.db, "b", &[]).expect(4);
        } else {
            on_bundle("verify", &site.db, "b").expect(0);
        }
    }
}

/// The text of a typed address list, and whether it names 10.0.0.8:9999 in another form than it is registered in.
const TYPED: &[(&str, bool)] = &[
    ("http://10.0.0.8:9999", true),
    ("10.0.0.8:9999/", true),
    ("http://10.0.0.7:9999/, http://10.0.0.8:9999", true),
    ("http://10.0.0.8:99991", false),
    ("http://110.0.0.8:9999", false),
    ("http://10.0.0.8:9999/", false),
    ("http://10.0.0.7:9999/,http://10.0.0.8:9999/", false),
    ("http://10_0_0_8:9999", false),
];

#[test]
fn typed_addresses_are_compared_whole() {
    for (server, release) in here_and_there("typed_addresses") {
        let site = Site::new(server, &release);
        if !site.m.behaviour["closes_unregistered_runs"].as_bool().unwrap() {
            continue;
        }
        site.add("registry", &[("id", "1"), ("app", "a"), ("address", &site.address("10.0.0.8")), ("beat", YOUNG)]);
        for (at, (typed, _)) in TYPED.iter().enumerate() {
            let id = (at + 10).to_string();
            site.add("group", &[("id", &id), ("app", "app"), ("address_type", "1"), ("addresses", typed)]);
        }
        let expected =
            TYPED.iter().enumerate().filter(|(_, (_, differs))| *differs).map(|(at, _)| (at + 10).to_string());
        assert_eq!(site.found("typed-address-differs", &[]), expected.collect::<Vec<_>>(), "{server:?} {release}");
    }
}

/// What an alarm that nobody finished counts as is the operator's choice.
#[test]
fn a_lock_left_is_released_as_the_operator_says() {
    for (server, release) in here_and_there("alarm_counts_as") {
        let site = Site::new(server, &release);
        if !site.m.has("log.alarm_status") {
            continue;
        }
        let codes = [("trigger_state", "200"), ("state", "500"), ("alarm_status", "-1"), ("start_time", OLD)];
        site.add("log", &[&codes[..], &[("id", "1"), ("group_id", "1"), ("job_id", "1")]].concat());
        let ways: [(&[&str], &str); 4] = [
            (&[], "1"),
            (&["--alarm-counts-as", "not-needed"], "1"),
            (&["--alarm-counts-as", "failed"], "3"),
            (&["--alarm-counts-as", "failed", "--alarm-and-retry"], "0"),
        ];
        for (at, (said, status)) in ways.into_iter().enumerate() {
            let bundle = format!("b{at}");
            site.plan("alarm-locks", &bundle, &[&["--older-than", "1h"], said].concat()).expect(0);
            sealed("apply", &site.db, &bundle, &[]).expect(0);
            assert_eq!(site.log_value("1", "alarm_status"), status, "{release} {said:?}");
            sealed("rollback", &site.db, &bundle, &[]).expect(0);
        }
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
        let said = site.ticket("b");
        assert!(
            said.contains("the table xxl_job_lock: only the one row") && said.contains("lock_name: the row must exist")
        );
        sealed("apply", &site.db, "b", &[]).expect(0);
        assert_eq!(site.db.value("SELECT lock_name FROM xxl_job_lock").as_deref(), Some("schedule_lock"), "{release}");
        // The row is there to stay: nobody takes it, and its undo does not end.
        assert!(!said.contains("No undo once") && !said.contains("queues"), "{release}: {said}");
        assert!(!said.contains("--partial") && said.contains("cannot be rolled back in part"), "{release}: {said}");
        site.db.exec("DELETE FROM xxl_job_lock");
        let gone = on_bundle("verify", &site.db, "b").expect(1);
        assert!(gone.out.contains("missing") && !gone.out.contains("consumed"), "{release}: {}", gone.out);
        let refused = sealed("rollback", &site.db, "b", &[]).expect(4);
        assert!(
            refused.err.contains("1 row moved") && !refused.err.contains("--partial"),
            "{release}: {}",
            refused.err
        );
        site.db.exec("INSERT INTO xxl_job_lock (lock_name) VALUES ('schedule_lock')");
        on_bundle("verify", &site.db, "b").expect(0);
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

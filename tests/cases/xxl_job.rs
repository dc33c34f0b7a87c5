//! XXL-JOB: runs without a result, closed by hand too widely, too loudly, or not at all.

use super::site::{Site, found, shares};
use crate::support::bundle::runner;
use crate::support::db::{Server, same};

const RELEASES: [&str; 6] = ["1.8.2", "2.0.1", "2.1.0", "2.3.1", "2.4.2", "3.4.2"];

/// Upstream's tables are made for MySQL only.
fn everywhere(what: &str) -> Vec<(Server, &'static str)> {
    let share = |server| -> &'static [&'static str] {
        match server {
            Server::Sqlite => &RELEASES,
            Server::MariaDb => &["2.4.2"],
            Server::MySql => &["3.4.2"],
            Server::PostgreSql => &[],
        }
    };
    shares(what, &RELEASES, share)
}

/// Nine hours and five minutes before the moment of the plan.
const OLD: &str = "2026-11-28 15:00:00";
const YOUNG: &str = "2026-11-28 23:55:00";
const AGE: [&str; 2] = ["--older-than", "1h"];

/// Group 50 registers itself, 51 has a typed address.
fn groups(site: &Site) {
    for (group, kind) in [("50", "0"), ("51", "1")] {
        site.add("group", &[("id", Some(group)), ("app", Some("app")), ("address_type", Some(kind))]);
        site.add(
            "job",
            &[
                ("id", Some(group)),
                ("group_id", Some(group)),
                ("name", Some("load")),
                ("schedule", Some("0 0 5 * * ?")),
            ],
        );
    }
}

/// A log row of a group's job.
fn log(
    site: &Site,
    id: &str,
    group: &str,
    (trigger, result): (&str, &str),
    address: Option<&str>,
    start: &str,
    retries: &str,
) {
    let codes = [("trigger_state", Some(trigger)), ("state", Some(result))];
    let of = [("id", Some(id)), ("group_id", Some(group)), ("job_id", Some(group)), ("retries", Some(retries))];
    site.add(
        "log",
        &[&codes[..], &of, &[("host", address), ("start_time", Some(start)), ("alarm_status", Some("0"))]].concat(),
    );
}

/// An address as executors of the release register it.
fn address(site: &Site, host: &str) -> String {
    let part = |name: &str| site.m.behaviour[name].as_str().unwrap().to_owned();
    format!("{}{host}:9999{}", part("address_prefix"), part("address_suffix"))
}

fn registered(site: &Site, host: &str) {
    let address = address(site, host);
    let row =
        [("id", Some("1")), ("kind", Some("EXECUTOR")), ("app", Some("app")), ("address", Some(address.as_str()))];
    site.add("registry", &[&row[..], &[("beat", Some("2026-11-28 23:59:50"))]].concat());
}

fn of(site: &Site, column: &str, id: &str) -> Option<String> {
    site.values(&format!("log.{column}"))[id].clone()
}

/// xuxueli/xxl-job#957, #638, #2167: a failure with alarm_status 0 is alarmed and run again within seconds.
#[test]
fn a_dead_executors_runs_are_closed_in_silence_and_no_other() {
    for (server, release) in everywhere("cases::xxl_job") {
        let site = Site::new(server, "xxl-job", release);
        groups(&site);
        registered(&site, "10.0.0.9");
        let (dead, live) = (address(&site, "10.0.0.8"), address(&site, "10.0.0.9"));
        log(&site, "101", "50", ("200", "0"), Some(&dead), OLD, "2");
        log(&site, "102", "50", ("200", "0"), Some(&dead), OLD, "0");
        log(&site, "103", "50", ("200", "0"), Some(&live), OLD, "0");
        let before = site.db.dump();
        site.refuses("lost-runs", &[], "not-registered");
        site.plan("lost-runs", "b", &["--dead-owner", "10.0.0.8:9999"]).expect(0);
        assert_eq!(site.steps("b"), [("log".to_owned(), 2)]);
        site.apply("b");
        for id in ["101", "102"] {
            assert_eq!(of(&site, "state", id).as_deref(), Some("500"));
            assert!(of(&site, "end_time", id).is_some() && of(&site, "message", id).is_some());
            if site.m.has("log.alarm_status") {
                assert_eq!(of(&site, "alarm_status", id).as_deref(), Some("1"), "{release}: nobody is alarmed");
            }
        }
        assert_eq!(of(&site, "state", "103").as_deref(), Some("0"));
        site.undo("b", &before);
    }
}

/// xuxueli/xxl-job#2293, #1463: no answer to the trigger was stored; it may have run or not.
#[test]
fn a_trigger_without_an_answer_is_no_lost_run() {
    for (server, release) in everywhere("cases::xxl_job") {
        let site = Site::new(server, "xxl-job", release);
        groups(&site);
        log(&site, "1", "50", ("0", "0"), None, OLD, "2");
        log(&site, "2", "50", ("200", "0"), Some(&address(&site, "10.0.0.8")), OLD, "0");
        log(&site, "3", "50", ("0", "0"), None, YOUNG, "0");
        let seen = site.inspect(&AGE);
        assert_eq!(found(&seen, "unanswered-trigger"), 1, "{release}: {seen}");
        let before = site.db.dump();
        site.plan("unanswered-triggers", "b", &AGE).expect(0);
        assert_eq!(site.steps("b"), [("log".to_owned(), 1)]);
        site.apply("b");
        assert_eq!(of(&site, "trigger_state", "1").as_deref(), Some("500"));
        assert_eq!(of(&site, "state", "1").as_deref(), Some("0"), "{release}: no result is made up");
        if site.m.has("log.alarm_status") {
            assert_eq!(of(&site, "alarm_status", "1").as_deref(), Some("1"), "{release}: it is not run again");
        }
        assert_eq!(of(&site, "trigger_state", "3").as_deref(), Some("0"));
        site.undo("b", &before);
    }
}

/// A bundle shows old values in comments; a line break in one must end no comment.
#[test]
fn a_text_of_the_log_is_no_command_to_the_client() {
    for (server, release) in everywhere("cases::xxl_job") {
        let site = Site::new(server, "xxl-job", release);
        groups(&site);
        log(&site, "1", "50", ("0", "0"), None, OLD, "0");
        let made = site.db.path("made");
        let text =
            format!("x\n.shell touch {0}\n\\! touch {0}\nDELETE FROM nothing;\r\nDELIMITER //\n", made.display());
        let d = server.dialect();
        let (table, column) = (&site.m.roles["log"].table, site.m.column("log.trigger_message").unwrap());
        site.db.exec(&format!("UPDATE {} SET {} = {}", d.ident(table), d.ident(column), d.text_literal(&text)));
        let before = site.db.dump();
        site.plan("unanswered-triggers", "b", &AGE).expect(0);
        for what in ["apply", "rollback"] {
            let done = site.db.stock(&runner(&site.db, "b", what));
            assert!(done.status.success(), "{release}: {}", String::from_utf8_lossy(&done.stderr));
            assert!(!made.exists(), "{server:?} {release}: the text was run");
        }
        same(&site.db.dump(), &before, release);
    }
}

/// xuxueli/xxl-job#2841: an executor that came back under its address hides what it lost, and a typed
/// address is never in the registry.
#[test]
fn the_registry_neither_clears_nor_condemns() {
    for (server, release) in everywhere("cases::xxl_job") {
        let site = Site::new(server, "xxl-job", release);
        groups(&site);
        registered(&site, "10.0.0.8");
        let back = address(&site, "10.0.0.8");
        log(&site, "1", "50", ("200", "0"), Some(&back), OLD, "0");
        log(&site, "2", "50", ("200", "0"), Some(&back), YOUNG, "0");
        log(&site, "3", "51", ("200", "0"), Some("http://10.0.0.30:9999"), OLD, "0");
        // The registry alone closes neither.
        for reason in ["(registered)", "(manual-address)"] {
            site.refuses("lost-runs", &[&AGE[..], &["--not-registered"]].concat(), reason);
        }
        // The moment of the restart does, for what began before it.
        site.plan("lost-runs", "b", &["--dead-owner", "10.0.0.8:9999@2026-11-28T23:50:00"]).expect(0);
        site.apply("b");
        let states: Vec<_> = ["1", "2", "3"].map(|id| of(&site, "state", id).unwrap()).into();
        assert_eq!(states, ["500", "0", "0"], "{release}");
    }
}

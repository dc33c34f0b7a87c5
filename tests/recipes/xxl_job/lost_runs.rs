//! Runs whose executor is gone: what proves it, and how silently they are closed
//! (xuxueli/xxl-job#957, #638, #2841, #2167, #2293, #1463).

use super::{OLD, Site, YOUNG, everywhere, here_and_there};
use crate::support::db::{Server, same};
use crate::support::program::{flowmend, on_bundle, sealed};

/// What the admin's scan for failures takes, as upstream writes it.
fn alarmed(site: &Site) -> u64 {
    let (table, text) = (site.db.server.dialect().ident(&site.m.roles["log"].table), site.m.states["log.state"].text);
    let quote = |code: &str| if text { format!("'{code}'") } else { code.to_owned() };
    let (zero, done) = (quote("0"), quote("200"));
    let scan = format!(
        "SELECT COUNT(*) FROM {table} WHERE NOT ((trigger_code IN ({zero}, {done}) AND handle_code = {zero}) OR handle_code = {done}) AND alarm_status = 0"
    );
    site.db.value(&scan).unwrap().parse().unwrap()
}

#[test]
fn closed_in_one_update_with_the_alarm() {
    for (server, release) in everywhere("closed_in_one_update") {
        let site = Site::new(server, &release);
        let (dead, alive) = (site.address("10.0.0.9"), site.address("10.0.0.8"));
        site.add("registry", &[("id", "1"), ("app", "app"), ("address", &alive), ("beat", YOUNG)]);
        site.log("101", ("200", "0"), &dead, OLD);
        site.log("102", ("200", "0"), &alive, OLD);
        site.log("103", ("200", "0"), &dead, YOUNG);
        let before = site.db.dump();
        site.plan("lost-runs", "b", &["--dead-owner", "10.0.0.9:9999", "--older-than", "2h", "--note", "CHG-17"])
            .expect(0);
        assert_eq!(site.planned("b"), ["101"], "{server:?} {release}");
        sealed("apply", &site.db, "b", &[]).expect(0);
        assert_eq!(site.log_value("101", "state"), "500", "{release}");
        assert!(site.log_value("101", "message").contains("CHG-17"), "{release}");
        assert_ne!(site.log_value("101", "end_time"), "NULL", "{release}");
        assert_eq!(site.log_value("102", "state"), "0", "{release}");
        let ticket = site.ticket("b");
        // What the run becomes is told before what becomes of its alarm.
        let told = ["handle_code: 1 row → 500 FAIL; alarm_status: 1 row → 1 NO_ALARM", "1 row → 500 FAIL"];
        let change = ["handle_code 0 RUNNING → 500 FAIL, alarm_status 0 DEFAULT → 1 NO_ALARM", "0 RUNNING → 500 FAIL"];
        let kind = usize::from(!site.m.has("log.alarm_status"));
        let (told, change) = (format!("close lost runs ({})", told[kind]), format!("run 101: {}", change[kind]));
        assert!(ticket.contains(&told) && ticket.contains(&change), "{release}: {ticket}");
        if site.m.has("log.alarm_status") {
            assert_eq!((site.log_value("101", "alarm_status").as_str(), alarmed(&site)), ("1", 0), "{release}");
            let step = std::fs::read_to_string(site.db.path("b").join("03_log.sql")).unwrap();
            let update = &step[step.find("UPDATE").unwrap()..];
            let update = &update[..update.find(";\n").unwrap()];
            assert!(update.contains("handle_code") && update.contains("alarm_status"), "{release}: {update}");
        } else {
            assert!(ticket.contains("list in the admin's memory"), "{release}: {ticket}");
        }
        on_bundle("verify", &site.db, "b").expect(0);
        sealed("rollback", &site.db, "b", &[]).expect(0);
        same(&site.db.dump(), &before, &release);
    }
}

#[test]
fn alarms_and_retries_come_only_by_name() {
    for (server, release) in here_and_there("alarms_by_name") {
        let site = Site::new(server, &release);
        site.log("101", ("200", "0"), &site.address("10.0.0.9"), OLD);
        site.plan("lost-runs", "b", &["--dead-owner", "10.0.0.9:9999", "--alarm-and-retry"]).expect(0);
        sealed("apply", &site.db, "b", &[]).expect(0);
        assert_eq!(site.log_value("101", "state"), "500", "{release}");
        if site.m.has("log.alarm_status") {
            assert_eq!((site.log_value("101", "alarm_status").as_str(), alarmed(&site)), ("0", 1), "{release}");
        }
    }
}

#[test]
fn a_trigger_without_an_answer_keeps_its_result_open() {
    for (server, release) in everywhere("unanswered") {
        let site = Site::new(server, &release);
        site.log("1", ("0", "0"), "", OLD);
        site.log("2", ("200", "0"), &site.address("10.0.0.9"), OLD);
        site.log("3", ("0", "0"), "", YOUNG);
        site.log("4", ("500", "0"), "", OLD);
        site.plan("unanswered-triggers", "b", &["--older-than", "10m"]).expect(0);
        assert_eq!(site.planned("b"), ["1"], "{server:?} {release}");
        assert!(site.ticket("b").contains("trigger_code"), "{release}: {}", site.ticket("b"));
        assert!(site.ticket("b").contains("0 NOT_TRIGGERED → 500 FAIL"), "{release}: {}", site.ticket("b"));
        sealed("apply", &site.db, "b", &[]).expect(0);
        assert_eq!((site.log_value("1", "trigger_state"), site.log_value("1", "state")), ("500".into(), "0".into()));
        if site.m.has("log.alarm_status") {
            assert_eq!(site.log_value("1", "alarm_status"), "1", "{release}");
        }
    }
}

#[test]
fn the_registry_proves_neither_life_nor_death() {
    for (server, release) in here_and_there("registry_proves_nothing") {
        let site = Site::new(server, &release);
        let back = site.address("10.0.0.8");
        site.add("registry", &[("id", "1"), ("app", "app"), ("address", &back), ("beat", YOUNG)]);
        site.log("1", ("200", "0"), &back, OLD);
        site.log("2", ("200", "0"), &back, YOUNG);
        site.add(
            "log",
            &[
                ("id", "3"),
                ("group_id", "2"),
                ("job_id", "2"),
                ("host", "http://10.0.0.30:9999"),
                ("trigger_state", "200"),
                ("state", "0"),
                ("start_time", OLD),
            ],
        );
        let left = site.plan("lost-runs", "none", &["--older-than", "2h", "--not-registered"]).expect(4);
        let said = format!("{}{}", left.out, left.err);
        for reason in ["the registry proves neither that the run lives nor that it is dead", "was typed in"] {
            assert!(
                said.replace("\n", " ").split_whitespace().collect::<Vec<_>>().join(" ").contains(reason),
                "{release}: {said}"
            );
        }
        site.plan("lost-runs", "b", &["--dead-owner", "10.0.0.8:9999@2026-11-28T20:00:00"]).expect(0);
        assert_eq!(site.planned("b"), ["1"], "{server:?} {release}");
        let ticket = std::fs::read_to_string(site.db.path("b").join("TICKET.md")).unwrap();
        for limit in ["under the same address", "A typed address"] {
            assert!(ticket.contains(limit), "{release}: {limit}");
        }
    }
}

/// A log row, its address, and the claims that speak of it.
const WRITTEN: &[(&str, &str, bool, bool)] = &[
    ("1", "exec-a:9999", true, true),
    ("2", "http://exec-a:9999/", true, true),
    ("3", "http://exec-a:9999", true, true),
    ("4", "https://exec-a:9999/", true, true),
    ("5", "https://exec-a:9999", true, true),
    ("6", "http://exec-a:99990/", false, true),
    ("7", "http://EXEC-A:9999/", false, false),
    ("8", "http://exec-a2:9999/", false, false),
    ("9", "http://my-exec-a:9999/", false, false),
    ("10", "http://exec-a/", false, true),
    ("11", "http://exec-b:9999/?http://exec-a:9999/", false, false),
];

#[test]
fn addresses_are_compared_byte_by_byte_however_they_are_wrapped() {
    for (server, release) in here_and_there("wrapped_addresses") {
        let site = Site::new(server, &release);
        for (id, address, _, _) in WRITTEN {
            site.log(id, ("200", "0"), address, OLD);
        }
        let ids = |keep: fn(&(&str, &str, bool, bool)) -> bool| -> Vec<String> {
            WRITTEN.iter().filter(|w| keep(w)).map(|(id, ..)| (*id).to_owned()).collect()
        };
        site.plan("lost-runs", "port", &["--dead-owner", "exec-a:9999"]).expect(0);
        assert_eq!(site.planned("port"), ids(|w| w.2), "{server:?} {release}");
        site.plan("lost-runs", "host", &["--dead-owner", "exec-a"]).expect(0);
        assert_eq!(site.planned("host"), ids(|w| w.3), "{server:?} {release}");
    }
}

/// The manifests with a registry that beats more than once a second, watched for two seconds.
fn quick_beats() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("xxl-job");
    std::fs::create_dir(&to).unwrap();
    let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("enums/xxl-job/1.8.0.toml");
    let text = std::fs::read_to_string(from).unwrap();
    let quick =
        text.replace("interval_ms = 30000", "interval_ms = 800").replace("expires_ms = 90000", "expires_ms = 60000");
    assert_ne!(quick, text);
    std::fs::write(to.join("1.8.0.toml"), quick).unwrap();
    dir
}

#[test]
fn who_is_not_in_the_registry_is_not_proved_dead_by_it() {
    let site = Site::new(Server::Sqlite, "3.4.2");
    for (id, host, beat) in [("1", "10.0.0.8", YOUNG), ("2", "10.0.0.7", OLD)] {
        site.add("registry", &[("id", id), ("app", host), ("address", &site.address(host)), ("beat", beat)]);
    }
    for (id, host) in [("1", "10.0.0.8"), ("2", "10.0.0.7"), ("3", "10.0.0.6")] {
        site.log(id, ("200", "0"), &site.address(host), OLD);
    }
    let (url, stop) = (site.db.url.clone(), std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)));
    let stopped = std::sync::Arc::clone(&stop);
    let beating = std::thread::spawn(move || {
        let mut second = 0;
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            second = (second + 1) % 60;
            let sql = format!("UPDATE xxl_job_registry SET update_time = '2026-11-28 23:59:{second:02}' WHERE id = 1");
            crate::support::db::exec_on(&url, &sql);
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    });
    let enums = quick_beats();
    let args = ["--older-than", "2h", "--dead-owner", "heartbeat", "--enums", enums.path().to_str().unwrap()];
    let planned = site.plan("lost-runs", "b", &args);
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    beating.join().unwrap();
    let planned = planned.expect(0);
    // Why the program stands still is said at once, for how long, too.
    assert!(planned.err.contains("watching the heartbeats for 3 s"), "{}", planned.err);
    // 10.0.0.8 beats, 10.0.0.7 fell silent, and of 10.0.0.6 nobody knows whether it ever registered.
    assert_eq!(site.planned("b"), ["2"]);
    let run = flowmend([&["inspect", "--url", &site.db.url, "--format", "json"][..], &site.args(&[])].concat());
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let states: Vec<&str> = report["owners"].as_array().unwrap().iter().map(|o| o["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["unknown", "listed", "listed"]);
}

/// What the operator names is never passed over in silence: each other kind of run has its reason.
#[test]
fn a_named_run_of_another_kind_is_told_why() {
    for (server, release) in here_and_there("named_runs") {
        let site = Site::new(server, &release);
        let dead = site.address("10.0.0.9");
        for (id, codes) in [("1", ("200", "0")), ("2", ("0", "0")), ("3", ("200", "200")), ("4", ("200", "500"))] {
            site.log(id, codes, &dead, OLD);
        }
        site.log("5", ("500", "0"), &dead, OLD);
        for flag in ["--ended", "--succeeded"] {
            let run = site.plan("lost-runs", flag, &[flag, "1,2,3,4,5"]).expect(0);
            assert_eq!(site.planned(flag), ["1"], "{server:?} {release}");
            for reason in ["1 run (named-unanswered): 2", "3 runs (named-with-result): 3, 4, 5"] {
                assert!(run.out.contains(reason), "{server:?} {release}: no `{reason}` in {}", run.out);
            }
        }
        // Nobody named them, nobody hears of them.
        let run = site.plan("lost-runs", "quiet", &["--ended", "1"]).expect(0);
        assert!(!run.out.contains("named-"), "{release}: {}", run.out);
        let run = site.plan("lost-runs", "elsewhere", &["--ended", "1", "--instance", "4"]).expect(0);
        assert!(run.out.contains("1 run (named-out-of-scope): 1"), "{release}: {}", run.out);
    }
}

/// A run cannot have failed and succeeded.
#[test]
fn one_run_is_not_said_to_have_ended_both_ways() {
    let site = Site::new(Server::Sqlite, "3.4.2");
    for id in ["1", "2", "12"] {
        site.log(id, ("200", "0"), &site.address("10.0.0.9"), OLD);
    }
    for (ended, succeeded) in [("2", "2"), ("1,2", "2"), ("1", "12, 01")] {
        let args = ["--ended", ended, "--succeeded", succeeded];
        for recipe in ["lost-runs", "--all"] {
            let run = site.plan(recipe, "none", &args).expect(2);
            assert!(run.err.contains("both name") && run.err.contains("one of the two"), "{args:?}: {}", run.err);
        }
        let run = flowmend([&["inspect", "--url", &site.db.url][..], &site.args(&args)].concat()).expect(2);
        assert!(run.err.contains("both name"), "{args:?}: {}", run.err);
    }
    site.plan("lost-runs", "b", &["--ended", "1,2", "--succeeded", "12"]).expect(0);
}

/// What the words of the operator lack is said before the program stands still for a minute.
#[test]
fn a_missing_age_is_told_before_the_wait() {
    let site = Site::new(Server::Sqlite, "3.4.2");
    let (dead, gone) = (site.address("10.0.0.9"), site.address("10.0.0.10"));
    site.add("registry", &[("id", "1"), ("app", "app"), ("address", &dead), ("beat", OLD)]);
    site.log("1", ("200", "0"), &dead, OLD);
    site.log("2", ("200", "0"), &gone, OLD);
    let start = std::time::Instant::now();
    for owner in ["10.0.0.9", "10.0.0.9:9999", "heartbeat"] {
        for recipe in ["lost-runs", "--all"] {
            let run = site.plan(recipe, "none", &["--dead-owner", owner]).expect(2);
            for part in ["--older-than is needed", "--dead-owner HOST:PORT@TIME"] {
                assert!(run.err.contains(part), "{recipe} {owner}: no `{part}` in {}", run.err);
            }
        }
    }
    // An owner that is not listed, or a time, needs no age.
    site.plan("lost-runs", "b1", &["--dead-owner", "10.0.0.10"]).expect(0);
    site.plan("lost-runs", "b2", &["--dead-owner", "10.0.0.9:9999@2026-11-28T13:00:00"]).expect(0);
    assert!(start.elapsed().as_secs() < 30, "nothing was watched");
}

/// A run that is over runs nowhere, although the plan writes its row.
#[test]
fn hosts_are_those_of_runs_that_have_not_ended() {
    for (server, release) in here_and_there("hosts_of_open_runs") {
        let site = Site::new(server, &release);
        if !site.m.has("log.alarm_status") {
            continue;
        }
        let (dead, other) = (site.address("10.0.0.9"), site.address("10.0.0.10"));
        site.log("1", ("200", "0"), &dead, OLD);
        for (id, host) in [("2", &dead), ("3", &other)] {
            site.log(id, ("200", "500"), host, OLD);
            let table = site.db.server.dialect().ident(&site.m.roles["log"].table);
            site.db.exec(&format!("UPDATE {table} SET alarm_status = -1 WHERE id = {id}"));
        }
        site.plan("--all", "b", &["--dead-owner", "10.0.0.9", "--older-than", "1h"]).expect(0);
        let mut planned = site.planned("b");
        planned.sort();
        assert_eq!(planned, ["1", "2", "3"], "{server:?} {release}");
        let ticket = site.ticket("b");
        let hosts = ticket.split_once("Processes may still run").unwrap().1.lines().skip(1);
        let hosts: Vec<&str> = hosts.take_while(|l| !l.is_empty()).collect();
        assert_eq!(hosts, [format!("- {dead}: 1 run")], "{server:?} {release}");
    }
}

/// A claim with a time that covers the run no more is told so, and not asked for a proof that was given.
#[test]
fn a_time_that_is_too_early_is_named() {
    let site = Site::new(Server::Sqlite, "2.4.2");
    let dead = site.address("10.0.0.9");
    site.log("101", ("200", "0"), &dead, OLD);
    let run = site.plan("lost-runs", "b", &["--older-than", "2h", "--dead-owner", "10.0.0.9:9999@2020-01-01T00:00:00"]);
    let run = run.expect(4);
    assert!(run.out.contains("1 run (owner-with-time): 101"), "{}", run.out);
    assert!(run.err.contains("does not cover them") && run.err.contains("ends in Z"), "{}", run.err);
}

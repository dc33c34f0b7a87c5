//! What is shown and never written: late pokes, doubled runs, lost callbacks, cancelled backfills, strange states.

use super::{FRESH, MOMENT, Night, OLD, inspect, plan, round};
use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest_of;
use crate::support::program::flowmend;

const AGE: &[&str] = &["--older-than", "1h"];

/// The labels of a finding, in order.
fn labels(db: &TestDb, release: &str, code: &str) -> Vec<String> {
    let report = inspect(db, release, AGE);
    let found = report["findings"].as_array().unwrap().iter().find(|f| f["code"] == code);
    let sample = found.map(|f| f["sample"].as_array().unwrap().clone()).unwrap_or_default();
    let mut labels: Vec<String> = sample.iter().map(|s| s.as_str().unwrap().to_owned()).collect();
    labels.sort();
    labels
}

/// What `inspect --explain` says, on one line.
fn told(db: &TestDb, release: &str) -> String {
    let place = ["inspect", "--url", &db.url, "--release", release, "--now", "2026-11-29T00:00:00Z", "--explain"];
    flowmend([&place, AGE].concat()).expect(1).out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_poke_that_is_long_due_is_shown() {
    for release in ["1.10.15", "2.1.4", "2.2.5", "2.10.5", "3.1.8", "3.3.2"] {
        let m = manifest_of("airflow", release);
        let mut night = Night::new(Server::Sqlite, &m);
        night.dag("d", true).dag("gone", false);
        night.run("d/r", "running", &[]).run("d/done", "failed", &[]).run("gone/r", "running", &[]);
        for (place, (run, task, due)) in [
            ("d/r", "late", Some(OLD)),
            ("d/r", "soon", Some(FRESH)),
            ("d/r", "bare", None),
            ("d/done", "over", Some(OLD)),
            ("gone/r", "left", Some(OLD)),
        ]
        .into_iter()
        .enumerate()
        {
            night.task(run, task, Some("up_for_reschedule"), &[("start_time", Some(OLD))]);
            let (dag, name) = run.split_once('/').unwrap();
            let (id, ti, date) = (place.to_string(), format!("{:032}", place + 1), night.number(run).1);
            // An earlier poke of each; the newest counts.
            for (offset, due) in [("10", Some(OLD)), ("20", due)].into_iter().filter(|_| due.is_some()) {
                let id = format!("{offset}{id}");
                night.rows.add(
                    "task_reschedule",
                    &[
                        ("id", Some(id.as_str())),
                        ("ti_id", Some(&ti)),
                        ("dag_id", Some(dag)),
                        ("task_id", Some(task)),
                        ("run_id", Some(name)),
                        ("date", Some(&date)),
                        ("map_index", Some("-1")),
                        ("try_number", Some("1")),
                        ("reschedule_at", due),
                    ],
                );
            }
        }
        let db = night.done();
        let seen = labels(&db, release, "reschedule-overdue");
        let named = |task: &str| seen.iter().any(|l| l.contains(task));
        assert!(seen.len() == 2 && named("/late") && named("/bare"), "{release}: {seen:?}");
        let text = told(&db, release);
        assert!(text.contains("no row says when its poke is due") || text.contains("its poke was due at"), "{text}");
    }
}

#[test]
fn a_run_in_the_place_of_the_next_one_is_shown() {
    for (release, next) in [("1.10.15", 0), ("2.0.0", 1), ("2.1.4", 0), ("2.2.5", 0), ("3.3.2", 0)] {
        let m = manifest_of("airflow", release);
        let mut night = Night::new(Server::Sqlite, &m);
        let flags =
            [("active", Some("1")), ("stale", Some("0")), ("paused", Some("0")), ("max_active_runs", Some("1"))];
        let dag = [("dag_id", Some("d")), ("next_date", Some("2026-10-03 00:00:00"))];
        night.rows.add("dag", &[&dag[..], &flags].concat());
        let manual = [("run_type", Some("manual"))];
        night.run("d/scheduled__2026-10-01T00:00:00+00:00", "success", &manual);
        night.run("d/scheduled__2026-10-05T00:00:00+00:00", "failed", &manual);
        night.run("d/scheduled__2026-10-03T00:00:00+00:00", "running", &[]);
        let db = night.done();
        let named = if release.starts_with("1.") { 0 } else { 1 };
        let seen = (labels(&db, release, "manual-run-named-scheduled"), labels(&db, release, "next-run-exists"));
        assert_eq!((seen.0.len(), seen.1.len()), (named, next), "{release}: {seen:?}");
        assert!(seen.0.iter().all(|l| l.contains("2026-10-05")), "{seen:?}");
    }
}

/// A callback that is older than the living scheduler was another's.
#[test]
fn a_callback_that_an_executor_lost_is_shown() {
    for server in Server::available("airflow_callbacks") {
        for release in ["3.2.2", "3.3.2"] {
            let m = manifest_of("airflow", release);
            for (started, beat, lost) in [(OLD, FRESH, 0), ("2026-11-20 10:00:00", FRESH, 2), (OLD, OLD, 2)] {
                let mut night = Night::new(server, &m);
                let job = [("type", "SchedulerJob"), ("state", "running"), ("host", "h"), ("id", "1")];
                let job = job.map(|(name, value)| (name, Some(value)));
                night.rows.add("job", &[&job[..], &[("start_time", Some(started)), ("beat", Some(beat))]].concat());
                for (place, (kind, state)) in [
                    ("executor", "queued"),
                    ("executor", "running"),
                    ("executor", "pending"),
                    ("executor", "success"),
                    ("triggerer", "running"),
                    ("executor", "lost"),
                ]
                .into_iter()
                .enumerate()
                {
                    let id = format!("{:032}", place + 1);
                    let values = [
                        ("id", Some(id.as_str())),
                        ("type", Some(kind)),
                        ("state", Some(state)),
                        ("created_at", Some("2026-11-10 10:00:00")),
                        ("@data", Some("{}")),
                        ("@fetch_method", Some("import_path")),
                    ];
                    night.rows.add("callback", &values);
                }
                let db = night.done();
                let seen = labels(&db, release, "callback-of-dead-scheduler");
                assert_eq!(seen.len(), lost, "{server:?} {release}: {seen:?}");
                assert_eq!(labels(&db, release, "unknown-callback-state").len(), 1, "{server:?} {release}");
            }
        }
    }
}

/// A backfill of 3.x that was cancelled, one that is paused, and one that works, each with a queued run.
fn backfills(server: Server, release: &str) -> TestDb {
    let m = manifest_of("airflow", release);
    let mut night = Night::new(server, &m);
    night.dag("d", true);
    for (id, paused, completed) in [("1", "1", Some(OLD)), ("2", "1", None), ("3", "0", None)] {
        let values = [
            ("id", Some(id)),
            ("dag_id", Some("d")),
            ("paused", Some(paused)),
            ("completed_at", completed),
            ("@dag_run_conf", Some("{}")),
            ("@reprocess_behavior", Some("none")),
        ];
        night.rows.add("backfill", &values);
        let run = format!("d/r{id}");
        night.run(&run, "queued", &[("start_time", None), ("backfill_id", Some(id)), ("run_type", Some("backfill"))]);
        night.task(&run, "t", None, &[]);
    }
    night.done()
}

#[test]
fn a_queued_run_of_a_cancelled_backfill_is_closed_by_your_word() {
    for server in Server::available("airflow_cancelled") {
        for release in ["3.0.6", "3.3.2"] {
            let db = backfills(server, release);
            plan(&db, release, "stranded-runs", AGE).expect(0);
            assert!(!db.path("b").exists());
            let report = inspect(&db, release, AGE);
            let left = report["left_out"].as_array().unwrap().iter().find(|l| l["reason"] == "cancelled");
            assert_eq!(left.and_then(|l| l["rows"].as_u64()), Some(1), "{server:?} {release}: {}", report["left_out"]);
            plan(&db, release, "stranded-runs", &[AGE, &["--close-runs"]].concat()).expect(0);
            round(&db, release, |db| {
                let runs = db.rows("SELECT run_id, state FROM dag_run ORDER BY run_id");
                let is = |run: &str, state: &str| [Some(run.to_owned()), Some(state.to_owned())];
                assert_eq!(runs, [is("r1", "failed"), is("r2", "queued"), is("r3", "queued")], "{server:?} {release}");
            });
        }
    }
}

#[test]
fn an_open_run_without_a_conf_is_shown() {
    for release in ["3.0.6", "3.1.8", "3.3.2"] {
        let m = manifest_of("airflow", release);
        let mut night = Night::new(Server::Sqlite, &m);
        night.dag("d", true);
        night.run("d/old", "running", &[("conf", None)]).run("d/new", "running", &[("conf", Some("{}"))]);
        night.run("d/over", "success", &[("conf", None), ("end_time", Some(OLD))]);
        let seen = labels(&night.done(), release, "run-without-conf");
        assert!(seen.len() == 1 && seen[0].contains("d/old"), "{release}: {seen:?}");
    }
}

/// A state of a later release says what it can become; a slip of the pen says nothing of the kind.
#[test]
fn a_state_of_another_release_is_called_so() {
    for (release, state, from) in [
        ("2.11.2", "awaiting_input", "from 3.3.0 on"),
        ("2.1.4", "deferred", "from 2.2.0 on"),
        ("2.10.5", "runing", ""),
    ] {
        let m = manifest_of("airflow", release);
        let mut night = Night::new(Server::Sqlite, &m);
        night.dag("d", true).run("d/r", "running", &[]).task("d/r", "t", Some(state), &[]);
        let text = told(&night.done(), release);
        assert!(text.contains(&format!("holds the state '{state}'")), "{release}: {text}");
        let foreign = text.contains(&format!("(other releases write it: {from})"));
        let advice = text.contains("Another release left it: the task had begun");
        assert_eq!((foreign, advice), (!from.is_empty(), !from.is_empty()), "{release} {state}: {text}");
    }
}

/// A bundle of every repair is not all there is: what no recipe writes is in the ticket, each row once.
#[test]
fn a_bundle_names_what_no_recipe_writes() {
    for release in ["2.1.4", "2.10.5", "3.1.8"] {
        let m = manifest_of("airflow", release);
        let mut night = Night::new(Server::Sqlite, &m);
        night.dag("d", true).run("d/r", "running", &[]).job("2", "LocalTaskJob", "running", OLD);
        let dead = [("start_time", Some(OLD)), ("host", Some("w1")), ("job_id", Some("2")), ("beat", Some(OLD))];
        night.task("d/r", "dead", Some("running"), &dead).task("d/r", "odd", Some("runing"), &[]);
        let db = night.done();
        let said = ["--older-than", "1h", "--choose", "finish"];
        let seen = inspect(&db, release, &said);
        let shown = seen["findings"].as_array().unwrap().iter().filter(|f| f["report_only"] == true);
        let shown: Vec<&str> = shown.map(|f| f["code"].as_str().unwrap()).collect();
        assert!(!shown.is_empty(), "{release}");
        let out = db.path("b").display().to_string();
        let place = ["plan", "--all", "--url", &db.url, "--out", &out, "--release", release];
        let run = flowmend([&place, MOMENT, &said[..]].concat()).expect(0);
        let ticket = std::fs::read_to_string(db.path("b").join("TICKET.md")).unwrap();
        let section = ticket.split("### For people to decide").nth(1).unwrap_or_else(|| panic!("{release}: {ticket}"));
        for text in [section, &run.out] {
            assert!(shown.iter().all(|code| text.contains(code)), "{release} {shown:?}: {text}");
        }
        assert!(!ticket.contains("Nothing that looked stuck was left out"), "{release}: {ticket}");
        // A filter narrows what is shown, too.
        std::fs::remove_dir_all(db.path("b")).unwrap();
        let plan = flowmend::bundle::Bundle::read;
        flowmend([&place, MOMENT, &said[..], &["--run", "r"]].concat()).expect(0);
        let plan = plan(&db.path("b")).unwrap().plan;
        let mut rows: Vec<_> = plan.shown.iter().flat_map(|s| s.sample.iter().map(|key| (&s.role, key))).collect();
        let all = rows.len();
        rows.sort();
        rows.dedup();
        assert!(all > 0 && rows.len() == all, "{release}: {:?}", plan.shown);
    }
}

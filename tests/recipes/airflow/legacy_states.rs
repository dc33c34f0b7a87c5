//! States of earlier releases: each is written over only when it was confirmed by itself.

use serde_json::Value;

use super::{Night, OLD, inspect, plan, releases, round, tasks};
use crate::support::db::Server;
use crate::support::fixture::manifest_of;
use crate::support::program::flowmend;

const ENDED: &str = "2026-11-01 10:30:00";

/// Two tasks in an old state, one with an end, and a job that was told to end.
fn left(night: &mut Night<'_>, state: &str) {
    night.dag("d", true).run("d/r", "running", &[]).job("7", "LocalTaskJob", "shutdown", ENDED);
    let began = ("start_time", Some(OLD));
    night.task("d/r", "open", Some(state), &[began, ("job_id", Some("7")), ("beat", Some(ENDED))]);
    night.task("d/r", "over", Some(state), &[began, ("end_time", Some("2026-11-01 10:10:00"))]);
    night.task("d/r", "well", Some("success"), &[began, ("end_time", Some(OLD))]);
}

fn finding(report: &Value, code: &str) -> Option<(u64, String)> {
    let found = report["findings"].as_array().unwrap().iter().find(|f| f["code"] == code)?;
    let text = found["explained"][0]["text"].as_str().unwrap().to_owned();
    Some((found["rows"].as_u64().unwrap(), text))
}

fn is_of(release: &str, first: &str) -> bool {
    flowmend::manifest::version_order(release) >= flowmend::manifest::version_order(first)
}

#[test]
fn confirmed_states_are_written() {
    for server in Server::available("airflow_legacy_states") {
        let all = releases(server).iter().copied().chain(["2.4.3"]);
        for release in all.filter(|r| is_of(r, "2.4.0")) {
            let m = manifest_of("airflow", release);
            let state = if is_of(release, "3.0.0") { "shutdown" } else { "sensing" };
            let mut night = Night::new(server, &m);
            left(&mut night, state);
            let db = night.done();
            let report = inspect(&db, release, &[]);
            let (rows, text) = finding(&report, "left-by-upgrade-unsure").unwrap();
            assert_eq!(rows, 2, "{server:?} {release}");
            assert!(
                text.contains(&format!("flowmend plan legacy-states --map task_instance.{state}=FAILED")),
                "{text}"
            );
            assert!(
                finding(&report, "unknown-task-state").is_none() && finding(&report, "unknown-job-state").is_none()
            );
            let jobs = is_of(release, "2.7.2");
            assert_eq!(finding(&report, "left-by-upgrade").map(|f| f.0), jobs.then_some(1), "{server:?} {release}");

            let none = plan(&db, release, "legacy-states", &[]).expect(2);
            assert!(none.out.contains("not-confirmed") && !db.path("b").exists(), "{}", none.out);
            let map = format!("task_instance.{state}=FAILED");
            let said = ["--map", &map, "--map", "job.shutdown=failed"];
            plan(&db, release, "legacy-states", &said[..if jobs { 4 } else { 2 }]).expect(0);
            round(&db, release, |db| {
                let d = db.server.dialect();
                let shown: Vec<String> =
                    tasks(db, &["state", "end_date"]).iter().map(|t| t.replace(".000000", "")).collect();
                let starts = ["open: failed 2026-11-01 10:30:00", "over: failed 2026-11-01 10:10:00", "well: success"];
                for (task, starts) in shown.iter().zip(starts) {
                    assert!(task.starts_with(starts), "{server:?} {release}: {shown:?}");
                }
                let job = db.rows(&format!("SELECT state, {} FROM job WHERE id = 7", d.as_text("end_date")));
                let job: Vec<String> = job[0].iter().map(|v| v.clone().unwrap_or_default()).collect();
                assert_eq!(job[0], if jobs { "failed" } else { "shutdown" }, "{server:?} {release}");
                assert_eq!(job[1].starts_with(ENDED), jobs, "{server:?} {release}: {job:?}");
            });
        }
    }
}

#[test]
fn what_is_no_end_is_left_alone() {
    let m = manifest_of("airflow", "3.1.8");
    let mut night = Night::new(Server::Sqlite, &m);
    left(&mut night, "shutdown");
    let db = night.done();
    let run = plan(&db, "3.1.8", "legacy-states", &["--map", "task_instance.shutdown=UP_FOR_RETRY"]).expect(0);
    assert!(run.out.contains("not-an-end") && !db.path("b").exists(), "{}", run.out);
    // Jobs belong to no DAG.
    plan(&db, "3.1.8", "legacy-states", &["--dag", "d", "--map", "job.shutdown=FAILED"]).expect(0);
    assert!(!db.path("b").exists());
    let said = ["--map", "task_instance.sensing=FAILED", "--map", "task_instance.shutdown=SKIPPED"];
    plan(&db, "3.1.8", "legacy-states", &said).expect(0);
    let ticket = std::fs::read_to_string(db.path("b").join("TICKET.md")).unwrap();
    assert!(ticket.contains("'shutdown' becomes SKIPPED; proposed is FAILED"), "{ticket}");
}

/// No release before has such states.
#[test]
fn there_is_nothing_to_map_before() {
    let m = manifest_of("airflow", "2.1.4");
    let mut night = Night::new(Server::Sqlite, &m);
    left(&mut night, "shutdown");
    let db = night.done();
    let run = plan(&db, "2.1.4", "legacy-states", &["--map", "task_instance.shutdown=FAILED"]).expect(2);
    assert!(run.err.contains("there is nothing to map"), "{}", run.err);
    let args = ["inspect", "--url", &db.url, "--release", "2.1.4"];
    assert!(!flowmend(args).out.contains("legacy-states"));
}

//! Job rows whose process is gone.

use super::{MOMENT, Night, OLD, inspect, plan, releases, round};
use crate::support::db::Server;
use crate::support::fixture::manifest_of;
use crate::support::program::flowmend;

/// apache/airflow#16573: a limit that is right for schedulers kills tasks and triggerers; types are named apart.
#[test]
fn only_jobs_of_the_named_type_are_closed() {
    for server in Server::available("airflow_stale_jobs") {
        for release in releases(server) {
            let m = manifest_of("airflow", release);
            let mut night = Night::new(server, &m);
            night.job("1", "SchedulerJob", "running", OLD).job("2", "LocalTaskJob", "running", OLD);
            night.job("3", "TriggererJob", "running", OLD).job("4", "SchedulerJob", "success", OLD);
            let db = night.done();
            plan(&db, release, "stale-jobs", &["--older-than", "1h", "--job-type", "SchedulerJob"]).expect(0);
            round(&db, release, |db| {
                let d = db.server.dialect();
                let ended = "CASE WHEN end_date IS NULL THEN 0 ELSE 1 END";
                let sql = format!("SELECT {}, state, {} FROM job ORDER BY id", d.as_text("id"), d.as_text(ended));
                let rows: Vec<String> =
                    db.rows(&sql).into_iter().map(|r| r.into_iter().flatten().collect::<Vec<_>>().join(" ")).collect();
                assert_eq!(rows, ["1 failed 1", "2 running 0", "3 running 0", "4 success 0"], "{server:?} {release}");
            });
        }
    }
}

/// Jobs are of no DAG: what `--dag` does not reach is named, not closed; the job of a closed task goes with it.
#[test]
fn a_dag_narrows_what_is_planned_all_together() {
    for release in releases(Server::Sqlite) {
        let m = manifest_of("airflow", release);
        let mut night = Night::new(Server::Sqlite, &m);
        night.dag("d", true).run("d/r", "running", &[]).dag("e", true).run("e/r", "running", &[]);
        night.job("1", "SchedulerJob", "running", OLD);
        night.job("2", "LocalTaskJob", "running", OLD).job("3", "LocalTaskJob", "running", OLD);
        for (run, job) in [("d/r", "2"), ("e/r", "3")] {
            let values = [("start_time", Some(OLD)), ("host", Some("w1")), ("job_id", Some(job)), ("beat", Some(OLD))];
            night.task(run, "t", Some("running"), &values);
        }
        let db = night.done();
        let said = ["--older-than", "1h", "--dag", "d"];
        let report = inspect(&db, release, &said);
        let jobs = report["findings"].as_array().unwrap().iter().find(|f| f["code"] == "stale-job").unwrap();
        assert_eq!(jobs["not_narrowed_by"], serde_json::json!(["dag"]), "{release}");
        let out = db.path("b").display().to_string();
        let place = ["plan", "--all", "--url", &db.url, "--out", &out, "--release", release, "--choose", "finish"];
        let run = flowmend([&place, MOMENT, &said[..]].concat()).expect(0);
        assert!(run.out.contains("(beyond-filter)"), "{release}: {}", run.out);
        let plan = flowmend::bundle::Bundle::read(&db.path("b")).unwrap().plan;
        let keys = |role: &str| plan.steps_of(role).flat_map(|s| &s.rows).map(|r| r.key_text()).collect::<Vec<_>>();
        let own = if m.has("task_instance.job_id") { vec!["2".to_owned()] } else { Vec::new() };
        assert_eq!((keys("job"), keys("task_instance").len()), (own, 1), "{release}");
        round(&db, release, |db| {
            assert_eq!(db.value("SELECT COUNT(*) FROM task_instance WHERE state = 'running'").as_deref(), Some("1"));
        });
    }
}

//! The operator's word against a beat that is younger than the plan: what is planned can be applied.

use super::{Night, OLD, plan, releases};
use crate::support::db::Server;
use crate::support::fixture::manifest_of;
use crate::support::program::sealed;

/// After the moment of the plan.
const LATER: &str = "2026-11-29 00:00:01";

#[test]
fn a_beat_after_the_moment_of_the_plan_leaves_the_row_out() {
    for release in releases(Server::Sqlite) {
        for claim in ["w1", "*", "w1@2026-11-28T00:00:00"] {
            let m = manifest_of("airflow", release);
            let mut night = Night::new(Server::Sqlite, &m);
            night.dag("d", true).run("d/r", "running", &[]);
            night.job("2", "LocalTaskJob", "running", LATER).job("1", "SchedulerJob", "running", LATER);
            let values = [("start_time", Some(OLD)), ("host", Some("w1")), ("queued_at", Some(OLD))];
            let beats = [("job_id", Some("2")), ("beat", Some(LATER))];
            night.task("d/r", "beats", Some("running"), &[&values[..], &beats].concat());
            night.task("d/r", "dead", Some("running"), &values);
            if !release.starts_with("1.") {
                night.task("d/r", "queued", Some("queued"), &values);
            }
            let db = night.done();
            let said = ["--dead-owner", claim, "--choose", "finish", "--operator", "ann"];
            plan(&db, release, "zombie-tasks", &said).expect(0);
            sealed("apply", &db, "b", &[]).expect(0);
            let failed = db.rows("SELECT task_id FROM task_instance WHERE state = 'failed'");
            assert_eq!(failed, [[Some("dead".to_owned())]], "{release} {claim}");
            assert_eq!(db.value("SELECT COUNT(*) FROM job WHERE state = 'running'").as_deref(), Some("2"));
        }
    }
}

/// A beat between plan and apply stops it, and what moved is said in the recipe's own words.
#[test]
fn a_beat_after_the_plan_is_named() {
    for release in ["2.10.5", "3.1.8"] {
        let m = manifest_of("airflow", release);
        let mut night = Night::new(Server::Sqlite, &m);
        night.dag("d", true).run("d/r", "running", &[]).job("2", "LocalTaskJob", "running", OLD);
        let values = [("start_time", Some(OLD)), ("host", Some("w1")), ("job_id", Some("2")), ("beat", Some(OLD))];
        night.task("d/r", "beats", Some("running"), &values);
        let db = night.done();
        plan(&db, release, "zombie-tasks", &["--older-than", "1h", "--choose", "finish"]).expect(0);
        let (beat, says) = if m.has("task_instance.job_id") {
            ("UPDATE job SET latest_heartbeat = '2026-11-29 00:00:01'", "not true of each any more: ")
        } else {
            ("UPDATE task_instance SET last_heartbeat_at = '2026-11-29 00:00:01'", "task_instance ")
        };
        db.exec(beat);
        let refused = sealed("apply", &db, "b", &[]).expect(3);
        assert!(refused.err.contains(says) && !refused.err.contains("command"), "{release}: {}", refused.err);
    }
}

/// A date of zeros is before every time and says nothing: what starts then may be of the process that
/// was started since.
#[test]
fn a_start_of_zeros_is_no_start() {
    for server in Server::available("airflow_claims").into_iter().filter(|s| *s == Server::MariaDb) {
        for release in releases(server) {
            let m = manifest_of("airflow", release);
            let mut night = Night::new(server, &m);
            night.dag("d", true).run("d/r", "running", &[]);
            for (task, start) in [("dead", OLD), ("unknown", "0000-00-00 00:00:00")] {
                night.task("d/r", task, Some("running"), &[("start_time", Some(start)), ("host", Some("w1"))]);
            }
            let db = night.done();
            let said = ["--dead-owner", "w1@2026-11-28T00:00:00", "--choose", "finish", "--operator", "ann"];
            let run = plan(&db, release, "zombie-tasks", &said).expect(0);
            assert!(run.out.contains("1 task (owner-may-live)"), "{release}: {}", run.out);
            sealed("apply", &db, "b", &[]).expect(0);
            let failed = db.rows("SELECT task_id FROM task_instance WHERE state = 'failed'");
            assert_eq!(failed, [[Some("dead".to_owned())]], "{release}");
        }
    }
}

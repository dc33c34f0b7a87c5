//! Job rows whose process is gone.

use super::{Night, OLD, plan, releases, round};
use crate::support::db::Server;
use crate::support::fixture::manifest_of;

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

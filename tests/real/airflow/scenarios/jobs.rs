//! Rows of jobs that died.

use crate::real::airflow::damage::DOWN;
use crate::real::airflow::installation::{Airflow, DONE};
use crate::real::road::repair;
use crate::real::watch::{pass, wait};
use crate::support::program::on_bundle;

/// Closed while everything is down, they stay closed, and living jobs are not harmed.
pub fn stale(a: &Airflow) {
    a.crash();
    let open = a.count("job", "state = 'running'");
    assert!(open as usize >= a.release.servers.len() - 1, "components had rows: {open}");
    repair(&a.db, "stale-jobs", "jobs", DOWN);
    assert_eq!(a.count("job", "state = 'running'"), 0);
    a.up();
    pass(20);
    a.print("20 s after the restart", &[]);
    on_bundle("verify", &a.db, "jobs").expect(0);
    for job in ["SchedulerJob", "TriggererJob"] {
        assert_eq!(a.count("job", &format!("state = 'running' AND job_type = '{job}'")), 1);
        // A heartbeat may be late, on a busy machine.
        wait(60, "Airflow finds it alive", || a.ask(&["jobs", "check", "--job-type", job]).ends_with(DONE));
    }
}

//! Tasks whose process died with its scheduler, closed before the next start.

use crate::real::airflow::damage::{DOWN, next, running, running_and_queued};
use crate::real::airflow::installation::Airflow;
use crate::real::road::repair;
use crate::real::watch::{begun, pass, wait};
use crate::support::program::on_bundle;

/// A running and a queued task are closed: the scheduler ends their runs and runs
/// neither again.
pub fn finish(a: &Airflow) {
    running_and_queued(a, ("finish", "lost"), ("queued", "lost"));
    let dags = ["finish", "queued"];
    a.print("after kill -9 of everything", &dags);
    let plan = ["--choose", "finish", "--dag", "finish", "--dag", "queued"];
    repair(&a.db, "zombie-tasks", "finish", &[DOWN, &plan].concat());
    for dag in dags {
        assert_eq!(a.states(dag, "lost"), ["running", "failed", "∅"]);
    }
    a.up();
    for dag in dags {
        let ended = ["failed", "failed", "upstream_failed"];
        wait(60, "the scheduler ends the run", || a.states(dag, "lost") == ended);
    }
    pass(20);
    a.print("20 s later", &dags);
    on_bundle("verify", &a.db, "finish").expect(0);
    for dag in dags {
        assert_eq!(a.states(dag, "lost"), ["failed", "failed", "upstream_failed"]);
        assert_eq!(a.listed(dag, "lost"), "failed");
    }
    let begun = (begun(&a.marker("finish")), begun(&a.marker("queued")));
    assert_eq!(begun, (1, 0), "nothing ran twice");
    dags.iter().for_each(|dag| next(a, dag));
}

/// The same with retries left: the real scheduler runs the task again.
pub fn retry(a: &Airflow) {
    running(a, "retry", "lost", 600);
    a.crash();
    a.take("retry", 1);
    let plan = ["--choose", "finish", "--task-outcome", "retry", "--dag", "retry"];
    repair(&a.db, "zombie-tasks", "retry", &[DOWN, &plan].concat());
    assert_eq!(a.states("retry", "lost"), ["running", "up_for_retry", "∅"]);
    a.up();
    wait(90, "the retry succeeds", || a.states("retry", "lost") == ["success", "success", "success"]);
    a.print("after the restart", &["retry"]);
    assert_eq!(begun(&a.marker("retry")), 2);
    assert_eq!(a.listed("retry", "lost"), "success");
    next(a, "retry");
}

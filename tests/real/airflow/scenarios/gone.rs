//! A run whose DAG is gone.

use crate::real::airflow::damage::running;
use crate::real::airflow::installation::Airflow;
use crate::real::road::repair_live;
use crate::real::watch::{becomes, begun, pass};
use crate::support::program::on_bundle;

/// The scheduler gives its task up and never ends the run; flowmend does, beside it.
pub fn removed(a: &Airflow) {
    running(a, "gone", "lost", 600);
    a.crash();
    a.remove("gone");
    a.up();
    let stale = if a.release.alone { "is_active = false" } else { "is_stale = true" };
    let known = becomes(120, || a.count("dag", &format!("dag_id = 'gone' AND {stale}")) == 1);
    let given_up = becomes(90, || a.task_state("gone", "lost", "work") != "running");
    pass(20);
    a.print("after the restart", &["gone"]);
    assert!(known && given_up, "the DAG is known to be gone, its task is given up");
    // Reset; or failed, or put off, if it began once more before the DAG was known to be gone.
    let [run, work, _] = a.states("gone", "lost");
    let may_be = ["∅", "failed", "up_for_reschedule"];
    assert!(run == "running" && may_be.contains(&work.as_str()), "the run stays: {run}, {work}");
    repair_live(&a.db, "stranded-runs", "gone", &["--zone", "UTC", "--older-than", "10s", "--dag", "gone"]);
    pass(20);
    a.print("20 s after the repair", &["gone"]);
    on_bundle("verify", &a.db, "gone").expect(0);
    let work = if work == "up_for_reschedule" { "skipped" } else { &work };
    assert_eq!(a.states("gone", "lost"), ["failed", work, "∅"]);
    assert_eq!(begun(&a.marker("gone")), 1);
    let listed = a.listed("gone", "lost");
    assert_eq!(listed, "failed");
}

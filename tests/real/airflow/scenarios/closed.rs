//! A task at work under a run that is over.

use crate::real::airflow::damage::{next, running};
use crate::real::airflow::installation::Airflow;
use crate::real::road::repair_live;
use crate::real::watch::{begun, pass};
use crate::support::program::on_bundle;

/// No scheduler looks at it. It is closed beside a living one.
pub fn living(a: &Airflow) {
    running(a, "closed_run", "lost", 600);
    a.crash();
    // What a hand-written repair leaves.
    a.db.exec("UPDATE dag_run SET state = 'failed', end_date = start_date WHERE dag_id = 'closed_run'");
    a.up();
    pass(45);
    a.print("45 s after the restart", &["closed_run"]);
    assert_eq!(a.states("closed_run", "lost"), ["failed", "running", "∅"], "nobody heals it");
    let plan = ["--zone", "UTC", "--older-than", "20s", "--dag", "closed_run"];
    repair_live(&a.db, "zombie-tasks", "closed", &plan);
    pass(20);
    a.print("20 s after the repair", &["closed_run"]);
    on_bundle("verify", &a.db, "closed").expect(0);
    assert_eq!(a.states("closed_run", "lost"), ["failed", "failed", "∅"]);
    assert_eq!(begun(&a.marker("closed_run")), 1);
    assert_eq!(a.listed("closed_run", "lost"), "failed");
    next(a, "closed_run");
}

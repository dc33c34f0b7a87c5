//! Several kinds of damage at once, repaired by `plan --all`.

use crate::real::airflow::damage::{DOWN, deferred, next, running};
use crate::real::airflow::installation::Airflow;
use crate::real::road::{nothing, repair};
use crate::real::watch::{begun, pass, wait};

/// A lost task, one under a run that is over, a lost trigger, and stale jobs.
pub fn mixed(a: &Airflow) {
    deferred(a, "all_trigger", "lost", 600);
    running(a, "all_closed", "lost", 600);
    if a.release.one_by_one(a.db.server) {
        a.crash();
        a.up();
    }
    a.db.exec("UPDATE dag_run SET state = 'failed', end_date = start_date WHERE dag_id = 'all_closed'");
    running(a, "all_work", "lost", 600);
    a.crash();
    a.db.exec("UPDATE task_instance SET trigger_id = NULL WHERE dag_id = 'all_trigger'");
    let dags = ["all_work", "all_trigger", "all_closed"];
    a.print("the damage", &dags);
    let plan = [DOWN, &["--choose", "finish"]].concat();
    repair(&a.db, "--all", "all", &plan);
    nothing(&a.db, "--all", "again", &plan);
    a.print("after the repair", &dags);
    a.up();
    let ended = ["failed", "failed", "upstream_failed"];
    for dag in ["all_work", "all_trigger"] {
        wait(90, "the scheduler ends the run", || a.states(dag, "lost") == ended);
    }
    pass(15);
    a.print("after the restart", &dags);
    assert_eq!(a.states("all_closed", "lost"), ["failed", "failed", "∅"]);
    for dag in dags {
        assert_eq!(a.listed(dag, "lost"), "failed");
        assert_eq!(begun(&a.marker(dag)), 1, "nothing ran twice");
        next(a, dag);
    }
}

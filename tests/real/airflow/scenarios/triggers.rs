//! A deferred task whose trigger is gone.

use crate::real::airflow::damage::{deferred, next};
use crate::real::airflow::installation::Airflow;
use crate::real::road::repair_live;
use crate::real::watch::{begun, ended, pass, wait};

/// Beside a living scheduler, which then fails the task by its own rules.
pub fn lost(a: &Airflow) {
    deferred(a, "lost_trigger", "lost", 600);
    a.db.exec("UPDATE task_instance SET trigger_id = NULL WHERE dag_id = 'lost_trigger' AND state = 'deferred'");
    pass(30);
    a.print("the trigger lost, 30 s later", &["lost_trigger"]);
    assert_eq!(a.states("lost_trigger", "lost"), ["running", "deferred", "∅"], "nobody wakes it");
    repair_live(
        &a.db,
        "missing-triggers",
        "trigger",
        &["--zone", "UTC", "--older-than", "5s", "--dag", "lost_trigger"],
    );
    let ended_states = ["failed", "failed", "upstream_failed"];
    wait(90, "the scheduler fails the task", || a.states("lost_trigger", "lost") == ended_states);
    a.print("after the repair", &["lost_trigger"]);
    assert_eq!((begun(&a.marker("lost_trigger")), ended(&a.marker("lost_trigger"))), (1, 0));
    assert_eq!(a.listed("lost_trigger", "lost"), "failed");
    next(a, "lost_trigger");
}

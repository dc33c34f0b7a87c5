//! What a scheduler and a triggerer make of a crash by themselves.

use crate::real::airflow::damage::{DOWN, deferred, next, running};
use crate::real::airflow::installation::Airflow;
use crate::real::road::nothing;
use crate::real::watch::{becomes, begun, ended, wait};

/// A lost task is left to the scheduler: it runs again, without a retry.
pub fn resume(a: &Airflow) {
    running(a, "resume", "lost", 600);
    a.crash();
    a.take("resume", 1);
    nothing(&a.db, "zombie-tasks", "resume", &[DOWN, &["--choose", "resume", "--dag", "resume"]].concat());
    a.up();
    let done = becomes(120, || a.run_state("resume", "lost") == "success");
    a.print("after the restart", &["resume"]);
    eprintln!("OBSERVED finished {done}, begun {}, ended {}", begun(&a.marker("resume")), ended(&a.marker("resume")));
    assert!(done && begun(&a.marker("resume")) == 2, "the task ran twice");
}

/// A deferred task needs no repair: the next triggerer goes on with it.
pub fn deferred_task(a: &Airflow) {
    deferred(a, "deferred", "lost", 20);
    a.crash();
    let dag = ["--dag", "deferred"];
    nothing(&a.db, "zombie-tasks", "deferred", &[DOWN, &["--choose", "finish"], &dag].concat());
    nothing(&a.db, "missing-triggers", "deferred", &[&["--zone", "UTC", "--older-than", "1s"], &dag[..]].concat());
    a.up();
    wait(120, "the triggerer goes on", || a.states("deferred", "lost") == ["success", "success", "success"]);
    a.print("after the restart", &["deferred"]);
    assert_eq!((begun(&a.marker("deferred")), ended(&a.marker("deferred"))), (1, 1));
    next(a, "deferred");
}

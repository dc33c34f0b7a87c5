//! What scenarios share: runs to kill, and the program on what is left.

use super::installation::Airflow;
use crate::real::watch::{begun, wait};

/// What every plan is told of an installation that is down.
pub const DOWN: &[&str] = &["--zone", "UTC", "--dead-owner", "*"];

/// Starts a run and waits until its first task works.
pub fn running(a: &Airflow, dag: &str, run: &str, seconds: u32) {
    a.take(dag, seconds);
    let before = begun(&a.marker(dag));
    a.trigger(dag, run);
    wait(90, "the task begins", || begun(&a.marker(dag)) > before && a.task_state(dag, run, "work") == "running");
}

/// Starts a run and waits until its first task waits in a trigger.
pub fn deferred(a: &Airflow, dag: &str, run: &str, seconds: u32) {
    a.take(dag, seconds);
    a.trigger(dag, run);
    wait(90, "the task is deferred", || a.task_state(dag, run, "work") == "deferred");
}

/// A DAG and the name of a run.
type Asked<'a> = (&'a str, &'a str);

/// Starts two runs and kills everything while the task of the first works and that
/// of the second is queued.
pub fn running_and_queued(a: &Airflow, (dag, run): Asked, (second, its): Asked) {
    if a.release.one_by_one(a.db.server) {
        // Both must be there before the scheduler has an eye for one.
        a.take(dag, 600);
        a.servers.signal("scheduler", "STOP");
        a.trigger(dag, run);
        a.trigger(second, its);
        a.servers.signal("scheduler", "CONT");
        wait(90, "the first task works", || a.task_state(dag, run, "work") == "running");
    } else {
        running(a, dag, run, 600);
        a.hold();
        a.trigger(second, its);
    }
    wait(240, "the second task is queued", || a.task_state(second, its, "work") == "queued");
    a.crash();
}

/// The next run of a DAG succeeds.
pub fn next(a: &Airflow, dag: &str) {
    a.take(dag, 1);
    let run = format!("next_{}", begun(&a.marker(dag)));
    a.trigger(dag, &run);
    wait(120, "the next run succeeds", || a.run_state(dag, &run) == "success");
    assert_eq!(a.listed(dag, &run), "success");
}

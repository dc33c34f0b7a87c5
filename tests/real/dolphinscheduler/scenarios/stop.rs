//! A run that a user stops while its master hangs and then dies: READY_STOP.

use crate::real::dolphinscheduler::cluster::Cluster;
use crate::real::dolphinscheduler::damage::{Plain, plan, repair};
use crate::real::watch::{becomes, begun, ended, pass};
use crate::support::program::sealed;

/// A run at READY_STOP whose master is gone.
fn stuck(c: &Cluster, name: &str, seconds: u32) -> (Plain, String) {
    let w = Plain::new(c, name, "PARALLEL", seconds);
    let run = w.running(c);
    // A master that hangs takes no orders, so that nothing of the stop is done.
    c.signal("STOP", "master");
    eprintln!("api stop: {}", c.api.execute(w.project, &run, "STOP"));
    // From 3.3 on the master writes it, who hangs.
    let written = becomes(20, || c.run_state(&run) == "4");
    c.kill(&["master"]);
    if !written {
        eprintln!("OBSERVED the API wrote nothing; READY_STOP is written by hand");
        c.exec(&format!("UPDATE t_ds_process_instance SET state = 4 WHERE id = {run}"));
    }
    c.print("after stop and kill -9 of the master", &format!("id = {run}"));
    (w, run)
}

/// Closed by flowmend.
pub fn finish(c: &Cluster) {
    let (w, run) = stuck(c, "stop-finish", 20);
    repair(c, "zombie-tasks", "stop", &["--choose", "finish"]);
    assert_eq!((c.run_state(&run), c.task_states(&run)), ("5".to_owned(), vec!["9".to_owned()]));
    c.up(&["master"]);
    pass(20);
    c.print("20 s after the restart", &format!("id = {run}"));
    assert_eq!((c.run_state(&run), c.task_states(&run)), ("5".to_owned(), vec!["9".to_owned()]));
    assert_eq!(c.api.state(w.project, &run), "STOP");
    assert_eq!(begun(&w.marker), 1);
    eprintln!("OBSERVED the task's process ended by itself: {}", ended(&w.marker) == 1);
    eprintln!("OBSERVED recover suspended: {}", c.api.execute(w.project, &run, "RECOVER_SUSPENDED_PROCESS"));
    let again = becomes(60, || c.run_state(&run) == "7");
    c.print("after 'recover suspended'", &format!("id = {run}"));
    assert!(again, "it is recovered");
    assert_eq!(begun(&w.marker), 2);
}

/// Left alone.
pub fn resume(c: &Cluster) {
    let (w, run) = stuck(c, "stop-resume", 25);
    c.up(&["master"]);
    let left = becomes(50, || c.run_state(&run) != "4");
    c.print("after the restart", &format!("id = {run}"));
    for line in c.master_says(&["ailover", "READY_STOP", "ready_stop"]).iter().rev().take(12).rev() {
        eprintln!("log {line}");
    }
    eprintln!("OBSERVED left READY_STOP {left}, begun {}, ended {}", begun(&w.marker), ended(&w.marker));
    pass(10);
    eprintln!("OBSERVED later begun {}, ended {}", begun(&w.marker), ended(&w.marker));
    c.print("10 s later", &format!("id = {run}"));
    // Once more a dead master: now the run has no valid task.
    if !left {
        c.kill(&["master"]);
        let planned = plan(c, "zombie-tasks", "stop-again", &["--choose", "finish"]);
        eprintln!("flowmend plan zombie-tasks: code {}\n{}{}", planned.code, planned.out, planned.err);
        if planned.code == 0 {
            sealed("apply", &c.db, "stop-again", &[]).expect(0);
        }
        c.up(&["master"]);
        pass(15);
        c.print("closed by flowmend, 15 s after another restart", &format!("id = {run}"));
    }
}

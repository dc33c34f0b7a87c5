//! One workflow with one task whose master dies.

use crate::real::dolphinscheduler::cluster::Cluster;
use crate::real::dolphinscheduler::damage::{Plain, repair, take};
use crate::real::watch::{becomes, begun, ended, pass, wait};
use crate::support::program::on_bundle;

/// Closed by flowmend while the master is down: it stays closed when masters come back.
pub fn finish(c: &Cluster) {
    let w = Plain::new(c, "finish", "PARALLEL", 20);
    let run = w.running(c);
    c.kill(&["master"]);
    let rows = format!("id = {run}");
    c.print("after kill -9 of the master", &rows);
    repair(c, "zombie-tasks", "finish", &["--choose", "finish"]);
    let repaired = (c.run_state(&run), c.task_states(&run));
    assert_eq!(repaired, ("6".to_owned(), vec!["6".to_owned()]));
    c.print("after the repair", &rows);
    c.up(&["master"]);
    pass(20);
    c.print("20 s after the restart", &rows);
    assert_eq!((c.run_state(&run), c.task_states(&run)), repaired, "the repair stays");
    on_bundle("verify", &c.db, "finish").expect(0);
    assert_eq!(c.api.state(w.project, &run), "FAILURE");
    assert_eq!(begun(&w.marker), 1, "nothing ran twice");
    eprintln!("OBSERVED the task's process ended by itself: {}", ended(&w.marker) == 1);
    // There may be one that a server went down (SERVER_DOWN), which names no run.
    assert_eq!(c.count("t_ds_alert", &c.release.alerts_of.replace("{}", &run)), 0, "no alert about the run");
    take(&w.marker, 1);
    let next = w.start(c);
    wait(60, "the next run succeeds", || c.run_state(&next) == "7");
    assert_eq!(c.api.state(w.project, &next), "SUCCESS");
    // What the web pages offer for a failed run.
    let said = c.api.execute(w.project, &run, "START_FAILURE_TASK_PROCESS");
    assert_eq!(said["code"], 0, "{said}");
    assert!(becomes(60, || c.run_state(&run) == "7"), "run again from the failed task");
    c.print("after 'run from failed'", &rows);
    assert_eq!(begun(&w.marker), 3);
}

/// Left alone: what a master makes of it by itself, while the worker lives.
pub fn resume(c: &Cluster) {
    left_alone(c, "resume", &["master"]);
}

/// The same when the worker died, too.
pub fn resume_host(c: &Cluster) {
    left_alone(c, "resume-host", &["worker", "master"]);
}

fn left_alone(c: &Cluster, name: &str, dead: &[&str]) {
    let w = Plain::new(c, name, "PARALLEL", 25);
    let run = w.running(c);
    c.kill(dead);
    take(&w.marker, 2);
    c.up(dead);
    let done = becomes(90, || c.run_state(&run) == "7");
    c.print("after the restart", &format!("id = {run}"));
    for line in c.master_says(&["ailover"]) {
        eprintln!("log {line}");
    }
    eprintln!("OBSERVED finished {done}, begun {}, ended {}", begun(&w.marker), ended(&w.marker));
    pass(15);
    eprintln!("OBSERVED later begun {}, ended {}", begun(&w.marker), ended(&w.marker));
    assert!(done, "the master takes the run over");
}

//! A run that was handed over, but whose recovery command is gone.

use crate::real::dolphinscheduler::cluster::Cluster;
use crate::real::dolphinscheduler::damage::{Plain, repair, repair_live, take};
use crate::real::watch::{becomes, begun, pass, wait};

/// A run whose failover broke off between its writes; nobody takes it.
fn stranded(c: &Cluster, name: &str, task: &str, seconds: u32) -> (Plain, String) {
    let w = Plain::new(c, name, "PARALLEL", seconds);
    let run = w.running(c);
    c.kill(&["master"]);
    c.exec(&format!("UPDATE t_ds_process_instance SET {} WHERE id = {run}", c.release.hand_over));
    c.exec(&format!("UPDATE t_ds_task_instance SET state = {task} WHERE process_instance_id = {run}"));
    take(&w.marker, 2);
    c.print("handed over", &format!("id = {run}"));
    (w, run)
}

/// Recovered while a master is up: the task is still marked as running.
pub fn resume(c: &Cluster) {
    // Where it is adopted, the task must outlive the wait.
    let (w, run) = stranded(c, "handover", "1", if c.release.adopts { 70 } else { 12 });
    let stranded = c.run_state(&run);
    c.up(&["master"]);
    // The failover looks 10 s after the start.
    pass(20);
    let rows = format!("id = {run}");
    c.print("20 s after the restart", &rows);
    assert_eq!((c.run_state(&run), c.task_states(&run)), (stranded, vec!["1".to_owned()]), "nobody takes it");
    repair_live(c, "stranded-runs", "handover", &["--choose", "resume"]);
    let taken = becomes(90, || c.run_state(&run) == "7");
    after(c, &w, &run, "the recovery command");
    assert!(taken, "the master takes it and ends it");
    let tasks = if c.release.adopts { &["7"] } else { c.release.anew };
    assert_eq!(c.task_states(&run), tasks);
    assert_eq!(begun(&w.marker), if c.release.adopts { 1 } else { 2 });
    next(c, &w);
}

/// Recovered before the start: the failover had marked the task already.
pub fn resume_marked(c: &Cluster) {
    let (w, run) = stranded(c, "handover-marked", "8", 12);
    repair(c, "stranded-runs", "handover-marked", &["--choose", "resume"]);
    c.print("repaired", &format!("id = {run}"));
    c.up(&["master"]);
    let taken = becomes(60, || c.run_state(&run) == "7");
    after(c, &w, &run, "the restart");
    assert!(taken, "the master takes it and ends it");
    assert_eq!(c.task_states(&run), c.release.anew);
    assert_eq!(begun(&w.marker), 2);
    next(c, &w);
}

/// Closed before the start.
pub fn finish(c: &Cluster) {
    let (w, run) = stranded(c, "handover-finish", "1", 12);
    repair(c, "stranded-runs", "handover-finish", &["--choose", "finish"]);
    c.up(&["master"]);
    pass(20);
    after(c, &w, &run, "the restart");
    assert_eq!((c.run_state(&run), c.task_states(&run)), ("6".to_owned(), vec!["6".to_owned()]), "it stays closed");
    assert_eq!(begun(&w.marker), 1, "nothing ran twice");
    next(c, &w);
}

fn after(c: &Cluster, w: &Plain, run: &str, what: &str) {
    c.print(&format!("after {what}"), &format!("id = {run}"));
    for line in c.master_says(&[&format!("WorkflowInstance-{run}]")]).iter().take(10) {
        eprintln!("log {line}");
    }
    eprintln!("OBSERVED after {what}: begun {}", begun(&w.marker));
}

/// A new run does its work.
pub fn next(c: &Cluster, w: &Plain) {
    take(&w.marker, 1);
    let next = w.start(c);
    wait(60, "the next run succeeds", || c.run_state(&next) == "7");
}

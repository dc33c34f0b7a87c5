//! Several kinds of damage at once, repaired by `plan --all`.

use super::groups::pair;
use super::handover::next;
use crate::real::dolphinscheduler::cluster::Cluster;
use crate::real::dolphinscheduler::damage::{Plain, repair, take};
use crate::real::watch::{becomes, begun, pass, wait};

/// A zombie, a stranded run, a line asleep and a task group whose holder is dead,
/// as far as the release has lines and groups.
pub fn mixed(c: &Cluster) {
    let pair = c.release.groups.then(|| pair(c, "all-group", 40));
    let zombie = Plain::new(c, "all-zombie", "PARALLEL", 20);
    let run = zombie.running(c);
    let stranded = Plain::new(c, "all-stranded", "PARALLEL", 20);
    let handed_over = stranded.running(c);
    let line = c.release.lines.then(|| Line::new(c));
    c.kill(&["master"]);
    c.exec(&format!("UPDATE t_ds_process_instance SET {} WHERE id = {handed_over}", c.release.hand_over));
    let mut closed = vec![&run, &handed_over];
    let mut once = vec![&zombie, &stranded];
    if let Some(p) = &pair {
        closed.extend([&p.holder, &p.waiter]);
        once.push(&p.w);
    }
    if let Some(line) = &line {
        line.close_first(c);
        closed.push(&line.first);
        take(&line.w.marker, 2);
    }
    for w in &once {
        take(&w.marker, 2);
    }
    let rows = format!("id IN ({})", closed.iter().map(|run| run.as_str()).collect::<Vec<_>>().join(", "));
    c.print("the damage", &rows);
    let mut choices = vec!["--choose", "finish"];
    if line.is_some() {
        choices.extend(["--waiters", "wake"]);
    }
    repair(c, "--all", "all", &choices);
    c.print("after the repair", &rows);
    c.up(&["master"]);
    let woken = line.as_ref().is_none_or(|line| becomes(60, || c.run_state(&line.second) == "7"));
    pass(if line.is_some() { 10 } else { 20 });
    c.print("after the restart", &rows);
    assert!(woken, "the line moves on");
    let is_closed = ("6".to_owned(), vec!["6".to_owned()]);
    for run in closed {
        assert_eq!((c.run_state(run), c.task_states(run)), is_closed, "{run} stays closed");
    }
    assert!(once.iter().all(|w| begun(&w.marker) == 1), "nothing ran twice");
    for w in once {
        next(c, w);
    }
    if let Some(line) = &line {
        assert_eq!(begun(&line.w.marker), 2);
        next(c, &line.w);
    }
    if let Some(p) = &pair {
        assert!(becomes(20, || p.used(c) == 0 && p.queue(c, "status = 1") == 0), "the slot is free");
    }
}

/// Two runs in line.
struct Line {
    w: Plain,
    first: String,
    second: String,
}

impl Line {
    fn new(c: &Cluster) -> Self {
        let w = Plain::new(c, "all-line", "SERIAL_WAIT", 20);
        let first = w.running(c);
        let second = w.start(c);
        wait(30, "one waits", || c.run_state(&second) == "14");
        Self { w, first, second }
    }

    /// Somebody closed the first, and woke nobody.
    fn close_first(&self, c: &Cluster) {
        let first = &self.first;
        for (table, key) in [("t_ds_task_instance", "process_instance_id"), ("t_ds_process_instance", "id")] {
            c.exec(&format!("UPDATE {table} SET state = 6, end_time = start_time WHERE {key} = {first}"));
        }
    }
}

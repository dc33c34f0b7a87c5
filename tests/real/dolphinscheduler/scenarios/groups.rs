//! Two runs that share a task group of one slot: one holds it, one waits.

use super::handover::next;
use crate::real::dolphinscheduler::api::Task;
use crate::real::dolphinscheduler::cluster::Cluster;
use crate::real::dolphinscheduler::damage::{Plain, plan, repair, repair_live, script, take};
use crate::real::watch::{becomes, begun, ended, pass, wait};

pub struct Pair {
    pub w: Plain,
    group: i64,
    pub holder: String,
    pub waiter: String,
}

impl Pair {
    pub fn queue(&self, c: &Cluster, condition: &str) -> u32 {
        c.count("t_ds_task_group_queue", &format!("group_id = {} AND {condition}", self.group))
    }

    pub fn used(&self, c: &Cluster) -> u32 {
        c.count("t_ds_task_group", &format!("id = {} AND use_size = 1", self.group))
    }

    fn print(&self, c: &Cluster, when: &str) {
        c.print(when, &format!("process_definition_code = {}", self.w.workflow));
        eprintln!("OBSERVED {when}: begun {}, ended {}", begun(&self.w.marker), ended(&self.w.marker));
    }
}

/// A holder and a waiter.
pub fn pair(c: &Cluster, name: &str, seconds: u32) -> Pair {
    let (project, marker) = (c.api.project(name), c.marker(name));
    take(&marker, seconds);
    let group = c.api.task_group(project, name, "1");
    let task = Task::Shell { name: "a", script: script(&marker), group };
    let workflow = c.api.workflow(project, name, "PARALLEL", &[task]);
    let w = Plain { project, workflow, marker };
    let holder = w.running(c);
    let waiter = w.start(c);
    let pair = Pair { w, group, holder, waiter };
    wait(40, "somebody waits", || pair.queue(c, "status = -1") == 1);
    pair
}

/// The same when their master is gone.
fn dead_pair(c: &Cluster, name: &str, seconds: u32) -> Pair {
    let pair = pair(c, name, seconds);
    c.kill(&["master"]);
    pair.print(c, "after kill -9 of the master");
    // A short task from now on.
    take(&pair.w.marker, 3);
    pair
}

/// The holder is closed by flowmend, the waiter is left to the master.
pub fn finish_holder(c: &Cluster) {
    let p = dead_pair(c, "group-finish-holder", 15);
    repair(c, "zombie-tasks", "holder", &["--choose", "finish", "--instance", &p.holder]);
    p.print(c, "after the repair");
    c.up(&["master"]);
    let done = becomes(90, || c.run_state(&p.waiter) == "7");
    p.print(c, "after the restart");
    for line in c.master_says(&["ask group", "askGroup", "acquire"]).iter().take(8) {
        eprintln!("log {line}");
    }
    assert!(done, "the waiter gets the slot");
    assert_eq!(c.run_state(&p.holder), "6");
    let next = p.w.start(c);
    let done = becomes(60, || c.run_state(&next) == "7");
    p.print(c, "after a new run");
    assert!(done, "a new run gets the slot");
}

/// Both are closed by flowmend; a new run needs the slot.
pub fn finish_both(c: &Cluster) {
    let p = dead_pair(c, "group-finish-both", 15);
    repair(c, "zombie-tasks", "both", &["--choose", "finish"]);
    p.print(c, "after the repair");
    c.up(&["master"]);
    pass(15);
    p.print(c, "15 s after the restart");
    assert_eq!((c.run_state(&p.holder), c.run_state(&p.waiter)), ("6".to_owned(), "6".to_owned()));
    let next = p.w.start(c);
    wait(60, "a new run gets the slot", || c.run_state(&next) == "7");
    let freed = becomes(20, || p.used(c) == 0 && p.queue(c, "status = 1") == 0);
    p.print(c, "after a new run");
    assert!(freed, "the slot is given back");
}

/// Nothing is repaired.
pub fn resume(c: &Cluster) {
    let p = dead_pair(c, "group-resume", 15);
    c.up(&["master"]);
    let done = becomes(30, || c.run_state(&p.holder) == "7" && c.run_state(&p.waiter) == "7");
    p.print(c, "after the restart");
    for line in c.master_says(&["ask group", "askGroup", "ailover"]).iter().take(20) {
        eprintln!("log {line}");
    }
    eprintln!("OBSERVED both succeeded without a repair: {done}; slots used {}", p.used(c));
    if done {
        return;
    }
    // The slots of superseded attempts are released, the runs stay the master's.
    c.kill(&["master"]);
    let planned = plan(c, "task-groups", "slots-look", &[]).expect(0);
    if !c.db.path("slots-look").exists() {
        eprintln!("OBSERVED no slot of a superseded attempt to release\n{}", planned.out);
        return;
    }
    repair(c, "task-groups", "slots", &[]);
    p.print(c, "slots released by flowmend");
    c.up(&["master"]);
    let one = becomes(60, || [&p.holder, &p.waiter].iter().any(|run| c.run_state(run) == "7"));
    pass(15);
    p.print(c, "after one more restart");
    assert!(one, "one of them gets the slot");
    // The takeover made ghosts of both waiters, and the release called a ghost.
    if c.run_state(&p.holder) != "7" || c.run_state(&p.waiter) != "7" {
        repair_live(c, "task-groups", "ghosts", &[]);
        p.print(c, "the ghosts are released");
        // Somebody must give a slot back for the next waiter to be called.
        next(c, &p.w);
        wait(60, "both succeed", || c.run_state(&p.holder) == "7" && c.run_state(&p.waiter) == "7");
        p.print(c, "after a new run");
    }
    assert!(becomes(20, || p.used(c) == 0), "the slot is given back");
}

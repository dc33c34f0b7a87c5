//! Several kinds of damage at once, repaired by `plan --all`.

use super::groups::pair;
use super::handover::next;
use crate::real::cluster::Cluster;
use crate::real::damage::{Plain, repair, take};
use crate::real::watch::{becomes, begun, pass, wait};

/// A zombie, a stranded run, a line asleep and a task group whose holder is dead.
pub fn mixed(c: &Cluster) {
    let p = pair(c, "all-group", 40);
    let zombie = Plain::new(c, "all-zombie", "PARALLEL", 20);
    let run = zombie.running(c);
    let stranded = Plain::new(c, "all-stranded", "PARALLEL", 20);
    let handed_over = stranded.running(c);
    let line = Plain::new(c, "all-line", "SERIAL_WAIT", 20);
    let first = line.running(c);
    let second = line.start(c);
    wait(30, "one waits", || c.run_state(&second) == "14");
    c.kill(&["master"]);
    c.db.exec(&format!("UPDATE t_ds_process_instance SET host = 'NULL' WHERE id = {handed_over}"));
    // Somebody closed the first of the line, and woke nobody.
    c.db.exec(&format!(
        "UPDATE t_ds_task_instance SET state = 6, end_time = start_time WHERE process_instance_id = {first}"
    ));
    c.db.exec(&format!("UPDATE t_ds_process_instance SET state = 6, end_time = start_time WHERE id = {first}"));
    for w in [&p.w, &zombie, &stranded, &line] {
        take(&w.marker, 2);
    }
    let closed = [&p.holder, &p.waiter, &run, &handed_over, &first];
    let rows = format!("id IN ({}, {second})", closed.map(String::as_str).join(", "));
    c.print("the damage", &rows);
    repair(c, "--all", "all", &["--choose", "finish", "--waiters", "wake"]);
    c.print("after the repair", &rows);
    c.up(&["master"]);
    let woken = becomes(60, || c.run_state(&second) == "7");
    pass(10);
    c.print("after the restart", &rows);
    assert!(woken, "the line moves on");
    for run in closed {
        assert_eq!(
            (c.run_state(run), c.task_states(run)),
            ("6".to_owned(), vec!["6".to_owned()]),
            "{run} stays closed"
        );
    }
    assert_eq!([&p.w, &zombie, &stranded].map(|w| begun(&w.marker)), [1, 1, 1], "nothing ran twice");
    assert_eq!(begun(&line.marker), 2);
    for w in [&p.w, &zombie, &stranded, &line] {
        next(c, w);
    }
    assert!(becomes(20, || p.used(c) == 0 && p.queue(c, "status = 1") == 0), "the slot is free");
}

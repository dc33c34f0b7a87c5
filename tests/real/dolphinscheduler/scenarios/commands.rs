//! Commands that name nothing, and one that cannot even fail.

use crate::real::dolphinscheduler::cluster::Cluster;
use crate::real::dolphinscheduler::damage::{Plain, repair, repair_live};
use crate::real::watch::{becomes, pass};

/// A command with a number of its own, for a workflow and a run that may not exist.
fn add(c: &Cluster, id: u32, kind: u32, workflow: i64, version: u32, run: u32) {
    c.exec(&format!(
        "INSERT INTO t_ds_command (id, command_type, process_definition_code, process_definition_version, \
         process_instance_id, command_param, executor_id, process_instance_priority, start_time, update_time) \
         VALUES ({id}, {kind}, {workflow}, {version}, {run}, '{{}}', 1, 2, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)"
    ));
}

/// Five commands that never run, with numbers from `first` on; the fourth failed before.
fn five(c: &Cluster, first: u32, workflow: i64) {
    add(c, first, 2, workflow, 1, 999_999);
    add(c, first + 1, 0, workflow, 0, 0);
    add(c, first + 2, 0, 4_711, 1, 0);
    add(c, first + 3, 2, workflow, 1, 999_998);
    c.exec(&format!(
        "INSERT INTO t_ds_error_command (id, command_type, process_definition_code, process_definition_version, message) \
         VALUES ({}, 2, 1, 1, 'an earlier failure')",
        first + 3
    ));
    add(c, first + 4, 99, workflow, 1, 0);
    c.print("commands: no run, version 0, no workflow, poison, unknown type", "1 = 0");
}

/// Left to a master, which cannot get rid of one of them; flowmend takes that away beside it.
pub fn poison(c: &Cluster) {
    let w = Plain::new(c, "commands", "PARALLEL", 1);
    c.kill(&["master"]);
    if c.release.one_by_one {
        // A healthy one behind them all.
        c.api.start(w.project, w.workflow);
        c.exec("UPDATE t_ds_command SET id = 900010");
    }
    five(c, 900_001, w.workflow);
    c.up(&["master"]);
    if !c.release.one_by_one {
        succeeds(c, &w);
    }
    let before = done(c, &w);
    let stay = if c.release.one_by_one { 3 } else { 1 };
    let moved = becomes(45, || c.count("t_ds_command", "1 = 1") == stay);
    c.print("after the restart", &format!("process_definition_code = {}", w.workflow));
    for line in c.master_says(&["ERROR", "uplicate", "rror command", "xception"]).iter().take(14) {
        eprintln!("log {line}");
    }
    assert!(moved, "the master moves those aside that it gets to");
    let mentions = || c.log("master").matches("900004").count();
    let first = mentions();
    pass(6);
    let noisy = mentions();
    assert!(noisy > first, "the master tries it again and again");
    assert_eq!(done(c, &w), before, "nothing gets past it");
    repair_live(c, "dead-commands", "poison", &[]);
    assert!(becomes(20, || c.count("t_ds_command", "1 = 1") == 0), "nothing is left");
    assert!(!c.release.one_by_one || becomes(30, || done(c, &w) > before), "the command behind it runs");
    pass(3);
    let quiet = mentions();
    pass(8);
    eprintln!(
        "OBSERVED mentions of the poison: {first}, 6 s later {noisy}; after the repair {quiet}, then {}",
        mentions()
    );
    assert_eq!(mentions(), quiet, "the log is quiet");
    succeeds(c, &w);
    c.exec("DELETE FROM t_ds_error_command");
}

/// All taken away before a master starts.
pub fn before_start(c: &Cluster) {
    let w = Plain::new(c, "commands-before", "PARALLEL", 1);
    c.kill(&["master"]);
    five(c, 910_001, w.workflow);
    if c.release.queues {
        c.api.start(w.project, w.workflow);
    }
    let healthy = c.count("t_ds_command", "id NOT BETWEEN 910001 AND 910005");
    repair(c, "dead-commands", "commands-before", &[]);
    let wanted = u32::from(c.release.queues);
    assert_eq!((healthy, c.count("t_ds_command", "1 = 1")), (wanted, wanted), "the healthy command stays");
    c.up(&["master"]);
    if !c.release.queues {
        c.api.start(w.project, w.workflow);
    }
    assert!(becomes(60, || done(c, &w) == 1), "the healthy run succeeds");
    assert_eq!(c.count("t_ds_error_command", "1 = 1"), 1, "nothing else failed");
    let log = c.log("master");
    assert!(!(910_001..=910_005).any(|id| log.contains(&id.to_string())), "the master hears of none");
    c.exec("DELETE FROM t_ds_error_command");
}

fn done(c: &Cluster, w: &Plain) -> u32 {
    c.count("t_ds_process_instance", &format!("process_definition_code = {} AND state = 7", w.workflow))
}

/// A healthy run beside them does its work.
fn succeeds(c: &Cluster, w: &Plain) {
    let before = done(c, w);
    c.api.start(w.project, w.workflow);
    assert!(becomes(60, || done(c, w) > before), "a healthy run succeeds");
}

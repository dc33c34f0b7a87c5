//! A run that was handed over, but whose recovery command is gone.

use crate::real::cluster::Cluster;
use crate::real::damage::{Plain, plan, take};
use crate::real::watch::{becomes, begun, pass};

/// A command for a run, as REPAIRS R3 and R10 describe it.
pub fn command(kind: u32, run: &str) -> String {
    format!(
        "INSERT INTO t_ds_command (command_type, process_definition_code, process_definition_version, \
         process_instance_id, command_param, executor_id, process_instance_priority, start_time, update_time) \
         SELECT {kind}, process_definition_code, process_definition_version, id, '{{\"ProcessInstanceId\":{run}}}', \
         executor_id, process_instance_priority, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP \
         FROM t_ds_process_instance WHERE id = {run} \
         AND NOT EXISTS (SELECT 1 FROM t_ds_command WHERE process_instance_id = {run})"
    )
}

/// The task is still marked as running.
pub fn stranded(c: &Cluster) {
    hand_over(c, "handover", "1");
}

/// The task is marked NEED_FAULT_TOLERANCE, as a failover of 3.1.9 does first.
pub fn marked(c: &Cluster) {
    hand_over(c, "handover-marked", "8");
}

/// Nobody takes it over until the command is there.
fn hand_over(c: &Cluster, name: &str, task: &str) {
    let w = Plain::new(c, name, "PARALLEL", 15);
    let run = w.running(c);
    c.kill(&["master"]);
    // What a crash between the two writes of a failover leaves.
    c.db.exec(&format!("UPDATE t_ds_process_instance SET host = 'NULL' WHERE id = {run}"));
    c.db.exec(&format!("UPDATE t_ds_task_instance SET state = {task} WHERE process_instance_id = {run}"));
    take(&w.marker, 2);
    let rows = format!("id = {run}");
    c.print("handed over by hand", &rows);
    let planned = plan(c, name, &["--choose", "finish"]);
    eprintln!("flowmend plan zombie-tasks: code {}\n{}{}", planned.code, planned.out, planned.err);
    c.up(&["master"]);
    // The failover looks 10 s after the start, and then every minute.
    let seconds = if task == "1" { 75 } else { 20 };
    pass(seconds);
    c.print(&format!("{seconds} s after the restart"), &rows);
    eprintln!("OBSERVED stranded: {}, begun {}", c.run_state(&run) == "1", begun(&w.marker));
    c.db.exec(&command(2, &run));
    let taken = becomes(45, || c.run_state(&run) == "7");
    c.print("after the command of type 2", &rows);
    let about = format!("WorkflowInstance-{run}]");
    for line in c.master_says(&[&about]).iter().take(14) {
        eprintln!("log {line}");
    }
    eprintln!("OBSERVED the master took it: {taken}, begun {}", begun(&w.marker));
}

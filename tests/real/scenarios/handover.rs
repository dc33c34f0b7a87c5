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

/// Nobody takes it over until the command is there.
pub fn stranded(c: &Cluster) {
    let w = Plain::new(c, "handover", "PARALLEL", 15);
    let run = w.running(c);
    c.kill(&["master"]);
    // What a crash between the two writes of a failover leaves.
    c.db.exec(&format!("UPDATE t_ds_process_instance SET host = 'NULL' WHERE id = {run}"));
    take(&w.marker, 2);
    let rows = format!("id = {run}");
    c.print("handed over by hand", &rows);
    let planned = plan(c, "handover", &["--choose", "finish"]);
    eprintln!("flowmend plan zombie-tasks: code {}\n{}{}", planned.code, planned.out, planned.err);
    c.up(&["master"]);
    pass(75);
    c.print("75 s after the restart", &rows);
    eprintln!("OBSERVED stranded: {}, begun {}", c.run_state(&run) == "1", begun(&w.marker));
    c.db.exec(&command(2, &run));
    let taken = becomes(60, || c.run_state(&run) == "7");
    c.print("after the command of type 2", &rows);
    for line in c.master_says(&["andle command", "ommand"]).iter().rev().take(10).rev() {
        eprintln!("log {line}");
    }
    eprintln!("OBSERVED the master took it: {taken}, begun {}", begun(&w.marker));
}

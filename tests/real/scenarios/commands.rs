//! Commands that name nothing, and one that cannot even fail.

use crate::real::cluster::Cluster;
use crate::real::damage::Plain;
use crate::real::watch::{becomes, pass};

/// A command with a number of its own, for a workflow and a run that may not exist.
fn add(c: &Cluster, id: u32, kind: u32, workflow: i64, version: u32, run: u32) {
    c.db.exec(&format!(
        "INSERT INTO t_ds_command (id, command_type, process_definition_code, process_definition_version, \
         process_instance_id, command_param, executor_id, process_instance_priority, start_time, update_time) \
         VALUES ({id}, {kind}, {workflow}, {version}, {run}, '{{}}', 1, 2, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)"
    ));
}

pub fn orphans_and_poison(c: &Cluster) {
    let w = Plain::new(c, "commands", "PARALLEL", 1);
    let runs = c.count("t_ds_process_instance", "1 = 1");
    c.kill(&["master"]);
    add(c, 900_001, 2, w.workflow, 1, 999_999);
    add(c, 900_002, 0, w.workflow, 0, 0);
    add(c, 900_003, 0, 4_711, 1, 0);
    add(c, 900_004, 2, w.workflow, 1, 999_998);
    c.db.exec("INSERT INTO t_ds_error_command (id, command_type, process_definition_code, process_definition_version, message) \
         VALUES (900004, 2, 1, 1, 'an earlier failure')");
    add(c, 900_005, 99, w.workflow, 1, 0);
    c.print("commands by hand: 1 no run, 2 version 0, 3 no workflow, 4 poison, 5 unknown type", "1 = 0");
    c.up(&["master"]);
    let before = c.runs_of(w.workflow).len();
    c.api.start(w.project, w.workflow);
    let healthy = becomes(45, || {
        c.count("t_ds_process_instance", &format!("process_definition_code = {} AND state = 7", w.workflow)) > 0
    });
    pass(20);
    c.print("after the restart", &format!("process_definition_code = {}", w.workflow));
    for line in c.master_says(&["ERROR", "uplicate", "rror command", "xception"]).iter().take(14) {
        eprintln!("log {line}");
    }
    let made = c.count("t_ds_process_instance", "1 = 1") - runs;
    eprintln!(
        "OBSERVED a healthy run beside them succeeded: {healthy}; runs of it before {before}, all new runs {made}"
    );
    let poison = c.log("master").matches("900004").count();
    pass(10);
    eprintln!(
        "OBSERVED mentions of 900004 in the log: {poison}, 10 s later {}",
        c.log("master").matches("900004").count()
    );
    c.db.exec("DELETE FROM t_ds_error_command");
}

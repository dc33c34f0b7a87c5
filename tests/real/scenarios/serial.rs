//! Three runs of a serial workflow: one works, two wait in line.

use crate::real::cluster::Cluster;
use crate::real::damage::{Plain, plan, take};
use crate::real::scenarios::handover::command;
use crate::real::watch::{becomes, begun, pass, wait};

/// The first run's master dies; the run is closed by SQL; the line is woken by a command.
pub fn chain(c: &Cluster) {
    let w = Plain::new(c, "serial", "SERIAL_WAIT", 15);
    let first = w.running(c);
    let second = w.start(c);
    let third = w.start(c);
    wait(30, "two wait", || c.run_state(&second) == "14" && c.run_state(&third) == "14");
    c.kill(&["master"]);
    take(&w.marker, 2);
    let rows = format!("process_definition_code = {}", w.workflow);
    c.print("after kill -9 of the master", &rows);
    let planned = plan(c, "serial", &["--choose", "finish"]);
    eprintln!("flowmend plan zombie-tasks: code {}\n{}{}", planned.code, planned.out, planned.err);
    // By hand until there is a recipe for it.
    c.db.exec(&format!("UPDATE t_ds_task_instance SET state = 6, end_time = start_time WHERE process_instance_id = {first} AND state = 1"));
    c.db.exec(&format!(
        "UPDATE t_ds_process_instance SET state = 6, end_time = start_time WHERE id = {first} AND state = 1"
    ));
    c.up(&["master"]);
    pass(25);
    c.print("25 s after the restart, first run closed by SQL", &rows);
    eprintln!("OBSERVED the line sleeps: {}", c.run_state(&second) == "14" && c.run_state(&third) == "14");
    c.db.exec(&command(11, &second));
    let woken = becomes(60, || c.run_state(&second) == "7");
    let follows = becomes(60, || c.run_state(&third) == "7");
    c.print("after the command of type 11", &rows);
    for line in c.master_says(&["erial"]).iter().take(8) {
        eprintln!("log {line}");
    }
    eprintln!("OBSERVED second succeeded {woken}, third followed {follows}, begun {}", begun(&w.marker));
    assert_eq!(c.run_state(&first), "6");
}

//! A hand-written script as they are passed around, on real damage: states by the
//! wrong codes, a column that does not exist, commands of failed runs deleted.

use crate::real::dolphinscheduler::cluster::Cluster;
use crate::real::dolphinscheduler::damage::{Plain, take};
use crate::real::watch::{becomes, begun, wait};

/// Its writing statements, one by one: "running is 4, failed is 6, waiting is 2, given up is 3".
const STATEMENTS: [&str; 4] = [
    "UPDATE t_ds_task_instance SET state = 6, end_time = CURRENT_TIMESTAMP WHERE state = 4 AND update_time < CURRENT_TIMESTAMP",
    "UPDATE t_ds_process_instance SET state = 6, end_time = CURRENT_TIMESTAMP WHERE state = 4 AND id IN \
     (SELECT process_instance_id FROM t_ds_task_instance WHERE state = 6)",
    "DELETE FROM t_ds_command WHERE process_instance_id IN (SELECT id FROM t_ds_process_instance WHERE state = 6)",
    "UPDATE t_ds_task_group_queue SET status = 3 WHERE status = 2",
];

pub fn hand_written(c: &Cluster) {
    let broken = Plain::new(c, "script-failed", "PARALLEL", 1);
    std::fs::remove_file(format!("{}.seconds", broken.marker.display())).unwrap();
    // `sleep` without a number fails, but the script goes on: let it end with an error.
    let failed = broken.start(c);
    wait(60, "it ends", || !["0", "1"].contains(&c.run_state(&failed).as_str()));
    let w = Plain::new(c, "script", "PARALLEL", 15);
    let zombie = w.running(c);
    c.kill(&["master"]);
    take(&w.marker, 2);
    take(&broken.marker, 1);
    // The failed run, and its rerun that waits for a master.
    c.exec(&format!("UPDATE t_ds_process_instance SET state = 6 WHERE id = {failed}"));
    c.exec(&format!("UPDATE t_ds_task_instance SET state = 6 WHERE process_instance_id = {failed}"));
    eprintln!("api: {}", c.api.execute(broken.project, &failed, "START_FAILURE_TASK_PROCESS"));
    let rows = format!("id IN ({zombie}, {failed})");
    c.print("after kill -9 of the master", &rows);
    for statement in STATEMENTS {
        let file = c.db.path("statement.sql");
        std::fs::write(&file, c.release.say(&format!("{statement};\n"))).unwrap();
        let done = c.db.stock_with(&file, &[]);
        eprintln!(
            "{statement}\n  -> {}{}",
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr)
        );
    }
    c.print("after the script", &rows);
    c.up(&["master"]);
    let recovered = becomes(60, || c.run_state(&zombie) == "7");
    c.print("after the restart", &rows);
    eprintln!("OBSERVED the zombie was run again by the master: {recovered}, begun {}", begun(&w.marker));
    eprintln!("OBSERVED the rerun that the user asked for is lost: {}", c.run_state(&failed) == "6");
}

//! A retry without an end, as hand-written repairs leave it.

use crate::real::airflow::damage::{next, running};
use crate::real::airflow::installation::Airflow;
use crate::real::road::repair;
use crate::real::watch::{becomes, begun, wait};

/// The scheduler ends at every start, or never moves the run; repaired, it retries.
pub fn retry(a: &Airflow) {
    running(a, "no_end", "lost", 600);
    a.crash();
    a.take("no_end", 1);
    a.db.exec("UPDATE task_instance SET state = 'up_for_retry' WHERE dag_id = 'no_end' AND state = 'running'");
    a.print("the damage", &["no_end"]);
    a.servers.up(a.release.servers);
    let died = becomes(30, || !a.servers.alive("scheduler"));
    for line in a.servers.says("scheduler", &["TypeError"]).iter().take(3) {
        eprintln!("log {line}");
    }
    assert_eq!(died, a.release.dies_of_retry, "the scheduler ends");
    assert_eq!(a.states("no_end", "lost"), ["running", "up_for_retry", "∅"]);
    a.crash();
    repair(&a.db, "retry-without-end", "no-end", &["--zone", "UTC", "--dag", "no_end"]);
    a.up();
    wait(90, "the retry succeeds", || a.states("no_end", "lost") == ["success", "success", "success"]);
    a.print("after the repair", &["no_end"]);
    assert!(a.servers.alive("scheduler"));
    assert_eq!(begun(&a.marker("no_end")), 2);
    next(a, "no_end");
}

//! Runs that are open although every task of them has ended.

use crate::real::airflow::damage::{next, running};
use crate::real::airflow::installation::Airflow;
use crate::real::road::{nothing, repair};
use crate::real::watch::{becomes, begun, pass, wait};
use crate::support::program::on_bundle;

/// One is closed by flowmend and stays as it is, the other by the next scheduler.
pub fn close(a: &Airflow) {
    // Where tasks run one by one, there is only one at a time.
    let both: &[&str] = if a.release.one_by_one(a.db.server) { &["settled"] } else { &["settled", "settled_left"] };
    for dag in both {
        running(a, dag, "lost", 30);
    }
    // The scheduler stands still while the tasks end.
    a.servers.signal("scheduler", "STOP");
    let ended = both.iter().all(|dag| becomes(90, || a.task_state(dag, "lost", "work") == "success"));
    assert!(ended, "tasks end without their scheduler");
    a.crash();
    a.print("after kill -9 of everything", both);
    assert!(both.iter().all(|dag| a.run_state(dag, "lost") == "running"));
    let plan = ["--zone", "UTC", "--dead-owner", "*", "--dag", "settled"];
    nothing(&a.db, "stranded-runs", "looked", &plan);
    repair(&a.db, "stranded-runs", "settled", &[&plan[..], &["--close-runs"]].concat());
    assert_eq!(a.run_state("settled", "lost"), "success");
    a.up();
    wait(60, "the scheduler ends the other", || both.iter().all(|dag| a.run_state(dag, "lost") == "success"));
    pass(15);
    on_bundle("verify", &a.db, "settled").expect(0);
    for dag in both {
        assert_eq!(a.states(dag, "lost"), ["success", "success", ""]);
        assert_eq!(a.listed(dag, "lost"), "success");
        assert_eq!(begun(&a.marker(dag)), 1);
    }
    both.iter().for_each(|dag| next(a, dag));
}

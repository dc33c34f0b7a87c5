//! Rows deleted by hand.

use crate::real::quartz::store::{At, Store};
use crate::real::road::{repair, repair_live};
use crate::real::watch::{pass, wait};

/// Both nodes killed, their fired triggers and check-ins deleted by hand.
fn cut(at: &At, scenario: &'static str) -> Store {
    let s = Store::new(at, scenario, true);
    s.up(&["cluster-a", "cluster-b"]);
    s.at_work();
    wait(30, "an idle node holds a trigger", || s.trigger("later") == "ACQUIRED");
    s.servers.kill(&["cluster-a", "cluster-b"]);
    for table in ["QRTZ_FIRED_TRIGGERS", "QRTZ_SCHEDULER_STATE"] {
        s.db.exec(&format!("DELETE FROM {table}"));
    }
    s.take(1);
    s
}

/// The next node frees nothing. flowmend does, beside it.
pub fn by_hand(at: &At) {
    let s = cut(at, "deleted");
    s.up(&["cluster-c"]);
    pass(20);
    s.print("20 s after the restart");
    assert_eq!(s.states(), ["BLOCKED", "PAUSED_BLOCKED", "BLOCKED", "COMPLETE", "ERROR"], "blocked for ever");
    assert_eq!(s.trigger("later"), "ACQUIRED");
    repair_live(&s.db, "orphan-triggers", "orphans", &s.told(&[]));
    repair_live(&s.db, "finished-triggers", "finished", &s.told(&[]));
    s.fires_on("cluster-c");
    s.print("after the repair");
    assert_eq!(s.trigger("single"), "");
    s.stays_paused();
    assert_eq!(s.complaints("cluster-c"), Vec::<String>::new());
    assert_eq!(s.begun("single", ""), 1, "nothing ran twice");
}

/// All of it at once while nothing runs, with triggers in ERROR, whose class is
/// there again.
pub fn all(at: &At) {
    let s = cut(at, "all");
    let told = s.told(&["--dead-owner", "*", "--recovery", "drop", "--cause-fixed"]);
    repair(&s.db, "--all", "all", &told);
    s.print("after the repair");
    assert_eq!(s.states(), ["WAITING", "PAUSED", "WAITING", "", "WAITING"]);
    s.up(&["cluster-full"]);
    s.fires_on("cluster-full");
    wait(30, "its class is there", || s.begun("missing", "cluster-full") >= 2);
    s.print("after the restart");
    assert_eq!(s.complaints("cluster-full"), Vec::<String>::new());
    assert_eq!(s.begun("single", ""), 1, "nothing ran twice");
}

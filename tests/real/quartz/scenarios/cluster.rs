//! Nodes of a cluster that died.

use crate::real::quartz::store::{At, Store};
use crate::real::road::{nothing, plan, repair, repair_live};
use crate::real::watch::{pass, wait};

/// What a plan is told when both nodes are dead.
const BOTH: [&str; 4] = ["--dead-owner", "cluster-a", "--dead-owner", "cluster-b"];

fn both_killed(at: &At, scenario: &'static str) -> Store {
    let s = Store::new(at, scenario, true);
    s.up(&["cluster-a", "cluster-b"]);
    s.at_work();
    wait(30, "an idle node holds a trigger", || s.trigger("later") == "ACQUIRED");
    s.servers.kill(&["cluster-a", "cluster-b"]);
    s.print("after kill -9 of both nodes");
    s.take(1);
    s
}

/// Both nodes are dead for good: flowmend takes over, and the next node finds
/// nothing to heal.
pub fn both_dead(at: &At) {
    let s = both_killed(at, "both-dead");
    repair(&s.db, "dead-instances", "both", &s.told(&[&BOTH[..], &["--recovery", "drop"]].concat()));
    s.print("after the repair");
    assert_eq!(s.states(), ["WAITING", "PAUSED", "WAITING", "", "ERROR"]);
    assert_eq!(s.trigger("later"), "WAITING");
    assert_eq!(s.count("QRTZ_JOB_DETAILS", "JOB_NAME = 'single'"), 0, "a job for one run goes with it");
    for table in ["QRTZ_FIRED_TRIGGERS", "QRTZ_SCHEDULER_STATE"] {
        assert_eq!(s.count(table, "1 = 1"), 0, "{table}");
    }
    s.up(&["cluster-c"]);
    s.fires_on("cluster-c");
    s.print("after the restart");
    assert_eq!(s.complaints("cluster-c"), Vec::<String>::new(), "nothing to heal");
    assert_eq!(s.begun("single", ""), 1, "nothing ran twice");
    assert!(!s.marks("again").iter().any(|l| l.ends_with("recovering")), "the wish was given up");
    assert_eq!(s.trigger("missing"), "ERROR");
    s.stays_paused();
    nothing(&s.db, "--all", "again", &s.told(&[]));
}

/// The choice to leave the instance whose run asked to be run again: the next node
/// does so. The other instance is taken over.
pub fn both_left(at: &At) {
    let s = both_killed(at, "both-left");
    repair(&s.db, "dead-instances", "left", &s.told(&[&BOTH[..], &["--recovery", "leave"]].concat()));
    s.print("after the repair");
    assert_eq!(s.trigger("again"), "BLOCKED");
    s.up(&["cluster-c"]);
    let recovering = || s.marks("again").iter().filter(|l| l.starts_with("begin") && l.ends_with("recovering")).count();
    wait(60, "the run is recovered", || recovering() == 1);
    s.fires_on("cluster-c");
    s.print("after the restart");
    for line in s.complaints("cluster-c") {
        eprintln!("log {line}");
    }
    assert_eq!(recovering(), 1);
    assert_eq!(s.begun("single", ""), 1);
}

/// One node is dead, its row of check-ins deleted by hand: its peer never takes it
/// over. flowmend does, beside the peer.
pub fn living_peer(at: &At) {
    let s = Store::new(at, "living-peer", true);
    s.up(&["cluster-a"]);
    s.at_work();
    s.up(&["cluster-b"]);
    s.servers.kill(&["cluster-a"]);
    s.db.exec("DELETE FROM QRTZ_SCHEDULER_STATE WHERE INSTANCE_NAME = 'cluster-a'");
    s.take(1);
    pass(20);
    s.print("20 s later");
    assert_eq!(s.states(), ["BLOCKED", "PAUSED_BLOCKED", "BLOCKED", "COMPLETE", "ERROR"], "the peer heals nothing");
    let drop = ["--recovery", "drop"];
    let refused =
        plan(&s.db, "dead-instances", "living", &s.told(&[&["--dead-owner", "cluster-b"], &drop[..]].concat()));
    refused.expect(4);
    let told = s.told(&[&["--dead-owner", "cluster-a"], &drop[..]].concat());
    repair_live(&s.db, "dead-instances", "peer", &told);
    s.fires_on("cluster-b");
    s.print("after the repair");
    assert_eq!(s.count("QRTZ_FIRED_TRIGGERS", "INSTANCE_NAME = 'cluster-a'"), 0);
    assert_eq!(s.trigger("single"), "");
    s.stays_paused();
    assert_eq!(s.complaints("cluster-b"), Vec::<String>::new());
    assert_eq!(s.begun("single", ""), 1, "nothing ran twice");
    assert!(!s.marks("again").iter().any(|l| l.ends_with("recovering")));
}

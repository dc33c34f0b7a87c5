//! A scheduler that is not clustered.

use crate::real::quartz::store::{At, Store};
use crate::real::road::{nothing, repair};

/// It is dead and comes back under another id, which would lose what asked to be
/// run again. Without the word that all is stopped nothing is planned.
pub fn dead(at: &At) {
    let s = Store::new(at, "not-clustered", false);
    s.up(&["single-a"]);
    s.at_work();
    s.servers.kill(&["single-a"]);
    s.print("after kill -9");
    s.take(1);
    let drop = ["--recovery", "drop"];
    nothing(&s.db, "dead-instances", "unsaid", &s.told(&[&["--dead-owner", "single-a"], &drop[..]].concat()));
    repair(&s.db, "dead-instances", "single", &s.told(&[&["--dead-owner", "*"], &drop[..]].concat()));
    s.print("after the repair");
    assert_eq!(s.states(), ["WAITING", "PAUSED", "WAITING", "", "ERROR"]);
    assert_eq!(s.count("QRTZ_FIRED_TRIGGERS", "1 = 1"), 0);
    s.up(&["single-b"]);
    s.fires_on("single-b");
    s.print("after the restart");
    for line in s.servers.says("single-b", &["JobStoreTX - "]) {
        eprintln!("log {line}");
    }
    assert_eq!(s.begun("single", ""), 1, "nothing ran twice");
    assert!(!s.marks("again").iter().any(|l| l.ends_with("recovering")));
    s.stays_paused();
}

//! A trigger whose class was missing.

use crate::real::quartz::store::{At, Store};
use crate::real::road::{nothing, repair_live};
use crate::real::watch::{pass, wait};

/// With the class there again it stays in ERROR; reset beside a living node, it fires.
pub fn fixed(at: &At) {
    let s = Store::new(at, "error", true);
    s.take(1);
    s.up(&["cluster-a"]);
    wait(60, "the class is missed", || s.trigger("missing") == "ERROR");
    s.servers.stop(&["cluster-a"]);
    s.up(&["cluster-full"]);
    pass(15);
    assert_eq!(s.trigger("missing"), "ERROR", "nobody resets it");
    nothing(&s.db, "error-triggers", "unsaid", &s.told(&[]));
    repair_live(&s.db, "error-triggers", "error", &s.told(&["--cause-fixed"]));
    wait(60, "it fires", || s.begun("missing", "cluster-full") >= 2);
    s.print("after the repair");
    s.fires_on("cluster-full");
}

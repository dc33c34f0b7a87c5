//! Three runs of a serial workflow: one works, two wait in line.

use crate::real::dolphinscheduler::cluster::Cluster;
use crate::real::dolphinscheduler::damage::{Plain, repair, repair_live, take};
use crate::real::watch::{begun, pass, wait};

struct Line {
    w: Plain,
    first: String,
    second: String,
    third: String,
}

impl Line {
    fn states(&self, c: &Cluster) -> [String; 3] {
        [&self.first, &self.second, &self.third].map(|run| c.run_state(run))
    }

    fn print(&self, c: &Cluster, when: &str) {
        c.print(when, &format!("process_definition_code = {}", self.w.workflow));
        eprintln!("OBSERVED {when}: {:?}, begun {}", self.states(c), begun(&self.w.marker));
    }

    fn becomes(&self, c: &Cluster, states: [&str; 3], when: &str) {
        let found = crate::real::watch::becomes(90, || self.states(c) == states);
        self.print(c, when);
        assert!(found, "{when}: {states:?}");
    }
}

/// A line whose master is dead.
fn line(c: &Cluster, name: &str) -> Line {
    let w = Plain::new(c, name, "SERIAL_WAIT", 15);
    let first = w.running(c);
    let (second, third) = (w.start(c), w.start(c));
    let line = Line { w, first, second, third };
    wait(30, "two wait", || line.states(c) == ["1", "14", "14"]);
    c.kill(&["master"]);
    take(&line.w.marker, 2);
    line.print(c, "after kill -9 of the master");
    line
}

/// The first run is closed and the line is woken, in one bundle.
pub fn wake(c: &Cluster) {
    let l = line(c, "serial");
    repair(c, "zombie-tasks", "serial", &["--choose", "finish", "--waiters", "wake"]);
    assert_eq!(l.states(c), ["6", "14", "14"]);
    assert_eq!(c.count("t_ds_command", &format!("command_type = 11 AND process_instance_id = {}", l.second)), 1);
    c.up(&["master"]);
    l.becomes(c, ["6", "7", "7"], "after the restart");
    assert_eq!(begun(&l.w.marker), 3, "each once");
    super::handover::next(c, &l.w);
}

/// The line is left asleep, and nobody wakes it; then it is thinned out under a living master.
pub fn newest(c: &Cluster) {
    let l = line(c, "serial-newest");
    repair(c, "zombie-tasks", "serial-leave", &["--choose", "finish", "--waiters", "leave"]);
    c.up(&["master"]);
    pass(25);
    l.print(c, "25 s after the restart");
    assert_eq!(l.states(c), ["6", "14", "14"], "the line sleeps");
    repair_live(c, "serial-chain", "serial-newest", &["--waiters", "newest"]);
    l.becomes(c, ["6", "5", "7"], "after the repair");
    assert_eq!(begun(&l.w.marker), 2);
    super::handover::next(c, &l.w);
}

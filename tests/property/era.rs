//! What the states mean in each era, stated by release and not read from the
//! manifests: the sets of the upstream study, so that the two can disagree.

use flowmend::manifest::{Manifest, version_order};

/// The facts of one release.
pub struct Era {
    release: String,
}

impl Era {
    pub fn of(m: &Manifest) -> Self {
        Self { release: m.generation.clone() }
    }

    pub fn since(&self, release: &str) -> bool {
        version_order(&self.release) >= version_order(release)
    }

    pub fn before(&self, release: &str) -> bool {
        !self.since(release)
    }

    /// A task in one of these is unfinished, by the release's own habits.
    pub fn task_active(&self) -> &'static [i64] {
        match () {
            () if self.since("3.1.0") => &[0, 1, 12, 17],
            () if self.since("3.0.0") => &[0, 1, 11, 12, 17],
            () if self.since("2.0.0") => &[0, 1, 11, 12],
            () => &[0, 1, 11],
        }
    }

    /// A task in one of these is finished.
    pub fn task_finished(&self) -> &'static [i64] {
        match () {
            () if self.since("3.3.0") => &[3, 6, 7, 8, 9, 13],
            () if self.since("3.1.7") => &[3, 5, 6, 7, 8, 9, 13],
            () if self.since("3.1.0") => &[3, 6, 7, 8, 9, 13],
            () if self.since("2.0.0") => &[3, 5, 6, 7, 8, 9, 13],
            () => &[3, 5, 6, 7, 8, 9],
        }
    }

    /// Up to 3.0.6 runs and tasks share one enum. A run's state on a task is nothing
    /// that the release writes, but its master takes it for unfinished, or for finished.
    fn borrowed(&self) -> (&'static [i64], &'static [i64]) {
        match () {
            () if self.since("3.1.0") => (&[], &[]),
            () if self.since("3.0.0") => (&[2, 4, 10, 14, 15], &[16]),
            () if self.since("1.3.0") => (&[2, 4, 10], &[]),
            () => (&[2, 4], &[10]),
        }
    }

    pub fn is_unfinished(&self, state: i64) -> bool {
        self.task_active().contains(&state) || self.borrowed().0.contains(&state)
    }

    pub fn is_finished(&self, state: i64) -> bool {
        self.task_finished().contains(&state) || self.borrowed().1.contains(&state)
    }

    pub fn task_legal(&self, state: i64) -> bool {
        self.task_active().contains(&state) || self.task_finished().contains(&state)
    }

    pub fn run_active(&self) -> &'static [i64] {
        match () {
            () if self.since("3.4.0") => &[0, 1, 2, 4, 14, 18],
            () if self.since("3.3.0") => &[0, 1, 2, 4, 14, 17, 18],
            () if self.since("3.2.0") => &[0, 1, 2, 4, 12, 14, 15, 17],
            () if self.since("3.1.0") => &[0, 1, 2, 4, 12, 14, 15],
            () if self.since("3.0.0") => &[0, 1, 2, 4, 10, 11, 12, 14, 15],
            () if self.since("2.0.0") => &[0, 1, 2, 4, 10, 11, 12],
            () if self.since("1.3.0") => &[0, 1, 2, 4, 10, 11],
            () => &[0, 1, 2, 4, 11],
        }
    }

    pub fn run_finished(&self) -> &'static [i64] {
        match () {
            () if self.since("3.3.0") => &[3, 5, 6, 7],
            () if self.since("3.1.0") => &[3, 5, 6, 7, 16],
            () if self.since("3.0.0") => &[3, 5, 6, 7, 9, 16],
            () if self.since("1.3.0") => &[3, 5, 6, 7, 9],
            () => &[3, 5, 6, 7, 9, 10],
        }
    }

    /// Active states that a repair closes when there is unfinished work (R2b),
    /// beside a running one whose work is done (R2) and 2 and 4 (R5).
    pub fn closes_with_tasks(&self) -> &'static [i64] {
        match () {
            () if self.since("3.3.0") => &[1],
            () if self.since("2.0.0") => &[0, 1, 12],
            () => &[0, 1],
        }
    }

    /// What `host` holds while a run is handed over.
    pub fn handed_host(&self) -> Option<&'static str> {
        match () {
            () if self.since("3.3.0") => None,
            () if self.since("1.3.0") => Some("NULL"),
            () => Some("null"),
        }
    }

    pub fn handed_state(&self) -> Option<i64> {
        self.since("3.3.0").then_some(18)
    }

    pub fn host_has_port(&self) -> bool {
        self.since("1.3.0")
    }

    /// The column came in 2.0.2.
    pub fn has_restart_time(&self) -> bool {
        self.since("2.0.2")
    }

    pub fn command_in_column(&self) -> bool {
        self.since("2.0.0")
    }

    /// "Recover suspended" restarts only killed tasks here, so a pause ends in KILL and STOP.
    pub fn pause_ends_killed(&self) -> bool {
        self.since("3.1.0") && self.before("3.2.1")
    }

    pub fn has_serial_queue(&self) -> bool {
        self.since("3.4.0")
    }

    /// What a parent's task becomes when its child has ended in a state, if that is known.
    pub fn says_of_child(&self, child: i64) -> Option<i64> {
        match child {
            7 | 6 | 3 => Some(child),
            5 => Some(9),
            16 if self.since("3.2.0") && self.before("3.3.0") => Some(6),
            _ => None,
        }
    }

    /// A sub-workflow is started by a command of its own.
    pub fn child_comes_by_command(&self) -> bool {
        self.before("3.3.0")
    }

    /// A living parent reads its child's row now and then.
    pub fn parents_watch_children(&self) -> bool {
        self.before("2.0.6") || self.since("3.0.0")
    }

    /// One task may have many sub-workflows, in a table of their own.
    pub fn has_dynamic_tasks(&self) -> bool {
        self.since("3.2.0")
    }

    /// Slots and counters are the repair's business, not a coordinator's.
    pub fn repairs_queue(&self) -> bool {
        self.since("3.0.0") && self.before("3.2.1")
    }

    /// A command always names a run that exists.
    pub fn run_before_command(&self) -> bool {
        self.since("3.3.0")
    }
}

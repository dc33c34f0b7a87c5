//! Several changes, each committed by itself.

use super::Across;
use crate::lint::finding::Level;
use crate::lint::reading::{Deed, Reading};
use crate::lint::report::Report;

#[derive(Default)]
struct Watch {
    open: bool,
    /// A change stood outside before: half of a repair.
    bare: bool,
    said: bool,
}

pub(super) fn watch() -> Box<dyn Across> {
    Box::new(Watch::default())
}

impl Across for Watch {
    fn see(&mut self, report: &mut Report<'_>, reading: &Reading) {
        match &reading.deed {
            Deed::Begin => self.open = true,
            Deed::Commit | Deed::Rollback => self.open = false,
            Deed::Set { name, value } if name == "autocommit" => self.open = is_off(value),
            _ => {}
        }
        let ours = reading.changes.iter().any(|c| report.knowledge.table(&c.table).is_some() && !c.in_body);
        if self.open || self.said || !ours {
            return;
        }
        if !std::mem::replace(&mut self.bare, true) {
            return;
        }
        self.said = true;
        report
            .statement(reading, Level::Warning, "several changes stand outside of a transaction")
            .why("each commits by itself: a failure between two of them leaves half a repair")
            .help("put BEGIN before the first and COMMIT after the last, and look at the counts before COMMIT");
    }
}

/// Whether a session's switch is turned off.
pub(super) fn is_off(value: &str) -> bool {
    ["0", "off", "false"].contains(&value.trim_matches('\'').to_lowercase().as_str())
}

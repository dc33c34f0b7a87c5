//! What was seen of owners in one run of the program: generations that look alike ask
//! the same of the same tables and registries, and nobody shall wait for each of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Row;
use crate::ui;

/// What was read so far.
#[derive(Default)]
pub struct Sightings {
    /// Query of a heartbeat table → its rows at two moments.
    pub(super) beats: BTreeMap<String, [Vec<Row>; 2]>,
    /// Place of a registry → who was listed, look by look.
    pub(super) listed: BTreeMap<String, Vec<BTreeSet<String>>>,
    warned: BTreeSet<String>,
}

impl Sightings {
    /// A warning that holds for every generation is said once.
    pub fn warn(&mut self, text: String) {
        if !self.warned.contains(&text) {
            ui::warn(&text);
            self.warned.insert(text);
        }
    }
}

//! Rows are changed and nothing was kept.

use super::Across;
use crate::lint::finding::Level;
use crate::lint::reading::{Deed, Does, Reading};
use crate::lint::report::Report;

#[derive(Default)]
struct Watch {
    kept: bool,
    said: bool,
}

pub(super) fn watch() -> Box<dyn Across> {
    Box::new(Watch::default())
}

impl Across for Watch {
    fn see(&mut self, report: &mut Report<'_>, reading: &Reading) {
        let knowledge = report.knowledge;
        let ours = |table: &str| knowledge.table(table).is_some();
        let copies = reading.changes.iter().any(|c| c.does == Does::Insert && !ours(&c.table))
            || matches!(&reading.deed, Deed::Define(d) if d.filled);
        self.kept |= copies && reading.tables.iter().any(|t| ours(&t.name));
        let changes = reading.changes.iter().find(|c| c.does != Does::Insert && ours(&c.table) && !c.in_body);
        let (Some(change), false, false) = (changes, self.kept, self.said) else { return };
        self.said = true;
        let table = change.table.clone();
        report
            .statement(reading, Level::Info, format!("rows of {table} are changed and no copy was made before"))
            .help("copy the rows into a table of your own first; flowmend plan does it, and writes the undo");
    }
}

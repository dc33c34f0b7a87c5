//! DDL ends the transaction (MySQL, MariaDB).

use super::Across;
use super::no_transaction::is_off;
use crate::lint::define::BLOCK;
use crate::lint::finding::Level;
use crate::lint::reading::{Deed, Reading};
use crate::lint::report::Report;
use crate::manifest::Engine;

#[derive(Default)]
struct Watch {
    open: bool,
    changed: bool,
}

pub(super) fn watch() -> Box<dyn Across> {
    Box::new(Watch::default())
}

impl Across for Watch {
    fn see(&mut self, report: &mut Report<'_>, reading: &Reading) {
        match &reading.deed {
            Deed::Begin => (self.open, self.changed) = (true, false),
            Deed::Commit | Deed::Rollback => self.open = false,
            Deed::Change => self.changed |= self.open,
            Deed::Set { name, value } if name == "autocommit" => self.open = is_off(value),
            Deed::Define(definition)
                if self.open
                    && !definition.temporary
                    && definition.what != BLOCK
                    && report.knowledge.engine == Engine::MySql =>
            {
                let changed = self.changed;
                let does = if changed {
                    "commits what the transaction did so far"
                } else {
                    "ends the transaction: what follows runs without one"
                };
                let message = format!("{} {does}", definition.what);
                let finding = report.statement(reading, Level::Error, message);
                finding.why(
                    "MySQL and MariaDB commit before and after a definition; a ROLLBACK afterwards undoes nothing",
                );
                finding.help("define tables before the transaction begins");
                if changed && definition.filled {
                    finding.why("the copy is made after the change: it is no backup");
                }
                self.open = false;
            }
            _ => {}
        }
    }
}

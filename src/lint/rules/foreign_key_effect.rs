//! A delete that takes other tables' rows along, or is refused by them.

use std::collections::BTreeSet;

use super::Across;
use crate::lint::finding::Level;
use crate::lint::reading::{Change, Does, Reading};
use crate::lint::report::Report;
use crate::manifest::ForeignKey;

#[derive(Default)]
struct Watch {
    /// Tables (lower case) that were deleted from: whoever does that thought of the key.
    emptied: BTreeSet<String>,
}

pub(super) fn watch() -> Box<dyn Across> {
    Box::new(Watch::default())
}

impl Across for Watch {
    fn see(&mut self, report: &mut Report<'_>, reading: &Reading) {
        for change in reading.changes.iter().filter(|c| c.does == Does::Delete) {
            let mut children = report.knowledge.children(&change.table);
            // Two keys of one table on the same columns do the same.
            children.dedup_by(|(a, key), (b, other)| {
                a == b && key.columns == other.columns && key.on_delete == other.on_delete
            });
            for (child, key) in children {
                let asked = reading.tables.iter().any(|t| t.absent && t.name.eq_ignore_ascii_case(child));
                if !asked && !self.emptied.contains(&child.to_lowercase()) {
                    say(report, change, child, key);
                }
            }
            self.emptied.insert(change.table.to_lowercase());
        }
    }

    fn end(&mut self, _: &mut Report<'_>) {}
}

fn say(report: &mut Report<'_>, change: &Change, child: &str, key: &ForeignKey) {
    let by = key.columns.join(", ");
    let (level, what, how) = match key.on_delete.to_uppercase().as_str() {
        "CASCADE" => {
            let what = format!("the delete takes rows of {child} along: {child} ({by}) cascades");
            (Level::Error, what, "foreign key ON DELETE CASCADE")
        }
        "SET NULL" => (Level::Warning, format!("the delete empties {child} ({by})"), "foreign key ON DELETE SET NULL"),
        _ => {
            let what = format!("the delete fails where a row of {child} ({by}) refers to a deleted one");
            (Level::Warning, what, "foreign key without a cascade")
        }
    };
    let title = report.knowledge.title();
    let more = report.knowledge.leaves_tables_out();
    let found = report.at(change.span, level, what).why(format!("{how} in {title}"));
    if more {
        found.why("flowmend does not describe every table of this release: whatever else refers to these rows goes along, or refuses the delete, too");
    }
    if how != "foreign key ON DELETE SET NULL" {
        found.help(format!(
            "delete only what no row of {child} refers to (NOT EXISTS); such rows are to be looked at first"
        ));
    }
}

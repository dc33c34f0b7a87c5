//! A parent is closed or deleted before its children, or without them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Across;
use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::Report;

#[derive(Default)]
struct Watch {
    /// Table (lower case) → where it was first deleted from or closed.
    seen: BTreeMap<String, (Does, Range<usize>)>,
    said: Vec<String>,
}

pub(super) fn watch() -> Box<dyn Across> {
    Box::new(Watch::default())
}

impl Across for Watch {
    fn see(&mut self, report: &mut Report<'_>, reading: &Reading) {
        for change in reading.changes.iter().filter(|c| c.does != Does::Insert && !c.in_body) {
            let knowledge = report.knowledge;
            for (parent, _) in knowledge.parents_of_parts(&change.table) {
                let Some((does, range)) = self.seen.get(&parent.to_lowercase()) else { continue };
                if *does != change.does || self.said.contains(&parent) {
                    continue;
                }
                let (range, child) = (range.clone(), change.table.clone());
                report
                    .over(range, Level::Error, format!("{parent} is {}d before {child}", does.name()))
                    .why(format!(
                        "rows of {child} belong to rows of {parent}: between the two statements they hang on nothing"
                    ))
                    .help(format!("write {child} first"));
                self.said.push(parent);
            }
            let range = report.bytes(change.span);
            self.seen.entry(change.table.to_lowercase()).or_insert((change.does, range));
        }
    }

    fn end(&mut self, report: &mut Report<'_>) {
        for (table, (does, range)) in &self.seen {
            if *does != Does::Delete {
                continue;
            }
            let left: Vec<String> = report.knowledge.parts_of(table);
            // Where a foreign key takes the rows along, or refuses the delete, nothing stays behind.
            let stays =
                |c: &String| !self.seen.contains_key(&c.to_lowercase()) && !report.knowledge.holds_on_to(c, table);
            let left: Vec<String> = left.into_iter().filter(stays).collect();
            if !left.is_empty() {
                let message = format!("rows are deleted, but their rows in {} stay behind", left.join(", "));
                report
                    .over(range.clone(), Level::Warning, message)
                    .why("they belong to rows that are gone: nothing shows, finishes or deletes them any more")
                    .help("delete them first, by the same keys");
            }
        }
    }
}

//! A parent is closed or deleted before its children, or without them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Across;
use crate::lint::finding::Level;
use crate::lint::reading::{Change, Does, Reading};
use crate::lint::report::{Report, transitions};

#[derive(Default)]
struct Watch {
    /// Table (lower case) → where it was first written.
    seen: BTreeMap<String, Seen>,
    /// Tables (lower case) that were read: whoever asks for the children has thought of them.
    read: BTreeSet<String>,
    said: Vec<String>,
}

struct Seen {
    does: Does,
    range: Range<usize>,
    /// Whether rows that were not over get an end.
    closes: bool,
}

pub(super) fn watch() -> Box<dyn Across> {
    Box::new(Watch::default())
}

impl Across for Watch {
    fn see(&mut self, report: &mut Report<'_>, reading: &Reading) {
        for change in reading.changes.iter().filter(|c| c.does != Does::Insert && !c.in_body) {
            let knowledge = report.knowledge;
            for (parent, _) in knowledge.parents_of_parts(&change.table) {
                let Some(Seen { does, range, .. }) = self.seen.get(&parent.to_lowercase()) else { continue };
                if *does != change.does || self.said.contains(&parent) {
                    continue;
                }
                let (range, child, does) = (range.clone(), change.table.clone(), *does);
                let between = match does {
                    Does::Delete => "they hang on nothing",
                    _ => "they are not over under rows that are, and whoever looks at them then goes by that",
                };
                report
                    .over(range, Level::Error, format!("{parent} is {}d before {child}", does.name()))
                    .why(format!("rows of {child} belong to rows of {parent}: between the two statements {between}"))
                    .help(format!("write {child} first"));
                self.said.push(parent);
            }
            self.seen.entry(change.table.to_lowercase()).or_insert_with(|| Seen {
                does: change.does,
                range: report.bytes(change.span),
                closes: closes(report, reading, change),
            });
        }
        self.read.extend(reading.tables.iter().filter(|t| !t.written).map(|t| t.name.to_lowercase()));
    }

    fn end(&mut self, report: &mut Report<'_>) {
        for (table, Seen { does, range, closes }) in &self.seen {
            if *does != Does::Delete && !closes {
                continue;
            }
            let left: Vec<String> = report.knowledge.parts_of(table);
            // Where a foreign key takes the rows along, or refuses the delete, nothing stays behind.
            let thought_of = |c: &String| {
                let child = c.to_lowercase();
                self.seen.contains_key(&child) || (*closes && self.read.contains(&child))
            };
            // What has no state is not open: it is a record of its parent.
            let is_open = |c: &String| report.knowledge.own_state(c).is_some();
            let stays = |c: &String| {
                let kept = if *closes { is_open(c) } else { !report.knowledge.holds_on_to(c, table) };
                kept && !thought_of(c)
            };
            let left: Vec<String> = left.into_iter().filter(stays).collect();
            if left.is_empty() {
                continue;
            }
            if *closes {
                let message =
                    format!("rows are closed, but their unfinished rows in {} stay as they are", left.join(", "));
                report
                    .over(range.clone(), Level::Warning, message)
                    .why("under a row that is over, nothing finishes them any more")
                    .help("close them first, by the same keys, or say that there are none: AND NOT EXISTS (SELECT …)");
            } else {
                let message = format!("rows are deleted, but their rows in {} stay behind", left.join(", "));
                report
                    .over(range.clone(), Level::Warning, message)
                    .why("they belong to rows that are gone: nothing shows, finishes or deletes them any more")
                    .help("delete them first, by the same keys");
            }
        }
    }
}

fn closes(report: &Report<'_>, reading: &Reading, change: &Change) -> bool {
    let of_change = transitions(report.knowledge, reading).into_iter().filter(|t| std::ptr::eq(t.change, change));
    let mut own = of_change.filter(|t| report.knowledge.is_own_state(&change.table, &t.column));
    own.any(|t| t.to.iter().all(|s| s.finished) && t.from.iter().any(|s| !s.finished))
}

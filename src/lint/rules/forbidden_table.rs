//! A table that no repair may write: definitions, locks, registries, versions, users.
//! What the manifest allows by way of exception is let through, and nothing beside it.

use crate::lint::finding::Level;
use crate::lint::knowledge::Knowledge;
use crate::lint::reading::{Change, Does, Reading};
use crate::lint::report::Report;
use crate::manifest::{AllowedWrite, Role, WriteKind};

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in &reading.changes {
        let knowledge = report.knowledge;
        if !knowledge.is_forbidden(&change.table) {
            continue;
        }
        let allowed = allowed_in(knowledge, &change.table);
        let found = match allowed.iter().find(|(write, role)| is_this(&write.kind, role, change)) {
            Some((AllowedWrite { warns: None, .. }, _)) => continue,
            Some((AllowedWrite { warns: Some(warning), .. }, _)) => {
                let message = format!("{} is written, which may be done; {warning}", change.table);
                report.at(change.span, Level::Warning, message)
            }
            None if change.does == Does::Delete && knowledge.table(&change.table).is_none() => {
                let message = format!("rows of {} are deleted: flowmend does not describe that table", change.table);
                report
                    .at(change.span, Level::Warning, message)
                    .why("no repair needs it, and what refers to its rows is not known here")
                    .help("to make room use the scheduler's own clean-up")
            }
            // To make room, as the scheduler's own clean-up does.
            None if knowledge.makes_room(change) => continue,
            None if change.does == Does::Delete && knowledge.is_cleaned(&change.table) => {
                let message = format!("rows of {} are deleted: no repair needs that", change.table);
                report
                    .at(change.span, Level::Warning, message)
                    .why("they are records; whoever looks for them later finds none")
                    .help("to make room use the scheduler's own clean-up, or name rows by their age")
            }
            None => {
                let message = format!("{} is written: no repair needs that", change.table);
                report
                    .at(change.span, Level::Error, message)
                    .why("definitions, locks, registries, versions and users are the scheduler's own to write")
                    .help("do it in the scheduler's user interface, or by its own tools")
            }
        };
        for (write, _) in allowed {
            found.why(format!("the one thing that a repair may do here: {}", write.why));
        }
    }
}

/// What may be written to a table all the same.
fn allowed_in<'k>(knowledge: &Knowledge<'k>, table: &str) -> Vec<(&'k AllowedWrite, &'k Role)> {
    let manifest = knowledge.manifest;
    let with_role = manifest.allowed_writes.iter().filter_map(|w| Some((w, manifest.roles.get(&w.role)?)));
    with_role.filter(|(_, role)| role.table.eq_ignore_ascii_case(table)).collect()
}

/// Whether a change is exactly what is allowed.
fn is_this(kind: &WriteKind, role: &Role, change: &Change) -> bool {
    let column = |name: &String| role.columns.get(name);
    match kind {
        WriteKind::Insert(values) => {
            change.does == Does::Insert
                && !change.replaces
                && values.iter().all(|(name, wanted)| {
                    let set = column(name).and_then(|c| change.set(c));
                    let literals = set.map(|s| s.value.literals()).unwrap_or_default();
                    !literals.is_empty() && literals.iter().all(|l| l.code().is_some_and(|code| wanted.contains(&code)))
                })
        }
        WriteKind::DeleteOlder(name) => {
            change.does == Does::Delete && column(name).is_some_and(|c| change.filter.older.contains(&c.to_lowercase()))
        }
    }
}

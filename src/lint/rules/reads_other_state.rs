//! A query looks for rows that hang, and not in the state in which rows run.

use crate::lint::finding::Level;
use crate::lint::reading::{CodeUse, Reading};
use crate::lint::report::{Report, listed};
use crate::manifest::State;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    let mut columns: Vec<&str> = reading.codes.iter().map(|c| c.role_column.as_str()).collect();
    columns.sort_unstable();
    columns.dedup();
    for column in columns {
        let is_read = |c: &&CodeUse| c.role_column == column && is_read(reading, c);
        let used: Vec<&CodeUse> = reading.codes.iter().filter(is_read).collect();
        look(report, column, &used);
    }
}

/// Conditions on the rows that are changed are another rule's.
fn is_read(reading: &Reading, used: &CodeUse) -> bool {
    let changed = |table: &str| reading.changes.iter().any(|c| c.table.eq_ignore_ascii_case(table));
    !used.written && used.equal && !used.column.split_once('.').is_some_and(|(table, _)| changed(table))
}

fn look(report: &mut Report<'_>, column: &str, used: &[&CodeUse]) {
    let Some(set) = report.knowledge.manifest.states.get(column).filter(|set| !set.text) else { return };
    // Where nothing runs, as in a queue, no code is mistaken for that of a row that runs.
    if !set.states.iter().any(|s| s.legal && s.phase == "running") {
        return;
    }
    let mut read: Vec<&State> =
        used.iter().filter_map(|u| set.by_code(&u.scalar.code()?)).filter(|s| s.legal).collect();
    read.dedup_by_key(|s| &s.code);
    let hanging = |s: &&State| !s.finished || s.phase == "needs_recovery";
    let (true, false) = (read.iter().any(hanging), read.iter().any(|s| s.phase == "running")) else { return };
    let named = |phase: &str| set.states.iter().find(|s| s.legal && s.phase == phase).map(|s| listed(&[s]));
    let helps: Vec<String> = [("running", "a row that runs is"), ("killed", "a row that was killed is")]
        .into_iter()
        .filter_map(|(phase, says)| Some(format!("{says} {}", named(phase)?)))
        .collect();
    let message = format!("rows in {} are looked for", listed(&read));
    let finding = report.at(used[0].span, Level::Info, message);
    for help in helps {
        finding.help(help);
    }
}

//! What a bundle changed, compared with what its plan says.

use std::collections::BTreeSet;

use flowmend::db::Row;
use flowmend::manifest::Manifest;
use flowmend::plan::{Plan, Step};
use flowmend::recipe::Op;

use super::snapshot::{Snapshot, Table, missing};

/// Only planned rows changed, each as planned, only in planned columns, only to legal states.
pub fn compare(m: &Manifest, plan: &Plan, before: &Snapshot, after: &Snapshot) -> Result<(), String> {
    if !before.keys().eq(after.keys()) {
        return Err("tables came or went".to_owned());
    }
    for (name, old) in before {
        let new = &after[name];
        let steps: Vec<&Step> = plan.steps.iter().filter(|s| s.table == *name).collect();
        let come = missing(new, old);
        let gone = missing(old, new);
        for row in &gone {
            let step = steps.iter().find(|s| s.op != Op::Insert && plans(s, old, row));
            let step = step.ok_or_else(|| format!("{name}: a row outside the plan changed: {row:?}"))?;
            let twin = come.iter().find(|c| key(step, new, c) == key(step, old, row));
            match (step.op, twin) {
                (Op::Delete, None) => {}
                (Op::Update, Some(twin)) => changed(m, step, old, row, twin)?,
                (op, _) => return Err(format!("{name}: {op:?} did not do that to {row:?}")),
            }
        }
        let updated = |c: &&&Row| steps.iter().any(|s| s.op == Op::Update && plans(s, new, c));
        let inserted: usize = steps.iter().filter(|s| s.op == Op::Insert).map(|s| s.rows.len()).sum();
        if come.iter().filter(|c| !updated(c)).count() != inserted {
            return Err(format!("{name}: rows came from nowhere: {come:?}"));
        }
        all_done(&steps, old, &gone)?;
    }
    Ok(())
}

/// Every row that the plan deletes is gone.
fn all_done(steps: &[&Step], old: &Table, gone: &[&Row]) -> Result<(), String> {
    for step in steps.iter().filter(|s| s.op == Op::Delete) {
        let done = gone.iter().filter(|row| plans(step, old, row)).count();
        if done != step.rows.len() {
            return Err(format!("{}: {done} of {} rows were deleted", step.table, step.rows.len()));
        }
    }
    Ok(())
}

fn key<'r>(step: &Step, table: &Table, row: &'r Row) -> Vec<Option<&'r str>> {
    step.key.iter().map(|c| table.cell(row, &c.name)).collect()
}

fn plans(step: &Step, table: &Table, row: &Row) -> bool {
    let key = key(step, table, row);
    step.rows.iter().any(|r| r.key.iter().map(Option::as_deref).eq(key.iter().copied()))
}

/// One row's cells: only columns of the plan, and states that the release knows.
fn changed(m: &Manifest, step: &Step, table: &Table, old: &Row, new: &Row) -> Result<(), String> {
    let mut may: BTreeSet<&str> = step.set.iter().map(|s| s.column.name.as_str()).collect();
    may.extend(step.columns.iter().filter(|c| c.on_update).map(|c| c.name.as_str()));
    let real = &m.roles[&step.role].columns;
    for column in table.columns.iter().filter(|c| table.cell(old, c) != table.cell(new, c)) {
        if !may.contains(column.as_str()) {
            return Err(format!("{}.{column} is not in the plan", step.table));
        }
        let names = real.iter().filter(|(_, r)| *r == column).map(|(name, _)| format!("{}.{name}", step.role));
        for states in names.filter_map(|name| m.states.get(&name)) {
            let with = states.with.as_ref().and_then(|w| real.get(w.split_once('.')?.1));
            let code = table.cell(new, column);
            if !states.of(code, with.and_then(|w| table.cell(new, w))).is_some_and(|s| s.legal) {
                return Err(format!("{}.{column} = {code:?} is not legal", step.table));
            }
        }
    }
    Ok(())
}

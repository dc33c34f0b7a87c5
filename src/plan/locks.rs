//! The rows that the scheduler locks before it writes, for the rows of a plan. Pure.

use std::collections::BTreeSet;

use super::query::{plan_column, table_of};
use super::{PlanLock, Site, Step};
use crate::manifest::Manifest;
use crate::recipe::Op;
use crate::{Error, Result};

/// The lock rows of a plan's steps, in the scheduler's order; of several scopes, in
/// the order of their names. Whether they are there is for the caller to find out.
///
/// # Errors
/// The database lacks the table or a column of its key.
pub fn lock_rows(site: &Site<'_>, steps: &[Step]) -> Result<Vec<PlanLock>> {
    let mut rows = Vec::new();
    if !site.dialect.locks_rows() {
        return Ok(rows);
    }
    for lock in &site.manifest.locks {
        let role = site.manifest.role(&lock.role)?;
        let table = table_of(site, role)?;
        let scopes = match &lock.scope {
            None => BTreeSet::from([String::new()]),
            Some(scope) => scopes(site.manifest, steps, scope)?,
        };
        let column = |name: &String| {
            let live = role.columns.get(name).and_then(|c| table.column(c));
            live.map(plan_column)
                .ok_or_else(|| Error::refused(format!("the table {} has no column {name}", table.name)))
        };
        let key = role.key.iter().map(column).collect::<Result<Vec<_>>>()?;
        rows.extend(scopes.into_iter().map(|scope| PlanLock {
            table: table.name.clone(),
            key: key.clone(),
            row: role.key.iter().map(|name| lock.key.get(name).unwrap_or(&scope).clone()).collect(),
            there: false,
        }));
    }
    Ok(rows)
}

/// The values of a role column in the rows of the steps.
fn scopes(manifest: &Manifest, steps: &[Step], scope: &str) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for step in steps {
        let column = manifest.column(&format!("{}.{scope}", step.role))?;
        let index = match step.op {
            Op::Insert => step.set_column(column).map(|(index, _)| index),
            Op::Update | Op::Delete => step.key.iter().position(|c| c.name == column),
        };
        let index = index.ok_or_else(|| Error::internal(format!("{} has no {column}", step.role)))?;
        let values = |row: &super::RowChange| if step.op == Op::Insert { &row.new } else { &row.key }[index].clone();
        found.extend(step.rows.iter().filter_map(values));
    }
    Ok(found)
}

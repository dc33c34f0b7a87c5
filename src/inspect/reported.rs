//! What the recipes of a plan show and do not write: a bundle must not look like all there is.

use std::collections::BTreeSet;

use super::findings::reported_rows;
use crate::Result;
use crate::db::Database;
use crate::plan::{Inputs, Plan, SAMPLE, Shown};

/// Adds what one recipe shows in the database as it will be. A row that the plan
/// writes, or that was shown before, is not shown again.
pub(super) async fn add_reported(
    db: &mut Database,
    inputs: &Inputs<'_>,
    plan: &mut Plan,
    known: &mut BTreeSet<(String, String)>,
) -> Result<()> {
    for row in reported_rows(db, inputs).await? {
        let Some(finding) = inputs.recipe.finding(&row.finding) else { continue };
        if !known.insert((row.role.clone(), row.key.clone())) {
            continue;
        }
        let place = plan.shown.iter().position(|s| s.finding == finding.code && s.role == row.role);
        let place = place.unwrap_or_else(|| {
            plan.shown.push(Shown {
                finding: finding.code.clone(),
                title: finding.title.clone(),
                recipe: inputs.recipe.file.name.clone(),
                role: row.role.clone(),
                count: 0,
                sample: Vec::new(),
            });
            plan.shown.len() - 1
        });
        let shown = &mut plan.shown[place];
        shown.count += 1;
        if shown.sample.len() < SAMPLE {
            shown.sample.push(row.key);
        }
    }
    Ok(())
}

/// Role and key of each row that a plan writes.
pub(super) fn written_rows(plan: &Plan) -> BTreeSet<(String, String)> {
    let of_step = |s: &crate::plan::Step| s.rows.iter().map(|r| (s.role.clone(), r.name(s.op))).collect::<Vec<_>>();
    plan.steps.iter().flat_map(of_step).collect()
}

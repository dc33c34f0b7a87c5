//! Findings and bundles for people and machines.

pub mod diff;
pub mod export;
pub mod human;
pub mod lint;
pub mod manifests;
pub mod sections;
pub mod upgrade;

use std::path::PathBuf;

use serde::Serialize;

use crate::bundle::Bundle;
use crate::plan::{AllowedRule, LeftOut, Plan, Shown, step_name};
use crate::{Error, Result, ui};

/// Prints a value as JSON.
///
/// # Errors
/// The value cannot be written as JSON.
pub fn json(value: &impl Serialize) -> Result<()> {
    ui::out(serde_json::to_string_pretty(value).map_err(|e| Error::internal(e.to_string()))?);
    Ok(())
}

/// Prints a report, or writes it into a file, without colours.
///
/// # Errors
/// A file that cannot be written.
pub fn print_to(text: &str, output: Option<&PathBuf>) -> Result<()> {
    let Some(file) = output else {
        ui::out(text);
        return Ok(());
    };
    let plain = anstream::adapter::strip_str(text).to_string();
    std::fs::write(file, plain + "\n").map_err(|e| Error::usage(format!("{}: {e}", file.display())))
}

/// A bundle without its rows, for machines.
#[derive(Debug, Serialize)]
pub struct BundleSummary {
    /// The version of this form.
    pub format: u32,
    /// Where it is.
    pub directory: String,
    /// The id.
    pub bundle: String,
    /// The seal.
    pub seal: String,
    /// The scheduler and release.
    pub scheduler: String,
    /// The release.
    pub release: String,
    /// The recipe.
    pub recipe: String,
    /// Rules of the linter that it breaks and may break.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<AllowedRule>,
    /// The steps.
    pub steps: Vec<StepSummary>,
    /// What was left out.
    pub left_out: Vec<LeftOut>,
    /// What the recipes show and do not write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Shown>,
}

/// A step without its rows.
#[derive(Debug, Serialize)]
pub struct StepSummary {
    /// The step's name.
    pub step: String,
    /// The table.
    pub table: String,
    /// The kind of change.
    pub op: crate::recipe::Op,
    /// How many rows.
    pub rows: usize,
    /// What changes, a line for each kind.
    pub changes: Vec<String>,
    /// The keys.
    pub keys: Vec<Vec<Option<String>>>,
}

/// The summary of a bundle.
#[must_use]
pub fn bundle_summary(bundle: &Bundle) -> BundleSummary {
    let plan: &Plan = &bundle.plan;
    let step = |(index, s): (usize, &crate::plan::Step)| StepSummary {
        step: step_name(index, &s.role),
        table: s.table.clone(),
        op: s.op,
        rows: s.rows.len(),
        changes: crate::render::ticket::transitions(s),
        keys: s.rows.iter().map(|r| r.key.clone()).collect(),
    };
    BundleSummary {
        format: 1,
        directory: bundle.dir.display().to_string(),
        bundle: bundle.id.clone(),
        seal: bundle.seal.full().to_owned(),
        scheduler: plan.from.scheduler.clone(),
        release: plan.from.release.clone(),
        recipe: plan.from.recipe.clone(),
        allowed: plan.allowed.clone(),
        steps: plan.steps.iter().enumerate().map(step).collect(),
        left_out: plan.left_out.clone(),
        shown: plan.shown.clone(),
    }
}

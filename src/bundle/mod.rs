//! A bundle on disk: layout, seal, read, write, compare.

mod seal;
mod store;

pub use seal::Seal;
pub use store::{Bundle, RECEIPTS, must_be_free, write};

use crate::digest::sha256;
use crate::plan::Plan;
use crate::{Error, Result};

/// The text of plan.toml and the id made from it.
///
/// The id is the SHA-256 of the text without the id, so it is the same for the
/// same plan and it names the work tables, the ledger rows and the ticket.
///
/// # Errors
/// The plan holds a value that TOML cannot hold.
pub fn plan_text(plan: &Plan) -> Result<(String, String)> {
    let body = body(plan).map_err(|e| Error::internal(format!("plan.toml: {e}")))?;
    let id = sha256(&[body.as_bytes()])[..16].to_owned();
    Ok((format!("bundle = \"{id}\"\n{body}"), id))
}

/// The plan as TOML, a line for each row, so that two plans can be compared by line.
fn body(plan: &Plan) -> std::result::Result<String, toml::ser::Error> {
    let mut bare = plan.clone();
    for step in &mut bare.steps {
        step.rows.clear();
    }
    let text = toml::to_string(&bare)?;
    let mut parts = text.split("[[steps]]\n");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (part, step) in parts.zip(&plan.steps) {
        let rows: std::result::Result<Vec<String>, _> = step.rows.iter().map(row_line).collect();
        let rows = format!("rows = [\n{}]\n", rows?.concat());
        out.push_str("[[steps]]\n");
        out.push_str(&part.replacen("rows = []\n", &rows, 1));
    }
    Ok(out)
}

fn row_line(row: &crate::plan::RowChange) -> std::result::Result<String, toml::ser::Error> {
    Ok(format!("  {},\n", toml::Value::try_from(row)?))
}

/// Reads plan.toml and proves its id.
///
/// # Errors
/// The text is no plan, or its id is not that of the rest.
pub fn read_plan(text: &str) -> Result<(Plan, String)> {
    let wrong = |why: String| Error::refused(format!("plan.toml cannot be used: {why}"));
    let (first, body) = text.split_once('\n').ok_or_else(|| wrong("it is empty".to_owned()))?;
    let id = first.strip_prefix("bundle = \"").and_then(|l| l.strip_suffix('"'));
    let id = id.ok_or_else(|| wrong("its first line is not the bundle's id".to_owned()))?;
    if sha256(&[body.as_bytes()])[..16] != *id {
        return Err(wrong("its id is not that of its text; somebody changed it".to_owned()));
    }
    let plan: Plan = toml::from_str(body).map_err(|e| wrong(e.to_string()))?;
    if plan.format != crate::plan::FORMAT {
        return Err(wrong(format!("its form is {}, this flowmend reads {}", plan.format, crate::plan::FORMAT)));
    }
    Ok((plan, id.to_owned()))
}

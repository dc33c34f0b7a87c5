//! One answer for generations that look alike: a survey says what each of them would.

use serde_json::Value;

use super::InspectReport;
use crate::{Error, Result};

/// Lays the report by another generation beside this one. Where all that was found is
/// the same, the report stands for both; paragraphs that differ go.
///
/// # Errors
/// The generations find different things, or the report is no JSON.
pub fn stands_for(report: &mut InspectReport, other: &InspectReport) -> Result<bool> {
    if facts(report)? != facts(other)? {
        return Ok(false);
    }
    let mut differ = false;
    for (finding, also) in report.findings.iter_mut().zip(&other.findings) {
        if finding.explained != also.explained {
            finding.explained.clear();
            differ = true;
        }
    }
    let warning = "what the rows that were found wait for differs between these releases: --release explains them";
    if differ && !report.warnings.iter().any(|w| w == warning) {
        report.warnings.push(warning.to_owned());
    }
    Ok(true)
}

/// What a survey found, without what each generation says of it in words of its own.
fn facts(report: &InspectReport) -> Result<Value> {
    let mut json = serde_json::to_value(report).map_err(|e| Error::internal(e.to_string()))?;
    for word in ["warnings", "identified_by", "skew"] {
        json.as_object_mut().and_then(|report| report.remove(word));
    }
    // Owners beat between two looks.
    for owner in json.get_mut("owners").and_then(Value::as_array_mut).into_iter().flatten() {
        for word in ["last_beat", "silent_ms", "overdue"] {
            owner.as_object_mut().and_then(|owner| owner.remove(word));
        }
    }
    for finding in json.get_mut("findings").and_then(Value::as_array_mut).into_iter().flatten() {
        finding.as_object_mut().and_then(|finding| finding.remove("explained"));
    }
    Ok(json)
}

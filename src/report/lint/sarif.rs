//! SARIF 2.1.0, for code scanning.

use serde_json::{Value, json};

use super::{Checked, shown, whole};
use crate::lint::{Finding, Level, Pages};
use crate::sql::Places;
use crate::{Error, Result};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn render(checked: &[Checked<'_>], pages: &Pages) -> Result<String> {
    let mut rules: Vec<&str> = checked.iter().flat_map(|c| &c.linted.findings).map(|f| f.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let results: Vec<Value> = checked.iter().flat_map(|c| results(c, &rules)).collect();
    let described: Vec<Value> = rules.iter().map(|code| described(code, pages)).collect();
    let mut run = run(&described, &results);
    // Columns count characters, as editors do.
    run["columnKind"] = "unicodeCodePoints".into();
    log(&run)
}

/// One run of the program, with its rules and results.
pub(in crate::report) fn run(rules: &[Value], results: &[Value]) -> Value {
    let driver = json!({ "name": "flowmend", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules });
    json!({ "tool": { "driver": driver }, "results": results })
}

/// A log of one run.
///
/// # Errors
/// It cannot be written; a fault of flowmend.
pub(in crate::report) fn log(run: &Value) -> Result<String> {
    let whole = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    serde_json::to_string_pretty(&whole).map_err(|e| Error::internal(e.to_string()))
}

/// What SARIF calls a level.
pub(in crate::report) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "note",
    }
}

fn described(code: &str, pages: &Pages) -> Value {
    let page = pages.get(code);
    let summary = page.map_or(code, |p| p.summary());
    let text = page.map_or(code, |p| p.text.as_str());
    json!({
        "id": code,
        "shortDescription": { "text": summary },
        "help": { "text": text, "markdown": text },
    })
}

fn results(file: &Checked<'_>, rules: &[&str]) -> Vec<Value> {
    let places = Places::of(file.text);
    let one = |finding: &Finding| {
        let s = shown(file.name, &places, finding);
        let level = level_name(finding.level);
        let text = whole(finding);
        let region = json!({
            "startLine": s.line, "startColumn": s.column, "endLine": s.end_line, "endColumn": s.end_column,
        });
        let artifact = json!({ "uri": uri(file.name) });
        let mut result = json!({
            "ruleId": finding.rule,
            "ruleIndex": rules.iter().position(|r| *r == finding.rule),
            "level": level,
            "message": { "text": text },
            "locations": [{ "physicalLocation": { "artifactLocation": artifact, "region": region } }],
        });
        if let Some(edit) = &finding.edit {
            let (from, to) = (places.place(edit.range.start), places.place(edit.range.end));
            result["fixes"] = json!([{
                "description": { "text": finding.help.first().unwrap_or(&finding.message) },
                "artifactChanges": [{
                    "artifactLocation": artifact,
                    "replacements": [{
                        "deletedRegion": {
                            "startLine": from.line, "startColumn": from.column,
                            "endLine": to.line, "endColumn": to.column,
                        },
                        "insertedContent": { "text": edit.text },
                    }],
                }],
            }]);
        }
        result
    };
    file.linted.findings.iter().map(one).collect()
}

/// A path as a relative URI.
pub(in crate::report) fn uri(path: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/".contains(&b);
    let path = path.replace('\\', "/");
    path.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

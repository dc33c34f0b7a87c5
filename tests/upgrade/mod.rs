//! Upgrade checks: offline, on databases, on scripts.

mod database;
mod foreseen;
mod in_house;
mod keys;
mod large;
mod manifests;
mod scripts;

use serde_json::Value;

use crate::support::program::{Run, flowmend};

/// `upgrade-check` of a scheduler, with more arguments.
fn check(scheduler: &str, from: &str, to: &str, extra: &[&str]) -> Run {
    flowmend([&["upgrade-check", "--scheduler", scheduler, "--from", from, "--to", to], extra].concat())
}

/// The findings of a report in JSON.
fn findings(run: &Run) -> Vec<Value> {
    let report: Value = serde_json::from_str(&run.out).unwrap();
    report["findings"].as_array().unwrap().clone()
}

/// The findings of a code: subject, how many rows, since when.
fn of_code(findings: &[Value], code: &str) -> Vec<(String, Option<u64>, Option<String>)> {
    let text = |f: &Value, key: &str| f[key].as_str().map(ToOwned::to_owned);
    let of = findings.iter().filter(|f| f["code"] == code);
    of.map(|f| (text(f, "subject").unwrap(), f["rows"].as_u64(), text(f, "since"))).collect()
}

/// The subjects and row counts of a code.
fn counted(findings: &[Value], code: &str) -> Vec<(String, u64)> {
    of_code(findings, code).into_iter().map(|(subject, rows, _)| (subject, rows.unwrap())).collect()
}

//! A generation's codes for a code base: JSON, or a lookup table with CHECKs.

use serde_json::{Value, json};

use crate::dialect::Dialect;
use crate::manifest::{Manifest, State, StateSet};
use crate::{Error, Result};

/// The codes as JSON: column → code → name and meaning.
///
/// # Errors
/// The value cannot be written; a fault of flowmend.
pub fn json(m: &Manifest, release: &str) -> Result<String> {
    let state = |s: &State| {
        let mut value = json!({
            "code": code(s), "name": s.name, "meaning": s.phase, "finished": s.finished,
            "upstream_finished": s.upstream_finished, "legal": s.legal,
        });
        if !s.when.is_empty() {
            value["beside"] = json!(s.when);
        }
        value
    };
    let column = |(name, set): (&String, &StateSet)| {
        let states: Vec<Value> = set.states.iter().map(state).collect();
        let of = json!({
            "column": column_of(m, name),
            "type": set.type_name,
            "states": states,
            "null": set.null.as_ref().map(|s| json!({ "name": s.name, "meaning": s.phase, "finished": s.finished })),
            "other": set.other.as_ref().map(|s| json!({ "name": s.name, "meaning": s.phase, "finished": s.finished })),
        });
        (name.clone(), of)
    };
    let whole = json!({
        "scheduler": m.scheduler,
        "release": release,
        "generator": format!("flowmend {}", env!("CARGO_PKG_VERSION")),
        "sources": m.sources,
        "columns": m.states.iter().map(column).collect::<serde_json::Map<_, _>>(),
    });
    serde_json::to_string_pretty(&whole).map_err(|e| Error::internal(e.to_string()))
}

/// The code as JSON holds it: a number where the database holds one.
fn code(state: &State) -> Value {
    state.code.parse::<i64>().map_or_else(|_| Value::from(state.code.clone()), Value::from)
}

fn column_of(m: &Manifest, name: &str) -> String {
    let role = m.roles.get(name.split('.').next().unwrap_or_default());
    role.zip(m.column(name).ok()).map_or_else(|| name.to_owned(), |(role, column)| format!("{}.{column}", role.table))
}

/// The name of the lookup table.
const TABLE: &str = "scheduler_states";

/// The codes as a lookup table that reports can join.
#[must_use]
pub fn sql(m: &Manifest, release: &str, d: &Dialect) -> String {
    let mut lines = vec![format!("-- The states of {} {release}, by flowmend {}.", m.title, env!("CARGO_PKG_VERSION"))];
    lines.extend(m.sources.iter().map(|source| format!("-- read from {source}")));
    lines.push(
        "-- Join on column_name and code; a code whose meaning hangs on a second column has a row for each.".into(),
    );
    let columns: Vec<String> = m.states.keys().map(|name| d.text_literal(&column_of(m, name))).collect();
    lines.push(format!("CREATE TABLE {TABLE} ("));
    lines.push(format!("  column_name varchar(100) NOT NULL CHECK (column_name IN ({})),", columns.join(", ")));
    lines.push("  code varchar(40) NOT NULL,".into());
    lines.push("  beside varchar(200) NOT NULL,".into());
    lines.push("  name varchar(60) NOT NULL,".into());
    lines.push("  meaning varchar(40) NOT NULL,".into());
    lines.push("  finished smallint NOT NULL CHECK (finished IN (0, 1)),".into());
    lines.push("  legal smallint NOT NULL CHECK (legal IN (0, 1)),".into());
    lines.push("  PRIMARY KEY (column_name, code, beside)".into());
    lines.push(");".into());
    lines.push(format!("INSERT INTO {TABLE} (column_name, code, beside, name, meaning, finished, legal) VALUES"));
    let rows: Vec<String> = m.states.iter().flat_map(|(name, set)| rows(m, name, set, d)).collect();
    lines.push(format!("{};", rows.join(",\n")));
    lines.join("\n")
}

fn rows(m: &Manifest, name: &str, set: &StateSet, d: &Dialect) -> Vec<String> {
    let column = column_of(m, name);
    let null = set.null.iter().map(|s| ("NULL", s));
    let other = set.other.iter().map(|s| ("other", s));
    let listed = set.states.iter().map(|s| (s.code.as_str(), s));
    let row = |(code, s): (&str, &State)| {
        let texts = [column.as_str(), code, &s.when.join(" "), &s.name, &s.phase].map(|text| d.text_literal(text));
        format!("  ({}, {}, {})", texts.join(", "), u8::from(s.finished), u8::from(s.legal))
    };
    listed.chain(null).chain(other).map(row).collect()
}

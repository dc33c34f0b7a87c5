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
            "column": m.real_name(name),
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

/// The name of the lookup table.
const TABLE: &str = "scheduler_states";

/// The codes as a lookup table that reports can join. Several releases fit into one table.
#[must_use]
pub fn sql(m: &Manifest, release: &str, d: &Dialect) -> String {
    let mut lines = vec![format!("-- The states of {} {release}, by flowmend {}.", m.title, env!("CARGO_PKG_VERSION"))];
    lines.extend(m.sources.iter().map(|source| format!("-- read from {source}")));
    lines.extend(how_to_join(m, release, d));
    lines.push(format!("CREATE TABLE IF NOT EXISTS {TABLE} ("));
    let columns = [
        "scheduler varchar(40) NOT NULL",
        "scheduler_release varchar(40) NOT NULL",
        "column_name varchar(100) NOT NULL CHECK (column_name LIKE '%.%')",
        "code varchar(40) NOT NULL CHECK (code <> '')",
        "beside varchar(100) NOT NULL",
        "name varchar(60) NOT NULL",
        "meaning varchar(40) NOT NULL",
        "finished smallint NOT NULL CHECK (finished IN (0, 1))",
        "legal smallint NOT NULL CHECK (legal IN (0, 1))",
        "PRIMARY KEY (scheduler, scheduler_release, column_name, code, beside)",
    ];
    lines.push(format!("  {}", columns.join(",\n  ")));
    lines.push(");".into());
    let scope = format!("{}, {}", d.text_literal(&m.scheduler), d.text_literal(release));
    let of_release =
        format!("scheduler = {} AND scheduler_release = {}", d.text_literal(&m.scheduler), d.text_literal(release));
    lines.push(format!("DELETE FROM {TABLE} WHERE {of_release};"));
    let names = "scheduler, scheduler_release, column_name, code, beside, name, meaning, finished, legal";
    lines.push(format!("INSERT INTO {TABLE} ({names}) VALUES"));
    let rows: Vec<String> = m.states.iter().flat_map(|(name, set)| rows(m, name, set, d, &scope)).collect();
    lines.push(format!("{};", rows.join(",\n")));
    lines.join("\n")
}

/// A join that works as it stands: codes are texts here, and NULL is one of them.
fn how_to_join(m: &Manifest, release: &str, d: &Dialect) -> Vec<String> {
    let Some((column, set)) = m.states.iter().find(|(_, set)| set.with.is_none()) else { return Vec::new() };
    let real = m.real_name(column);
    let (table, name) = real.split_once('.').unwrap_or((&real, ""));
    let code = format!("COALESCE({}, 'NULL')", d.as_text(&format!("t.{}", d.ident(name))));
    let other = if set.other.is_some() { "; a code that is not listed is `other`" } else { "" };
    vec![
        format!("-- beside: the codes of a second column with which the code means this; empty: all others{other}."),
        format!("-- SELECT t.*, s.name FROM {} t LEFT JOIN {TABLE} s", d.ident(table)),
        format!("--   ON s.scheduler = '{}' AND s.scheduler_release = '{release}'", m.scheduler),
        format!("--   AND s.column_name = '{real}' AND s.beside = '' AND s.code = {code};"),
    ]
}

fn rows(m: &Manifest, name: &str, set: &StateSet, d: &Dialect, scope: &str) -> Vec<String> {
    let column = m.real_name(name);
    let null = set.null.iter().map(|s| ("NULL", s));
    let other = set.other.iter().map(|s| ("other", s));
    let listed = set.states.iter().map(|s| (s.code.as_str(), s));
    let row = |(code, s): (&str, &State)| {
        let texts = [column.as_str(), code, &s.when.join(" "), &s.name, &s.phase].map(|text| d.text_literal(text));
        format!("  ({scope}, {}, {}, {})", texts.join(", "), u8::from(s.finished), u8::from(s.legal))
    };
    listed.chain(null).chain(other).map(row).collect()
}

//! Whether the checks of a plan will hold after it. Pure: gives the queries that tell.
//!
//! A bundle whose own check fails can never be applied; that must show when it is
//! planned, not at night.

use std::collections::BTreeMap;

use minijinja::Value;

use super::query::Inputs;
use super::{Column, Draft, RowChange, Step};
use crate::Result;
use crate::dialect::Dialect;
use crate::recipe::{Check, Op};
use crate::render::Query;

/// The work table's name in these queries.
const WORK: &str = "flowmend_work";

/// A query that counts the rows for which a check would fail.
pub struct Foreseen {
    /// What the check says.
    pub title: String,
    /// The query; it gives one text.
    pub sql: String,
}

impl Draft {
    /// The queries, against the database as it will be; `parts` must look through
    /// this draft's overlay.
    ///
    /// # Errors
    /// A check does not render.
    pub fn foresee(&self, parts: &[Inputs<'_>]) -> Result<Vec<Foreseen>> {
        let mut found = Vec::new();
        for draft in self.steps.iter().filter(|s| s.step.op != Op::Insert && !s.step.rows.is_empty()) {
            for (inputs, check) in draft.checks(parts) {
                found.push(foreseen(inputs, check, &draft.step)?);
            }
        }
        Ok(found)
    }
}

fn foreseen(inputs: &Inputs<'_>, check: &Check, step: &Step) -> Result<Foreseen> {
    let d = inputs.site.dialect;
    let work = BTreeMap::from([("work", Value::from(WORK))]);
    let Query { with, body } = inputs.look_env().query_text(&format!("checks.{}", check.name), &check.sql, work)?;
    let with = match with.trim_end() {
        "" => "WITH".to_owned(),
        more => format!("{more},"),
    };
    let sql = format!("{with} {WORK} AS ({})\nSELECT {}", work_rows(d, step), d.as_text(&format!("({body})")));
    Ok(Foreseen { title: check.title.clone(), sql })
}

/// The rows of a step, as its work table will hold them.
fn work_rows(d: &Dialect, step: &Step) -> String {
    let set = step.set.iter().map(|s| &s.column);
    let columns: Vec<(String, &Column)> = step
        .key
        .iter()
        .map(|c| (format!("k_{}", c.name), c))
        .chain(step.pins.iter().map(|c| (format!("o_{}", c.name), c)))
        .chain(set.map(|c| (format!("n_{}", c.name), c)))
        .collect();
    let names: Vec<String> = (0..columns.len()).map(|i| format!("c{i}")).collect();
    let line = |row: &RowChange| -> Vec<String> {
        let values = row.key.iter().chain(&row.old).chain(&row.new);
        values.zip(&columns).map(|(value, (_, c))| d.literal(value.as_deref(), c.class)).collect()
    };
    let lines: Vec<Vec<String>> = step.rows.iter().map(line).collect();
    let fields: Vec<String> = columns
        .iter()
        .zip(&names)
        .map(|((name, c), from)| format!("{} AS {}", d.cast(&format!("v.{from}"), c.class, &c.type_sql), d.ident(name)))
        .collect();
    format!("SELECT {} FROM {} v", fields.join(", "), d.rows_as_table(&names, &lines))
}

//! The conditions of a step, told of what was found of its rows. Pure.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;

use super::PlanCondition;
use super::query::Inputs;
use crate::Result;
use crate::recipe::{Condition, ConditionTime, Op, StepFile};
use crate::render::ser;

/// What the conditions of a step are told of one row, by the names of `gives`. What is
/// NULL is left out.
pub(super) type Given = BTreeMap<String, String>;

/// Keeps what the query gives for a row and a condition asks for: there may be many rows.
pub(super) fn given(file: &StepFile, gives: Vec<(&String, Option<String>)>) -> Given {
    let asked = |name: &String| file.conditions.iter().any(|c| c.given.contains(name));
    gives.into_iter().filter_map(|(name, value)| Some((name.clone(), value?))).filter(|(name, _)| asked(name)).collect()
}

/// A row that is uncovered meets its conditions only after the steps before it,
/// so they are looked at before the end. What holds at the start alone cannot be
/// asked of it; a new row's conditions are looked at when it is written.
pub(super) fn conditions<'a>(
    inputs: &Inputs<'_>,
    file: &StepFile,
    rows: impl Iterator<Item = &'a Given> + Clone,
    uncovered: bool,
) -> Result<Vec<PlanCondition>> {
    let mut found = Vec::new();
    for condition in &file.conditions {
        let what = format!("steps.{}.conditions.{}", file.role, condition.name);
        let told = BTreeMap::from([("given", told(condition, rows.clone()))]);
        if !condition.when.is_empty() && inputs.env().text(&what, &condition.when, told.clone())? != "yes" {
            continue;
        }
        let at = match condition.at {
            ConditionTime::Start if uncovered && file.op != Op::Insert => continue,
            ConditionTime::Both if uncovered && file.op != Op::Insert => ConditionTime::End,
            at => at,
        };
        found.push(PlanCondition {
            name: condition.name.clone(),
            title: condition.title.clone(),
            at,
            sql: inputs.env().text(&what, &condition.sql, told)?,
            once: condition.once,
        });
    }
    Ok(found)
}

/// What was given for the planned rows under the names that a condition asks for: each
/// combination once, in order. Rows for which all of it is NULL say nothing.
fn told<'a>(condition: &Condition, rows: impl Iterator<Item = &'a Given>) -> Value {
    let combination = |row: &'a Given| condition.given.iter().map(|name| row.get(name)).collect::<Vec<_>>();
    let distinct: BTreeSet<Vec<Option<&String>>> = rows.map(combination).collect();
    let said = distinct.into_iter().filter(|values| values.iter().any(Option::is_some));
    let named = |values: Vec<Option<&'a String>>| -> BTreeMap<String, Option<&'a String>> {
        condition.given.iter().cloned().zip(values).collect()
    };
    ser(said.map(named).collect::<Vec<_>>())
}

//! What a recipe's templates may ask of codes of earlier releases.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Environment;
use minijinja::value::Value;

use crate::manifest::{Legacy, Manifest, StateSet};
use crate::plan::{Confirmed, Params};

/// Which codes a condition is about.
type Keep = fn(&Legacy, Option<&Confirmed>) -> bool;

/// Adds `legacy(column)`, the list for texts, and for queries the conditions `is_legacy`,
/// `is_surely_mapped`, `is_confirmed` and `is_confirmed_end`, and `confirmed`, the new code.
pub(super) fn add(env: &mut Environment<'static>, manifest: &Arc<Manifest>, params: &Params) {
    let (m, said) = (Arc::clone(manifest), params.clone());
    env.add_function("legacy", move |column: &str| {
        codes(&m, column).map(|(set, l)| entry(&m, set, l, said.confirmed(column, &l.code))).collect::<Vec<_>>()
    });
    let conditions: [(&'static str, Keep); 4] = [
        ("is_legacy", |_, _| true),
        ("is_surely_mapped", |l, _| l.sure),
        ("is_confirmed", |_, said| said.is_some()),
        ("is_confirmed_end", |_, said| said.is_some_and(|c| c.finished)),
    ];
    for (name, keep) in conditions {
        let (m, said) = (Arc::clone(manifest), params.clone());
        env.add_function(name, move |column: &str, value: &str| {
            let kept = codes(&m, column).filter(|(_, l)| keep(l, said.confirmed(column, &l.code)));
            let kept: Vec<String> = kept.map(|(set, l)| set.literal(&l.code)).collect();
            condition(value, &kept)
        });
    }
    let (m, said) = (Arc::clone(manifest), params.clone());
    env.add_function("confirmed", move |column: &str, value: &str| {
        let case = |(set, l): (&StateSet, &Legacy)| {
            let to = said.confirmed(column, &l.code)?;
            Some(format!(" WHEN {} THEN {}", set.literal(&l.code), set.literal(&to.to)))
        };
        match codes(&m, column).filter_map(case).collect::<String>() {
            none if none.is_empty() => value.to_owned(),
            cases => format!("CASE {value}{cases} ELSE {value} END"),
        }
    });
}

/// The codes of earlier releases in a column, in the manifest's order; none where the release lacks the column.
fn codes<'m>(m: &'m Manifest, column: &str) -> impl Iterator<Item = (&'m StateSet, &'m Legacy)> + use<'m> {
    let (set, column) = (m.states.get(column), column.to_owned());
    m.legacy.iter().filter(move |l| l.column == column).filter_map(move |l| Some((set?, l)))
}

/// A condition that is never NULL.
fn condition(value: &str, codes: &[String]) -> String {
    if codes.is_empty() {
        return "(1 = 0)".to_owned();
    }
    format!("({value} IS NOT NULL AND {value} IN ({}))", codes.join(", "))
}

/// One code for a text: what it was, what is proposed, and what was confirmed.
fn entry(m: &Manifest, set: &StateSet, legacy: &Legacy, said: Option<&Confirmed>) -> Value {
    let confirmed = said.and_then(|c| set.by_code(&c.to)).map(|s| set.shown(s));
    Value::from(BTreeMap::from([
        ("code", Value::from(legacy.code.clone())),
        ("name", Value::from(legacy.name.clone())),
        ("proposed", Value::from(m.proposed(legacy))),
        ("flag", Value::from(m.confirmation(legacy))),
        ("sure", Value::from(legacy.sure)),
        ("why", Value::from(legacy.why.clone())),
        ("confirmed", confirmed.map_or(Value::from(()), Value::from)),
    ]))
}

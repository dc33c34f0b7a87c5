//! What a CASE or IF makes of a state, judged for each state that a row may be in.

use std::collections::BTreeSet;

use sqlparser::ast::{CaseWhen, Expr};

use super::conditions::Judge;
use super::knowledge::Knowledge;
use super::read::chooses;
use super::reading::{Outcome, Scalar};
use super::scope::Scope;
use super::truth::{Truth, Val, arguments, equal, truth};

/// What an assignment makes of each state, if the column holds states and the value has branches.
pub(super) fn outcome(
    knowledge: &Knowledge<'_>,
    scope: &Scope<'_>,
    target: usize,
    (column, value): (&str, &Expr),
) -> Option<Outcome> {
    let is_branched =
        |expr: &Expr| matches!(expr, Expr::Case { .. }) || matches!(expr, Expr::Function(f) if chooses(f));
    if !is_branched(unwrapped(value)) {
        return None;
    }
    let judge = Judge { knowledge, scope, target, assumed: Vec::new() };
    let sets = judge.state_sets();
    let (column, set) = sets.iter().find(|(own, _)| own.eq_ignore_ascii_case(column))?;
    let mut outcome = Outcome::default();
    for state in &set.states {
        let assumed = vec![(column.clone(), Val::Known(Scalar::Text(state.code.clone())))];
        for end in ends(value, column, &Judge { assumed, ..judge }) {
            let codes = match end {
                End::Keeps => continue,
                End::Changes => &mut outcome.changes,
                End::Falls => &mut outcome.falls,
            };
            codes.insert(state.code.clone());
        }
    }
    Some(outcome)
}

/// What may become of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// It stays.
    Keeps,
    /// A branch gives another value.
    Changes,
    /// No branch takes it, and there is no ELSE.
    Falls,
}

fn ends(value: &Expr, column: &str, judge: &Judge<'_, '_>) -> BTreeSet<End> {
    match unwrapped(value) {
        Expr::Case { operand, conditions, else_result, .. } => {
            let rest = else_result.as_deref();
            of_case((operand.as_deref(), conditions, rest), column, judge)
        }
        Expr::Function(function) if chooses(function) => match arguments(&function.args).as_slice() {
            [condition, yes, no] => {
                let condition = truth(condition, judge);
                let mut found = BTreeSet::new();
                if condition.may_be(Truth::TRUE) {
                    found.extend(ends(yes, column, judge));
                }
                if condition != Truth::TRUE {
                    found.extend(ends(no, column, judge));
                }
                found
            }
            _ => BTreeSet::from([End::Changes]),
        },
        name if judge.own(name).as_deref() == Some(column) => BTreeSet::from([End::Keeps]),
        _ => BTreeSet::from([End::Changes]),
    }
}

fn of_case(
    (operand, branches, rest): (Option<&Expr>, &[CaseWhen], Option<&Expr>),
    column: &str,
    judge: &Judge<'_, '_>,
) -> BTreeSet<End> {
    let mut found = BTreeSet::new();
    for CaseWhen { condition, result } in branches {
        let condition = operand.map_or_else(|| truth(condition, judge), |operand| equal(operand, condition, judge));
        if condition.may_be(Truth::TRUE) {
            found.extend(ends(result, column, judge));
        }
        if condition == Truth::TRUE {
            return found;
        }
    }
    found.extend(rest.map_or_else(|| BTreeSet::from([End::Falls]), |rest| ends(rest, column, judge)));
    found
}

fn unwrapped(value: &Expr) -> &Expr {
    match value {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => unwrapped(inner),
        plain => plain,
    }
}

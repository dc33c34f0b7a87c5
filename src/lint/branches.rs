//! What a CASE or IF makes of a state, judged for each state that a row may be in.

use std::collections::BTreeSet;

use sqlparser::ast::{CaseWhen, Expr};

use super::conditions::Judge;
use super::knowledge::Knowledge;
use super::reading::{After, Before, Outcome, Scalar};
use super::scope::Scope;
use super::truth::{Truth, Val, arguments, equal, truth};
use super::values::{as_literal, chooses};

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
    let listed = set.states.iter().map(|s| (Before::Code(s.code.clone()), Val::code(&s.code)));
    let all = listed.chain([(Before::Null, Val::Known(Scalar::Null)), (Before::Other, Val::Unlisted)]);
    let after = |assumed: Val| after(value, column, &Judge { assumed: vec![(column.clone(), assumed)], ..judge });
    Some(all.map(|(before, assumed)| (before, after(assumed))).collect())
}

fn after(value: &Expr, column: &str, judge: &Judge<'_, '_>) -> BTreeSet<After> {
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
                    found.extend(after(yes, column, judge));
                }
                if condition != Truth::TRUE {
                    found.extend(after(no, column, judge));
                }
                found
            }
            _ => BTreeSet::from([After::Unknown]),
        },
        name if judge.own(name).as_deref() == Some(column) => BTreeSet::from([After::Same]),
        other => BTreeSet::from([of_literal(other)]),
    }
}

fn of_literal(value: &Expr) -> After {
    match as_literal(value) {
        Some(Scalar::Null) => After::Null,
        Some(literal) => literal.code().map_or(After::Unknown, After::Code),
        None => After::Unknown,
    }
}

fn of_case(
    (operand, branches, rest): (Option<&Expr>, &[CaseWhen], Option<&Expr>),
    column: &str,
    judge: &Judge<'_, '_>,
) -> BTreeSet<After> {
    let mut found = BTreeSet::new();
    for CaseWhen { condition, result } in branches {
        let condition = operand.map_or_else(|| truth(condition, judge), |operand| equal(operand, condition, judge));
        if condition.may_be(Truth::TRUE) {
            found.extend(after(result, column, judge));
        }
        if condition == Truth::TRUE {
            return found;
        }
    }
    match rest {
        Some(rest) => found.extend(after(rest, column, judge)),
        // Where a branch may take it, the condition may leave out what none takes.
        None if found.is_empty() => drop(found.insert(After::Null)),
        None => drop(found.insert(After::Unknown)),
    }
    found
}

fn unwrapped(value: &Expr) -> &Expr {
    match value {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => unwrapped(inner),
        plain => plain,
    }
}

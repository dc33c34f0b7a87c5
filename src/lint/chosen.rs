//! Rows that a query on the same table has chosen: `id IN (SELECT id FROM …)`, a join with such a query.

use std::collections::BTreeMap;

use sqlparser::ast::{BinaryOperator, Expr, InTarget, Query, Select, SelectItem, SetExpr, TableFactor};

use super::conditions::{Joins, Judge, bare, filter, joined};
use super::reading::Selected;
use super::scope::{Binding, Scope, as_name};
use super::truth::links;

/// Queries that find the key of every row that the conditions take, if they are of the same table.
pub(super) fn queries<'e>(judge: &Judge<'_, '_>, conditions: &[&'e Expr], joins: &Joins<'e>) -> Vec<&'e Query> {
    let Some(key) = key(judge) else { return Vec::new() };
    let parts: Vec<&Expr> = conditions.iter().flat_map(|c| links(c, &BinaryOperator::And)).collect();
    let mut found: Vec<&Query> = parts.iter().filter_map(|part| listed_in(judge, part, &key)).collect();
    let is_joined = |alias: &str| key.iter().all(|column| parts.iter().any(|part| meets(judge, part, column, alias)));
    found.extend(joins.queries.iter().filter(|(alias, _)| is_joined(alias)).map(|(_, query)| *query));
    found
}

/// The key of the table in question, in lower case.
fn key(judge: &Judge<'_, '_>) -> Option<Vec<String>> {
    let spec = judge.scope.bindings.get(judge.target)?.spec?;
    let key: Vec<String> = spec.key_on(judge.knowledge.engine).iter().map(|c| c.to_lowercase()).collect();
    (!key.is_empty()).then_some(key)
}

fn listed_in<'e>(judge: &Judge<'_, '_>, part: &'e Expr, key: &[String]) -> Option<&'e Query> {
    let Expr::In { expr, target: InTarget::Subquery(query), negated: false, .. } = part else { return None };
    let names: Vec<&Expr> = match bare(expr) {
        Expr::Tuple(parts) => parts.iter().collect(),
        one => vec![one],
    };
    let own: Option<Vec<String>> = names.into_iter().map(|name| judge.own(bare(name))).collect();
    let own = own?;
    let same = own.len() == key.len() && key.iter().all(|c| own.contains(c));
    (same && lists(query, &own)).then_some(query)
}

/// Whether a condition asks that a column of the table equal the column of that name of a query.
fn meets(judge: &Judge<'_, '_>, part: &Expr, column: &str, alias: &str) -> bool {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = part else { return false };
    let of_query = |expr: &Expr| match as_name(bare(expr)) {
        Some([.., qualifier, name]) => {
            qualifier.value.eq_ignore_ascii_case(alias) && name.value.eq_ignore_ascii_case(column)
        }
        _ => false,
    };
    let is_own = |expr: &Expr| judge.own(bare(expr)).as_deref() == Some(column);
    is_own(left) && of_query(right) || is_own(right) && of_query(left)
}

/// Whether a query lists columns of these names, in this order.
fn lists(query: &Query, columns: &[String]) -> bool {
    selected(query).is_some_and(|select| {
        let star = matches!(select.projection.as_slice(), [only] if is_star(only));
        star || select.projection.iter().map(name).eq(columns.iter().map(|c| Some(c.clone())))
    })
}

fn selected(query: &Query) -> Option<&Select> {
    match query.body.as_ref() {
        SetExpr::Select(select) => Some(select),
        _ => None,
    }
}

/// Leaves the states that such a query may find, too.
pub(super) fn narrow(judge: &Judge<'_, '_>, query: &Query, states: &mut BTreeMap<String, Selected>) {
    let Some(inner) = key(judge).and_then(|key| found_by(judge, query, &key)) else { return };
    for (column, selected) in states {
        let Some(other) = inner.get(column) else { continue };
        selected.codes.retain(|code| other.codes.contains(code));
        selected.ruled_out.extend(other.ruled_out.iter().cloned());
        selected.other &= other.other;
        selected.null &= other.null;
        selected.spoken |= other.spoken;
        selected.unclear = selected.unclear.or(other.unclear);
    }
}

/// The states of the rows whose key a query on the same table may find.
fn found_by(judge: &Judge<'_, '_>, query: &Query, key: &[String]) -> Option<BTreeMap<String, Selected>> {
    let select = selected(query)?;
    // A query around another takes no more than that one finds, under the same names.
    if let [only] = select.from.as_slice()
        && let (TableFactor::Derived { subquery, .. }, []) = (&only.relation, only.joins.as_slice())
    {
        let plain =
            |column: &String| select.projection.iter().any(|item| is_star(item) || name(item).as_ref() == Some(column));
        return key.iter().all(plain).then(|| found_by(judge, subquery, key))?;
    }
    let own = judge.scope.bindings.get(judge.target)?.spec?;
    let scope = Scope::of(judge.knowledge, &select.from, &[]);
    let is_own = |binding: &Binding<'_>| binding.spec.is_some_and(|spec| spec.name == own.name);
    let target = scope.bindings.iter().position(is_own)?;
    let inner = Judge { knowledge: judge.knowledge, scope: &scope, target, assumed: Vec::new() };
    let alone = scope.bindings.len() == 1;
    let is_listed = |column: &String| {
        let is_it = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(expr) => inner.own(bare(expr)).as_ref() == Some(column),
            item => alone && is_star(item),
        };
        select.projection.iter().any(is_it)
    };
    if !key.iter().all(is_listed) {
        return None;
    }
    let joins = joined(select.from.iter());
    Some(filter(judge.knowledge, &scope, target, (select.selection.as_ref(), &joins), None).states)
}

fn is_star(item: &SelectItem) -> bool {
    matches!(item, SelectItem::Wildcard(_))
}

/// The column that a query lists under its own name, in lower case.
fn name(item: &SelectItem) -> Option<String> {
    let SelectItem::UnnamedExpr(expr) = item else { return None };
    as_name(expr)?.last().map(|n| n.value.to_lowercase())
}

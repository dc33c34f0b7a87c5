//! What the values in a statement are: literals, branches, other rows' columns.

use sqlparser::ast::{self, BinaryOperator, Expr, SelectItem, SetExpr, Spanned as _};
use sqlparser::tokenizer::Span;

use super::reading::{Scalar, Written};
use super::scope::{Scope, as_name};
use super::truth::{arguments, links, literal};

/// What an expression writes.
pub(super) fn written(value: &Expr, scope: &Scope<'_>) -> Written {
    if let Some(scalar) = as_literal(value) {
        return Written::Literal(scalar);
    }
    match value {
        Expr::Nested(inner) => written(inner, scope),
        Expr::Cast { expr, .. } => written(expr, scope),
        Expr::BinaryOp { op: BinaryOperator::And, .. } => joined(value),
        Expr::Case { .. } | Expr::Function(_) => {
            let parts = literals_of(value);
            if parts.is_empty() {
                Written::Unknown
            } else {
                Written::OneOf(parts.into_iter().map(|(s, _)| s).collect())
            }
        }
        name if as_name(name).is_some() && !scope.is_variable(name) => Written::Column,
        _ => Written::Unknown,
    }
}

/// What one of several rows writes.
pub(super) fn one_of(each: Vec<Written>) -> Written {
    let literals: Vec<Scalar> = each.iter().flat_map(|w| w.literals().to_vec()).collect();
    let is_known = |w: &Written| !w.literals().is_empty();
    match each.as_slice() {
        [] => Written::Column,
        [one] => one.clone(),
        some if some.iter().all(is_known) => Written::OneOf(literals),
        some if some.contains(&Written::Column) => Written::Column,
        _ => Written::Unknown,
    }
}

/// The rows that an insert adds, each with its values in order; none where a value is a `*`.
pub(super) fn rows(body: &SetExpr) -> Vec<Vec<&Expr>> {
    match body {
        SetExpr::Values(values) => values.rows.iter().map(|r| r.content.iter().collect()).collect(),
        // Nobody knows how many values a `*` is.
        SetExpr::Select(select) => vec![select.projection.iter().map_while(one_value).collect()],
        SetExpr::SetOperation { left, right, .. } => [rows(left), rows(right)].concat(),
        SetExpr::Query(query) => rows(&query.body),
        _ => Vec::new(),
    }
}

/// The value that an item of a SELECT is; none for a `*`.
pub(super) fn one_value(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// `DEFAULT` as a value.
pub(super) fn is_default(value: &Expr) -> bool {
    matches!(value, Expr::Identifier(name) if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("default"))
}

/// The column whose value an upsert's row would have got, and where that stands.
pub(super) fn would_be(value: &Expr, alias: Option<&str>) -> Option<(Span, String)> {
    let column = match value {
        Expr::Function(function) if function.name.to_string().eq_ignore_ascii_case("values") => {
            match arguments(&function.args).as_slice() {
                [name] => as_name(name)?.last()?.value.clone(),
                _ => return None,
            }
        }
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [row, column] if [Some("excluded"), alias].iter().flatten().any(|n| row.value.eq_ignore_ascii_case(n)) => {
                column.value.clone()
            }
            _ => return None,
        },
        _ => return None,
    };
    Some((value.span(), column))
}

/// A chain of AND whose later parts look like settings of their own.
fn joined(value: &Expr) -> Written {
    let parts = links(value, &BinaryOperator::And);
    let is_setting =
        |part: &&Expr| matches!(part, Expr::BinaryOp { left, op: BinaryOperator::Eq, .. } if as_name(left).is_some());
    match parts.split_first() {
        Some((_, rest)) if rest.iter().all(is_setting) => Written::Joined(parts.iter().map(|p| p.span()).collect()),
        _ => Written::Unknown,
    }
}

/// The literals that an expression may be worth, where it is nothing else.
pub(super) fn literals_of(value: &Expr) -> Vec<(Scalar, Span)> {
    match value {
        Expr::Nested(inner) => literals_of(inner),
        Expr::Case { conditions, else_result, .. } => {
            let results = conditions.iter().map(|c| &c.result).chain(else_result.as_deref());
            results.flat_map(literals_of).collect()
        }
        Expr::Function(function) => match arguments(&function.args).as_slice() {
            [_, yes, no] if chooses(function) => [*yes, *no].into_iter().flat_map(literals_of).collect(),
            _ => Vec::new(),
        },
        other => as_literal(other).map(|s| (s, other.span())).into_iter().collect(),
    }
}

/// `IF` of MySQL and `IIF` of SQLite: one of two values.
pub(super) fn chooses(function: &ast::Function) -> bool {
    ["if", "iif"].iter().any(|name| function.name.to_string().eq_ignore_ascii_case(name))
}

/// A literal, with its sign.
pub(super) fn as_literal(expr: &Expr) -> Option<Scalar> {
    match expr {
        Expr::Value(value) => literal(&value.value),
        Expr::Nested(inner) => as_literal(inner),
        Expr::Cast { expr, .. } => as_literal(expr),
        Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => match as_literal(expr)? {
            Scalar::Number(n) => Some(Scalar::Number(format!("-{n}"))),
            _ => None,
        },
        _ => None,
    }
}

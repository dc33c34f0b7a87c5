//! Whether a condition asks that there be no row of another table that belongs to a row.
//!
//! Only what asks for every such row counts: whoever asks for none in one state, or for none of
//! another name, has not asked.

use sqlparser::ast::{
    BinaryOperator, Cte, Expr, InTarget, Join, JoinConstraint, JoinOperator, Query, Select, SelectItem, SetExpr,
    TableFactor, TableWithJoins, UnaryOperator,
};

use super::conditions::bare;
use super::knowledge::References;
use super::scope::as_name;
use super::truth::links;
use super::values::{as_literal, one_value};

/// What a statement's own condition asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// Literals: `SCHED_NAME = 's'`, the column in lower case.
    values: Vec<(String, String)>,
    /// Columns of other names by which rows belong together.
    references: References,
}

impl Asked {
    pub fn of(selection: Option<&Expr>, references: References) -> Self {
        let parts = selection.into_iter().flat_map(|s| links(s, &BinaryOperator::And));
        Self { values: parts.filter_map(value_of).collect(), references }
    }

    /// Whether rows belong together by two columns.
    fn are_one(&self, left: &str, right: &str) -> bool {
        let refers = |a: &str, b: &str| self.references.iter().any(|(child, parent)| child == a && parent == b);
        left == right || refers(left, right) || refers(right, left)
    }

    /// Whether a condition on another table's rows leaves in all that belong to a row: it names the
    /// same column on both sides, or asks for what the statement asks for, too.
    fn belongs(&self, part: &Expr) -> bool {
        let Expr::BinaryOp { left, op: BinaryOperator::Eq | BinaryOperator::Spaceship, right } = part else {
            return false;
        };
        match (column(left), column(right)) {
            (Some(left), Some(right)) => self.are_one(&left, &right),
            _ => value_of(part).is_some_and(|asked| self.values.contains(&asked)),
        }
    }

    fn all_belong<'e>(&self, conditions: impl IntoIterator<Item = &'e Expr>) -> bool {
        conditions.into_iter().flat_map(|c| links(c, &BinaryOperator::And)).all(|part| self.belongs(part))
    }

    fn takes_all(&self, select: &Select) -> bool {
        // Whatever is joined, or was asked for inside, may leave rows out.
        let [only] = select.from.as_slice() else { return false };
        let alone = only.joins.is_empty() && matches!(only.relation, TableFactor::Table { .. });
        alone && select.having.is_none() && self.all_belong(&select.selection)
    }

    /// The query of which an expression asks that it find no row that belongs.
    pub fn barren<'e>(&self, expr: &'e Expr) -> Option<&'e Query> {
        let query = match expr {
            Expr::Exists { subquery, negated: true } => subquery,
            Expr::In { expr, target: InTarget::Subquery(query), negated: true, .. } if self.lists_same(expr, query) => {
                query
            }
            Expr::UnaryOp { op: UnaryOperator::Not | UnaryOperator::BangNot, expr } => match bare(expr) {
                Expr::Exists { subquery, negated: false } => subquery,
                Expr::In { expr, target: InTarget::Subquery(query), negated: false, .. }
                    if self.lists_same(expr, query) =>
                {
                    query
                }
                _ => return None,
            },
            Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } => match bare(right) {
                Expr::Subquery(query) if self.lists_same(left, query) => query,
                _ => return None,
            },
            Expr::BinaryOp { left, op, right } => counted(left, op, right)?,
            _ => return None,
        };
        let select = selected(query)?;
        (query.limit_clause.is_none() && self.takes_all(select)).then_some(query)
    }

    /// Tables that an outer join brings, by their aliases, with a column that must be NULL.
    pub fn missing<'t>(
        &self,
        tables: impl Iterator<Item = &'t TableWithJoins>,
        selection: Option<&Expr>,
    ) -> Vec<(String, String)> {
        let nulls = |alias: String| {
            let parts = selection.into_iter().flat_map(|s| links(s, &BinaryOperator::And));
            parts.filter_map(move |part| Some((alias.clone(), null_of(part, &alias)?)))
        };
        let joins = tables.flat_map(|t| &t.joins).filter(|join| self.joins_all(join));
        joins.filter_map(alias).flat_map(nulls).collect()
    }

    /// Whether a query lists the columns that are looked for in it.
    fn lists_same(&self, names: &Expr, query: &Query) -> bool {
        let names: Vec<Option<String>> = match bare(names) {
            Expr::Tuple(parts) => parts.iter().map(column).collect(),
            one => vec![column(one)],
        };
        let Some(select) = selected(query) else { return false };
        let listed = select.projection.iter().map(|item| one_value(item).and_then(column));
        let mut pairs = names.iter().zip(listed);
        let are_one = |(name, other): (&Option<String>, Option<String>)| {
            name.as_ref().zip(other).is_some_and(|(name, other)| self.are_one(name, &other))
        };
        names.len() == select.projection.len() && pairs.all(are_one)
    }

    fn joins_all(&self, join: &Join) -> bool {
        let (JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint)) = &join.join_operator else {
            return false;
        };
        match constraint {
            JoinConstraint::On(condition) => self.all_belong([condition]),
            JoinConstraint::Using(_) => true,
            _ => false,
        }
    }
}

/// A common table expression that is a table's rows, or those with some values.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// What the statement calls it, in lower case.
    pub name: String,
    /// The table.
    pub table: String,
    /// The values that its rows have.
    with: Vec<(String, String)>,
}

impl Rows {
    /// What a common table expression stands for, if it is no more than that.
    pub fn of(cte: &Cte) -> Option<Self> {
        let query = &cte.query;
        let select = selected(query).filter(|_| query.limit_clause.is_none() && cte.alias.columns.is_empty())?;
        let [only] = select.from.as_slice() else { return None };
        let TableFactor::Table { name, .. } = &only.relation else { return None };
        let is_plain = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(expr) => as_name(expr).is_some(),
            SelectItem::Wildcard(_) => true,
            _ => false,
        };
        let plain = only.joins.is_empty() && select.having.is_none() && select.projection.iter().all(is_plain);
        let parts = select.selection.iter().flat_map(|s| links(s, &BinaryOperator::And));
        let with: Option<Vec<_>> = parts.map(value_of).collect();
        let (name, table) = (cte.alias.name.value.to_lowercase(), super::scope::last_part(name).0);
        plain.then_some(Self { name, table, with: with? })
    }
}

impl Asked {
    /// Whether the rows of a common table expression are all that belong to a row.
    pub fn has_all(&self, rows: &Rows) -> bool {
        rows.with.iter().all(|value| self.values.contains(value))
    }
}

/// `column = literal`, as names and texts.
fn value_of(part: &Expr) -> Option<(String, String)> {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = part else { return None };
    let value = |e: &Expr| as_literal(e).and_then(|s| s.code()).or_else(|| parameter(e));
    [(left, right), (right, left)].into_iter().find_map(|(name, other)| Some((column(name)?, value(bare(other))?)))
}

/// A parameter: the same one is the same value.
fn parameter(expr: &Expr) -> Option<String> {
    let text = expr.to_string();
    text.starts_with(['@', ':', '$', '?']).then_some(text)
}

fn column(expr: &Expr) -> Option<String> {
    let last = as_name(bare(expr))?.last()?;
    (!last.value.starts_with(['@', ':', '$'])).then(|| last.value.to_lowercase())
}

/// A count that must be nothing: `(SELECT COUNT(*) …) = 0`, `< 1`, `0 = (…)`.
fn counted<'e>(left: &'e Expr, op: &BinaryOperator, right: &'e Expr) -> Option<&'e Query> {
    let number = |e: &Expr| as_literal(e).and_then(|s| s.whole_number());
    let query = |e: &'e Expr| match bare(e) {
        Expr::Subquery(query) if counts(query) => Some(query.as_ref()),
        _ => None,
    };
    match (op, query(left), query(right)) {
        (BinaryOperator::Eq, Some(query), _) if number(right) == Some(0) => Some(query),
        (BinaryOperator::Eq, _, Some(query)) if number(left) == Some(0) => Some(query),
        (BinaryOperator::Lt, Some(query), _) if number(right) == Some(1) => Some(query),
        (BinaryOperator::Gt, _, Some(query)) if number(left) == Some(1) => Some(query),
        _ => None,
    }
}

fn counts(query: &Query) -> bool {
    let Some(Select { projection, .. }) = selected(query) else { return false };
    // A column that may be NULL is not counted where it is.
    let is_count = |e: &Expr| ["count(*)", "count(1)"].contains(&e.to_string().to_lowercase().as_str());
    matches!(projection.as_slice(), [only] if one_value(only).is_some_and(is_count))
}

fn selected(query: &Query) -> Option<&Select> {
    match query.body.as_ref() {
        SetExpr::Select(select) => Some(select),
        _ => None,
    }
}

fn alias(join: &Join) -> Option<String> {
    match &join.relation {
        TableFactor::Table { alias: Some(alias), .. } => Some(alias.name.value.to_lowercase()),
        TableFactor::Table { name, .. } => Some(super::scope::last_part(name).0.to_lowercase()),
        _ => None,
    }
}

/// The column of a table that a condition asks to be NULL.
fn null_of(part: &Expr, alias: &str) -> Option<String> {
    let Expr::IsNull(name) = part else { return None };
    match as_name(bare(name))? {
        [.., qualifier, column] if qualifier.value.eq_ignore_ascii_case(alias) => Some(column.value.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sqlparser::dialect::PostgreSqlDialect;
    use sqlparser::parser::Parser;

    use super::*;

    fn asks(condition: &str) -> bool {
        let own = parsed("s.a = 'x'");
        Asked::of(Some(&own), Arc::new([("r".to_owned(), "i".to_owned())])).barren(&parsed(condition)).is_some()
    }

    fn parsed(text: &str) -> Expr {
        Parser::new(&PostgreSqlDialect {}).try_with_sql(text).unwrap().parse_expr().unwrap()
    }

    #[test]
    fn what_asks_for_every_row_that_belongs() {
        for (condition, wanted) in [
            ("NOT EXISTS (SELECT 1 FROM f WHERE f.a = s.a AND f.b = s.b)", true),
            ("NOT EXISTS (SELECT 1 FROM f WHERE a = 'x' AND f.b = s.b)", true),
            ("NOT EXISTS (SELECT 1 FROM f)", true),
            ("NOT (EXISTS (SELECT 1 FROM f WHERE f.b = s.b))", true),
            ("b NOT IN (SELECT b FROM f WHERE a = 'x')", true),
            ("(a, b) NOT IN (SELECT f.a, f.b FROM f)", true),
            ("s.r NOT IN (SELECT f.i FROM f)", true),
            ("NOT EXISTS (SELECT 1 FROM f WHERE f.i = s.r)", true),
            ("(a, b) <> ALL (SELECT f.a, f.b FROM f)", true),
            ("(a, b) <> ALL (SELECT f.b, f.a FROM f)", false),
            ("(a, b) <> ANY (SELECT f.a, f.b FROM f)", false),
            ("(SELECT COUNT(*) FROM f WHERE f.b = s.b) = 0", true),
            ("(SELECT COUNT(*) FROM f WHERE f.b = s.b) < 1", true),
            ("1 > (SELECT COUNT(*) FROM f WHERE f.b = s.b)", true),
            ("EXISTS (SELECT 1 FROM f WHERE f.b = s.b)", false),
            ("NOT EXISTS (SELECT 1 FROM f WHERE f.b = s.c)", false),
            ("NOT EXISTS (SELECT 1 FROM f WHERE f.b = s.b AND f.state = 'EXECUTING')", false),
            ("NOT EXISTS (SELECT 1 FROM f WHERE f.b = s.b OR f.c = s.c)", false),
            ("NOT EXISTS (SELECT 1 FROM f WHERE a = 'y')", false),
            ("b NOT IN (SELECT c FROM f)", false),
            ("(SELECT MAX(b) FROM f) = 0", false),
            ("(SELECT COUNT(f.c) FROM f WHERE f.b = s.b) = 0", false),
            ("NOT EXISTS (SELECT 1 FROM f JOIN g ON g.c = f.c WHERE f.b = s.b)", false),
            ("NOT EXISTS (SELECT 1 FROM (SELECT * FROM f WHERE c = 1) f WHERE f.b = s.b)", false),
            ("(SELECT COUNT(*) FROM f) < 2", false),
        ] {
            assert_eq!(asks(condition), wanted, "{condition}");
        }
    }
}

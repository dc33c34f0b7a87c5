//! Which rows a condition selects: bound columns, states, everything, nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, InTarget, Join, JoinConstraint, JoinOperator, Query, SetExpr, Spanned as _, TableFactor,
    TableWithJoins, Visit as _, Visitor, visit_expressions,
};
use sqlparser::tokenizer::Span;

use super::chosen;
use super::knowledge::Knowledge;
use super::moments::{is_now, is_past};
use super::reading::{Bound, Filter, Scalar, Selected};
use super::scope::{Meaning, Scope, as_name, last_part, meaning};
use super::truth::{Truth, Val, Values, links, truth};
use super::values::as_literal;
use crate::manifest::{Engine, State, StateSet};

/// What inner joins ask for.
#[derive(Default)]
pub(super) struct Joins<'e> {
    /// Their conditions.
    pub on: Vec<&'e Expr>,
    /// Columns (lower case) that are the same on both sides: `USING (a, b)`.
    pub using: Vec<String>,
    /// Queries that rows are joined with, by their aliases in lower case.
    pub queries: Vec<(String, &'e Query)>,
}

/// What inner joins ask for.
pub(super) fn joined<'e>(tables: impl Iterator<Item = &'e TableWithJoins>) -> Joins<'e> {
    let mut found = Joins::default();
    for table in tables {
        found.queries.extend(derived(&table.relation));
        found.add(&table.joins);
    }
    found
}

fn derived(factor: &TableFactor) -> Option<(String, &Query)> {
    match factor {
        TableFactor::Derived { subquery, alias: Some(alias), .. } => Some((alias.name.value.to_lowercase(), subquery)),
        _ => None,
    }
}

impl<'e> Joins<'e> {
    fn add(&mut self, joins: &'e [Join]) {
        let found = self;
        for join in joins {
            let (JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::CrossJoin(constraint)) = &join.join_operator
            else {
                continue;
            };
            found.queries.extend(derived(&join.relation));
            match constraint {
                JoinConstraint::On(condition) => found.on.push(condition),
                JoinConstraint::Using(names) => found.using.extend(names.iter().map(|n| last_part(n).0.to_lowercase())),
                _ => {}
            }
        }
    }
}

/// Reads WHERE and the joins' conditions for one of the tables.
pub(super) fn filter(
    knowledge: &Knowledge<'_>,
    scope: &Scope<'_>,
    target: usize,
    (selection, joins): (Option<&Expr>, &Joins<'_>),
    limited: Option<Span>,
) -> Filter {
    let mut filter = Filter { span: selection.map(|s| s.span()), limited, ..Filter::default() };
    let conditions: Vec<&Expr> = selection.into_iter().chain(joins.on.iter().copied()).collect();
    let judge = Judge { knowledge, scope, target, assumed: Vec::new() };
    let parts = Parts::of(conditions.iter().copied(), &judge);
    if joins.on.is_empty() && joins.using.is_empty() {
        filter.always = parts.whole() == Truth::TRUE || takes_all(&judge, &parts);
    } else if selection.is_some() {
        filter.always = Parts::of(selection, &judge).whole() == Truth::TRUE;
    }
    filter.always &= selection.is_some();
    filter.never = selection.is_some() && !parts.whole().may_be(Truth::TRUE);
    for condition in &conditions {
        for (column, bound) in bounds(condition, &judge) {
            merge(&mut filter.bounds, column, bound);
        }
    }
    joins.using.iter().for_each(|column| merge(&mut filter.bounds, column.clone(), Bound::Join));
    filter.older = conditions.iter().flat_map(|c| older(c, &judge)).collect();
    filter.states = states(&judge, &parts);
    for query in chosen::queries(&judge, &conditions, joins) {
        chosen::narrow(&judge, query, &mut filter.states);
    }
    filter
}

/// Conditions that must all hold, in parts, each with what it can be where nothing is assumed.
struct Parts<'e> {
    parts: Vec<(&'e Expr, Truth)>,
}

impl<'e> Parts<'e> {
    fn of(conditions: impl IntoIterator<Item = &'e Expr>, judge: &Judge<'_, '_>) -> Self {
        let parts = conditions.into_iter().flat_map(|c| links(c, &BinaryOperator::And));
        Self { parts: parts.map(|part| (part, truth(part, judge))).collect() }
    }

    /// What all can be together.
    fn whole(&self) -> Truth {
        self.parts.iter().map(|(_, t)| *t).fold(Truth::TRUE, Truth::and)
    }

    /// The parts that hang on some columns, and what the others can be together.
    fn about(&self, columns: &[&str]) -> About<'e> {
        let mut about = About { others: Truth::TRUE, parts: Vec::new() };
        for (part, truth) in &self.parts {
            match speaks_of(part, columns) {
                true => about.parts.push(part),
                false => about.others = about.others.and(*truth),
            }
        }
        about
    }
}

/// What conditions say of some columns.
struct About<'e> {
    others: Truth,
    parts: Vec<&'e Expr>,
}

impl About<'_> {
    /// What all can be together where the columns have some values.
    fn with(&self, judge: &Judge<'_, '_>, assumed: Vec<(String, Val)>) -> Truth {
        let judge = Judge { assumed, ..*judge };
        self.parts.iter().map(|part| truth(part, &judge)).fold(self.others, Truth::and)
    }
}

/// Whether a name in an expression may be one of some columns.
fn speaks_of(expr: &Expr, columns: &[&str]) -> bool {
    let named = |inner: &Expr| {
        let last = as_name(inner).and_then(<[_]>::last);
        last.is_some_and(|l| columns.iter().any(|column| l.value.eq_ignore_ascii_case(column)))
    };
    let found =
        visit_expressions(expr, |inner| if named(inner) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
    found.is_break()
}

/// A condition that speaks of nothing but one state column, and holds for every state.
fn takes_all(judge: &Judge<'_, '_>, selection: &Parts<'_>) -> bool {
    judge.state_sets().iter().any(|(column, set)| {
        let about = selection.about(&[column]);
        if about.others != Truth::TRUE || about.parts.is_empty() {
            return false;
        }
        let of = |value: Val| about.with(judge, vec![(column.clone(), value)]);
        let codes = set.codes(|_| true);
        let each = codes.iter().map(|code| of(Val::code(code)));
        let all = each.chain([of(Val::Unlisted)]).all(|t| t == Truth::TRUE);
        all && selection.whole() != Truth::TRUE
    })
}

/// The states that the conditions may select, for each state column of the table.
fn states(judge: &Judge<'_, '_>, conditions: &Parts<'_>) -> BTreeMap<String, Selected> {
    let mut found = BTreeMap::new();
    for (column, set) in judge.state_sets() {
        let about = conditions.about(&[&column]);
        let may = |value: Val| about.with(judge, vec![(column.clone(), value)]).may_be(Truth::TRUE);
        let codes = set.codes(|state| about.parts.is_empty() || may(Val::code(&state.code)));
        let selected = if about.others.may_be(Truth::TRUE) { codes } else { Vec::new() };
        let other = may(Val::Unlisted);
        let null = may(Val::Known(Scalar::Null));
        let spoken = selected.len() < set.states.len() || !other || !null;
        let ruled_out = ruled_out(judge, conditions, &column, set);
        let unclear = about.parts.iter().find(|part| is_unclear(part, judge, &column, set)).map(|part| part.span());
        let named = !about.parts.is_empty();
        found.insert(column, Selected { codes: selected, ruled_out, other, null, named, spoken, unclear });
    }
    found
}

/// Whether a condition asks for a state in a way that is not understood: a function, a query, a
/// pattern of another kind. A comparison is understood also where the value is not known.
fn is_unclear(part: &Expr, judge: &Judge<'_, '_>, column: &str, set: &StateSet) -> bool {
    if let Expr::BinaryOp { left, op, right } = part
        && compares(op)
        && [left, right].iter().any(|side| judge.own(bare(side)).as_deref() == Some(column))
    {
        return false;
    }
    let is_any = |value: Val| {
        let judge = Judge { assumed: vec![(column.to_owned(), value)], ..*judge };
        truth(part, &judge) == Truth::ANY
    };
    is_any(Val::Unlisted)
        && set.states.iter().all(|state| is_any(Val::code(&state.code)))
        && asks_itself(part, judge, column)
}

/// Whether an operator compares two values.
pub(super) fn compares(op: &BinaryOperator) -> bool {
    matches!(
        op,
        BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
            | BinaryOperator::Spaceship
    )
}

/// Whether a condition names a column of the table in question outside of its queries.
fn asks_itself(part: &Expr, judge: &Judge<'_, '_>, column: &str) -> bool {
    struct Names<'n, 'j, 'a> {
        judge: &'n Judge<'j, 'a>,
        column: &'n str,
        queries: usize,
    }
    impl Visitor for Names<'_, '_, '_> {
        type Break = ();

        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.queries += 1;
            ControlFlow::Continue(())
        }

        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.queries -= 1;
            ControlFlow::Continue(())
        }

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            let named = self.queries == 0 && self.judge.own(expr).as_deref() == Some(self.column);
            if named { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    part.visit(&mut Names { judge, column, queries: 0 }).is_break()
}

/// States that hang on a column beside (`with`), and that the conditions on both rule out.
fn ruled_out(judge: &Judge<'_, '_>, conditions: &Parts<'_>, column: &str, set: &StateSet) -> BTreeSet<String> {
    let beside = set.with.as_ref().and_then(|with| judge.knowledge.manifest.column(with).ok());
    let Some(beside) = beside.map(str::to_lowercase) else { return BTreeSet::new() };
    let about = conditions.about(&[column, &beside]);
    let listed = set.with.as_ref().and_then(|with| judge.knowledge.manifest.states.get(with));
    let possible = |state: &&State| {
        let both = |value: Val| {
            let assumed = vec![(column.to_owned(), Val::code(&state.code)), (beside.clone(), value)];
            about.with(judge, assumed).may_be(Truth::TRUE)
        };
        if !state.when.is_empty() {
            return state.when.iter().any(|code| both(Val::code(code)));
        }
        // What is not said beside which codes it stands may stand beside any that its namesakes leave.
        let taken: Vec<&String> = set.states.iter().filter(|s| s.code == state.code).flat_map(|s| &s.when).collect();
        let codes = listed.map(|l| l.codes(|_| true)).unwrap_or_default();
        let mut left = codes.iter().filter(|code| !taken.contains(code));
        taken.is_empty() || both(Val::Unlisted) || left.any(|code| both(Val::code(code)))
    };
    set.states.iter().filter(|s| !possible(s)).map(|s| s.name.clone()).collect()
}

fn merge(bounds: &mut BTreeMap<String, Bound>, column: String, bound: Bound) {
    let kept = bounds.entry(column).or_insert(bound);
    *kept = (*kept).min(bound);
}

/// What is compared, without the type or collation that it is compared as.
pub(super) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } | Expr::Cast { expr: inner, .. } => bare(inner),
        plain => plain,
    }
}

/// Whether every column is named with its table: inside of a query a bare name may be another's.
fn is_qualified(expr: &Expr) -> bool {
    visit_expressions(expr, |inner| match inner {
        Expr::Identifier(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })
    .is_continue()
}

/// Columns of the table that a condition binds. Of alternatives only what all bind counts.
fn bounds(expr: &Expr, judge: &Judge<'_, '_>) -> BTreeMap<String, Bound> {
    let mut found = BTreeMap::new();
    let mut bind = |name: &Expr, bound: Bound| {
        if let Some(column) = judge.own(name) {
            merge(&mut found, column, bound);
        }
    };
    match expr {
        Expr::Nested(inner) => return bounds(inner, judge),
        Expr::BinaryOp { op: op @ BinaryOperator::And, .. } => return all_bound(links(expr, op), judge),
        Expr::BinaryOp { op: op @ BinaryOperator::Or, .. } => return common(links(expr, op), judge),
        Expr::BinaryOp { left, op, right } => {
            for (name, other) in [(bare(left), bare(right)), (bare(right), bare(left))] {
                bind(name, compared(op, other, judge));
            }
        }
        Expr::IsNotDistinctFrom(left, right) => [left, right].iter().for_each(|name| bind(bare(name), Bound::Row)),
        Expr::In { expr, target, negated, .. } => {
            let bound = match (target, negated) {
                (_, true) => Bound::Range,
                (InTarget::List(_) | InTarget::Unnest(_), false) => Bound::Value,
                _ => Bound::Query,
            };
            match expr.as_ref() {
                Expr::Tuple(parts) => parts.iter().for_each(|part| bind(part, bound)),
                one => bind(one, bound),
            }
        }
        // What the inner query demands of the outer row.
        Expr::Exists { subquery, negated: false } => {
            if let SetExpr::Select(select) = subquery.body.as_ref() {
                let demands = select.selection.iter().chain(joined(select.from.iter()).on);
                let parts = demands.flat_map(|e| links(e, &BinaryOperator::And)).filter(|e| is_qualified(e));
                return all_bound(parts, judge);
            }
        }
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, .. } => bind(left, Bound::Value),
        // From one to another: somebody has looked at them.
        Expr::Between { expr, negated: false, low, high } if [low, high].iter().all(|e| as_literal(e).is_some()) => {
            bind(expr, Bound::Pattern);
        }
        Expr::Between { expr, .. } | Expr::IsNull(expr) | Expr::IsNotNull(expr) => bind(expr, Bound::Range),
        Expr::Like { expr, negated, pattern, .. } | Expr::ILike { expr, negated, pattern, .. } => {
            let begins = as_literal(pattern).and_then(|p| p.code()).is_some_and(|p| !p.starts_with(['%', '_']));
            bind(expr, if begins && !negated { Bound::Pattern } else { Bound::Range });
        }
        Expr::SimilarTo { expr, .. } | Expr::RLike { expr, .. } => bind(expr, Bound::Range),
        _ => {}
    }
    found
}

/// What conditions that must all hold bind together.
fn all_bound<'e>(parts: impl IntoIterator<Item = &'e Expr>, judge: &Judge<'_, '_>) -> BTreeMap<String, Bound> {
    let mut found = BTreeMap::new();
    for (column, bound) in parts.into_iter().flat_map(|part| bounds(part, judge)) {
        merge(&mut found, column, bound);
    }
    found
}

/// What every one of some alternatives binds, as loosely as the loosest does.
fn common<'e>(parts: impl IntoIterator<Item = &'e Expr>, judge: &Judge<'_, '_>) -> BTreeMap<String, Bound> {
    let mut parts = parts.into_iter().map(|part| bounds(part, judge));
    let mut found = parts.next().unwrap_or_default();
    for part in parts {
        found.retain(|column, _| part.contains_key(column));
        for (column, bound) in &mut found {
            *bound = (*bound).max(part[column]);
        }
    }
    found
}

/// Columns of the table that must be less than a limit which is not the clock itself.
fn older(condition: &Expr, judge: &Judge<'_, '_>) -> BTreeSet<String> {
    let one = |part: &Expr| {
        let Expr::BinaryOp { left, op, right } = part else { return None };
        let (name, limit) = match op {
            BinaryOperator::Lt | BinaryOperator::LtEq => (left, right),
            BinaryOperator::Gt | BinaryOperator::GtEq => (right, left),
            _ => return None,
        };
        judge.own(bare(name)).filter(|_| !is_now(limit) || is_past(limit))
    };
    links(condition, &BinaryOperator::And).into_iter().filter_map(one).collect()
}

/// How a comparison with something binds a column.
fn compared(op: &BinaryOperator, other: &Expr, judge: &Judge<'_, '_>) -> Bound {
    let same = matches!(op, BinaryOperator::Spaceship | BinaryOperator::Is);
    match op {
        _ if !same && *op != BinaryOperator::Eq => Bound::Range,
        _ if matches!(other, Expr::Subquery(_)) => Bound::Query,
        _ if as_name(other).is_none() || judge.scope.is_variable(other) || judge.is_nothing(other) => Bound::Value,
        _ if same => Bound::Row,
        _ => Bound::Join,
    }
}

/// Judges a condition for one table of a statement, with some columns assumed.
pub(super) struct Judge<'j, 'a> {
    pub knowledge: &'j Knowledge<'a>,
    pub scope: &'j Scope<'a>,
    pub target: usize,
    pub assumed: Vec<(String, Val)>,
}

impl Judge<'_, '_> {
    /// Whether a name is none: a text in the wrong quotes.
    fn is_nothing(&self, expr: &Expr) -> bool {
        let named = |parts| meaning(std::slice::from_ref(self.scope), self.knowledge, parts);
        as_name(expr).is_some_and(|parts| parts.len() == 1 && matches!(named(parts), Meaning::Nothing(_)))
    }

    /// The column (lower case) of the table in question that an expression names.
    pub fn own(&self, expr: &Expr) -> Option<String> {
        let parts = as_name(expr)?;
        let binding = self.scope.bindings.get(self.target)?;
        let column = parts.last()?.value.to_lowercase();
        match meaning(std::slice::from_ref(self.scope), self.knowledge, parts) {
            Meaning::Column(found) => std::ptr::eq(found, binding).then_some(column),
            // A table that is not the scheduler's: by its qualifier, or because it is the only one.
            _ if binding.spec.is_some() => None,
            _ => match parts {
                [_] => (self.scope.bindings.len() == 1).then_some(column),
                [.., qualifier, _] => binding.alias.eq_ignore_ascii_case(&qualifier.value).then_some(column),
                [] => None,
            },
        }
    }

    /// The state columns of the table (lower case) with their states.
    pub fn state_sets(&self) -> Vec<(String, &StateSet)> {
        let spec = self.scope.bindings.get(self.target).and_then(|b| b.spec);
        let columns = spec.map(|spec| self.knowledge.state_columns(spec)).unwrap_or_default();
        columns.iter().map(|(column, set)| (column.to_lowercase(), *set)).collect()
    }
}

impl Values for Judge<'_, '_> {
    fn value(&self, name: &Expr) -> Val {
        // Most names are others', and whose they are takes longer to find out.
        let Some([qualifiers @ .., last]) = as_name(name) else { return Val::Unknown };
        let Some((_, value)) = self.assumed.iter().find(|(column, _)| last.value.eq_ignore_ascii_case(column)) else {
            return Val::Unknown;
        };
        let is_own = qualifiers.is_empty() && self.scope.bindings.len() == 1 || self.own(name).is_some();
        if is_own { value.clone() } else { Val::Unknown }
    }

    fn engine(&self) -> Engine {
        self.knowledge.engine
    }
}

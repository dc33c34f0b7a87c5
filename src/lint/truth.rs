//! What a condition can be for a row in a given state: true, false, NULL, or more
//! than one of them where other columns decide.

use std::ops::BitOr;

use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, InTarget, UnaryOperator, Value,
};

use super::pattern::{Pattern, fits};
use super::reading::Scalar;
use crate::manifest::Engine;

/// A set of truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Truth(u8);

impl Truth {
    pub const NONE: Self = Self(0);
    pub const TRUE: Self = Self(1);
    pub const FALSE: Self = Self(2);
    pub const NULL: Self = Self(4);
    pub const ANY: Self = Self(7);

    pub fn may_be(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn of(yes: bool) -> Self {
        if yes { Self::TRUE } else { Self::FALSE }
    }

    fn not(self) -> Self {
        let mut out = self.0 & 4;
        out |= (self.0 & 1) << 1;
        out |= (self.0 & 2) >> 1;
        Self(out)
    }

    pub fn and(self, other: Self) -> Self {
        let mut out = 0;
        if self.may_be(Self::FALSE) || other.may_be(Self::FALSE) {
            out |= 2;
        }
        if self.may_be(Self::TRUE) && other.may_be(Self::TRUE) {
            out |= 1;
        }
        let null_left = self.may_be(Self::NULL) && other.may_be(Self(1 | 4));
        let null_right = other.may_be(Self::NULL) && self.may_be(Self(1 | 4));
        if null_left || null_right {
            out |= 4;
        }
        Self(out)
    }

    fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }
}

impl BitOr for Truth {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A value while a condition is judged.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Val {
    /// A literal.
    Known(Scalar),
    /// A code that no literal of the statement names.
    Unlisted,
    /// Anything.
    Unknown,
}

impl Val {
    /// A state's code.
    pub fn code(code: &str) -> Self {
        Self::Known(Scalar::Text(code.to_owned()))
    }
}

/// What stands for the columns: the value of an expression that is a name.
pub(super) trait Values {
    /// The value of a name.
    fn value(&self, name: &Expr) -> Val;
    /// The database, whose habits differ.
    fn engine(&self) -> Engine;
}

/// What a condition can be.
pub(super) fn truth(expr: &Expr, values: &impl Values) -> Truth {
    match expr {
        Expr::Nested(inner) => truth(inner, values),
        Expr::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } => junction(expr, op, values),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => truth(expr, values).not(),
        Expr::UnaryOp { op: UnaryOperator::BangNot, expr } => truth(expr, values).not(),
        Expr::BinaryOp { left, op, right } => {
            let folds = folds([left.as_ref(), right.as_ref()], values);
            binary(op, &scalar(left, values), &scalar(right, values), (values.engine(), folds))
        }
        Expr::AnyOp { left, compare_op, right, .. } => of_some((left, compare_op, right), values, true),
        Expr::AllOp { left, compare_op, right } => of_some((left, compare_op, right), values, false),
        Expr::Like { negated, any, expr: text, pattern, escape_char }
        | Expr::ILike { negated, any, expr: text, pattern, escape_char } => {
            let folds = matches!(expr, Expr::ILike { .. }) || values.engine() != Engine::PostgreSql;
            let kind = (Pattern::Like(escape(escape_char.as_deref(), values)), folds);
            let text = scalar(text, values);
            if !any {
                return matched(&text, kind, &scalar(pattern, values), *negated);
            }
            let Some(patterns) = elements(pattern, values) else { return Truth::ANY };
            patterns.iter().map(|p| matched(&text, kind, p, *negated)).fold(Truth::FALSE, Truth::or)
        }
        Expr::SimilarTo { negated, expr, pattern, escape_char } => {
            let kind = (Pattern::Similar(escape(escape_char.as_deref(), values)), false);
            matched(&scalar(expr, values), kind, &scalar(pattern, values), *negated)
        }
        Expr::RLike { negated, expr, pattern, .. } => {
            let kind = (Pattern::Regex, values.engine() == Engine::MySql);
            matched(&scalar(expr, values), kind, &scalar(pattern, values), *negated)
        }
        Expr::IsNull(inner) => is_null(&scalar(inner, values)),
        Expr::IsNotNull(inner) => is_null(&scalar(inner, values)).not(),
        Expr::IsTrue(inner) => holds(truth(inner, values), Truth::TRUE),
        Expr::IsNotTrue(inner) => holds(truth(inner, values), Truth::TRUE).not(),
        Expr::IsFalse(inner) => holds(truth(inner, values), Truth::FALSE),
        Expr::IsNotFalse(inner) => holds(truth(inner, values), Truth::FALSE).not(),
        Expr::IsNotDistinctFrom(a, b) => same(&scalar(a, values), &scalar(b, values), folds([a, b], values)),
        Expr::IsDistinctFrom(a, b) => same(&scalar(a, values), &scalar(b, values), folds([a, b], values)).not(),
        Expr::In { expr, target: InTarget::List(list), negated, .. } => {
            let left = scalar(expr, values);
            let one = |e: &Expr| compare(&BinaryOperator::Eq, &left, &scalar(e, values), folds([expr, e], values));
            let found = list.iter().map(one).fold(Truth::FALSE, Truth::or);
            if *negated { found.not() } else { found }
        }
        Expr::Between { expr, negated, low, high } => {
            let (middle, folds) = (scalar(expr, values), folds([expr.as_ref(), low, high], values));
            let above = compare(&BinaryOperator::GtEq, &middle, &scalar(low, values), folds);
            let below = compare(&BinaryOperator::LtEq, &middle, &scalar(high, values), folds);
            let inside = above.and(below);
            if *negated { inside.not() } else { inside }
        }
        Expr::Exists { .. } => Truth::TRUE | Truth::FALSE,
        other => match scalar(other, values) {
            Val::Known(Scalar::Null) => Truth::NULL,
            Val::Known(Scalar::Bool(yes)) => Truth::of(yes),
            Val::Known(Scalar::Number(n)) => Truth::of(n.parse::<f64>().is_ok_and(|n| n != 0.0)),
            _ => Truth::ANY,
        },
    }
}

/// Whether two expressions are equal.
pub(super) fn equal(a: &Expr, b: &Expr, values: &impl Values) -> Truth {
    compare(&BinaryOperator::Eq, &scalar(a, values), &scalar(b, values), folds([a, b], values))
}

/// Two values and the operator between them.
fn binary(op: &BinaryOperator, left: &Val, right: &Val, (engine, folds): (Engine, bool)) -> Truth {
    match pattern_of(op, engine) {
        Some((kind, folds, negated)) => matched(left, (kind, folds), right, negated),
        None => compare(op, left, right, folds),
    }
}

/// `= ANY (…)` and `= ALL (…)` of values that stand there.
fn of_some((left, op, right): (&Expr, &BinaryOperator, &Expr), values: &impl Values, any: bool) -> Truth {
    let Some(elements) = elements(right, values) else { return Truth::ANY };
    let (text, habits) = (scalar(left, values), (values.engine(), folds([left], values)));
    let each = elements.iter().map(|element| binary(op, &text, element, habits));
    if any { each.fold(Truth::FALSE, Truth::or) } else { each.fold(Truth::TRUE, Truth::and) }
}

/// The values of an array, if they stand there: `ARRAY['a', 'b']`, `'{a,b}'`, `('a', 'b')`.
fn elements(expr: &Expr, values: &impl Values) -> Option<Vec<Val>> {
    match expr {
        Expr::Cast { expr, .. } => elements(expr, values),
        Expr::Array(array) => Some(array.elem.iter().map(|e| scalar(e, values)).collect()),
        Expr::Tuple(parts) => Some(parts.iter().map(|e| scalar(e, values)).collect()),
        Expr::Nested(inner) => elements(inner, values).or_else(|| Some(vec![scalar(inner, values)])),
        other => {
            let Val::Known(Scalar::Text(text)) = scalar(other, values) else { return None };
            let inside = text.trim().strip_prefix('{')?.strip_suffix('}')?;
            let parts = inside.split(',').map(str::trim).filter(|part| !part.is_empty());
            let one = |part: &str| match part.strip_prefix('"').and_then(|p| p.strip_suffix('"')) {
                None if part.eq_ignore_ascii_case("null") => Scalar::Null,
                quoted => Scalar::Text(quoted.unwrap_or(part).to_owned()),
            };
            Some(parts.map(|part| Val::Known(one(part))).collect())
        }
    }
}

/// Whether texts are compared without case: as their collation says, or as the database does.
fn folds<const N: usize>(sides: [&Expr; N], values: &impl Values) -> bool {
    let named = sides.into_iter().find_map(|side| match side {
        Expr::Collate { collation, .. } => {
            let name = collation.to_string().to_lowercase();
            Some(name.contains("nocase") || name.contains("_ci"))
        }
        _ => None,
    });
    named.unwrap_or(values.engine() == Engine::MySql)
}

/// The pattern that an operator compares with, whether it folds case, and whether it must not fit.
fn pattern_of(op: &BinaryOperator, engine: Engine) -> Option<(Pattern, bool, bool)> {
    let like = Pattern::Like(Some('\\'));
    match op {
        BinaryOperator::PGRegexMatch => Some((Pattern::Regex, false, false)),
        BinaryOperator::PGRegexIMatch => Some((Pattern::Regex, true, false)),
        BinaryOperator::PGRegexNotMatch => Some((Pattern::Regex, false, true)),
        BinaryOperator::PGRegexNotIMatch => Some((Pattern::Regex, true, true)),
        BinaryOperator::PGLikeMatch => Some((like, false, false)),
        BinaryOperator::PGILikeMatch => Some((like, true, false)),
        BinaryOperator::PGNotLikeMatch => Some((like, false, true)),
        BinaryOperator::PGNotILikeMatch => Some((like, true, true)),
        BinaryOperator::Regexp => Some((Pattern::Regex, engine == Engine::MySql, false)),
        BinaryOperator::Glob => Some((Pattern::Glob, false, false)),
        _ => None,
    }
}

/// The sign that takes the meaning from the next one. SQLite has none unless it is named.
fn escape(named: Option<&Expr>, values: &impl Values) -> Option<char> {
    match named.map(|expr| scalar(expr, values)) {
        Some(Val::Known(Scalar::Text(text))) => text.chars().next(),
        Some(_) => None,
        None => (values.engine() != Engine::Sqlite).then_some('\\'),
    }
}

fn matched(text: &Val, (kind, folds): (Pattern, bool), pattern: &Val, negated: bool) -> Truth {
    let null = Val::Known(Scalar::Null);
    let found = match (text, pattern) {
        _ if *text == null || *pattern == null => Truth::NULL,
        (Val::Known(text), Val::Known(pattern)) => {
            let pair = text.code().zip(pattern.code());
            let fit = pair.and_then(|(text, pattern)| fits(kind, &pattern, &text, folds));
            fit.map_or(Truth::ANY, Truth::of)
        }
        // Any pattern that is understood says something of the empty text, too.
        (Val::Unlisted, Val::Known(pattern)) => {
            let understood = pattern.code().and_then(|pattern| fits(kind, &pattern, "", folds));
            understood.map_or(Truth::ANY, |_| Truth::TRUE | Truth::FALSE)
        }
        _ => Truth::ANY,
    };
    if negated { found.not() } else { found }
}

/// A chain of one operator, however long, without one call for each link.
fn junction(expr: &Expr, op: &BinaryOperator, values: &impl Values) -> Truth {
    let both = |a: Truth, b: Truth| if *op == BinaryOperator::And { a.and(b) } else { a.or(b) };
    links(expr, op).into_iter().map(|e| truth(e, values)).reduce(both).unwrap_or(Truth::ANY)
}

/// The parts that an operator joins: `a AND b AND c`.
pub(super) fn links<'e>(expr: &'e Expr, op: &BinaryOperator) -> Vec<&'e Expr> {
    let mut found = Vec::new();
    let mut open = vec![expr];
    while let Some(next) = open.pop() {
        match next {
            Expr::BinaryOp { left, op: own, right } if own == op => {
                open.push(right);
                open.push(left);
            }
            Expr::Nested(inner) if matches!(inner.as_ref(), Expr::BinaryOp { op: own, .. } if own == op) => {
                open.push(inner);
            }
            other => found.push(other),
        }
    }
    found
}

/// What an expression is worth.
pub(super) fn scalar(expr: &Expr, values: &impl Values) -> Val {
    match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => values.value(expr),
        Expr::Nested(inner) => scalar(inner, values),
        Expr::Cast { expr, .. } | Expr::Collate { expr, .. } => scalar(expr, values),
        Expr::Value(value) => literal(&value.value).map_or(Val::Unknown, Val::Known),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match scalar(expr, values) {
            Val::Known(Scalar::Number(n)) => Val::Known(Scalar::Number(format!("-{n}"))),
            _ => Val::Unknown,
        },
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => scalar(expr, values),
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            let args = arguments(&function.args);
            match name.as_str() {
                "coalesce" | "ifnull" | "nvl" => first_known(&args, values),
                "upper" | "lower" | "ucase" | "lcase" | "trim" => {
                    let inner = args.first().map_or(Val::Unknown, |e| scalar(e, values));
                    match inner {
                        Val::Known(Scalar::Text(t)) if name.starts_with('u') => {
                            Val::Known(Scalar::Text(t.to_uppercase()))
                        }
                        Val::Known(Scalar::Text(t)) if name.starts_with('l') => {
                            Val::Known(Scalar::Text(t.to_lowercase()))
                        }
                        other => other,
                    }
                }
                _ => Val::Unknown,
            }
        }
        _ => Val::Unknown,
    }
}

fn first_known(args: &[&Expr], values: &impl Values) -> Val {
    for arg in args {
        match scalar(arg, values) {
            Val::Known(Scalar::Null) => {}
            other => return other,
        }
    }
    Val::Known(Scalar::Null)
}

/// The plain arguments of a function.
pub(super) fn arguments(args: &FunctionArguments) -> Vec<&Expr> {
    let FunctionArguments::List(list) = args else {
        return Vec::new();
    };
    let plain = list.args.iter().filter_map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
        _ => None,
    });
    plain.collect()
}

/// A literal, if a value is one.
pub(super) fn literal(value: &Value) -> Option<Scalar> {
    match value {
        Value::Number(n, _) => Some(Scalar::Number(n.clone())),
        Value::SingleQuotedString(t)
        | Value::DoubleQuotedString(t)
        | Value::EscapedStringLiteral(t)
        | Value::NationalStringLiteral(t)
        | Value::UnicodeStringLiteral(t) => Some(Scalar::Text(t.clone())),
        Value::DollarQuotedString(t) => Some(Scalar::Text(t.value.clone())),
        Value::Boolean(yes) => Some(Scalar::Bool(*yes)),
        Value::Null => Some(Scalar::Null),
        _ => None,
    }
}

fn is_null(value: &Val) -> Truth {
    match value {
        Val::Known(Scalar::Null) => Truth::TRUE,
        Val::Known(_) | Val::Unlisted => Truth::FALSE,
        Val::Unknown => Truth::TRUE | Truth::FALSE,
    }
}

fn holds(inner: Truth, wanted: Truth) -> Truth {
    let mut out = Truth::NONE;
    if inner.may_be(wanted) {
        out = out | Truth::TRUE;
    }
    if inner != wanted {
        out = out | Truth::FALSE;
    }
    out
}

fn same(a: &Val, b: &Val, folds: bool) -> Truth {
    match (a, b) {
        (Val::Unknown, _) | (_, Val::Unknown) => Truth::TRUE | Truth::FALSE,
        (Val::Known(Scalar::Null), other) | (other, Val::Known(Scalar::Null)) => is_null(other),
        _ => compare(&BinaryOperator::Eq, a, b, folds),
    }
}

fn compare(op: &BinaryOperator, a: &Val, b: &Val, folds: bool) -> Truth {
    if matches!(op, BinaryOperator::Spaceship | BinaryOperator::Is) {
        return same(a, b, folds);
    }
    if matches!(op, BinaryOperator::IsNot) {
        return same(a, b, folds).not();
    }
    let null = Val::Known(Scalar::Null);
    let ordering = match (a, b) {
        _ if *a == null || *b == null => return Truth::NULL,
        (Val::Known(x), Val::Known(y)) => order(x, y, folds),
        (Val::Unlisted, Val::Known(_)) | (Val::Known(_), Val::Unlisted) => {
            return match op {
                BinaryOperator::Eq => Truth::FALSE,
                BinaryOperator::NotEq => Truth::TRUE,
                _ => Truth::TRUE | Truth::FALSE,
            };
        }
        (Val::Unlisted, Val::Unlisted) => return Truth::TRUE | Truth::FALSE,
        _ => return Truth::ANY,
    };
    let Some(ordering) = ordering else {
        return Truth::ANY;
    };
    match op {
        BinaryOperator::Eq => Truth::of(ordering.is_eq()),
        BinaryOperator::NotEq => Truth::of(ordering.is_ne()),
        BinaryOperator::Lt => Truth::of(ordering.is_lt()),
        BinaryOperator::LtEq => Truth::of(ordering.is_le()),
        BinaryOperator::Gt => Truth::of(ordering.is_gt()),
        BinaryOperator::GtEq => Truth::of(ordering.is_ge()),
        _ => Truth::ANY,
    }
}

/// How two literals compare: as numbers if both are, else as texts.
fn order(a: &Scalar, b: &Scalar, fold: bool) -> Option<std::cmp::Ordering> {
    if let (Some(x), Some(y)) = (a.whole_number(), b.whole_number()) {
        return Some(x.cmp(&y));
    }
    let (a, b) = (a.code()?, b.code()?);
    if let (Ok(x), Ok(y)) = (a.parse::<f64>(), b.parse::<f64>()) {
        return x.partial_cmp(&y);
    }
    Some(if fold { a.to_lowercase().cmp(&b.to_lowercase()) } else { a.cmp(&b) })
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::MySqlDialect;
    use sqlparser::parser::Parser;

    use super::*;

    /// `s` has a value; every other name is unknown.
    struct S(Val);

    impl Values for S {
        fn value(&self, name: &Expr) -> Val {
            if name.to_string() == "s" { self.0.clone() } else { Val::Unknown }
        }

        fn engine(&self) -> Engine {
            Engine::MySql
        }
    }

    fn of(condition: &str, s: Val) -> Truth {
        let expr = Parser::new(&MySqlDialect {}).try_with_sql(condition).unwrap().parse_expr().unwrap();
        truth(&expr, &S(s))
    }

    fn number(n: i32) -> Val {
        Val::Known(Scalar::Number(n.to_string()))
    }

    #[test]
    fn conditions_on_a_known_state() {
        for (condition, value, wanted) in [
            ("s IN (1, 2)", number(2), Truth::TRUE),
            ("s NOT IN (1, 2)", number(2), Truth::FALSE),
            ("s NOT IN (1, 2)", Val::Known(Scalar::Null), Truth::NULL),
            ("s NOT IN (1, NULL)", number(3), Truth::NULL),
            ("s = '1' AND x = 4", number(1), Truth::ANY),
            ("s = 1 AND x = 4", number(2), Truth::FALSE),
            ("NOT (s = 1 OR s = 2)", number(3), Truth::TRUE),
            ("s IS NULL OR s BETWEEN 3 AND 5", number(4), Truth::TRUE),
            ("COALESCE(s, 0) = 0", Val::Known(Scalar::Null), Truth::TRUE),
            ("s <=> NULL", Val::Known(Scalar::Null), Truth::TRUE),
            ("s = 7", Val::Unlisted, Truth::FALSE),
            ("s <> 7", Val::Unlisted, Truth::TRUE),
            ("1 = 1", number(1), Truth::TRUE),
            ("1", number(1), Truth::TRUE),
            ("LOWER(s) = 'waiting'", Val::Known(Scalar::Text("WAITING".into())), Truth::TRUE),
            ("s = 'waiting'", Val::Known(Scalar::Text("WAITING".into())), Truth::TRUE),
            ("s LIKE '1%'", number(12), Truth::TRUE),
            ("s NOT LIKE '1%'", number(2), Truth::TRUE),
            ("s LIKE NULL", number(2), Truth::NULL),
            ("s LIKE x", number(2), Truth::ANY),
            ("s REGEXP '^(1|2)$'", number(2), Truth::TRUE),
            ("s NOT REGEXP '^(1|2)$'", number(2), Truth::FALSE),
            ("s LIKE 'wait%'", Val::Known(Scalar::Text("WAITING".into())), Truth::TRUE),
            ("s LIKE 'wait%'", Val::Unlisted, Truth::TRUE | Truth::FALSE),
            ("EXISTS (SELECT 1)", number(1), Truth::TRUE | Truth::FALSE),
        ] {
            assert_eq!(of(condition, value), wanted, "{condition}");
        }
    }

    #[test]
    fn a_condition_that_takes_two_values_away_takes_none() {
        // Either half holds for every state.
        for n in [1, 2, 3] {
            assert_eq!(of("s NOT IN (1) OR s NOT IN (2)", number(n)), Truth::TRUE);
        }
    }
}

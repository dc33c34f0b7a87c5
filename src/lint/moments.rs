//! Moments in a statement: the database's clock, dates, seconds and milliseconds since the epoch.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

use super::reading::Scalar;
use super::truth::{arguments, literal};

/// Whether an expression is a moment as a database writes it: the clock, `'2026-01-31 …'`, `TIMESTAMP '…'`.
pub(super) fn is_date(expr: &Expr) -> bool {
    let is_text = |text: &str| {
        let mut parts = text.trim().splitn(3, '-').map(|p| p.bytes().take_while(u8::is_ascii_digit).count());
        parts.next() == Some(4) && parts.next() == Some(2) && parts.next() == Some(2)
    };
    match expr {
        Expr::Nested(inner) => is_date(inner),
        Expr::TypedString(_) => true,
        Expr::Value(value) => matches!(literal(&value.value), Some(Scalar::Text(text)) if is_text(&text)),
        other => is_now(other),
    }
}

/// Whether an expression is seconds or milliseconds since the epoch: a number of as many
/// digits (MySQL reads 8, 12 and 14 digits as a date), or what the clock's functions give.
pub(super) fn is_epoch(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => is_epoch(inner),
        Expr::Value(value) => matches!(literal(&value.value), Some(Scalar::Number(n))
            if [10, 13].contains(&n.len()) && n.bytes().all(|b| b.is_ascii_digit())),
        Expr::BinaryOp { left, right, .. } => is_epoch(left) || is_epoch(right),
        other => is_epoch_call(other),
    }
}

/// Whether an expression is seconds since the epoch: what the clock's functions give, and such
/// seconds with others added or taken away. Whoever multiplies has thought of the unit.
pub(super) fn is_epoch_seconds(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => is_epoch_seconds(inner),
        // Ten digits are seconds until the year 2286; as milliseconds they end in April 1970.
        Expr::Value(value) => matches!(literal(&value.value), Some(Scalar::Number(n))
            if n.len() == 10 && n.bytes().all(|b| b.is_ascii_digit())),
        Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus, right } => {
            is_epoch_seconds(left) || is_epoch_seconds(right)
        }
        other => is_epoch_call(other),
    }
}

/// Whether an expression calls for the seconds since the epoch, in one of the databases' ways.
fn is_epoch_call(expr: &Expr) -> bool {
    match expr {
        Expr::Function(function) => {
            let first = || arguments(&function.args).first().map(ToString::to_string);
            match function.name.to_string().to_lowercase().as_str() {
                "unix_timestamp" | "unixepoch" => true,
                "strftime" => first().is_some_and(|format| format == "'%s'"),
                "date_part" => first().is_some_and(|field| field.eq_ignore_ascii_case("'epoch'")),
                "floor" | "ceil" | "ceiling" | "round" | "trunc" => {
                    arguments(&function.args).first().is_some_and(|inner| is_epoch_seconds(inner))
                }
                _ => false,
            }
        }
        // The epoch of a difference of two times is a length of time.
        Expr::Extract { field, expr, .. } => field.to_string().eq_ignore_ascii_case("epoch") && is_moment(expr),
        Expr::Floor { expr, .. } | Expr::Ceil { expr, .. } => is_epoch_seconds(expr),
        _ => false,
    }
}

/// Whether an expression is no difference of two moments, as far as can be seen.
fn is_moment(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => is_moment(inner),
        Expr::BinaryOp { left, op: BinaryOperator::Minus, right } => is_date(left) && !is_date(right),
        Expr::Interval(_) => false,
        _ => true,
    }
}

/// Whether an expression is the database's clock, or the clock and an interval.
pub(super) fn is_now(expr: &Expr) -> bool {
    const NAMES: [&str; 13] = [
        "now",
        "current_timestamp",
        "localtimestamp",
        "localtime",
        "sysdate",
        "curdate",
        "current_date",
        "curtime",
        "current_time",
        "clock_timestamp",
        "statement_timestamp",
        "transaction_timestamp",
        "utc_timestamp",
    ];
    match expr {
        Expr::Nested(inner) => is_now(inner),
        Expr::UnaryOp { op: UnaryOperator::Plus | UnaryOperator::Minus, expr } => is_now(expr),
        Expr::Cast { expr, .. } => is_now(expr),
        Expr::AtTimeZone { .. } => false,
        Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus, right } => {
            is_now(left) || is_now(right)
        }
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            let args = arguments(&function.args);
            let shifted = ["date_sub", "date_add", "subdate", "adddate", "datetime", "date", "timestampadd"];
            let literal = |e: &&Expr| matches!(e, Expr::Value(v) if v.value.to_string().to_lowercase() == "'now'");
            NAMES.contains(&name.as_str())
                || shifted.contains(&name.as_str()) && args.iter().any(|a| is_now(a) || literal(a))
        }
        Expr::Identifier(name) => NAMES.contains(&name.value.to_lowercase().as_str()) && name.quote_style.is_none(),
        _ => false,
    }
}

/// Whether an expression over the clock lies before it: `NOW() - INTERVAL 10 MINUTE`.
pub(super) fn is_past(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => is_past(inner),
        Expr::BinaryOp { left, op: BinaryOperator::Minus, .. } => is_now(left),
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            let literals = arguments(&function.args).into_iter().map(ToString::to_string);
            let back = |text: String| text.trim_start_matches(['\'', '"']).starts_with('-');
            ["date_sub", "subdate"].contains(&name.as_str()) || name == "datetime" && literals.skip(1).any(back)
        }
        _ => false,
    }
}

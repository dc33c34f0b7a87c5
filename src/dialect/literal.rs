//! Literals: a value read as text, written back so that it cannot break out.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::Dialect;
use crate::manifest::Engine;
use crate::ui::is_unseen;

/// What a column holds, as far as a literal needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypeClass {
    /// Integers.
    Int,
    /// Exact or floating numbers.
    Number,
    /// Characters.
    Text,
    /// Dates and times.
    Time,
    /// Booleans.
    Bool,
    /// Bytes.
    Binary,
    /// Anything else (JSON, arrays …).
    Other,
}

impl TypeClass {
    /// The class of a column type.
    #[must_use]
    pub fn of(type_sql: &str) -> Self {
        let lower = type_sql.to_lowercase();
        let starts = |names: &[&str]| names.iter().any(|n| lower.starts_with(n));
        // INTERVAL begins like INT.
        if lower.starts_with("interval") || lower.ends_with("[]") {
            Self::Other
        } else if starts(&["int", "tinyint", "smallint", "mediumint", "bigint", "serial", "bigserial", "year"]) {
            Self::Int
        } else if starts(&["decimal", "numeric", "double", "float", "real", "money"]) {
            Self::Number
        } else if starts(&[
            "char",
            "varchar",
            "text",
            "tinytext",
            "mediumtext",
            "longtext",
            "character",
            "enum",
            "set",
            "uuid",
            "name",
            "nchar",
            "nvarchar",
            "clob",
        ]) {
            Self::Text
        } else if starts(&["date", "time"]) {
            Self::Time
        } else if starts(&["bool"]) {
            Self::Bool
        } else if starts(&["blob", "bytea", "binary", "varbinary", "tinyblob", "mediumblob", "longblob", "bit"]) {
            Self::Binary
        } else {
            Self::Other
        }
    }
}

impl Dialect {
    /// A value as a literal of its class. `None` is NULL.
    #[must_use]
    pub fn literal(&self, value: Option<&str>, class: TypeClass) -> String {
        let Some(text) = value else {
            return "NULL".to_owned();
        };
        match class {
            TypeClass::Int | TypeClass::Number if is_number(text) => text.to_owned(),
            TypeClass::Bool if matches!(text, "t" | "true") => "TRUE".to_owned(),
            TypeClass::Bool if matches!(text, "f" | "false") => "FALSE".to_owned(),
            TypeClass::Bool if is_number(text) => text.to_owned(),
            _ => self.text_literal(text),
        }
    }

    /// A text literal. Characters that a client might take for a line of its
    /// own (line breaks, control characters) are written in an escaped form, so
    /// that a literal is always one line.
    #[must_use]
    pub fn text_literal(&self, text: &str) -> String {
        if text.chars().any(is_unseen) {
            return self.escaped_literal(text);
        }
        match self.engine {
            // The session keeps backslash escapes on, so a backslash is doubled.
            Engine::MySql => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
            // standard_conforming_strings is set by the session file.
            Engine::PostgreSql | Engine::Sqlite => format!("'{}'", text.replace('\'', "''")),
        }
    }

    fn escaped_literal(&self, text: &str) -> String {
        match self.engine {
            Engine::MySql => format!("CONVERT(X'{}' USING utf8mb4)", hex(text.as_bytes())),
            Engine::PostgreSql => format!("convert_from(decode('{}', 'hex'), 'UTF8')", hex(text.as_bytes())),
            Engine::Sqlite => format!("CAST(X'{}' AS TEXT)", hex(text.as_bytes())),
        }
    }

    /// A date and time without zone, for comparisons with a column.
    #[must_use]
    pub fn time_literal(&self, text: &str) -> String {
        match self.engine {
            Engine::PostgreSql => format!("TIMESTAMP {}", self.text_literal(text)),
            Engine::MySql | Engine::Sqlite => self.text_literal(text),
        }
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let mut dots = 0;
    !digits.is_empty()
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| {
            dots += usize::from(c == '.');
            c.is_ascii_digit() || c == '.'
        })
        && dots <= 1
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02X}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(name: &str) -> Dialect {
        Dialect::load(name).unwrap()
    }

    #[test]
    fn numbers_are_bare_and_nothing_else_is() {
        let d = dialect("mysql");
        assert_eq!(d.literal(Some("-12"), TypeClass::Int), "-12");
        assert_eq!(d.literal(Some("1.5"), TypeClass::Number), "1.5");
        assert_eq!(d.literal(Some("1; DROP"), TypeClass::Int), "'1; DROP'");
        assert_eq!(d.literal(Some("1.2.3"), TypeClass::Number), "'1.2.3'");
        assert_eq!(d.literal(Some(""), TypeClass::Int), "''");
        assert_eq!(d.literal(None, TypeClass::Int), "NULL");
    }

    #[test]
    fn quotes_and_backslashes() {
        assert_eq!(dialect("mysql").text_literal(r"a'b\c"), r"'a''b\\c'");
        assert_eq!(dialect("postgresql").text_literal(r"a'b\c"), r"'a''b\c'");
        assert_eq!(dialect("sqlite").text_literal("a'b"), "'a''b'");
    }

    #[test]
    fn line_breaks_never_reach_a_script() {
        for name in ["mysql", "mariadb", "postgresql", "sqlite"] {
            let literal = dialect(name).text_literal("a\n.shell rm\n\\! rm\r\nDELIMITER x");
            assert!(!literal.contains('\n') && !literal.contains('\r'), "{literal}");
        }
    }

    #[test]
    fn classes() {
        assert_eq!(TypeClass::of("int(11)"), TypeClass::Int);
        assert_eq!(TypeClass::of("interval"), TypeClass::Other);
        assert_eq!(TypeClass::of("timestamp(3) without time zone"), TypeClass::Time);
        assert_eq!(TypeClass::of("character varying(64)"), TypeClass::Text);
        assert_eq!(TypeClass::of("json"), TypeClass::Other);
        assert_eq!(TypeClass::of("INTEGER"), TypeClass::Int);
    }
}

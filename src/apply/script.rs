//! Splits the text of a bundle's runner into statements.
//!
//! flowmend runs the very text that the stock client runs. Lines that speak to
//! the client (`.bail on`, `\set …`) are for the client alone.

use sqlparser::dialect::{Dialect as SqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::tokenizer::{Token, Tokenizer};

use crate::dialect::Dialect;
use crate::manifest::Engine;
use crate::{Error, Result};

/// What a runner says to its client.
const CLIENT_LINES: [&str; 2] = [".bail on", "\\set ON_ERROR_STOP on"];

/// One statement and the guard it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The text, without the semicolon.
    pub sql: String,
    /// The numbered file it stands in, or empty.
    pub file: String,
    /// The last guard or step named in a comment before it, or empty.
    pub guard: String,
    /// What that comment says.
    pub about: String,
}

/// Splits a script.
///
/// # Errors
/// The text cannot be read as SQL of the dialect; a sealed bundle never is such.
pub fn split(text: &str, dialect: &Dialect) -> Result<Vec<Statement>> {
    let sql_dialect: Box<dyn SqlDialect> = match dialect.engine {
        Engine::MySql => Box::new(MySqlDialect {}),
        Engine::PostgreSql => Box::new(PostgreSqlDialect {}),
        Engine::Sqlite => Box::new(SQLiteDialect {}),
    };
    let lines: Vec<&str> = text.lines().filter(|l| !CLIENT_LINES.contains(l)).collect();
    let clean = lines.join("\n") + "\n";
    let tokens = Tokenizer::new(sql_dialect.as_ref(), &clean)
        .with_unescape(false)
        .tokenize()
        .map_err(|e| Error::internal(format!("the bundle's SQL cannot be read: {e}")))?;
    let mut found = Vec::new();
    let mut current = Statement { sql: String::new(), file: String::new(), guard: String::new(), about: String::new() };
    for token in tokens {
        match token {
            Token::SemiColon => {
                if !current.sql.trim().is_empty() {
                    found.push(Statement { sql: current.sql.trim().to_owned(), ..current.clone() });
                }
                current.sql.clear();
            }
            Token::Whitespace(sqlparser::tokenizer::Whitespace::SingleLineComment { comment, .. }) => {
                note_comment(&mut current, comment.trim());
            }
            other => current.sql.push_str(&other.to_string()),
        }
    }
    if !current.sql.trim().is_empty() {
        return Err(Error::internal("the bundle's SQL ends inside a statement"));
    }
    Ok(found)
}

fn note_comment(current: &mut Statement, comment: &str) {
    if let Some(file) = comment.strip_prefix("==== ") {
        file.trim_end_matches(" ====").clone_into(&mut current.file);
        return;
    }
    let named = comment.strip_prefix("guard ").unwrap_or(comment);
    let Some((name, about)) = named.split_once(": ") else {
        return;
    };
    let numbered = name.starts_with(|c: char| c.is_ascii_digit()) || name.starts_with("rollback.") || name == "end";
    if numbered && !name.contains(' ') {
        name.clone_into(&mut current.guard);
        about.clone_into(&mut current.about);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_comments_and_client_lines() {
        let d = Dialect::load("sqlite").unwrap();
        let text = ".bail on\n-- ==== 01_preflight.sql ====\n-- guard 01_x: a; b (expected 1)\nINSERT INTO t VALUES ('a;''b', \"c;d\");\nSELECT 1;\n";
        let found = split(text, &d).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].sql, "INSERT INTO t VALUES ('a;''b', \"c;d\")");
        assert_eq!((found[0].guard.as_str(), found[0].file.as_str()), ("01_x", "01_preflight.sql"));
    }

    #[test]
    fn backslashes_by_dialect() {
        let my = Dialect::load("mysql").unwrap();
        let found = split("SELECT 'a\\\\';\nSELECT 'it\\'s; x';\n", &my).unwrap();
        assert_eq!(found.iter().map(|s| s.sql.as_str()).collect::<Vec<_>>(), ["SELECT 'a\\\\'", "SELECT 'it\\'s; x'"]);
        let pg = Dialect::load("postgresql").unwrap();
        let found = split("SELECT 'a\\';\nSELECT E'\\'; x';\n", &pg).unwrap();
        assert_eq!(found.len(), 2);
    }
}

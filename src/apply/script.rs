//! Splits the text of a bundle's runner into statements.
//!
//! flowmend runs the very text that the stock client runs. Lines that speak to
//! the client (`.bail on`, `\set …`) are for the client alone.

use crate::dialect::Dialect;
use crate::sql::{self, Client, PieceKind};
use crate::{Error, Result};

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
    let script = sql::split(text, Client::of(dialect.engine));
    let mut comments = script.comments.iter().peekable();
    let mut found = Vec::new();
    let mut current = Statement { sql: String::new(), file: String::new(), guard: String::new(), about: String::new() };
    for piece in script.pieces.iter().filter(|p| p.kind == PieceKind::Sql) {
        if piece.open.is_some() || !piece.ended {
            return Err(Error::internal("the bundle's SQL ends inside a statement"));
        }
        let mut at = piece.range.start;
        current.sql.clear();
        while let Some(comment) = comments.next_if(|c| c.start < piece.range.end) {
            // A comment inside of a statement is for readers, too.
            current.sql.push_str(text.get(at..comment.start).unwrap_or_default());
            at = at.max(comment.end);
            note_comment(&mut current, text[comment.clone()].trim_start_matches('-').trim());
        }
        current.sql.push_str(&text[at..piece.range.end]);
        found.push(current.clone());
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

//! From a piece of a script to statements: parses, and goes on after what cannot be parsed.

use std::borrow::Cow;
use std::ops::Range;

use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer};

use super::rewrite::rewrite;
use crate::manifest::Engine;
use crate::sql::{Piece, Places};

/// What a piece turned out to be.
pub(super) struct Parsed {
    /// Where it begins in the script; spans count from here.
    pub start: usize,
    /// Its bytes.
    pub range: Range<usize>,
    /// Whether a semicolon follows, or why not.
    pub end: End,
    /// The statement.
    pub what: Result<Statement, Unread>,
}

/// How a statement ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With its mark.
    Marked,
    /// At the end of the script, without a mark.
    Script,
    /// Where the next statement begins, without a mark.
    Missing,
}

/// A statement that the parser does not understand.
#[derive(Debug)]
pub(super) struct Unread {
    /// What the parser said.
    pub message: String,
    /// Where, from the statement's start.
    pub span: Span,
    /// Its first word, in upper case.
    pub word: String,
}

/// The grammar of an engine.
pub(super) fn grammar(engine: Engine) -> Box<dyn Dialect> {
    match engine {
        Engine::MySql => Box::new(MySqlDialect {}),
        Engine::PostgreSql => Box::new(PostgreSqlDialect {}),
        Engine::Sqlite => Box::new(SQLiteDialect {}),
    }
}

fn engine_of(grammar: &dyn Dialect) -> Engine {
    if grammar.is::<MySqlDialect>() {
        Engine::MySql
    } else if grammar.is::<PostgreSqlDialect>() {
        Engine::PostgreSql
    } else {
        Engine::Sqlite
    }
}

/// Words that begin a statement and nothing else, at the start of a line.
const BEGINS: [Keyword; 12] = [
    Keyword::UPDATE,
    Keyword::DELETE,
    Keyword::INSERT,
    Keyword::SELECT,
    Keyword::BEGIN,
    Keyword::COMMIT,
    Keyword::ROLLBACK,
    Keyword::START,
    Keyword::CREATE,
    Keyword::DROP,
    Keyword::ALTER,
    Keyword::TRUNCATE,
];

/// Parses a piece; one in which semicolons are missing gives several statements.
pub(super) fn parse(text: &str, piece: &Piece, grammar: &dyn Dialect, places: &Places<'_>) -> Vec<Parsed> {
    let mut found = Vec::new();
    let mut start = piece.range.start;
    while start < piece.range.end {
        let slice = &text[start..piece.range.end];
        let (what, next) = one(slice, grammar);
        let cut =
            next.map(|at| places.byte_at(start, at.line, at.column)).filter(|c| *c > start && *c < piece.range.end);
        let end = match cut {
            Some(_) => End::Missing,
            None if piece.ended => End::Marked,
            None => End::Script,
        };
        let until = cut.unwrap_or(piece.range.end);
        let until = start + text[start..until].trim_end().len();
        found.push(Parsed { start, range: start..until, end, what });
        match cut {
            Some(cut) => start = cut,
            None => break,
        }
    }
    found
}

/// A text that is one statement and nothing else.
pub(super) fn only(text: &str, grammar: &dyn Dialect) -> Result<Statement, Unread> {
    one(text, grammar).0
}

/// The first statement of a text, and where another begins if one does.
fn one(text: &str, grammar: &dyn Dialect) -> (Result<Statement, Unread>, Option<Location>) {
    let text = &if grammar.is::<MySqlDialect>() { mariadb_comments(text) } else { psql_variables(text) };
    let word: String = text.chars().take_while(|c| c.is_ascii_alphabetic()).collect::<String>().to_ascii_uppercase();
    let mut tokens = Vec::new();
    if let Err(e) = Tokenizer::new(grammar, text).tokenize_with_location_into_buf(&mut tokens) {
        let span = Span::new(e.location, e.location);
        return (Err(Unread { message: e.message, span, word }), None);
    }
    rewrite(&mut tokens, &word, engine_of(grammar));
    let next = second(&tokens);
    let mut parser = Parser::new(grammar).with_tokens_with_locations(tokens);
    match parser.parse_statement() {
        Ok(statement) => {
            let rest = parser.peek_token();
            match rest.token {
                Token::EOF => (Ok(statement), None),
                _ if next.is_some_and(|n| n == rest.span.start) => (Ok(statement), next),
                other => {
                    let message = format!("`{other}` is not understood here");
                    (Err(Unread { message, span: rest.span, word }), next)
                }
            }
        }
        Err(e) => {
            let span = parser.get_current_token().span;
            let message = e.to_string();
            let message = message.trim_start_matches("sql parser error: ");
            let message = message.split(" at Line:").next().unwrap_or(message).to_owned();
            (Err(Unread { message, span, word }), next)
        }
    }
}

/// Where a second statement begins: at a word that begins statements, first on its line.
/// Not inside parentheses, and not in definitions, whose bodies hold statements.
fn second(tokens: &[TokenWithSpan]) -> Option<Location> {
    let keyword = |t: &TokenWithSpan| match &t.token {
        Token::Word(w) if w.quote_style.is_none() => Some(w.keyword),
        _ => None,
    };
    let mut words = tokens.iter().filter(|t| !matches!(t.token, Token::Whitespace(_)));
    let first = words.next().and_then(keyword)?;
    let plain = [Keyword::UPDATE, Keyword::DELETE, Keyword::SELECT, Keyword::COMMIT, Keyword::ROLLBACK, Keyword::BEGIN];
    if !plain.contains(&first) {
        return None;
    }
    // MariaDB's BEGIN NOT ATOMIC is a routine.
    if first == Keyword::BEGIN && words.next().and_then(keyword) == Some(Keyword::NOT) {
        return None;
    }
    let mut depth = 0_usize;
    let mut line = tokens.first().map_or(1, |t| t.span.start.line);
    let mut before = Token::EOF;
    for token in tokens.iter().filter(|t| !matches!(t.token, Token::Whitespace(_))) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        let fresh = token.span.start.line > line;
        line = token.span.start.line;
        let begins = keyword(token).is_some_and(|k| BEGINS.contains(&k));
        // `FOR UPDATE`, `UNION ALL SELECT`, `= SELECT` go on.
        if fresh && begins && depth == 0 && !goes_on(&before) {
            return Some(token.span.start);
        }
        before = token.token.clone();
    }
    None
}

fn goes_on(before: &Token) -> bool {
    match before {
        Token::Word(w) => matches!(
            w.keyword,
            Keyword::FOR
                | Keyword::UNION
                | Keyword::ALL
                | Keyword::EXCEPT
                | Keyword::INTERSECT
                | Keyword::DISTINCT
                | Keyword::AS
                | Keyword::EXPLAIN
                | Keyword::ANALYZE
                | Keyword::ON
                | Keyword::KEY
                | Keyword::DO
                | Keyword::THEN
                | Keyword::OR
        ),
        Token::Eq | Token::Comma | Token::LParen => true,
        _ => false,
    }
}

/// MariaDB runs what stands in `/*M! … */`, as it does with `/*! … */`, the only form that the
/// parser knows; both are as long.
fn mariadb_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("/*M!") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("/*M!", " /*!"))
}

/// psql puts a variable's value in place of `:'name'` and `:"name"`. For the parser a
/// parameter or a name of the same length stands there.
fn psql_variables(text: &str) -> Cow<'_, str> {
    if !text.contains(':') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(":'").into_iter().chain(rest.find(":\"")).min() {
        let quote = &rest[at + 1..at + 2];
        let name = &rest[at + 2..];
        let length = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
        let doubled = rest[..at].ends_with(':');
        if length == 0 || !name[length..].starts_with(quote) || doubled {
            out.push_str(&rest[..at + 2]);
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(&rest[..at]);
        let name = &name[..length];
        match quote {
            "'" => out.extend(["$", name, "  "]),
            // A name that no table and no column bears.
            _ => out.extend(["\"$", name, "\""]),
        }
        rest = &rest[at + 3 + length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{Client, split};

    fn parsed(text: &str, engine: Engine) -> Vec<(String, End, bool)> {
        let places = Places::of(text);
        let grammar = grammar(engine);
        let script = split(text, Client::of(engine));
        let all = script.pieces.iter().flat_map(|p| parse(text, p, grammar.as_ref(), &places));
        all.map(|p| (text[p.range].to_owned(), p.end, p.what.is_ok())).collect()
    }

    #[test]
    fn a_missing_semicolon_does_not_swallow_the_next_statement() {
        let found = parsed("UPDATE a SET b = '7'\nUPDATE c SET d = 8\nWHERE e = (\nSELECT 1)", Engine::MySql);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], ("UPDATE a SET b = '7'".to_owned(), End::Missing, true));
        assert_eq!((found[1].1, found[1].2), (End::Script, true));
    }

    #[test]
    fn what_goes_on_is_one_statement() {
        for text in [
            "SELECT 1\nUNION ALL\nSELECT 2;",
            "SELECT a FROM b\nFOR\nUPDATE;",
            "INSERT INTO a\nSELECT 1;",
            "CREATE TABLE x AS\nSELECT 1;",
            "WITH x AS (\nSELECT 1)\nSELECT * FROM x;",
            "EXPLAIN\nSELECT 1;",
        ] {
            let found = parsed(text, Engine::PostgreSql);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].2, "{text}");
        }
    }

    #[test]
    fn variables_of_psql_are_values() {
        let found = parsed("UPDATE a SET b = :'name' WHERE c = :id AND d = 'x:''y';", Engine::PostgreSql);
        assert_eq!(found.len(), 1);
        assert!(found[0].2, "{found:?}");
        let text = "a::'b' :'cd' :\"e\"";
        assert_eq!(psql_variables(text), "a::'b' $cd   \"$e\"");
        // Places behind it stay what they were.
        assert_eq!(psql_variables(text).len(), text.len());
    }
}

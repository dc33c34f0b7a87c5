//! Grammar that servers have and the parser lacks, put into words that it knows.
//!
//! Only tokens are changed, so that every place stays what it was. What is left out says
//! nothing of rows: priorities, isolation, where a result goes.

use std::ops::Range;

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use crate::manifest::Engine;

/// Puts a statement's tokens into what the parser knows. `word` is its first word, in upper case.
pub(super) fn rewrite(tokens: &mut Vec<TokenWithSpan>, word: &str, engine: Engine) {
    if engine == Engine::MySql {
        mysql(tokens, word);
    }
    if engine == Engine::PostgreSql {
        postgres(tokens, word);
    }
    match word {
        "BEGIN" | "START" => transaction(tokens),
        _ => {}
    }
}

fn mysql(tokens: &mut Vec<TokenWithSpan>, word: &str) {
    if word == "SET" && is_word(tokens, significant(tokens, 1), "STATEMENT") {
        // MariaDB: SET STATEMENT name = value FOR what is run.
        let run = (0..tokens.len()).find(|at| is_word(tokens, Some(*at), "FOR"));
        run.into_iter().for_each(|at| blank(tokens, 0..at + 1));
    } else if word == "SET" {
        assignments(tokens);
    }
    if word == "ANALYZE" {
        analyzed(tokens);
    }
    if ["UPDATE", "DELETE", "INSERT", "REPLACE"].contains(&word) {
        priorities(tokens);
    }
    match word {
        "UPDATE" => {
            assignments(tokens);
            comma_join(tokens);
        }
        "DELETE" => whole_rows(tokens),
        _ => {}
    }
    operators(tokens);
    texts_side_by_side(tokens);
}

fn postgres(tokens: &mut Vec<TokenWithSpan>, word: &str) {
    psql_names(tokens);
    match word {
        "INSERT" => table_as_rows(tokens),
        "CREATE" => like_in_parentheses(tokens),
        _ => {}
    }
    returned_into(tokens);
}

/// PL/pgSQL's `RETURNING … INTO [STRICT] name`: where the result goes.
fn returned_into(tokens: &mut [TokenWithSpan]) {
    let Some(returning) = (0..tokens.len()).find(|at| is_word(tokens, Some(*at), "RETURNING")) else { return };
    let mut depth = 0_usize;
    let mut into = None;
    for at in returning..tokens.len() {
        match tokens[at].token {
            Token::LParen => depth += 1,
            // The query that it stands in ends here.
            Token::RParen if depth == 0 => break,
            Token::RParen => depth -= 1,
            _ if depth == 0 && is_word(tokens, Some(at), "INTO") => into = into.or(Some(at)),
            _ => {}
        }
    }
    let Some(into) = into else { return };
    let end = (into..tokens.len()).find(|at| tokens[*at].token == Token::SemiColon).unwrap_or(tokens.len());
    blank(tokens, into..end);
}

/// `:=` sets a column, too; `@x := 1` is a value.
fn assignments(tokens: &mut [TokenWithSpan]) {
    for at in 0..tokens.len() {
        let variable = before(tokens, at).is_some_and(|b| is_variable(&tokens[b].token));
        if tokens[at].token == Token::Assignment && (!variable || is_set(tokens)) {
            tokens[at].token = Token::Eq;
        }
    }
}

fn is_set(tokens: &[TokenWithSpan]) -> bool {
    is_word(tokens, significant(tokens, 0), "SET")
}

fn is_variable(token: &Token) -> bool {
    matches!(token, Token::Word(w) if w.value.starts_with('@'))
        || matches!(token, Token::Placeholder(_) | Token::AtSign)
}

/// MariaDB's `ANALYZE [FORMAT = JSON] UPDATE …` runs the statement.
fn analyzed(tokens: &mut [TokenWithSpan]) {
    const RUN: [&str; 6] = ["UPDATE", "DELETE", "INSERT", "REPLACE", "SELECT", "WITH"];
    let is_run = |at: usize| RUN.iter().any(|w| is_word(tokens, Some(at), w));
    let first = [1, 4].into_iter().filter_map(|number| significant(tokens, number)).find(|at| is_run(*at));
    if let Some(first) = first {
        blank(tokens, 0..first);
    }
}

/// `UPDATE IGNORE`, `DELETE LOW_PRIORITY QUICK`.
fn priorities(tokens: &mut [TokenWithSpan]) {
    const WORDS: [&str; 5] = ["LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK", "IGNORE"];
    let mut number = 1;
    while let Some(at) = significant(tokens, number) {
        let is_one = WORDS.iter().any(|w| is_word(tokens, Some(at), w));
        // INSERT IGNORE says what becomes of a row that is in the way, and the parser knows it.
        let known = is_word(tokens, Some(at), "IGNORE")
            && !["UPDATE", "DELETE"].iter().any(|w| is_word(tokens, significant(tokens, 0), w));
        if !is_one || known {
            break;
        }
        blank(tokens, at..at + 1);
        number = 1;
    }
}

/// `UPDATE a, b SET …`: a join without a condition of its own.
fn comma_join(tokens: &mut Vec<TokenWithSpan>) {
    let Some(set) = (0..tokens.len()).find(|at| is_word(tokens, Some(*at), "SET")) else { return };
    let mut depth = 0;
    let mut commas = Vec::new();
    for (at, token) in tokens[..set].iter().enumerate() {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::Comma if depth == 0 => commas.push(at),
            _ => {}
        }
    }
    for at in commas.into_iter().rev() {
        let span = tokens[at].span;
        let both = ["CROSS", "JOIN"].map(|name| TokenWithSpan::new(word(name), span));
        tokens.splice(at..=at, both);
    }
}

/// `DELETE c.* FROM …` is `DELETE c FROM …`.
fn whole_rows(tokens: &mut [TokenWithSpan]) {
    let from = (0..tokens.len()).find(|at| is_word(tokens, Some(*at), "FROM")).unwrap_or(0);
    for at in 1..from {
        if tokens[at].token == Token::Mul && tokens[at - 1].token == Token::Period {
            blank(tokens, at - 1..at + 1);
        }
    }
}

/// `a MOD b`, `!(a)`, `INTERVAL '1 12' DAY_HOUR`.
fn operators(tokens: &mut [TokenWithSpan]) {
    const UNITS: [(&str, &str); 11] = [
        ("YEAR_MONTH", "MONTH"),
        ("DAY_HOUR", "HOUR"),
        ("DAY_MINUTE", "MINUTE"),
        ("DAY_SECOND", "SECOND"),
        ("DAY_MICROSECOND", "MICROSECOND"),
        ("HOUR_MINUTE", "MINUTE"),
        ("HOUR_SECOND", "SECOND"),
        ("HOUR_MICROSECOND", "MICROSECOND"),
        ("MINUTE_SECOND", "SECOND"),
        ("MINUTE_MICROSECOND", "MICROSECOND"),
        ("SECOND_MICROSECOND", "MICROSECOND"),
    ];
    for at in 0..tokens.len() {
        let opens = after(tokens, at).is_some_and(|next| tokens[next].token == Token::LParen);
        if is_word(tokens, Some(at), "MOD") && !opens {
            tokens[at].token = Token::Mod;
        } else if tokens[at].token == Token::ExclamationMark && opens {
            tokens[at].token = word("NOT");
        } else if let Some((_, unit)) = UNITS.iter().find(|(name, _)| is_word(tokens, Some(at), name)) {
            tokens[at].token = word(unit);
        }
    }
}

/// `'a' 'b'` is one text.
fn texts_side_by_side(tokens: &mut [TokenWithSpan]) {
    for at in (1..tokens.len()).rev() {
        let Some(first) = before(tokens, at) else { continue };
        let (Token::SingleQuotedString(head), Token::SingleQuotedString(tail)) =
            (&tokens[first].token, &tokens[at].token)
        else {
            continue;
        };
        tokens[first].token = Token::SingleQuotedString(format!("{head}{tail}"));
        blank(tokens, at..at + 1);
    }
}

/// What stands before a table's name.
const BEFORE_TABLES: [&str; 8] = ["FROM", "JOIN", "USING", "INTO", "UPDATE", "TABLE", "ONLY", "EXISTS"];

/// psql's `:name` where a name must stand: a name of its own that no table bears.
fn psql_names(tokens: &mut [TokenWithSpan]) {
    for at in 0..tokens.len() {
        let name = match &tokens[at].token {
            Token::Placeholder(name) if name.starts_with(':') => name[1..].to_owned(),
            Token::Colon => match tokens.get(at + 1).map(|t| &t.token) {
                Some(Token::Word(w)) if w.quote_style.is_none() => w.value.clone(),
                _ => continue,
            },
            _ => continue,
        };
        let colon = usize::from(tokens[at].token == Token::Colon);
        let is_schema = tokens.get(at + colon + 1).is_some_and(|t| t.token == Token::Period);
        let behind = before(tokens, at).filter(|_| colon == 0 || !is_cast(tokens, at));
        let is_table = BEFORE_TABLES.iter().any(|w| is_word(tokens, behind, w)) && behind.is_some();
        if !is_schema && !is_table {
            continue;
        }
        tokens[at].token = quoted(&format!("${name}"));
        if colon == 1 {
            blank(tokens, at + 1..at + 2);
        }
    }
}

/// Whether a colon belongs to the one before it: `a::text`.
fn is_cast(tokens: &[TokenWithSpan], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|b| matches!(tokens[b].token, Token::Colon | Token::DoubleColon))
}

/// `INSERT INTO a TABLE b` is `INSERT INTO a SELECT * FROM b`.
fn table_as_rows(tokens: &mut Vec<TokenWithSpan>) {
    let is_table = |at: &usize| is_word(tokens, Some(*at), "TABLE");
    let Some(at) = (0..tokens.len()).find(is_table) else { return };
    if before(tokens, at).is_none_or(|b| is_word(tokens, Some(b), "INTO")) {
        return;
    }
    let span = tokens[at].span;
    let select = [word("SELECT"), Token::Mul, word("FROM")].map(|token| TokenWithSpan::new(token, span));
    tokens.splice(at..=at, select);
}

/// `CREATE TABLE a (LIKE b INCLUDING ALL)` is `CREATE TABLE a LIKE b`.
fn like_in_parentheses(tokens: &mut [TokenWithSpan]) {
    let opens = |at: &usize| tokens[*at].token == Token::LParen && is_word(tokens, after(tokens, *at), "LIKE");
    let Some(open) = (0..tokens.len()).find(opens) else { return };
    let end = (open..tokens.len()).find(|at| tokens[*at].token == Token::RParen).unwrap_or(tokens.len());
    let options = (open..end).find(|at| ["INCLUDING", "EXCLUDING"].iter().any(|w| is_word(tokens, Some(*at), w)));
    blank(tokens, open..open + 1);
    blank(tokens, options.unwrap_or(end)..(end + 1).min(tokens.len()));
}

/// `WITH CONSISTENT SNAPSHOT`, `NOT DEFERRABLE`: what the transaction sees, not what it does.
fn transaction(tokens: &mut [TokenWithSpan]) {
    for at in 0..tokens.len() {
        let next = after(tokens, at);
        let last = next.and_then(|next| after(tokens, next));
        if is_word(tokens, Some(at), "WITH") && is_word(tokens, next, "CONSISTENT") && is_word(tokens, last, "SNAPSHOT")
        {
            let end = last.unwrap_or(at) + 1;
            blank(tokens, at..end);
            // A comma before or behind it goes, too.
            let comma = |at: Option<usize>| at.filter(|at| tokens[*at].token == Token::Comma);
            let comma = comma(after(tokens, end - 1)).or_else(|| comma(before(tokens, at)));
            comma.into_iter().for_each(|at| blank(tokens, at..at + 1));
        } else if is_word(tokens, Some(at), "NOT") && is_word(tokens, next, "DEFERRABLE") {
            blank(tokens, at..next.unwrap_or(at) + 1);
        } else if is_word(tokens, Some(at), "DEFERRABLE") {
            blank(tokens, at..at + 1);
        }
    }
}

fn is_blank(token: &Token) -> bool {
    matches!(token, Token::Whitespace(_))
}

fn before(tokens: &[TokenWithSpan], at: usize) -> Option<usize> {
    tokens[..at].iter().rposition(|t| !is_blank(&t.token))
}

fn after(tokens: &[TokenWithSpan], at: usize) -> Option<usize> {
    let behind = tokens.get(at + 1..)?;
    behind.iter().position(|t| !is_blank(&t.token)).map(|n| at + 1 + n)
}

/// The place of the nth token that is not blank.
fn significant(tokens: &[TokenWithSpan], number: usize) -> Option<usize> {
    tokens.iter().enumerate().filter(|(_, t)| !is_blank(&t.token)).nth(number).map(|(at, _)| at)
}

fn is_word(tokens: &[TokenWithSpan], at: Option<usize>, name: &str) -> bool {
    at.and_then(|at| tokens.get(at)).is_some_and(|t| match &t.token {
        Token::Word(w) => w.quote_style.is_none() && w.value.eq_ignore_ascii_case(name),
        _ => false,
    })
}

fn blank(tokens: &mut [TokenWithSpan], range: Range<usize>) {
    let space = sqlparser::tokenizer::Whitespace::Space;
    tokens[range].iter_mut().for_each(|t| t.token = Token::Whitespace(space.clone()));
}

fn word(name: &str) -> Token {
    Token::make_keyword(name)
}

/// A name in quotes, which no keyword is.
fn quoted(name: &str) -> Token {
    Token::Word(Word { value: name.to_owned(), quote_style: Some('"'), keyword: Keyword::NoKeyword })
}

#[cfg(test)]
mod tests {
    use crate::lint::parse::{grammar, only};
    use crate::manifest::Engine;

    fn read(text: &str, engine: Engine) -> String {
        only(text, grammar(engine).as_ref()).map_or_else(|e| format!("{text}: {}", e.message), |s| s.to_string())
    }

    #[test]
    fn what_mysql_has() {
        for (text, is) in [
            ("UPDATE IGNORE a SET b := 1", "UPDATE a SET b = 1"),
            ("UPDATE LOW_PRIORITY IGNORE a SET b = 1", "UPDATE a SET b = 1"),
            ("UPDATE a, b SET a.c = 1 WHERE a.d = b.d", "UPDATE a CROSS JOIN b SET a.c = 1 WHERE a.d = b.d"),
            ("DELETE QUICK FROM a WHERE b = 1", "DELETE FROM a WHERE b = 1"),
            ("DELETE c.* FROM a c JOIN b ON b.d = c.d", "DELETE c FROM a c JOIN b ON b.d = c.d"),
            ("UPDATE a SET b = 1 WHERE !(c = 0) AND d MOD 8 = 1", "UPDATE a SET b = 1 WHERE NOT (c = 0) AND d % 8 = 1"),
            ("SELECT 'a' 'b' FROM c", "SELECT 'ab' FROM c"),
            ("SET STATEMENT max_statement_time=10 FOR DELETE FROM a", "DELETE FROM a"),
            ("SET @a := 1", "SET @a = 1"),
            ("ANALYZE DELETE FROM a", "DELETE FROM a"),
            ("ANALYZE FORMAT=JSON UPDATE a SET b = 1", "UPDATE a SET b = 1"),
            ("START TRANSACTION WITH CONSISTENT SNAPSHOT", "START TRANSACTION"),
            ("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "START TRANSACTION READ ONLY"),
            (
                "SELECT a FROM b WHERE c < NOW() - INTERVAL '1 12' DAY_HOUR",
                "SELECT a FROM b WHERE c < NOW() - INTERVAL '1 12' HOUR",
            ),
        ] {
            assert_eq!(read(text, Engine::MySql), is);
        }
    }

    #[test]
    fn what_postgresql_has() {
        for (text, is) in [
            ("INSERT INTO a TABLE b", "INSERT INTO a SELECT * FROM b"),
            ("CREATE TABLE a (LIKE b INCLUDING ALL)", "CREATE TABLE a LIKE b"),
            ("CREATE TABLE IF NOT EXISTS a (LIKE b)", "CREATE TABLE IF NOT EXISTS a LIKE b"),
            ("DELETE FROM a WHERE b = 1 RETURNING b INTO STRICT n", "DELETE FROM a WHERE b = 1 RETURNING b"),
            (
                "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE NOT DEFERRABLE",
                "BEGIN ISOLATION LEVEL SERIALIZABLE, READ WRITE",
            ),
            ("UPDATE :sch.a SET b = 1", "UPDATE \"$sch\".a SET b = 1"),
            ("UPDATE :\"sch\".a SET b = 1", "UPDATE \"$sch\".a SET b = 1"),
            ("INSERT INTO :t SELECT * FROM :u b", "INSERT INTO \"$t\" SELECT * FROM \"$u\" b"),
        ] {
            assert_eq!(read(text, Engine::PostgreSql), is);
        }
    }
}

//! The bodies of routines, triggers and events: which parts of them change rows.
//!
//! A body is cut at its semicolons, and what changes rows is found in each piece behind
//! the words that may stand before it (`BEGIN`, `THEN`, `LOOP` …).

use std::ops::Range;

use super::define::next_word;
use crate::manifest::Engine;
use crate::sql::{Client, split};

/// A part of a body that says something of rows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A change, by its bytes of the body.
    Change(Range<usize>),
    /// What may change rows and cannot be read.
    Unread(Range<usize>),
}

/// A routine in its pieces.
#[derive(Debug)]
pub(super) struct Body<'t> {
    /// Where the text begins in the routine.
    pub start: usize,
    /// The text in which statements stand.
    pub text: &'t str,
    /// The parameters and the declared variables.
    pub locals: Vec<String>,
    /// Whether it is a text in plain quotes, in which nothing is read.
    pub quoted: bool,
}

/// The body in a definition's text after its kind. PostgreSQL's stands in quotes.
pub(super) fn body_of(routine: &str, engine: Engine) -> Body<'_> {
    let whole = |locals| Body { start: 0, text: routine, locals, quoted: false };
    if engine != Engine::PostgreSql {
        let mut locals = first_parameters(routine);
        locals.extend(declared(routine));
        return whole(locals);
    }
    let Some((start, text)) = dollar_quoted(routine) else {
        return Body { quoted: in_plain_quotes(routine), ..whole(all_parameters(routine)) };
    };
    let mut locals = all_parameters(&routine[..start]);
    locals.extend(declared(text));
    Body { start, text, locals, quoted: false }
}

/// What stands between the first `$tag$` and its like, and where it begins.
fn dollar_quoted(text: &str) -> Option<(usize, &str)> {
    let open = text.find('$')?;
    let length = text[open + 1..].find('$')?;
    let tag = &text[open..open + length + 2];
    if !tag[1..=length].chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let start = open + tag.len();
    let end = text[start..].find(tag)?;
    Some((start, &text[start..start + end]))
}

/// Whether the body is a text in plain quotes: `AS '…'`, `DO '…'`, `DO LANGUAGE plpgsql '…'`.
fn in_plain_quotes(routine: &str) -> bool {
    let quoted = |text: &str| {
        let text = text.trim_start();
        text.starts_with('\'') || text.starts_with("E'") || text.starts_with("e'")
    };
    let (mut rest, mut before) = (routine, "");
    // DO has no name before its body.
    let mut is_place = true;
    while let Some((word, after)) = next_word(rest) {
        if is_place && quoted(rest) {
            return true;
        }
        is_place = word.eq_ignore_ascii_case("as") || before.eq_ignore_ascii_case("language");
        (rest, before) = (after, word);
    }
    false
}

/// The parts of a body that change rows, or may.
pub(super) fn parts(body: &str, engine: Engine) -> Vec<Part> {
    // What the mysql client cuts at semicolons is a body, too.
    let client = if engine == Engine::PostgreSql { Client::Psql } else { Client::Mysql };
    let plain = masked(body);
    let one = |piece: Range<usize>| {
        if let Some(at) = change_in(&plain[piece.clone()]) {
            return Some(Part::Change(piece.start + at..piece.end));
        }
        may_change(&plain[piece.clone()]).then_some(Part::Unread(piece))
    };
    split(body, client).pieces.into_iter().filter_map(|p| one(p.range)).collect()
}

/// The text with blanks in place of comments and of what stands in plain quotes, byte for byte.
fn masked(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text.as_bytes()[at..];
        let length = match rest {
            [b'-', b'-', ..] => rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => rest.windows(2).skip(2).position(|w| w == b"*/").map_or(rest.len(), |n| n + 4),
            [b'\'', ..] => rest.iter().skip(1).position(|b| *b == b'\'').map_or(rest.len(), |n| n + 2),
            _ => {
                at += 1;
                continue;
            }
        };
        bytes[at..at + length].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        at += length;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Where in a piece of a routine a change begins: `BEGIN UPDATE …`, `IF a THEN DELETE …`.
fn change_in(piece: &str) -> Option<usize> {
    const CHANGES: [&str; 5] = ["update", "delete", "insert", "replace", "with"];
    const OPENERS: [&str; 8] = ["begin", "atomic", "then", "else", "do", "loop", "repeat", "query"];
    let is_in = |words: &[&str], word: &str| words.iter().any(|w| w.eq_ignore_ascii_case(word));
    let mut rest = piece;
    let mut opened = true;
    while let Some((word, after)) = next_word(rest) {
        if opened && is_in(&CHANGES, word) {
            return Some(piece.len() - rest.trim_start().len());
        }
        opened = is_in(&OPENERS, word);
        rest = after;
    }
    None
}

/// Whether a piece holds a word that changes something and does not belong to another
/// statement (`FOR UPDATE`, `BEFORE UPDATE ON`), nor to a function's call.
fn may_change(piece: &str) -> bool {
    const CHANGES: [&str; 7] = ["update", "delete", "insert", "truncate", "merge", "execute", "call"];
    const BEFORE: [&str; 6] = ["for", "on", "before", "after", "of", "or"];
    let mut before = String::new();
    let mut rest = piece;
    while let Some(at) = rest.find(|c: char| c.is_alphanumeric() || c == '_') {
        rest = &rest[at..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let word = rest[..end].to_lowercase();
        rest = &rest[end..];
        let called = rest.trim_start().starts_with('(');
        if CHANGES.contains(&word.as_str()) && !called && !BEFORE.contains(&before.as_str()) {
            return true;
        }
        before = word;
    }
    false
}

/// The variables that a routine declares: `DECLARE a, b INT;`, and the section of
/// PL/pgSQL from DECLARE to BEGIN.
fn declared(routine: &str) -> Vec<String> {
    let plain = masked(routine);
    let mut names = Vec::new();
    let mut rest = plain.as_str();
    while let Some((word, after)) = next_word(rest) {
        rest = after;
        if !word.eq_ignore_ascii_case("declare") {
            continue;
        }
        let end = rest.to_ascii_lowercase().find("begin").unwrap_or(rest.len());
        names.extend(rest[..end].split(';').flat_map(first_names));
    }
    names
}

/// The names that a declaration begins with: every word that a comma follows, and the first
/// that none does.
fn first_names(declaration: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = declaration;
    while let Some((name, after)) = next_word(rest) {
        rest = after;
        if name.eq_ignore_ascii_case("declare") {
            continue;
        }
        names.extend(name.split(',').filter(|n| !n.is_empty()).map(bare));
        if !name.ends_with(',') {
            break;
        }
    }
    names
}

/// The names of the parameters in the first parentheses.
fn first_parameters(routine: &str) -> Vec<String> {
    parameters(routine).0.into_iter().filter_map(named).collect()
}

/// The names in all parentheses: parameters, and the columns of a RETURNS TABLE.
fn all_parameters(head: &str) -> Vec<String> {
    let (mut names, mut rest) = (Vec::new(), head);
    loop {
        let (found, after) = parameters(rest);
        if found.is_empty() {
            return names;
        }
        names.extend(found.into_iter().filter_map(named));
        rest = after;
    }
}

fn named(parameter: &str) -> Option<String> {
    const WAYS: [&str; 4] = ["in", "out", "inout", "variadic"];
    parameter.split_whitespace().find(|w| !WAYS.contains(&w.to_lowercase().as_str())).map(bare)
}

fn bare(name: &str) -> String {
    name.trim_matches(['`', '"']).to_owned()
}

/// What stands in the first parentheses of a text, cut at the commas outside of inner ones,
/// and what follows them.
fn parameters(text: &str) -> (Vec<&str>, &str) {
    let Some(open) = text.find('(') else { return (Vec::new(), "") };
    let (mut found, mut depth, mut start) = (Vec::new(), 0_usize, open + 1);
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 1 => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        if depth == 0 {
            found.push(&text[start..at]);
            return (found, &text[at + 1..]);
        }
    }
    (found, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(body: &str, engine: Engine) -> Vec<(bool, &str)> {
        let one = |part: Part| match part {
            Part::Change(range) => (true, &body[range]),
            Part::Unread(range) => (false, &body[range]),
        };
        parts(body, engine).into_iter().map(one).collect()
    }

    #[test]
    fn changes_are_found_behind_what_opens_them() {
        let body = "BEGIN -- then update\n UPDATE a SET b = 'delete;'; IF c THEN DELETE FROM d; ELSE INSERT INTO e SELECT 1; END IF; SELECT 1 FOR UPDATE; END";
        for engine in [Engine::PostgreSql, Engine::MySql] {
            assert_eq!(
                texts(body, engine),
                [(true, "UPDATE a SET b = 'delete;'"), (true, "DELETE FROM d"), (true, "INSERT INTO e SELECT 1")],
            );
        }
    }

    #[test]
    fn what_may_change_rows_and_is_not_found_is_said() {
        let body = "BEGIN EXECUTE format('UPDATE %I', t); x := replace(y, 'a', 'b'); TRUNCATE z; GET DIAGNOSTICS n = ROW_COUNT; END";
        let found = texts(body, Engine::PostgreSql);
        assert_eq!(found, [(false, "BEGIN EXECUTE format('UPDATE %I', t)"), (false, "TRUNCATE z")]);
    }

    #[test]
    fn a_body_in_dollars_has_its_place_and_its_names() {
        let routine = " f(run bigint, OUT n numeric(10,2)) RETURNS TABLE (x int) AS $fn$\nDECLARE\n  old int := 1;\n  r record;\nBEGIN\n NULL; END $fn$ LANGUAGE plpgsql";
        let body = body_of(routine, Engine::PostgreSql);
        assert!(routine[body.start..].starts_with(body.text) && body.text.ends_with("END "), "{body:?}");
        for name in ["run", "n", "x", "old", "r"] {
            assert!(body.locals.iter().any(|l| l == name), "{name}: {:?}", body.locals);
        }
        assert!(body_of(" f() LANGUAGE sql AS 'UPDATE a SET b = 1'", Engine::PostgreSql).quoted);
    }
}

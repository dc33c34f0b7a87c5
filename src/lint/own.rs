//! Tables of one's own that bear the name of a scheduler's table in another schema.

use super::define::next_word;
use crate::sql::{Piece, PieceKind};

/// Tables that a script itself makes under a schema's name, as `schema.table` in lower case, and
/// schemas that it makes, as `schema.*`.
///
/// A table that may have been there before (`IF NOT EXISTS`) is the script's only where it is made
/// like a table of the same name.
pub(super) fn own_tables(text: &str, pieces: &[Piece]) -> Vec<String> {
    let statements = pieces.iter().filter(|p| p.kind == PieceKind::Sql).filter_map(|p| text.get(p.range.clone()));
    let mut found: Vec<String> = statements.filter_map(made).collect();
    found.sort();
    found.dedup();
    found
}

/// Whether a qualified table is among them.
pub(super) fn is_own(own: &[String], schema: Option<&str>, table: &str) -> bool {
    let Some(schema) = schema.filter(|_| !own.is_empty()) else { return false };
    let (schema, table) = (schema.to_lowercase(), table.to_lowercase());
    own.iter().any(|o| o.split_once('.').is_some_and(|(s, t)| s == schema && (t == "*" || t == table)))
}

fn made(statement: &str) -> Option<String> {
    let (create, rest) = next_word(statement)?;
    if !create.eq_ignore_ascii_case("create") {
        return None;
    }
    let (mut word, mut rest) = next_word(rest)?;
    while ["temporary", "temp", "unlogged", "or", "replace"].iter().any(|w| word.eq_ignore_ascii_case(w)) {
        (word, rest) = next_word(rest)?;
    }
    let is_schema = ["schema", "database"].iter().any(|w| word.eq_ignore_ascii_case(w));
    if !is_schema && !word.eq_ignore_ascii_case("table") {
        return None;
    }
    let (first, after) = next_word(rest)?;
    let maybe_there = first.eq_ignore_ascii_case("if");
    let (name, rest) = if maybe_there { next_word(next_word(next_word(after)?.1)?.1)? } else { (first, after) };
    let name = plain(name);
    if is_schema {
        return (!maybe_there && !name.contains('.')).then(|| format!("{name}.*"));
    }
    let (schema, table) = name.rsplit_once('.')?;
    let schema = schema.rsplit('.').next().unwrap_or(schema);
    let is_copy = || copies(rest, schema, table);
    // Where a scheduler's tables are by default, a name of theirs is theirs.
    let is_apart = !DEFAULTS.contains(&schema) && !maybe_there;
    (is_apart || is_copy()).then(|| format!("{schema}.{table}"))
}

/// Schemas that a database has without being told.
const DEFAULTS: [&str; 3] = ["public", "main", "dbo"];

/// A name without quotes, and without what follows it at once, in lower case.
fn plain(name: &str) -> String {
    name.split('(').next().unwrap_or(name).chars().filter(|c| !"`\"[]".contains(*c)).collect::<String>().to_lowercase()
}

/// Whether a definition names a table of the same name in another schema.
fn copies(rest: &str, schema: &str, table: &str) -> bool {
    let other = |word: &str| {
        let name = plain(word.trim_matches(['(', ')', ',', ';']));
        let (in_schema, bare) = name.rsplit_once('.').map_or((None, name.as_str()), |(s, t)| (Some(s), t));
        let elsewhere = in_schema.map_or(!DEFAULTS.contains(&schema), |other| other != schema);
        bare == table && elsewhere
    };
    rest.split_whitespace().any(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{Client, split};

    #[test]
    fn what_a_script_makes() {
        let own = |text: &str| own_tables(text, &split(text, Client::Mysql).pieces);
        for (text, is) in [
            ("CREATE TABLE archive.job AS SELECT * FROM public.job", &["archive.job"][..]),
            ("CREATE TABLE `a`.`b`(c INT)", &["a.b"]),
            ("CREATE TEMPORARY TABLE a.b LIKE c.b", &["a.b"]),
            ("CREATE TABLE IF NOT EXISTS a.b LIKE c.b", &["a.b"]),
            ("CREATE TABLE IF NOT EXISTS a.b LIKE a.b", &[]),
            ("CREATE TABLE IF NOT EXISTS a.b (c INT)", &[]),
            ("CREATE SCHEMA archive", &["archive.*"]),
            ("CREATE SCHEMA IF NOT EXISTS archive", &[]),
            ("CREATE TABLE b (c INT)", &[]),
            ("CREATE TABLE public.b (c INT)", &[]),
            ("CREATE TABLE public.b AS SELECT * FROM b", &[]),
            ("CREATE TABLE public.b AS SELECT * FROM ds.b", &["public.b"]),
            ("INSERT INTO a.b SELECT * FROM c.b", &[]),
        ] {
            assert_eq!(own(text), is, "{text}");
        }
        let own = vec!["a.b".to_owned(), "c.*".to_owned()];
        assert!(is_own(&own, Some("A"), "B") && is_own(&own, Some("c"), "d"));
        assert!(!is_own(&own, None, "b") && !is_own(&own, Some("a"), "d"));
    }
}

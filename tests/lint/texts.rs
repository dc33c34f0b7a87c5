//! Texts that nobody would write: no panic, no hang, nothing left out.

use std::path::Path;
use std::sync::LazyLock;

use flowmend::sql::{Client, PieceKind, split};
use proptest::prelude::*;

use super::check;
use crate::support::long;

/// Pieces of SQL from which bad scripts are made.
const PIECES: [&str; 34] = [
    "UPDATE t_ds_task_instance SET state = 7",
    " WHERE id = 1",
    ";",
    "\n",
    "'",
    "\"",
    "`",
    "--",
    "-- x\n",
    "/*",
    "*/",
    "$$",
    "$a$",
    "#",
    "DELIMITER //\n",
    "//",
    "\\",
    "\\g",
    "(",
    ")",
    "BEGIN",
    "END",
    " AND state IN (0, 1)",
    " OR NOT",
    "SELECT * FROM job j",
    " JOIN task_instance USING (id)",
    "CREATE TRIGGER t",
    "CASE WHEN 1 THEN 2",
    "E'",
    "é",
    "\u{feff}",
    "\r\n",
    ":'x'",
    "INSERT INTO dag_run VALUES (NULL)",
];

/// What comes in place of a part of a script; nothing stands for the part twice.
const EDITS: [&str; 16] = [
    "",
    " ",
    ";",
    "'",
    "\"",
    "(",
    ")",
    "--",
    "/*",
    "$$",
    "DELIMITER $$\n",
    "BEGIN ",
    "END;",
    " AND NOT ",
    "@x := ",
    "\\",
];

/// Checks a text on every kind of database: each finding stands in the text.
fn is_read(text: &str) -> Result<(), TestCaseError> {
    for (scheduler, release, dialect) in
        [("dolphinscheduler", "3.1.9", "mysql"), ("airflow", "2.10.5", "postgresql"), ("quartz", "2.3.2", "sqlite")]
    {
        for f in check(text, scheduler, release, dialect).findings {
            prop_assert!(f.range.end <= text.len() && text.is_char_boundary(f.range.start), "{f:?}");
        }
    }
    Ok(())
}

/// Every byte is in a piece, in a comment, an end mark or blank; pieces stand in their order, and
/// each of those that hold SQL is counted as a statement.
fn nothing_is_left_out_of(text: &str) -> Result<(), TestCaseError> {
    for client in [Client::Psql, Client::Mysql, Client::Sqlite3] {
        let script = split(text, client);
        for pair in script.pieces.windows(2) {
            let [one, next] = pair else { continue };
            // A line for the client may stand inside of a statement.
            let inside = next.kind == PieceKind::Client && next.range.end <= one.range.end;
            prop_assert!(one.range.end <= next.range.start || inside, "{client:?}: {pair:?} of {text:?}");
        }
        let mut seen = vec![false; text.len()];
        let ranges = script.pieces.iter().map(|p| p.range.clone()).chain(script.comments.iter().cloned());
        for range in ranges {
            prop_assert!(text.get(range.clone()).is_some(), "{range:?} of {text:?}");
            seen[range].fill(true);
        }
        let rest: String = text.char_indices().filter(|(at, _)| !seen[*at]).map(|(_, c)| c).collect();
        // What a script itself makes its end mark.
        let named = script.pieces.iter().filter(|p| p.kind == PieceKind::Client).map(|p| &text[p.range.clone()]);
        let named: String = named.filter(|line| line.to_lowercase().starts_with("delimiter")).collect();
        let marks = |c: char| c.is_whitespace() || ";/\\gG\u{feff}".contains(c) || named.contains(c);
        prop_assert!(rest.chars().all(marks), "{client:?}: {rest:?} of {text:?}");
    }
    let sql = split(text, Client::Mysql).pieces.iter().filter(|p| p.kind == PieceKind::Sql).count();
    prop_assert!(check(text, "dolphinscheduler", "3.1.9", "mysql").statements >= sql, "{text:?}");
    Ok(())
}

/// The careful scripts, and a bundle of our own.
fn whole_scripts() -> &'static [String] {
    static SCRIPTS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let clean = std::fs::read_dir(root.join("tests/lint/clean")).unwrap().map(|e| e.unwrap().path());
        let mut files: Vec<_> = clean.chain([root.join("examples/zombie-tasks/03_task_instance.sql")]).collect();
        files.sort();
        files.into_iter().map(|f| std::fs::read_to_string(f).unwrap()).collect()
    });
    &SCRIPTS
}

/// A script after somebody's unlucky edits: parts go, come twice, or give way to others.
fn hurt(script: &str, edits: &[(prop::sample::Index, prop::sample::Index, &str)]) -> String {
    let mut text: Vec<char> = script.chars().collect();
    for (from, to, new) in edits {
        let (a, b) = (from.index(text.len() + 1), to.index(text.len() + 1));
        let (a, b) = (a.min(b), a.max(b).min(a.min(b) + 40));
        let kept: Vec<char> = text[a..b].to_vec();
        let new: Vec<char> = if new.is_empty() { [kept.clone(), kept].concat() } else { new.chars().collect() };
        text.splice(a..b, new);
    }
    text.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if long() { 4096 } else { 64 }, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        is_read(&text)?;
    }

    #[test]
    fn mixed_sql_is_read(parts in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24)) {
        let text = parts.concat();
        is_read(&text)?;
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        is_read(&text)?;
        nothing_is_left_out_of(&text)?;
    }

    #[test]
    fn hurt_scripts_are_read(
        script in prop::sample::select(whole_scripts()),
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::sample::select(&EDITS[..])), 1..6),
    ) {
        let text = hurt(&script, &edits);
        is_read(&text)?;
        nothing_is_left_out_of(&text)?;
    }

    #[test]
    fn nothing_is_left_out(parts in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24)) {
        nothing_is_left_out_of(&parts.concat())?;
    }
}

//! Texts that nobody would write: no panic, no hang, nothing left out.

use flowmend::sql::{Client, split};
use proptest::prelude::*;

use super::check;

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

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        is_read(&text)?;
    }

    #[test]
    fn mixed_sql_is_read(parts in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24)) {
        let text = parts.concat();
        is_read(&text)?;
    }

    /// Every byte is in a piece, in a comment, an end mark or blank.
    #[test]
    fn nothing_is_left_out(parts in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..24)) {
        let text = parts.concat();
        for client in [Client::Psql, Client::Mysql, Client::Sqlite3] {
            let script = split(&text, client);
            let mut seen = vec![false; text.len()];
            let ranges = script.pieces.iter().map(|p| p.range.clone()).chain(script.comments.iter().cloned());
            for range in ranges {
                prop_assert!(text.get(range.clone()).is_some(), "{range:?} of {text:?}");
                seen[range].fill(true);
            }
            let rest: String = text.char_indices().filter(|(at, _)| !seen[*at]).map(|(_, c)| c).collect();
            let marks = |c: char| c.is_whitespace() || ";/\\gG\u{feff}".contains(c);
            prop_assert!(rest.chars().all(marks), "{client:?}: {rest:?} of {text:?}");
        }
    }
}

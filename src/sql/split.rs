//! Splits a script into statements as psql, mysql and sqlite3 do.
//!
//! What is read: psql's `psqlscan.l` (quotes, dollar quotes, nested comments,
//! parentheses, `BEGIN ATOMIC`, backslash commands), mysql's `add_line` (delimiter,
//! backslash commands, named commands at the start of a line), sqlite's
//! `sqlite3_complete` and its shell (triggers, lines that begin with a dot).

use std::ops::Range;

use super::words::{Body, word_end};
use crate::manifest::Engine;

/// Whose habits a script follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// PostgreSQL's psql.
    Psql,
    /// mysql and mariadb.
    Mysql,
    /// The sqlite3 shell.
    Sqlite3,
}

impl Client {
    /// The stock client of an engine.
    #[must_use]
    pub fn of(engine: Engine) -> Self {
        match engine {
            Engine::MySql => Self::Mysql,
            Engine::PostgreSql => Self::Psql,
            Engine::Sqlite => Self::Sqlite3,
        }
    }

    /// The client's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Psql => "psql",
            Self::Mysql => "mysql",
            Self::Sqlite3 => "sqlite3",
        }
    }
}

/// What a piece of a script is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// A statement for the server.
    Sql,
    /// A command for the client.
    Client,
}

/// A statement, or a command for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// Its bytes, without its end mark and without blanks around it.
    pub range: Range<usize>,
    /// Whether an end mark follows.
    pub ended: bool,
    /// A quote or a comment in it that never ends.
    pub open: Option<usize>,
}

/// A script in pieces. Nothing of the text is left out: each byte is in a piece, in
/// a comment, an end mark or blank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Statements and client commands in their order.
    pub pieces: Vec<Piece>,
    /// The bytes of comments, with their marks, outside of statements and inside.
    pub comments: Vec<Range<usize>>,
    /// Whether the text begins with a byte order mark.
    pub bom: bool,
    /// Whether lines end as on Windows.
    pub crlf: bool,
}

/// Lines that the mysql client takes for itself at the start of a statement.
const MYSQL_NAMED: [&str; 21] = [
    "delimiter",
    "source",
    "system",
    "tee",
    "notee",
    "pager",
    "nopager",
    "prompt",
    "exit",
    "quit",
    "connect",
    "charset",
    "warnings",
    "nowarning",
    "status",
    "rehash",
    "use",
    "edit",
    "clear",
    "ego",
    "go",
];

/// psql's commands that send what was typed so far.
const PSQL_SENDING: [&str; 7] = ["g", "gx", "gset", "gexec", "gdesc", "crosstabview", "watch"];

/// How far a dollar quote is looked for where the database has none.
const GUESSED_BODY: usize = 64 * 1024;

/// Splits a text. It never fails: what cannot be understood is a piece, too.
#[must_use]
pub fn split(text: &str, client: Client) -> Script {
    let bom = text.starts_with('\u{feff}');
    let mut splitter = Splitter {
        text,
        bytes: text.as_bytes(),
        at: if bom { '\u{feff}'.len_utf8() } else { 0 },
        client,
        delimiter: ";".to_owned(),
        start: None,
        last: 0,
        open: None,
        parentheses: 0,
        body: Body::default(),
        script: Script { bom, crlf: text.contains("\r\n"), ..Script::default() },
    };
    while splitter.at < splitter.bytes.len() {
        splitter.step();
    }
    splitter.close(false);
    // A line for the client may stand inside of a statement, which then begins before it.
    splitter.script.pieces.sort_by_key(|piece| piece.range.start);
    splitter.script
}

struct Splitter<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    client: Client,
    delimiter: String,
    /// Where the statement begins.
    start: Option<usize>,
    /// Where its last byte that is neither blank nor comment ends.
    last: usize,
    open: Option<usize>,
    parentheses: usize,
    body: Body,
    script: Script,
}

impl<'a> Splitter<'a> {
    fn step(&mut self) {
        let byte = self.bytes[self.at];
        if byte.is_ascii_whitespace() {
            self.at += 1;
        } else if self.start.is_none() && self.client_line() || self.end_line(byte) || self.comment() {
        } else if self.rest().starts_with(&self.delimiter) && self.may_end() {
            self.at += self.delimiter.len();
            self.close(true);
        } else if byte == b'\\' && self.client != Client::Sqlite3 {
            self.backslash();
        } else {
            self.token(byte);
        }
    }

    /// `/` and `go` alone on a line end a statement in the sqlite3 shell, as in Oracle's and
    /// Microsoft's clients.
    fn end_line(&mut self, byte: u8) -> bool {
        if self.client != Client::Sqlite3 || !matches!(byte, b'/' | b'g' | b'G') || self.body.inside() {
            return false;
        }
        let before = self.text.get(..self.at).unwrap_or_default();
        let is_first = before.rsplit('\n').next().is_none_or(|start| start.trim().is_empty());
        let line = self.rest().lines().next().unwrap_or_default().trim_end();
        if !is_first || !(line == "/" || line.eq_ignore_ascii_case("go")) {
            return false;
        }
        self.at += line.len();
        self.close(true);
        true
    }

    fn rest(&self) -> &'a str {
        // Steps end at the borders of characters.
        self.text.get(self.at..).unwrap_or_default()
    }

    /// psql waits for the closing parenthesis; psql and sqlite3 for the end of a body.
    fn may_end(&self) -> bool {
        match self.client {
            Client::Mysql => true,
            Client::Psql => self.parentheses == 0 && !self.body.inside(),
            Client::Sqlite3 => !self.body.inside(),
        }
    }

    /// One token of a statement.
    fn token(&mut self, byte: u8) {
        self.start.get_or_insert(self.at);
        let from = self.at;
        match byte {
            b'\'' => self.quoted(b'\'', self.client == Client::Mysql || self.escaping(from)),
            b'"' => self.quoted(b'"', self.client == Client::Mysql),
            b'`' if self.client != Client::Psql => self.quoted(b'`', false),
            b'[' if self.client == Client::Sqlite3 => self.until("]"),
            b'$' => self.dollar(),
            b'(' => {
                self.parentheses += 1;
                self.at += 1;
            }
            b')' => {
                self.parentheses = self.parentheses.saturating_sub(1);
                self.at += 1;
            }
            _ => {
                let end = word_end(self.bytes, self.at);
                if end > self.at {
                    self.body.word(self.client, &self.text[self.at..end]);
                    self.at = end;
                } else {
                    self.at += self.rest().chars().next().map_or(1, char::len_utf8);
                }
            }
        }
        self.last = self.at;
    }

    /// `E'…'` has backslashes in PostgreSQL.
    fn escaping(&self, quote: usize) -> bool {
        let before = self.bytes[..quote].iter().rev().take(2).copied().collect::<Vec<u8>>();
        match before.as_slice() {
            [b'e' | b'E', other] => !(other.is_ascii_alphanumeric() || *other == b'_'),
            [b'e' | b'E'] => true,
            _ => false,
        }
    }

    /// A quoted text or name; the quote is written twice to stand for itself.
    fn quoted(&mut self, quote: u8, backslashes: bool) {
        let from = self.at;
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\\' if backslashes => self.at += 1,
                b if b == quote && self.bytes.get(self.at + 1) == Some(&quote) => self.at += 1,
                b if b == quote => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.bytes.len();
        self.open.get_or_insert(from);
    }

    fn until(&mut self, end: &str) {
        let from = self.at;
        self.at = self.rest().find(end).map_or(self.bytes.len(), |n| from + n + end.len());
        if !self.text[from..self.at].ends_with(end) {
            self.open.get_or_insert(from);
        }
    }

    /// `$tag$ … $tag$`. Only PostgreSQL has it; elsewhere it is taken for one, too, if
    /// it ends, because what is meant must not be cut into pieces.
    fn dollar(&mut self) {
        let rest = self.rest();
        let name = word_end(self.bytes, self.at + 1) - self.at;
        if self.bytes.get(self.at + name) != Some(&b'$') || self.bytes[self.at + 1].is_ascii_digit() {
            self.at += 1;
            return;
        }
        let tag = &rest[..=name];
        let (from, body) = (self.at, self.at + tag.len());
        let within = match self.client {
            Client::Psql => self.bytes.len(),
            _ => self.text.ceil_char_boundary(body + GUESSED_BODY),
        };
        match self.text[body..within].find(tag) {
            Some(n) => self.at = body + n + tag.len(),
            None if self.client == Client::Psql => {
                self.at = self.bytes.len();
                self.open.get_or_insert(from);
            }
            None => self.at = body,
        }
    }

    /// Skips a comment, if one begins here.
    fn comment(&mut self) -> bool {
        let from = self.at;
        let rest = self.rest();
        if self.line_comment() {
            // A carriage return alone ends a line for PostgreSQL.
            let ends = |c: char| c == '\n' || (c == '\r' && self.client == Client::Psql);
            self.at += rest.find(ends).unwrap_or(rest.len());
        } else if rest.starts_with("/*") && !self.runs() {
            self.at = self.block_end();
        } else {
            return false;
        }
        self.script.comments.push(from..self.at);
        true
    }

    fn line_comment(&self) -> bool {
        let rest = self.rest();
        match self.client {
            // `5--3` is a difference there.
            Client::Mysql => {
                let dashes = rest.strip_prefix("--").is_some_and(|r| {
                    r.is_empty() || r.starts_with(|c: char| c.is_ascii_whitespace() || c.is_ascii_control())
                });
                dashes || rest.starts_with('#')
            }
            Client::Psql | Client::Sqlite3 => rest.starts_with("--"),
        }
    }

    /// `/*! … */` and `/*M! … */` run on MySQL and MariaDB.
    fn runs(&self) -> bool {
        self.client == Client::Mysql && (self.rest().starts_with("/*!") || self.rest().starts_with("/*M!"))
    }

    /// Where a block comment ends. They nest in PostgreSQL.
    fn block_end(&mut self) -> usize {
        let (from, mut at, mut depth) = (self.at, self.at + 2, 1_usize);
        while at < self.bytes.len() {
            if self.bytes[at..].starts_with(b"*/") {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    return at;
                }
            } else if self.client == Client::Psql && self.bytes[at..].starts_with(b"/*") {
                (depth, at) = (depth + 1, at + 2);
            } else {
                at += 1;
            }
        }
        self.open.get_or_insert(from);
        self.bytes.len()
    }

    /// A line for the client, where a statement could begin.
    fn client_line(&mut self) -> bool {
        let rest = self.rest();
        let line = rest.lines().next().unwrap_or_default();
        let word: String = line.chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
        let alone = !line[word.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '(');
        let taken = match self.client {
            Client::Sqlite3 => line.starts_with('.'),
            Client::Mysql => alone && MYSQL_NAMED.contains(&word.as_str()),
            Client::Psql => false,
        };
        if !taken {
            return false;
        }
        if self.client == Client::Mysql && word == "delimiter" {
            let named = line[word.len()..].split_whitespace().next().unwrap_or_default();
            if !named.is_empty() {
                named.clone_into(&mut self.delimiter);
            }
        }
        // But for `delimiter`, an end mark ends the command, too, and SQL may follow it.
        let mark = (self.client == Client::Mysql && word != "delimiter").then(|| line.find(&self.delimiter)).flatten();
        let end = mark.map_or(line.len(), |n| n + self.delimiter.len());
        let range = self.at..self.at + line[..end].trim_end().len();
        self.at += end;
        self.client_piece(range);
        true
    }

    /// A backslash outside of quotes speaks to the client.
    fn backslash(&mut self) {
        let from = self.at;
        let rest = self.rest();
        let line = rest.lines().next().unwrap_or_default();
        match self.client {
            Client::Psql => {
                let word: String =
                    line[1..].chars().take_while(|c| c.is_alphanumeric() || "!?;".contains(*c)).collect();
                if word.starts_with(';') {
                    self.at += 2;
                    self.close(true);
                    return;
                }
                let sends = PSQL_SENDING.contains(&word.as_str());
                if sends {
                    self.close(true);
                }
                // `\\` ends a command and SQL goes on.
                let length = line[1..].find("\\\\").map_or(line.len(), |n| n + 3);
                self.at += length;
                self.client_piece(from..from + line[..length].trim_end().len());
            }
            _ => {
                let letter = rest[1..].chars().next();
                self.at += 1 + letter.map_or(0, char::len_utf8);
                match letter {
                    Some('g' | 'G') => self.close(true),
                    Some('c') => {
                        self.close(true);
                        self.client_piece(from..self.at);
                    }
                    Some('.' | '!' | 'u' | 'r' | 'T' | 'P' | 'R' | 'C') => {
                        self.at = from + line.len();
                        self.client_piece(from..from + line.trim_end().len());
                    }
                    Some('d') => {
                        line[2..].trim().clone_into(&mut self.delimiter);
                        self.at = from + line.len();
                        self.client_piece(from..from + line.trim_end().len());
                    }
                    // Nothing that the client knows: it belongs to the statement.
                    _ => {
                        self.start.get_or_insert(from);
                        self.last = self.at;
                    }
                }
            }
        }
    }

    fn client_piece(&mut self, range: Range<usize>) {
        self.script.pieces.push(Piece { kind: PieceKind::Client, range, ended: true, open: None });
    }

    /// Ends the statement, if one has begun.
    /// The lines behind a COPY, up to `\\.`, are no SQL; they count as a comment.
    fn rows(&mut self) {
        let Some(line) = self.rest().find('\n') else { return };
        let from = self.at + line + 1;
        let rows = self.text.get(from..).unwrap_or_default();
        let end = rows.find("\\.\n").filter(|at| *at == 0 || rows[..*at].ends_with('\n'));
        let end = end.map_or(rows.len(), |at| at + 2);
        self.script.comments.push(from..from + end);
        self.at = from + end;
    }

    fn close(&mut self, ended: bool) {
        let open = self.open.take();
        let start = self.start.take().or(open.filter(|_| !ended));
        if let Some(start) = start {
            let end = self.last.max(start);
            let end = if open.is_some() { self.bytes.len() } else { end };
            self.script.pieces.push(Piece { kind: PieceKind::Sql, range: start..end, ended, open });
            if ended && self.client == Client::Psql && copies_in(&self.text[start..end]) {
                self.rows();
            }
        }
        self.parentheses = 0;
        self.body = Body::default();
    }
}

/// Whether rows follow a statement: `COPY … FROM STDIN`.
fn copies_in(text: &str) -> bool {
    let is_copy = text.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("copy"));
    is_copy && text.to_ascii_lowercase().split_whitespace().any(|word| word == "stdin")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, client: Client) -> Vec<&str> {
        split(text, client).pieces.iter().map(|p| &text[p.range.clone()]).collect()
    }

    #[test]
    fn comments_and_quotes_hold_no_end() {
        let text = "-- it isn't; done\nUPDATE a SET b = 1; /* keep ; this */ UPDATE c SET d = 'a;b''c';SELECT \"x;y\"";
        for client in [Client::Psql, Client::Mysql, Client::Sqlite3] {
            assert_eq!(
                texts(text, client),
                ["UPDATE a SET b = 1", "UPDATE c SET d = 'a;b''c'", "SELECT \"x;y\""],
                "{client:?}"
            );
        }
        assert_eq!(split(text, Client::Psql).comments.len(), 2);
        assert!(!split(text, Client::Psql).pieces[2].ended);
    }

    #[test]
    fn statements_behind_a_command_or_a_lone_return() {
        let text = "USE airflow; DELETE FROM a;\nstatus\nSELECT 1;";
        assert_eq!(texts(text, Client::Mysql), ["USE airflow;", "DELETE FROM a", "status", "SELECT 1"]);
        assert_eq!(texts("-- c\rDELETE FROM a;", Client::Psql), ["DELETE FROM a"]);
        assert!(texts("-- c\rDELETE FROM a;", Client::Mysql).is_empty());
    }

    #[test]
    fn mysql_delimiters_hashes_and_backslashes() {
        let text = "DELIMITER $$\nCREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END$$\nDELIMITER ;\n# a; b\nSELECT 'it\\'s; x', 5--3;\nSELECT 2\\G\nsource other.sql\nSELECT 3";
        assert_eq!(
            texts(text, Client::Mysql),
            [
                "DELIMITER $$",
                "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END",
                "DELIMITER ;",
                "SELECT 'it\\'s; x', 5--3",
                "SELECT 2",
                "source other.sql",
                "SELECT 3"
            ]
        );
        assert_eq!(texts("SELECT 1 /*! ; */ ;", Client::Mysql).len(), 2);
        assert_eq!(texts("used; go_on = 1; source_x;", Client::Mysql), ["used", "go_on = 1", "source_x"]);
    }

    #[test]
    fn psql_dollars_parentheses_bodies_and_commands() {
        let text = "DO $fix$ BEGIN PERFORM 1; END $fix$;\n\\set x 1\nSELECT (1; 2) ;SELECT E'\\'; y', 'z\\';\nCREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 1 END; END;\nSELECT 1 \\gx\n/* a /* b; */ c; */ SELECT 2;";
        assert_eq!(
            texts(text, Client::Psql),
            [
                "DO $fix$ BEGIN PERFORM 1; END $fix$",
                "\\set x 1",
                "SELECT (1; 2)",
                "SELECT E'\\'; y', 'z\\'",
                "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 1 END; END",
                "SELECT 1",
                "\\gx",
                "SELECT 2"
            ]
        );
    }

    #[test]
    fn sqlite_triggers_and_dots() {
        let text = ".bail on\nCREATE TEMP TRIGGER t AFTER UPDATE ON a BEGIN SELECT CASE WHEN 1 THEN 2 END; SELECT 3; END;\nSELECT [a;b], `c;d`;";
        assert_eq!(
            texts(text, Client::Sqlite3),
            [
                ".bail on",
                "CREATE TEMP TRIGGER t AFTER UPDATE ON a BEGIN SELECT CASE WHEN 1 THEN 2 END; SELECT 3; END",
                "SELECT [a;b], `c;d`"
            ]
        );
    }

    #[test]
    fn rows_behind_a_copy_are_no_statements() {
        let text = "COPY a (b) FROM STDIN;\nit's; one\n\\.\nSELECT 1;\nCOPY a FROM stdin;\n\\.\nSELECT 2;";
        let wanted = ["COPY a (b) FROM STDIN", "SELECT 1", "COPY a FROM stdin", "SELECT 2"];
        assert_eq!(texts(text, Client::Psql), wanted);
    }

    #[test]
    fn sqlite_lines_that_end_a_statement() {
        let text = "SELECT 1\n/\nSELECT a\n / b\n  GO  \nSELECT go\n, 'x\n/\n'\ngo\nSELECT 2\n/";
        let wanted = ["SELECT 1", "SELECT a\n / b", "SELECT go\n, 'x\n/\n'", "SELECT 2"];
        assert_eq!(texts(text, Client::Sqlite3), wanted);
        assert!(split(text, Client::Sqlite3).pieces.iter().all(|piece| piece.ended));
        assert_eq!(texts("SELECT 1\n/\n2", Client::Mysql), ["SELECT 1\n/\n2"]);
    }

    #[test]
    fn what_never_ends_is_a_piece_with_its_place() {
        for (text, client) in [
            ("SELECT 'a; b", Client::Psql),
            ("SELECT $x$ a; b", Client::Psql),
            ("SELECT 1 /* a; b", Client::Mysql),
            ("/* a; b", Client::Mysql),
        ] {
            let script = split(text, client);
            assert_eq!(script.pieces.len(), 1, "{text}");
            let piece = &script.pieces[0];
            assert!(piece.open.is_some() && !piece.ended && piece.range.end == text.len(), "{text}: {piece:?}");
        }
    }

    #[test]
    fn a_mark_at_the_start_and_windows_lines() {
        let script = split("\u{feff}SELECT 1;\r\nSELECT 2;\r\n", Client::Mysql);
        assert!(script.bom && script.crlf);
        assert_eq!(script.pieces.len(), 2);
        assert_eq!(script.pieces[0].range, 3..11);
    }
}

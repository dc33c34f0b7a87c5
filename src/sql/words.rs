//! Words, and the bodies of routines and triggers that hold semicolons.

use super::split::Client;

/// Where the word that begins at `at` ends; `at` itself if none does.
pub(super) fn word_end(bytes: &[u8], at: usize) -> usize {
    let part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80;
    at + bytes[at..].iter().take_while(|b| part(b)).count()
}

/// Whether a statement is inside a body: after `BEGIN`, before its `END`.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// The statement's first words, as far as they are needed.
    first: Vec<String>,
    /// How many `END`s are due.
    depth: usize,
    /// The word before was `BEGIN`, which needs `ATOMIC` after it.
    begun: bool,
}

impl Body {
    /// Whether a semicolon belongs to the body.
    pub(super) fn inside(&self) -> bool {
        self.depth > 0
    }

    /// Takes the next word of the statement.
    pub(super) fn word(&mut self, client: Client, word: &str) {
        // No word that counts is longer.
        if word.len() > 10 || client == Client::Mysql {
            return;
        }
        let word = word.to_ascii_uppercase();
        match word.as_str() {
            "BEGIN" if client == Client::Sqlite3 && self.depth == 0 && self.creates(client) => self.depth = 1,
            "BEGIN" if client == Client::Psql && self.depth == 0 => self.begun = self.creates(client),
            "ATOMIC" if std::mem::take(&mut self.begun) => self.depth = 1,
            "CASE" if self.depth > 0 => self.depth += 1,
            "END" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.first.len() < 4 {
            self.first.push(word);
        }
    }

    /// Whether the statement makes something that has a body.
    fn creates(&self, client: Client) -> bool {
        let words: Vec<&str> = self.first.iter().map(String::as_str).collect();
        let made = match words.as_slice() {
            ["CREATE", "OR", "REPLACE", what, ..]
            | ["CREATE", "TEMP" | "TEMPORARY", what, ..]
            | ["CREATE", what, ..] => *what,
            _ => return false,
        };
        match client {
            Client::Sqlite3 => made == "TRIGGER",
            _ => ["FUNCTION", "PROCEDURE"].contains(&made),
        }
    }
}

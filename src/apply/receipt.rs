//! Receipts: what a run did, as a file beside the bundle.

use jiff::Timestamp;
use serde::Serialize;

use crate::bundle::{Bundle, RECEIPTS};
use crate::{Error, Result};

/// What one run did.
#[derive(Clone, Debug, Serialize)]
pub struct Receipt {
    /// The version of this form.
    pub format: u32,
    /// `apply`, `rehearse`, `verify`, `rollback` or `clean`.
    pub command: String,
    /// The bundle's id.
    pub bundle: String,
    /// The bundle's seal.
    pub seal: String,
    /// The database, without secrets.
    pub database: String,
    /// The server.
    pub server: String,
    /// When it began, UTC.
    pub began: String,
    /// When it ended, UTC.
    pub ended: String,
    /// What came of it.
    pub outcome: String,
    /// More about the outcome.
    pub detail: String,
    /// The guards that passed, with their counts.
    pub steps: Vec<ReceiptStep>,
}

/// A guard that passed.
#[derive(Clone, Debug, Serialize)]
pub struct ReceiptStep {
    /// The guard.
    pub step: String,
    /// Rows expected and found.
    pub rows: i64,
}

impl Receipt {
    /// A receipt that begins now.
    #[must_use]
    pub fn begin(command: &str, bundle: &Bundle, database: &str, server: &str) -> Self {
        Self {
            format: 1,
            command: command.to_owned(),
            bundle: bundle.id.clone(),
            seal: bundle.seal.full().to_owned(),
            database: database.to_owned(),
            server: server.to_owned(),
            began: now(),
            ended: String::new(),
            outcome: String::new(),
            detail: String::new(),
            steps: Vec::new(),
        }
    }

    /// Writes it beside the bundle. A receipt is never overwritten.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn end(mut self, bundle: &Bundle, outcome: &str, detail: &str) -> Result<Self> {
        self.ended = now();
        outcome.clone_into(&mut self.outcome);
        detail.clone_into(&mut self.detail);
        let dir = bundle.dir.join(RECEIPTS);
        let cannot = |e: std::io::Error| Error::usage(format!("cannot write a receipt into {}: {e}", dir.display()));
        std::fs::create_dir_all(&dir).map_err(cannot)?;
        let text = serde_json::to_string_pretty(&self).map_err(|e| Error::internal(e.to_string()))? + "\n";
        let stamp = self.began.replace([':', '-'], "");
        for n in 0..1000 {
            let suffix = if n == 0 { String::new() } else { format!("-{n}") };
            let path = dir.join(format!("{stamp}-{}{suffix}.json", self.command));
            match std::fs::File::options().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    use std::io::Write as _;
                    return file.write_all(text.as_bytes()).map_err(cannot).map(|()| self);
                }
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(cannot(e)),
            }
        }
        Err(Error::internal("too many receipts in one second"))
    }
}

fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

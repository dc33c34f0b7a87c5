//! The seal: SHA256SUMS over every file, and the SHA-256 of that.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::digest::sha256;

/// The seal of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal(String);

impl Seal {
    /// The seal of a SHA256SUMS text.
    #[must_use]
    pub fn of(sums: &str) -> Self {
        Self(sha256(&[sums.as_bytes()]))
    }

    /// The first twelve characters, which an operator types.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..12]
    }

    /// All 64 characters.
    #[must_use]
    pub fn full(&self) -> &str {
        &self.0
    }

    /// Whether a text is the seal or at least its first twelve characters.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let text = text.trim().to_lowercase();
        text.len() >= 12 && self.0.starts_with(&text)
    }
}

/// SHA256SUMS in the form that `sha256sum -c` reads.
#[must_use]
pub fn sums(files: &BTreeMap<String, String>) -> String {
    files.iter().fold(String::new(), |mut out, (name, text)| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}  {name}", sha256(&[text.as_bytes()]));
        out
    })
}

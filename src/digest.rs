//! Digests, as hexadecimal text.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// SHA-256 over parts, in hexadecimal. One part is hashed as it is, so that
/// `sha256sum` gives the same; of several parts each is closed with a NUL.
#[must_use]
pub fn sha256(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
        if parts.len() > 1 {
            hash.update([0]);
        }
    }
    hex(&hash.finalize())
}

/// Bytes in hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

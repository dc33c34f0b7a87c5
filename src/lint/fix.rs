//! Rewrites that need no judgement.

use super::finding::{Edit, Finding};

/// The script with all rewrites done that do not touch each other, and how many they are.
#[must_use]
pub fn fixed(text: &str, findings: &[Finding]) -> (String, usize) {
    let mut edits: Vec<&Edit> = findings.iter().filter_map(|f| f.edit.as_ref()).collect();
    edits.sort_by_key(|e| (e.range.start, e.range.end));
    let mut out = String::with_capacity(text.len());
    let (mut at, mut done) = (0, 0);
    for edit in edits {
        let (Some(before), true) = (text.get(at..edit.range.start), text.is_char_boundary(edit.range.end)) else {
            continue;
        };
        out.push_str(before);
        out.push_str(&edit.text);
        at = edit.range.end;
        done += 1;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    (out, done)
}

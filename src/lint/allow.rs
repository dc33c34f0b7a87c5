//! Comments that speak to the linter.
//!
//! `-- flowmend: allow RULE reason` on, in or before a statement silences a rule there;
//! `-- flowmend: scheduler=NAME release=VERSION dialect=NAME` says what the script is for.

use std::collections::BTreeMap;
use std::ops::Range;

use super::finding::{Finding, Level};
use crate::sql::Script;

const MARK: &str = "flowmend:";

/// A rule that a comment silences.
pub(super) struct Allowed {
    rule: String,
    reason: String,
    /// The comment.
    at: Range<usize>,
    /// The statement.
    scope: Range<usize>,
}

/// What a comment says to the linter.
fn said(comment: &str) -> Option<&str> {
    let inner = comment.trim_start_matches(['-', '#', '/', '*', ' ']).trim_end_matches(['*', '/', ' ', '\r']);
    inner.trim_start().strip_prefix(MARK).map(str::trim)
}

/// `key=value` pairs that the script says of itself.
#[must_use]
pub fn told(text: &str, script: &Script) -> BTreeMap<String, String> {
    let said = script.comments.iter().filter_map(|c| said(&text[c.clone()]));
    let pairs = said.filter(|s| !s.starts_with("allow")).flat_map(str::split_whitespace);
    pairs
        .filter_map(|p| p.split_once('='))
        .map(|(k, v)| (k.to_owned(), v.trim_end_matches([',', ';']).to_owned()))
        .collect()
}

/// Reads the comments that allow something. `statements` are the ranges of the script's pieces.
pub(super) fn read(
    text: &str,
    comments: impl Iterator<Item = Range<usize>>,
    statements: &[Range<usize>],
) -> Vec<Allowed> {
    let one = |at: Range<usize>| {
        let rest = said(&text[at.clone()])?.strip_prefix("allow ")?;
        let (rule, reason) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        let scope = scope(text, &at, statements);
        Some(Allowed { rule: rule.to_owned(), reason: reason.trim().to_owned(), at, scope })
    };
    comments.filter_map(one).collect()
}

/// The statement that a comment speaks of: the one it stands in, the one that ends on its
/// line, or the next.
fn scope(text: &str, comment: &Range<usize>, statements: &[Range<usize>]) -> Range<usize> {
    let after = statements.partition_point(|s| s.start <= comment.start);
    let before = after.checked_sub(1).map(|at| statements[at].clone());
    if let Some(before) = before {
        let same_line = !text[before.end.min(comment.start)..comment.start].contains('\n');
        if before.end > comment.start || same_line {
            return before;
        }
    }
    statements.get(after).cloned().unwrap_or(comment.clone())
}

/// Takes away what is allowed; says which comments are of no use.
pub(super) fn apply(allowed: Vec<Allowed>, findings: Vec<Finding>) -> (Vec<Finding>, usize) {
    let mut used = vec![false; allowed.len()];
    let mut kept = Vec::new();
    let before = findings.len();
    for finding in findings {
        let speaks = |a: &Allowed| {
            a.rule == finding.rule && a.scope.start <= finding.range.start && finding.range.start <= a.scope.end
        };
        match allowed.iter().position(speaks) {
            Some(at) => used[at] = true,
            None => kept.push(finding),
        }
    }
    let silenced = before - kept.len();
    for (allow, used) in allowed.into_iter().zip(used) {
        if !used {
            let message = format!("nothing here needs `allow {}`", allow.rule);
            let mut finding = Finding::new("unused-allow", Level::Warning, allow.at.clone(), message);
            finding.help("take the comment away, so that it hides nothing later");
            kept.push(finding);
        }
        if allow.reason.is_empty() {
            let message = format!("`allow {}` gives no reason", allow.rule);
            let mut finding = Finding::new("allow-without-reason", Level::Warning, allow.at, message);
            finding.help("write why behind the rule: -- flowmend: allow RULE because …");
            kept.push(finding);
        }
    }
    (kept, silenced)
}

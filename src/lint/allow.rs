//! Comments that speak to the linter, and the same said on a command line.
//!
//! `-- flowmend: allow RULE reason` on, in or before a statement silences a rule there,
//! `-- flowmend: allow-in-file RULE reason` in all of the script;
//! `-- flowmend: scheduler=NAME release=VERSION dialect=NAME` says what the script is for.

use std::collections::BTreeMap;
use std::ops::Range;

use super::finding::{Finding, Level};
use super::page::Pages;
use crate::sql::Script;
use crate::ui::safe;
use crate::{Error, Result};

const MARK: &str = "flowmend:";
/// The word that silences a rule for a statement.
const HERE: &str = "allow";
/// The word that silences a rule for a whole script.
const IN_FILE: &str = "allow-in-file";

/// A rule that somebody allows, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The rule's code.
    pub rule: String,
    /// Why.
    pub reason: String,
}

impl Allow {
    /// Reads `RULE=REASON`.
    ///
    /// # Errors
    /// There is no such rule, or no reason.
    pub fn parse(text: &str, pages: &Pages) -> Result<Self> {
        let (rule, reason) = text.split_once('=').unwrap_or((text, ""));
        pages.named(rule.trim())?;
        if reason.trim().is_empty() {
            return Err(Error::usage(format!("allowing {} needs a reason", rule.trim()))
                .hint("write RULE=REASON, for example --allow 'forbidden-table=agreed with the owner, ticket 4711'"));
        }
        Ok(Self { rule: rule.trim().to_owned(), reason: safe(reason.trim(), usize::MAX) })
    }

    /// The comment that allows it for the statement below.
    #[must_use]
    pub fn comment(&self) -> String {
        self.said(HERE)
    }

    /// The comment that allows it in all of a script.
    #[must_use]
    pub fn comment_for_file(&self) -> String {
        self.said(IN_FILE)
    }

    fn said(&self, word: &str) -> String {
        format!("-- {MARK} {word} {} {}", self.rule, safe(&self.reason, usize::MAX))
    }
}

/// A rule that a comment silences.
pub(super) struct Allowed {
    what: Allow,
    /// The comment.
    at: Range<usize>,
    /// The statement, or all of the script.
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
    let pairs = said.filter(|s| !s.starts_with(HERE)).flat_map(str::split_whitespace);
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
        let (word, rest) = said(&text[at.clone()])?.split_once(char::is_whitespace)?;
        let scope = match word {
            HERE => scope(text, &at, statements),
            IN_FILE => 0..text.len(),
            _ => return None,
        };
        let (rule, reason) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        let what = Allow { rule: rule.to_owned(), reason: reason.trim().to_owned() };
        Some(Allowed { what, at, scope })
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
            a.what.rule == finding.rule && a.scope.start <= finding.range.start && finding.range.start <= a.scope.end
        };
        let speaking: Vec<usize> = (0..allowed.len()).filter(|at| speaks(&allowed[*at])).collect();
        speaking.iter().for_each(|at| used[*at] = true);
        if speaking.is_empty() {
            kept.push(finding);
        }
    }
    let silenced = before - kept.len();
    for (allow, used) in allowed.into_iter().zip(used) {
        if !used {
            let message = format!("nothing here needs `allow {}`", allow.what.rule);
            let mut finding = Finding::new("unused-allow", Level::Warning, allow.at.clone(), message);
            finding.help("take the comment away, so that it hides nothing later");
            kept.push(finding);
        }
        if allow.what.reason.is_empty() {
            let message = format!("`allow {}` gives no reason", allow.what.rule);
            let mut finding = Finding::new("allow-without-reason", Level::Warning, allow.at, message);
            finding.help("write why behind the rule: -- flowmend: allow RULE because …");
            kept.push(finding);
        }
    }
    (kept, silenced)
}

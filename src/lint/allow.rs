//! Rules that are silenced: by comments in the script, or on a command line.

use std::ops::Range;

use super::comment::{HERE, IN_FILE, MARK, Said, said};
use super::finding::{Finding, Level};
use super::page::Pages;
use crate::ui::safe;
use crate::{Error, Result};

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

/// Reads the comments that are for flowmend: what they allow, and those that are not understood.
/// `statements` are the ranges of the script's pieces.
pub(super) fn read(
    text: &str,
    comments: impl Iterator<Item = Range<usize>>,
    statements: &[Range<usize>],
) -> (Vec<Allowed>, Vec<Finding>) {
    let (mut allowed, mut unclear) = (Vec::new(), Vec::new());
    let mut pages = None;
    for at in comments {
        match said(&text[at.clone()]) {
            Some(Said::Allow { in_file, rule, reason }) => {
                if let Err(e) = pages.get_or_insert_with(Pages::load).named(rule) {
                    unclear.push(not_understood(&at, &e.to_string(), &e.hints().join("; ")));
                    continue;
                }
                let scope = if in_file { 0..text.len() } else { scope(text, &at, statements) };
                let what = Allow { rule: rule.to_owned(), reason: reason.to_owned() };
                allowed.push(Allowed { what, at, scope });
            }
            Some(Said::Unclear(why, help)) => unclear.push(not_understood(&at, &why, &help)),
            Some(Said::Told(_)) | None => {}
        }
    }
    (allowed, unclear)
}

fn not_understood(at: &Range<usize>, why: &str, help: &str) -> Finding {
    let mut finding = Finding::new("unread-comment", Level::Warning, at.clone(), safe(why, 200));
    finding.help(safe(help, 400));
    finding
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

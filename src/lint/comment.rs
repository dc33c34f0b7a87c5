//! What comments say to flowmend.
//!
//! `-- flowmend: allow RULE reason` and `-- flowmend: allow-in-file RULE reason` silence a rule;
//! `-- flowmend: scheduler=NAME release=VERSION dialect=NAME table-prefix=PREFIX` says what the
//! script is for.

use std::collections::BTreeMap;

use crate::near::near;
use crate::sql::Script;

/// How every comment begins that is for flowmend.
pub(super) const MARK: &str = "flowmend:";
/// The word that silences a rule for a statement.
pub(super) const HERE: &str = "allow";
/// The word that silences a rule for a whole script.
pub(super) const IN_FILE: &str = "allow-in-file";
/// What a script may say of itself.
const KEYS: [&str; 4] = ["scheduler", "release", "dialect", "table-prefix"];

/// What a comment says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said<'t> {
    /// A rule is silenced.
    Allow { in_file: bool, rule: &'t str, reason: &'t str },
    /// What the script is for.
    Told(Vec<(&'t str, &'t str)>),
    /// It is for flowmend, and is not understood: why, and the way out.
    Unclear(String, String),
}

/// What a comment says to flowmend, if it speaks to it.
pub(super) fn said(comment: &str) -> Option<Said<'_>> {
    comment.lines().find_map(of_line)
}

fn of_line(line: &str) -> Option<Said<'_>> {
    let blank = |c: char| c.is_whitespace();
    let inner = line.trim_start_matches(|c| blank(c) || "-#/*".contains(c));
    let inner = inner.trim_end_matches(|c| blank(c) || "*/".contains(c));
    let name = MARK.trim_end_matches(':');
    let rest = inner.get(name.len()..).filter(|_| inner[..name.len()].eq_ignore_ascii_case(name))?;
    match rest.trim_start().strip_prefix(':') {
        Some(rest) => Some(words(rest.trim())),
        // A sentence may begin with the name.
        None => is_meant(rest).then(|| {
            let why = "this comment looks as if it were for flowmend, but lacks the colon";
            Said::Unclear(why.to_owned(), format!("write -- {MARK}{rest}"))
        }),
    }
}

/// Whether words behind the name without a colon are said to flowmend.
fn is_meant(rest: &str) -> bool {
    let word = rest.split_whitespace().next().unwrap_or_default();
    let key = word.split('=').next().filter(|_| word.contains('='));
    rest.starts_with(char::is_whitespace) && ([HERE, IN_FILE].contains(&word) || key.is_some_and(|k| KEYS.contains(&k)))
}

fn words(rest: &str) -> Said<'_> {
    let (word, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match word {
        HERE | IN_FILE => allow(word == IN_FILE, more.trim()),
        _ => pairs(rest),
    }
}

fn allow(in_file: bool, rest: &str) -> Said<'_> {
    let (rule, reason) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let rule = rule.trim_end_matches(':');
    if rule.is_empty() {
        return Said::Unclear(
            "nothing is named that this comment allows".to_owned(),
            format!("write -- {MARK} {HERE} RULE and the reason"),
        );
    }
    Said::Allow { in_file, rule, reason: reason.trim() }
}

/// `key=value` pairs, and nothing else.
fn pairs(rest: &str) -> Said<'_> {
    let mut found = Vec::new();
    for word in rest.split_whitespace().map(|w| w.trim_end_matches([',', ';'])).filter(|w| !w.is_empty()) {
        match word.split_once('=').filter(|(key, value)| KEYS.contains(key) && !value.is_empty()) {
            Some(pair) => found.push(pair),
            None => return unclear(word),
        }
    }
    if found.is_empty() { unclear("") } else { Said::Told(found) }
}

fn unclear(word: &str) -> Said<'_> {
    let known: Vec<&str> = [HERE, IN_FILE].into_iter().chain(KEYS).collect();
    let key = word.split('=').next().unwrap_or_default();
    let forms = format!(
        "write -- {MARK} {HERE} RULE reason, {IN_FILE} RULE reason, or scheduler=NAME release=VERSION dialect=NAME table-prefix=PREFIX, without blanks about the ="
    );
    let help = match near(key, &known, 1).first().filter(|n| **n != key) {
        Some(meant) => format!("did you mean {meant}?"),
        None => forms,
    };
    Said::Unclear(format!("this comment is for flowmend, but `{word}` is not understood"), help)
}

/// What a script says of itself: key → values, in the order of the script.
#[must_use]
pub fn told(text: &str, script: &Script) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for comment in &script.comments {
        let Some(Said::Told(pairs)) = said(&text[comment.clone()]) else { continue };
        for (key, value) in pairs {
            let values = found.entry(key.to_owned()).or_default();
            if !values.iter().any(|v| v == value) {
                values.push(value.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_unclear(comment: &str, holds: &str) -> bool {
        matches!(said(comment), Some(Said::Unclear(why, help)) if format!("{why}; {help}").contains(holds))
    }

    #[test]
    fn what_is_said() {
        let allow = Some(Said::Allow { in_file: false, rule: "missing-where", reason: "why so" });
        for comment in [
            "-- flowmend: allow missing-where why so",
            "--flowmend: allow missing-where: why so\r",
            "# Flowmend : allow missing-where  why so",
            "/*\n * flowmend: allow missing-where why so\n */",
            "/* flowmend: allow missing-where why so */",
        ] {
            assert_eq!(said(comment), allow, "{comment}");
        }
        let told = Some(Said::Told(vec![("release", "3.1.9"), ("dialect", "mysql")]));
        assert_eq!(said("-- flowmend: release=3.1.9, dialect=mysql;"), told);
        for comment in
            ["-- a flowmend: b", "-- flowmend bundle x: session settings", "-- flowmend allows this", "--", ""]
        {
            assert_eq!(said(comment), None, "{comment}");
        }
    }

    #[test]
    fn what_is_not_understood() {
        for (comment, holds) in [
            ("-- flowmend: alow missing-where why", "did you mean allow?"),
            ("-- flowmend: Allow missing-where why", "did you mean allow?"),
            ("-- flowmend: allow", "nothing is named"),
            ("-- flowmend: relase=1.2.0", "did you mean release?"),
            ("-- flowmend: release = 1.2.0", "without blanks"),
            ("-- flowmend: release=1.2.0 allow missing-where why", "`allow` is not understood"),
            ("-- flowmend: table_prefix=x", "did you mean table-prefix?"),
            ("-- flowmend allow missing-where why", "lacks the colon"),
            ("-- flowmend:", "is not understood"),
        ] {
            assert!(is_unclear(comment, holds), "{comment}: {:?}", said(comment));
        }
    }
}

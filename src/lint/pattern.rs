//! Whether a text fits a pattern of SQL.

use regex::{RegexBuilder, escape};

/// A kind of pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// `LIKE`; what takes the meaning from a sign, if anything does.
    Like(Option<char>),
    /// `SIMILAR TO`, likewise.
    Similar(Option<char>),
    /// `GLOB` of SQLite.
    Glob,
    /// A regular expression, which may fit anywhere in the text.
    Regex,
}

/// Whether a text fits; nothing where the pattern is not understood.
pub(super) fn fits(kind: Pattern, pattern: &str, text: &str, folds_case: bool) -> Option<bool> {
    let regex = match kind {
        Pattern::Like(escape) => whole(pattern, escape, &|c| like_sign(c)),
        Pattern::Similar(escape) => others(&whole(pattern, escape, &|c| like_sign(c).or_else(|| similar_sign(c)))),
        Pattern::Glob => others(&whole(pattern, None, &glob_sign)),
        Pattern::Regex => pattern.to_owned(),
    };
    let built = RegexBuilder::new(&regex).case_insensitive(folds_case).dot_matches_new_line(true).build();
    Some(built.ok()?.is_match(text))
}

/// The regular expression of a pattern that the whole text must fit.
fn whole(pattern: &str, escaped: Option<char>, sign: &dyn Fn(char) -> Option<String>) -> String {
    let mut out = String::from("^(?:");
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match sign(c) {
            _ if Some(c) == escaped => out.push_str(&escape(&chars.next().unwrap_or(c).to_string())),
            Some(means) => out.push_str(&means),
            None => out.push_str(&escape(&c.to_string())),
        }
    }
    out + ")$"
}

/// `[^…]` is any other sign; elsewhere `^` stands for itself.
fn others(regex: &str) -> String {
    regex.replace(r"[\^", "[^")
}

fn like_sign(c: char) -> Option<String> {
    match c {
        '%' => Some(".*".to_owned()),
        '_' => Some(".".to_owned()),
        _ => None,
    }
}

fn similar_sign(c: char) -> Option<String> {
    "|*+?{}()[]-".contains(c).then(|| c.to_string())
}

fn glob_sign(c: char) -> Option<String> {
    match c {
        '*' => Some(".*".to_owned()),
        '?' => Some(".".to_owned()),
        '[' | ']' | '-' => Some(c.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let back = Some('\\');
        for (kind, pattern, text, wanted) in [
            (Pattern::Like(back), "run%", "running", Some(true)),
            (Pattern::Like(back), "run", "running", Some(false)),
            (Pattern::Like(back), "r_n", "run", Some(true)),
            (Pattern::Like(back), r"up\_for%", "up_for_retry", Some(true)),
            (Pattern::Like(back), r"up\_for%", "upxfor_retry", Some(false)),
            (Pattern::Like(None), r"up\_for%", "up_for_retry", Some(false)),
            (Pattern::Like(Some('!')), "up!_for%", "up_for_retry", Some(true)),
            (Pattern::Like(back), "a.c", "abc", Some(false)),
            (Pattern::Similar(back), "(running|queued)", "queued", Some(true)),
            (Pattern::Similar(back), "(running|queued)", "queued2", Some(false)),
            (Pattern::Glob, "*ed", "queued", Some(true)),
            (Pattern::Glob, "[^s]*", "running", Some(true)),
            (Pattern::Glob, "[^s]*", "success", Some(false)),
            (Pattern::Glob, "[!s]*", "success", Some(true)),
            (Pattern::Glob, "[!s]*", "running", Some(false)),
            (Pattern::Glob, "[q-s]*", "running", Some(true)),
            (Pattern::Glob, "[a-c]*", "running", Some(false)),
            (Pattern::Similar(back), "[^s]%", "success", Some(false)),
            (Pattern::Regex, "^(running|queued)$", "queued", Some(true)),
            (Pattern::Regex, "un", "running", Some(true)),
            (Pattern::Regex, "(", "(", None),
        ] {
            assert_eq!(fits(kind, pattern, text, false), wanted, "{kind:?} {pattern} {text}");
        }
        assert_eq!(fits(Pattern::Like(back), "RUN%", "running", true), Some(true));
    }
}

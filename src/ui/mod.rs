//! The terminal: the only place that prints. Machine output and reports go to
//! stdout, everything else to stderr.
#![expect(clippy::print_stderr, reason = "this is the module that prints")]

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};

/// A heading.
pub const HEAD: Style = Style::new().bold();
/// Something good.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Something to look at.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Something bad.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Something secondary.
pub const DIM: Style = Style::new().dimmed();

/// Text in a style; anstream strips it where colours are off.
#[must_use]
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Sets when colours are used.
pub fn set_colour(choice: anstream::ColorChoice) {
    choice.write_global();
}

/// A line of the report or the machine output.
pub fn out(line: impl std::fmt::Display) {
    match writeln!(anstream::stdout(), "{line}") {
        Ok(()) => {}
        // Nobody listens any more; what the command finds still is its exit code.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => {}
        Err(_) => OUT_FAILED.store(true, Ordering::Relaxed),
    }
}

static OUT_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether a line of the report could not be written.
#[must_use]
pub fn out_failed() -> bool {
    OUT_FAILED.load(Ordering::Relaxed)
}

/// A line about the run.
pub fn note(line: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// An error with its ways out.
pub fn error(message: &str, hints: &[String]) {
    told(BAD, "error", message);
    for hint in hints {
        told(WARN, "hint", hint);
    }
}

/// A warning.
pub fn warn(message: impl std::fmt::Display) {
    told(WARN, "warning", &message.to_string());
}

/// A line with its kind. On a terminal it is folded; in a log it stays one line,
/// so that it can be searched for.
fn told(style: Style, kind: &str, message: &str) {
    let (first, rest) = message.split_once('\n').map_or((message, None), |(first, rest)| (first, Some(rest)));
    let kind = paint(style, kind);
    if std::io::stderr().is_terminal() {
        wrap(&format!("{kind}: "), 2, first).iter().for_each(note);
    } else {
        note(format!("{kind}: {first}"));
    }
    if let Some(rest) = rest {
        note(fold(rest));
    }
}

/// How wide a report may be.
pub const WIDTH: usize = 80;

/// Text in lines of at most [`WIDTH`] columns: what comes first, then the words,
/// the following lines indented. A command of ours stays on one line, so that it can be pasted.
#[must_use]
pub fn wrap(first: &str, indent: usize, text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut is_fresh = true;
    for part in parts(text) {
        if columns(&line) + columns(&part) > WIDTH && !is_fresh {
            lines.push(line.trim_end().to_owned());
            line = " ".repeat(indent);
        }
        line.push_str(&part);
        line.push(' ');
        is_fresh = false;
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// A text in its words, and in commands that stay whole.
fn parts(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split(' ').filter(|w| !w.is_empty()).collect();
    let mut found = Vec::new();
    let mut rest = words.as_slice();
    while let [first, ..] = rest {
        let length = if first.trim_start_matches(['(', '`']) == "flowmend" { command_length(rest) } else { 1 };
        found.push(rest[..length].join(" "));
        rest = &rest[length..];
    }
    found
}

/// How many words a command has that begins here: what is done, to what, and flags with their values.
fn command_length(words: &[&str]) -> usize {
    let is_flag = |at: usize| words.get(at).is_some_and(|w| w.starts_with("--"));
    let is_name = |w: &&str| w.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let goes_on = |at: usize| at < words.len() && !words[at - 1].ends_with([',', ';', ':', ')', '`', '.']);
    let mut length = 1;
    while length <= 2 && goes_on(length) && is_name(&words[length]) {
        length += 1;
    }
    // Without flags it may be the beginning of a sentence.
    if !is_flag(length) {
        return length.min(2);
    }
    while goes_on(length) && (is_flag(length) || is_flag(length - 1)) {
        length += 1;
    }
    length
}

/// How many columns a text takes, without what colours it.
fn columns(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().chars().count()
}

/// Lines that are too long, folded under their own indent.
#[must_use]
pub fn fold(text: &str) -> String {
    let folded = text.lines().flat_map(|line| {
        if line.chars().count() <= WIDTH {
            return vec![line.to_owned()];
        }
        let indent = line.len() - line.trim_start().len();
        wrap(&" ".repeat(indent), indent, line)
    });
    folded.collect::<Vec<_>>().join("\n")
}

/// Whether a person can answer.
#[must_use]
pub fn interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for a password; `None` where nobody can answer.
#[must_use]
pub fn ask_password(what: &str) -> Option<String> {
    if !interactive() {
        return None;
    }
    rpassword::prompt_password(format!("Password for {what}: ")).ok()
}

/// Asks for a line; `None` where nobody can answer.
#[must_use]
pub fn ask_line(prompt: &str) -> Option<String> {
    if !interactive() {
        return None;
    }
    eprint!("{prompt}");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok()?;
    Some(line.trim().to_owned())
}

/// A character as it can be shown: line breaks and control characters as marks.
fn visible(c: char) -> char {
    match c {
        '\n' | '\r' | '\u{2028}' | '\u{2029}' => '\u{2424}',
        c if is_unseen(c) => '\u{b7}',
        c => c,
    }
}

/// Whether a character does not show what it does: control characters, line breaks, and marks that
/// turn the reading direction, which could make a name read as another.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Removes control characters, so that a name from the database cannot steer
/// the terminal, and shortens a long text: in the middle, because keys of several
/// columns differ at their ends.
#[must_use]
pub fn safe(text: &str, max: usize) -> String {
    let clean: String = text.chars().map(visible).collect();
    if clean.chars().count() <= max {
        return clean;
    }
    let kept = max.saturating_sub(1);
    let end = clean.chars().count() - kept / 2;
    let (first, last) = (clean.chars().take(kept - kept / 2), clean.chars().skip(end));
    first.chain(['…']).chain(last).collect()
}

/// The same, without what Markdown would act on.
#[must_use]
pub fn quiet(text: &str, max: usize) -> String {
    safe(text, max).replace('|', "/").replace('`', "'").replace('<', "(").replace('>', ")")
}

/// `1 row`, `2 rows`.
#[must_use]
pub fn rows_of<N: std::fmt::Display + PartialEq + From<u8>>(n: N) -> String {
    let noun = if n == N::from(1) { "row" } else { "rows" };
    format!("{n} {noun}")
}

/// Shows the guards of a run as they begin.
pub struct Progress {
    bar: indicatif::ProgressBar,
    last: Option<String>,
}

impl Progress {
    /// A progress display on stderr: one moving line on a terminal, one line a
    /// guard elsewhere.
    #[must_use]
    pub fn new() -> Self {
        let bar = indicatif::ProgressBar::new_spinner();
        bar.enable_steady_tick(std::time::Duration::from_millis(120));
        Self { bar, last: None }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl crate::apply::Events for Progress {
    fn guard(&mut self, name: &str, about: &str) {
        self.bar.set_message(format!("{name}: {about}"));
        // Elsewhere than on a terminal a line a file is enough.
        let file = name.split('.').next().unwrap_or(name);
        if self.bar.is_hidden() && !file.is_empty() && self.last.as_deref() != Some(file) {
            note(format!("  {file}"));
            self.last = Some(file.to_owned());
        }
    }

    fn committing(&mut self) {
        self.bar.set_message("committing");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stay_whole() {
        let command = "flowmend plan legacy-states --map task_instance.5=KILL --map task_instance.15=KILL --all";
        let lines = wrap("    → ", 6, &format!("for what is left after it: {command}, one after the other"));
        assert_eq!(lines[1].trim(), format!("{command},"));
        assert_eq!(lines[2].trim(), "one after the other");
        let text = "what one flowmend writes into a database the other reads, and so on for ever and ever, amen";
        assert!(wrap("", 0, text).iter().all(|line| line.len() <= WIDTH));
        assert_eq!(command_length(&["flowmend", "inspect", "lists", "them"]), 2);
        assert_eq!(command_length(&["flowmend"]), 1);
        assert_eq!(command_length(&["flowmend", "apply", "DIR"]), 2);
    }
}

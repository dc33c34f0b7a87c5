//! Findings as a compiler shows them.

use annotate_snippets::{AnnotationKind, Group, Level as Shade, Renderer, Snippet};

use super::{Checked, count};
use crate::lint::{Finding, Level};
use crate::sql::Places;
use crate::ui;

/// Lines shown before and after the place.
const AROUND: usize = 1;
/// No line of a script is shown longer than this, in bytes.
const LONGEST: usize = 400;

pub(super) fn render(checked: &[Checked<'_>]) -> String {
    let mut out = String::new();
    for file in checked {
        let places = Places::of(file.text);
        for finding in &file.linted.findings {
            out.push_str(&one(file, &places, finding));
            out.push_str("\n\n");
        }
    }
    out.push_str(&last_line(checked));
    out
}

fn one(file: &Checked<'_>, places: &Places<'_>, finding: &Finding) -> String {
    let shade = match finding.level {
        Level::Error => Shade::ERROR,
        Level::Warning => Shade::WARNING,
        Level::Info => Shade::INFO,
    };
    let window = window(places, finding);
    let kind = AnnotationKind::Primary.span(window.span.clone());
    let snippet = Snippet::source(window.text).path(file.name).line_start(window.line).fold(false).annotation(kind);
    let mut group = Group::with_title(shade.primary_title(safe(&finding.message)).id(finding.rule.as_str()));
    group = group.element(snippet);
    for fact in &finding.why {
        group = group.element(Shade::NOTE.message(safe(fact)));
    }
    for way in &finding.help {
        group = group.element(Shade::HELP.message(safe(way)));
    }
    Renderer::styled().render(&[group])
}

/// A few lines of the script, and where in them the finding is.
struct Window {
    text: String,
    line: usize,
    span: std::ops::Range<usize>,
}

fn window(places: &Places<'_>, finding: &Finding) -> Window {
    let (from, to) = (places.place(finding.range.start), places.place(finding.range.end));
    let first = from.line.saturating_sub(AROUND).max(1);
    // Of what is long its beginning is enough.
    let last = (to.line.min(from.line + 3) + AROUND).min(places.lines());
    let mut text = String::new();
    let mut span = 0..0;
    for number in first..=last {
        let begins = text.len();
        let line = places.line(number);
        let column = |wanted: usize| line.char_indices().nth(wanted - 1).map_or(line.len(), |(at, _)| at);
        let (start, shift) = cut(line, if number == from.line { column(from.column) } else { 0 });
        if number == from.line {
            span = begins + column(from.column) - shift..begins + line.len().min(shift + start.len()) - shift;
        }
        if number == to.line {
            span.end = (begins + column(to.column).saturating_sub(shift)).clamp(span.start, begins + start.len());
        }
        text.push_str(start);
        text.push('\n');
    }
    Window { text, line: first, span }
}

/// The part of a long line around a byte, and how much was left out before it.
fn cut(line: &str, around: usize) -> (&str, usize) {
    if line.len() <= LONGEST {
        return (line, 0);
    }
    let from = line.floor_char_boundary(around.saturating_sub(LONGEST / 2));
    let to = line.ceil_char_boundary((from + LONGEST).min(line.len()));
    (&line[from..to], from)
}

fn safe(text: &str) -> String {
    ui::safe(text, 1000)
}

fn last_line(checked: &[Checked<'_>]) -> String {
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let statements: usize = checked.iter().map(|c| c.linted.statements).sum();
    let unread: usize = checked.iter().map(|c| c.linted.unread).sum();
    let allowed: usize = checked.iter().map(|c| c.linted.allowed).sum();
    let mut against: Vec<&str> = checked.iter().map(|c| c.against.as_str()).collect();
    against.dedup();
    let mut line = format!(
        "{} for {}: {}, {}, {}",
        plural(statements, "statement"),
        against.join(" and "),
        plural(count(checked, Level::Error), "error"),
        plural(count(checked, Level::Warning), "warning"),
        plural(count(checked, Level::Info), "remark"),
    );
    if unread > 0 {
        line.push_str(&format!("; {unread} not understood"));
    }
    if allowed > 0 {
        line.push_str(&format!("; {} allowed by comments", plural(allowed, "finding")));
    }
    line
}

//! Two bundles side by side.

use similar::{ChangeTag, TextDiff};

use crate::bundle::Bundle;
use crate::ui::{BAD, GOOD, HEAD, out, paint};

/// Prints what differs; says whether anything does.
pub fn bundles(a: &Bundle, b: &Bundle) -> bool {
    if a.seal == b.seal {
        out(format!("the bundles are the same, byte by byte (seal {})", a.seal.short()));
        return false;
    }
    let names: std::collections::BTreeSet<&String> = a.files.keys().chain(b.files.keys()).collect();
    // Everything else is derived from the plan.
    let order = |name: &&&String| usize::from(name.as_str() != "plan.toml");
    let mut names: Vec<&&String> = names.iter().collect();
    names.sort_by_key(order);
    for name in names {
        let (left, right) = (a.files.get(*name), b.files.get(*name));
        match (left, right) {
            (Some(left), Some(right)) if left == right => {}
            (Some(left), Some(right)) => one_file(name, left, right),
            (Some(_), None) => out(format!("{} only in {}", paint(HEAD, name), a.dir.display())),
            _ => out(format!("{} only in {}", paint(HEAD, name), b.dir.display())),
        }
    }
    true
}

fn one_file(name: &str, left: &str, right: &str) {
    if name != "plan.toml" && name != "TICKET.md" {
        out(format!("{} differs", paint(HEAD, name)));
        return;
    }
    out(paint(HEAD, name));
    let diff = TextDiff::from_lines(left, right);
    for group in diff.grouped_ops(1) {
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ("-", Some(BAD)),
                ChangeTag::Insert => ("+", Some(GOOD)),
                ChangeTag::Equal => (" ", None),
            };
            let line = format!("{sign}{}", change.value().trim_end_matches('\n'));
            out(style.map_or(line.clone(), |s| paint(s, &line)));
        }
    }
}

//! The files of a long chain of generations, without what later ones say anew.

use std::collections::BTreeSet;

use super::source::Source;

/// The texts of generations, each of which extends the one before. A table that a later one
/// describes anew is left out: that is most of a long chain. Where a file is somebody's own, all
/// is kept, so that its mistakes are found.
pub(super) fn texts(sources: &[Source<'_>]) -> Vec<String> {
    if sources.iter().any(|source| !source.file.built_in) {
        return sources.iter().map(|source| source.file.text.to_string()).collect();
    }
    let mut known = BTreeSet::new();
    let mut kept: Vec<String> = sources.iter().rev().map(|source| without(&source.file.text, &mut known)).collect();
    kept.reverse();
    kept
}

/// A text without the tables that are known; those that it describes are known from now on.
fn without<'t>(text: &'t str, known: &mut BTreeSet<&'t str>) -> String {
    let is_new = |section: &&str| !described(section).is_some_and(|name| known.contains(name));
    let kept = sections(text).filter(is_new).collect();
    known.extend(sections(text).filter_map(described));
    kept
}

/// A text in its sections: a line that begins with a bracket begins one.
fn sections(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        // A byte is found faster than a text of two.
        let mut lines = rest.match_indices('\n').map(|(at, _)| at + 1);
        let end = lines.find(|at| rest[*at..].starts_with('[')).unwrap_or(rest.len());
        let (section, after) = rest.split_at(end);
        rest = after;
        (!section.is_empty()).then_some(section)
    })
}

/// The table that a section describes.
fn described(section: &str) -> Option<&str> {
    let mut lines = section.strip_prefix("[[tables]]\n")?.lines();
    lines.find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_come_again_are_left_out() {
        let old = "a = 1\n\n[[tables]]\nname = \"x\"\ncolumns = [\n  { name = \"y\" },\n]\n\n[[tables]]\nname = \"z\"\n[b]\nc = 2\n";
        let mut known = BTreeSet::from(["x"]);
        assert_eq!(without(old, &mut known), "a = 1\n\n[[tables]]\nname = \"z\"\n[b]\nc = 2\n");
        assert_eq!(known, BTreeSet::from(["x", "z"]));
    }
}

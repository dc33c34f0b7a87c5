//! Codes, names, what counts as finished, and what a column never rightly holds.

use std::collections::BTreeSet;

use flowmend::manifest::{Manifest, StateSet, version_order};

use super::readers::{Finished, Reader};
use super::{Codes, Differences, Upstream};

/// Compares the states of every role column that holds some.
pub fn compare(differences: &mut Differences, reader: &Reader, upstream: &Upstream, manifest: &Manifest) {
    let known: Vec<&str> = reader.state_columns.to_vec();
    for named in manifest.states.keys().filter(|c| !known.contains(&c.as_str())) {
        differences.found.push(format!("{}: the test compares no states of {named}", differences.place));
    }
    for column in known {
        let theirs = codes_of(upstream, manifest, column);
        let ours = manifest.states.get(column);
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => compare_column(differences, reader, upstream, column, ours, theirs),
            (ours, theirs) => differences.same(format!("{column}: states"), &ours.is_some(), &theirs.is_some()),
        }
    }
}

fn compare_column(
    differences: &mut Differences,
    reader: &Reader,
    upstream: &Upstream,
    column: &str,
    ours: &StateSet,
    theirs: &Codes,
) {
    let values: Vec<(String, String)> = ours.states.iter().map(|s| (s.code.clone(), s.name.clone())).collect();
    differences.same(format!("{column}: text"), &ours.text, &theirs.text);
    differences.same(format!("{column}: codes"), &values, &theirs.values);
    differences.same(format!("{column}: NULL is a state"), &ours.null.is_some(), &theirs.null);
    differences.same(format!("{column}: other codes are a state"), &ours.other.is_some(), &theirs.open);
    let named = |keep: fn(&flowmend::manifest::State) -> bool| -> BTreeSet<String> {
        ours.states.iter().filter(|s| keep(s)).map(|s| s.name.clone()).collect()
    };
    let illegal = theirs.illegal.get(column).cloned().unwrap_or_default();
    differences.same(format!("{column}: illegal"), &named(|s| !s.legal), &illegal);
    if let Some(finished) = &theirs.finished {
        let expected = for_repairs(reader.finished, &upstream.version, column, finished);
        differences.same(format!("{column}: finished"), &named(|s| s.finished), &expected);
        differences.same(format!("{column}: finished for upstream"), &named(|s| s.upstream_finished), finished);
    }
}

/// What upstream counts as finished, corrected by what is known to differ for repairs.
fn for_repairs(known: &[Finished], release: &str, column: &str, theirs: &BTreeSet<String>) -> BTreeSet<String> {
    let mut expected = theirs.clone();
    for known in known.iter().filter(|k| k.column == column && k.holds(release)) {
        let changed = if known.finished { expected.insert(known.state.into()) } else { expected.remove(known.state) };
        assert!(changed, "{release} {column}: {} differs no more", known.state);
    }
    expected
}

impl Finished {
    fn holds(&self, release: &str) -> bool {
        let release = version_order(release);
        version_order(self.first) <= release && release <= version_order(self.last)
    }
}

/// The upstream type that is stored in the role's column, where the release has the role.
pub fn codes_of<'u>(upstream: &'u Upstream, manifest: &Manifest, column: &str) -> Option<&'u Codes> {
    let (role, name) = column.split_once('.').unwrap();
    let role = manifest.roles.get(role)?;
    let real = format!("{}.{}", role.table, role.columns.get(name)?);
    let found = upstream.codes.iter().find(|c| c.columns.contains(&real));
    Some(found.unwrap_or_else(|| panic!("{}: the facts have no codes of {real}", upstream.version)))
}

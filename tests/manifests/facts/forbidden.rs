//! Tables that no repair writes.

use std::collections::BTreeSet;

use flowmend::manifest::{Manifest, Manifests};

use super::readers::Reader;
use super::{Differences, Known, Upstream, compare_all, known};

/// Every table that the facts say is never written is forbidden.
pub fn compare(differences: &mut Differences, reader: &Reader, upstream: &Upstream, manifest: &Manifest) {
    for (product, tables) in &upstream.tables {
        for table in tables.keys().filter(|t| (reader.never_written)(t)) {
            differences.same(format!("{product} {table}: forbidden"), &manifest.is_forbidden_table(table), &true);
        }
    }
}

#[test]
fn what_is_never_written_is_forbidden() {
    compare_all("what_is_never_written_is_forbidden", compare);
}

/// A pattern that names no table of any release forbids nothing.
#[test]
fn every_forbidden_table_is_one_of_upstreams() {
    let Some(known) = known("every_forbidden_table_is_one_of_upstreams") else { return };
    let manifests = Manifests::load(None).unwrap();
    let mut differences = Differences::default();
    for Known { reader, releases } in known {
        let tables: BTreeSet<&String> =
            releases.iter().flat_map(|r| r.tables.values()).flat_map(|tables| tables.keys()).collect();
        for manifest in manifests.of(reader.scheduler).unwrap() {
            differences.place = manifest.origin.clone();
            for pattern in &manifest.forbidden.tables {
                let mut alone = manifest.clone();
                alone.forbidden.tables = vec![pattern.clone()];
                let names =
                    tables.iter().any(|t| alone.is_forbidden_table(t)) || reader.elsewhere.contains(&&**pattern);
                differences.same(format!("{pattern}: names a table"), &names, &true);
            }
        }
    }
    differences.none();
}

//! Which releases there are, their version marks, and which are approximate.

use std::collections::{BTreeMap, BTreeSet};

use flowmend::manifest::{Manifest, Manifests};

use super::{Differences, Known, Upstream, known};

/// Compares what a manifest says of one release.
pub fn compare(differences: &mut Differences, upstream: &Upstream, manifest: &Manifest) {
    let mark = manifest.version_marks.get(&upstream.version).cloned();
    differences.same("version mark", &mark, &upstream.mark);
    let approximate = manifest.approximate.contains(&upstream.version);
    differences.same("approximate", &approximate, &upstream.approximate);
}

/// Compares which releases a scheduler's manifests list, and how often.
pub fn compare_listed(differences: &mut Differences, known: &Known, manifests: &[&Manifest]) {
    let read: BTreeSet<&str> = known.releases.iter().map(|r| r.version.as_str()).collect();
    let mut listed: BTreeMap<&str, u32> = BTreeMap::new();
    for manifest in manifests {
        for release in &manifest.releases {
            if read.contains(release.as_str()) || !between(manifest, release, &read) {
                *listed.entry(release).or_default() += 1;
            }
        }
    }
    differences.same("releases", &listed, &read.iter().map(|r| (*r, 1)).collect());
}

#[test]
fn every_release_is_listed_by_one_manifest() {
    let Some(known) = known("every_release_is_listed_by_one_manifest") else { return };
    let manifests = Manifests::load(None).unwrap();
    let mut differences = Differences::default();
    for known in known {
        differences.place = known.reader.scheduler.to_owned();
        compare_listed(&mut differences, known, &manifests.of(known.reader.scheduler).unwrap());
    }
    differences.none();
}

/// Whether a release that was not read is called approximate, and lies between two releases
/// of its generation that were.
fn between(manifest: &Manifest, release: &str, read: &BTreeSet<&str>) -> bool {
    let at = manifest.releases.iter().position(|r| r == release).unwrap();
    let (before, after) = (&manifest.releases[..at], &manifest.releases[at + 1..]);
    let known = |list: &[String]| list.iter().any(|r| read.contains(r.as_str()));
    manifest.approximate.iter().any(|r| r == release) && known(before) && known(after)
}

#[test]
fn approximate_releases_have_a_reason_and_marks_a_release() {
    for manifest in Manifests::load(None).unwrap().all().unwrap().into_iter() {
        let listed = |release: &String| manifest.releases.contains(release);
        assert!(manifest.approximate.iter().all(listed), "{}", manifest.origin);
        assert!(manifest.version_marks.keys().all(listed), "{}", manifest.origin);
        assert_eq!(manifest.approximate.is_empty(), manifest.approximate_because.is_empty(), "{}", manifest.origin);
    }
}

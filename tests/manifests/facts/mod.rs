//! What the manifests say against what was read from upstream, release by release.
//!
//! The facts lie beside the project, not inside it. Without them these tests are skipped.

mod states;
mod tables;

use std::collections::BTreeMap;

use flowmend::manifest::{Manifest, Manifests};
use serde_json::Value;

use crate::support;

/// One release as upstream has it.
struct Facts {
    version: String,
    json: Value,
}

/// Every release with the manifest that lists it; `None` without the facts.
fn releases(what: &str) -> Option<Vec<(Facts, Manifest)>> {
    let facts = read(what)?;
    let manifests = Manifests::load(None).unwrap();
    let pair = |facts: Facts| {
        let manifest = manifests.release("dolphinscheduler", &facts.version).unwrap().clone();
        (facts, manifest)
    };
    Some(facts.into_iter().map(pair).collect())
}

fn read(what: &str) -> Option<Vec<Facts>> {
    let dir = support::facts().map(|dir| dir.join("dolphinscheduler")).filter(|dir| dir.is_dir());
    let Some(dir) = dir else {
        support::skipped(what, "no upstream facts beside the project");
        return None;
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        let json: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        found.push(Facts { version: text(&json["version"]), json });
    }
    found.sort_by_key(|f| flowmend::manifest::version_order(&f.version));
    assert!(found.len() >= 54, "{} releases", found.len());
    Some(found)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a text")).to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().map(|list| list.iter().map(text).collect()).unwrap_or_default()
}

/// Differences, all of them in one message.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: impl std::fmt::Display, manifest: &T, upstream: &T) {
        if manifest != upstream {
            self.0.push(format!("{what}: the manifest says {manifest:?}, upstream {upstream:?}"));
        }
    }

    #[track_caller]
    fn none(self) {
        let count = self.0.len();
        assert!(self.0.is_empty(), "{count} differences:\n{}", self.0[..count.min(60)].join("\n"));
    }
}

#[test]
fn every_release_is_listed_by_one_manifest() {
    let Some(facts) = read("every_release_is_listed_by_one_manifest") else { return };
    let manifests = Manifests::load(None).unwrap();
    let mut listed: BTreeMap<String, u32> = BTreeMap::new();
    for manifest in manifests.of("dolphinscheduler").unwrap() {
        for release in &manifest.releases {
            *listed.entry(release.clone()).or_default() += 1;
        }
    }
    let expected = facts.iter().map(|f| (f.version.clone(), 1)).collect();
    assert_eq!(listed, expected);
}

#[test]
fn approximate_releases_are_marked() {
    let Some(releases) = releases("approximate_releases_are_marked") else { return };
    let mut differences = Differences::default();
    for (facts, manifest) in releases {
        let upstream = facts.json["approximate"].as_bool().unwrap_or(false);
        let marked = manifest.approximate.contains(&facts.version);
        differences.same(format!("{}: approximate", facts.version), &marked, &upstream);
        if marked {
            assert!(!manifest.approximate_because.is_empty(), "{}: no reason", facts.version);
        }
        assert!(manifest.approximate.iter().all(|r| manifest.releases.contains(r)), "{}", manifest.origin);
    }
    differences.none();
}

#[test]
fn version_marks_are_those_of_a_fresh_install() {
    let Some(releases) = releases("version_marks_are_those_of_a_fresh_install") else { return };
    let mut differences = Differences::default();
    for (facts, manifest) in releases {
        let upstream = facts.json["version_marks"]["t_ds_version_on_fresh_install"].as_str();
        let marked = manifest.version_marks.get(&facts.version).map(String::as_str);
        differences.same(format!("{}: version mark", facts.version), &marked, &upstream);
    }
    differences.none();
}

//! What the manifests say against what was read from upstream, release by release.
//!
//! The facts lie beside the project, not inside it. Without them these tests are skipped.
//! Each scheduler has a reader, which knows the shape of its JSON; all comparisons are shared.

mod forbidden;
mod mutations;
mod neighbours;
mod readers;
mod released;
mod states;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

use flowmend::manifest::{ColumnSpec, Engine, Manifest, Manifests, version_order};

use crate::support;
use readers::{Reader, all};

/// One release as upstream has it.
struct Upstream {
    version: String,
    /// Whether its facts were read from something else than its tagged source.
    approximate: bool,
    /// What the version row of a fresh install says.
    mark: Option<String>,
    /// The types whose values are stored in columns.
    codes: Vec<Codes>,
    /// Product → table → shape.
    tables: BTreeMap<&'static str, BTreeMap<String, Shape>>,
}

/// A type whose values are stored in columns.
struct Codes {
    /// `table.column`.
    columns: Vec<String>,
    text: bool,
    /// Code and name in upstream's order.
    values: Vec<(String, String)>,
    /// Names that upstream counts as finished, if it counts.
    finished: Option<BTreeSet<String>>,
    /// Role columns → names that the type has and the column never rightly holds.
    illegal: BTreeMap<&'static str, BTreeSet<String>>,
    /// Whether SQL NULL means something.
    null: bool,
    /// Whether codes that are not listed mean something.
    open: bool,
}

/// A table.
#[derive(Clone)]
struct Shape {
    columns: Vec<(String, ColumnSpec)>,
    primary_key: Vec<String>,
    unique: BTreeSet<Vec<String>>,
    indexes: BTreeSet<Vec<String>>,
    /// Columns, table referred to, its columns, what a delete does.
    foreign: BTreeSet<Foreign>,
    optional: bool,
}

type Foreign = (Vec<String>, String, Vec<String>, String);

/// A product whose tables the facts have.
struct Product {
    /// Its name in the facts.
    name: &'static str,
    engine: Engine,
    /// Whether it is compared in full; else in names, NULL and primary keys. The
    /// types and defaults of SQLite are derived, its other keys are not made.
    full: bool,
}

const MYSQL: Product = Product { name: "mysql", engine: Engine::MySql, full: true };
const MARIADB: Product = Product { name: "mariadb", engine: Engine::MySql, full: true };
const POSTGRESQL: Product = Product { name: "postgresql", engine: Engine::PostgreSql, full: true };
const SQLITE: Product = Product { name: "sqlite", engine: Engine::Sqlite, full: false };

/// A scheduler's reader with all its releases.
struct Known {
    reader: Reader,
    releases: Vec<Upstream>,
}

/// All schedulers of the facts, read once; `None` without the facts.
fn known(what: &str) -> Option<&'static [Known]> {
    static KNOWN: OnceLock<Vec<Known>> = OnceLock::new();
    let Some(dir) = support::facts() else {
        support::skipped(what, "no upstream facts beside the project");
        return None;
    };
    Some(KNOWN.get_or_init(|| all().into_iter().map(|reader| read(&dir, reader)).collect()))
}

fn read(dir: &Path, reader: Reader) -> Known {
    let mut releases = (reader.read)(&dir.join(reader.scheduler));
    releases.sort_by_key(|r| version_order(&r.version));
    assert!(releases.len() >= reader.at_least, "{}: {} releases", reader.scheduler, releases.len());
    Known { reader, releases }
}

/// Calls `compare` for every release of every scheduler with the manifest that lists it.
fn compare_all(what: &str, compare: impl Fn(&mut Differences, &Reader, &Upstream, &Manifest)) {
    let Some(known) = known(what) else { return };
    let manifests = Manifests::load(None).unwrap();
    let mut differences = Differences::default();
    for Known { reader, releases } in known {
        for upstream in releases {
            // A release that no manifest lists is told by the test of releases.
            let Ok(manifest) = manifests.release(reader.scheduler, &upstream.version) else { continue };
            differences.place = format!("{} {}", reader.scheduler, upstream.version);
            compare(&mut differences, reader, upstream, manifest);
        }
    }
    differences.none();
}

/// Differences, all of them in one message.
#[derive(Default)]
struct Differences {
    place: String,
    found: Vec<String>,
}

impl Differences {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: impl std::fmt::Display, manifest: &T, upstream: &T) {
        if manifest != upstream {
            self.found.push(format!("{} {what}: the manifest says {manifest:?}, upstream {upstream:?}", self.place));
        }
    }

    #[track_caller]
    fn none(self) {
        let count = self.found.len();
        assert!(self.found.is_empty(), "{count} differences:\n{}", self.found[..count.min(60)].join("\n"));
    }
}

#[test]
fn codes_names_and_meanings_are_upstreams() {
    compare_all("codes_names_and_meanings_are_upstreams", states::compare);
}

#[test]
fn tables_columns_and_keys_are_upstreams() {
    let manifests = Manifests::load(None).unwrap();
    compare_all("tables_columns_and_keys_are_upstreams", |differences, reader, upstream, manifest| {
        let listed = tables::listed(&manifests, reader.scheduler);
        tables::compare(differences, reader, upstream, manifest, &listed);
    });
}

#[test]
fn version_marks_and_approximate_releases_are_upstreams() {
    compare_all("version_marks_and_approximate_releases_are_upstreams", |differences, _, upstream, manifest| {
        released::compare(differences, upstream, manifest);
    });
}

//! Tables and columns that scripts name, and that a database must have.

use super::{About, Finding, Upgrade};
use crate::lint::Level;
use crate::manifest::compare::{Change, ChangeKind};
use crate::manifest::{Engine, Manifest, Manifests};

/// What breaks in scripts and reports.
pub(super) fn foreseen(upgrade: &Upgrade<'_>) -> Vec<Finding> {
    upgrade.changes.iter().filter_map(|change| of_change(upgrade, change)).collect()
}

fn of_change(upgrade: &Upgrade<'_>, change: &Change) -> Option<Finding> {
    let goal = &upgrade.releases.1;
    let is = change.after.as_deref().unwrap_or_default();
    let (code, level, help) = match change.kind {
        ChangeKind::TableDropped => ("table-gone", Level::Warning, "scripts that name it fail".to_owned()),
        ChangeKind::TableRenamed => ("table-renamed", Level::Warning, format!("write {is} in scripts and views")),
        ChangeKind::ColumnDropped => ("column-gone", Level::Warning, "scripts that name it fail".to_owned()),
        ChangeKind::ColumnRenamed => ("column-renamed", Level::Warning, format!("write {is} in scripts and views")),
        ChangeKind::KeyChanged => {
            ("key-changed", Level::Warning, "scripts that join or delete by the old key touch other rows".to_owned())
        }
        ChangeKind::CodesRetyped => {
            ("codes-retyped", Level::Warning, format!("compare with {is}, or an index is not used and rows are missed"))
        }
        ChangeKind::ColumnRetyped => ("column-retyped", Level::Info, String::new()),
        ChangeKind::StateAdded | ChangeKind::StateLegal => {
            ("new-state", Level::Info, "reports that list codes do not know it".to_owned())
        }
        ChangeKind::StatesAdded => ("new-states", Level::Info, String::new()),
        _ => return None,
    };
    let subject = match &change.code {
        Some(code) => format!("{} {code}", upgrade.to.real_name(&change.subject)),
        None => change.subject.clone(),
    };
    let mut finding = Finding::new(About::Scripts, code, level, subject, change.sentence());
    finding.since = upgrade.since(change);
    if !help.is_empty() {
        finding.help.push(help);
    }
    finding
        .why
        .extend(upgrade.to.sources.iter().filter(|s| s.contains(".sql") || s.contains("models")).take(1).cloned());
    finding.why.push(format!("schema of {goal}"));
    Some(finding)
}

/// What a release must have in a database and the database lacks. `there` says whether a
/// table, or a column of it, is there.
#[must_use]
pub fn missing_of(
    manifests: &Manifests,
    manifest: &Manifest,
    engine: Engine,
    there: &dyn Fn(&str, Option<&str>) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for table in manifest.tables.values().filter(|t| t.on(engine) && t.optional.is_none()) {
        if !there(&table.name, None) {
            findings.push(missing(manifests, manifest, &table.name, None));
            continue;
        }
        let lacking = table.columns_on(engine).filter(|c| !there(&table.name, Some(&c.name)));
        findings.extend(lacking.map(|c| missing(manifests, manifest, &table.name, Some(&c.name))));
    }
    findings
}

fn missing(manifests: &Manifests, manifest: &Manifest, table: &str, column: Option<&str>) -> Finding {
    let what = column.map_or_else(|| format!("table {table}"), |c| format!("column {table}.{c}"));
    let subject = column.map_or_else(|| table.to_owned(), |c| format!("{table}.{c}"));
    let release = manifest.release_range();
    let has = |m: &&Manifest| {
        let found = m.tables.values().find(|t| t.name.eq_ignore_ascii_case(table));
        found.is_some_and(|t| column.is_none_or(|c| t.columns.iter().any(|own| own.name.eq_ignore_ascii_case(c))))
    };
    let all = manifests.of(&manifest.scheduler).unwrap_or_default();
    let since = all.into_iter().find(has).and_then(|m| m.releases.first().cloned());
    let first = since.clone().unwrap_or_default();
    let message = format!("{what} is missing, which {release} has; first present in {first}");
    let mut finding = Finding::new(About::Schema, "schema-older-than-version", Level::Error, subject, message);
    finding.since = since;
    finding.help.push("a step of an earlier upgrade did not run, or the version is not the one that runs: compare with the scheduler's own upgrade scripts before you go on".to_owned());
    finding
}

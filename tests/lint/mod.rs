//! The linter: clean scripts, a bad runbook, its pages' examples, whole scripts, and texts that nobody would write.

mod blog;
mod clean;
mod large;
mod pages;
mod refused;
mod said;
mod sarif;
mod scripts;
mod texts;

use std::sync::LazyLock;

use flowmend::dialect::Dialect;
use flowmend::lint::{Config, DataRules, Knowledge, Linted, lint};
use flowmend::manifest::Manifests;

/// Checks a script for a release.
pub fn check(sql: &str, scheduler: &str, release: &str, dialect: &str) -> Linted {
    static DATA: LazyLock<(Manifests, DataRules)> = LazyLock::new(|| {
        let manifests = Manifests::load(None).unwrap();
        let data = DataRules::load(&manifests).unwrap();
        (manifests, data)
    });
    let (manifests, data) = &*DATA;
    let engine = Dialect::load(dialect).unwrap().engine;
    let knowledge = Knowledge::of(manifests, scheduler, release, engine).unwrap();
    lint(sql, &knowledge, data, &Config::default()).unwrap()
}

/// `line:rule` of each finding.
pub fn places(sql: &str, linted: &Linted) -> Vec<String> {
    let line = |at: usize| sql[..at].matches('\n').count() + 1;
    linted.findings.iter().map(|f| format!("{}:{}", line(f.range.start), f.rule)).collect()
}

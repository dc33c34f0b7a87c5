//! What a database says about an upgrade: what it lacks, what it still holds, what must go first.

use std::collections::{BTreeMap, BTreeSet};

use super::{About, CodeRows, Finding, Upgrade, of_rows};
use crate::lint::Level;
use crate::manifest::compare::ChangeKind;
use crate::manifest::{Engine, Manifest, Manifests};

/// What was read from a database.
pub struct Seen<'a> {
    /// The kind of database.
    pub engine: Engine,
    /// Whether a table, or a column of it, is there.
    pub there: &'a dyn Fn(&str, Option<&str>) -> bool,
    /// Tables and columns that are there: table → columns.
    pub live: &'a BTreeMap<String, Vec<String>>,
    /// How many rows hold each code.
    pub codes: &'a [CodeRows],
    /// Role → how many rows its table has.
    pub rows: &'a BTreeMap<String, u64>,
    /// Table → column → how many rows hold NULL.
    pub nulls: &'a BTreeMap<String, BTreeMap<String, u64>>,
}

impl Upgrade<'_> {
    /// Columns in which NULL is allowed now and will not be: table → columns.
    #[must_use]
    pub fn will_not_be_null(&self, engine: Engine) -> BTreeMap<String, Vec<String>> {
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for change in self.changes.iter().filter(|c| c.kind == ChangeKind::ColumnRetyped) {
            let of_engine = change.engine.is_none_or(|e| e == engine);
            let not_null = |text: &Option<String>| text.as_ref().is_some_and(|t| t.contains(" NOT NULL"));
            if let (true, false, true, Some((table, column))) =
                (of_engine, not_null(&change.before), not_null(&change.after), change.subject.split_once('.'))
            {
                found.entry(table.to_owned()).or_default().push(column.to_owned());
            }
        }
        found
    }

    /// Roles whose rows must be counted, because they must be gone before the upgrade.
    #[must_use]
    pub fn must_be_empty(&self) -> BTreeSet<String> {
        self.steps.iter().flat_map(|step| &step.to.upgrade).flat_map(|d| d.empty.clone()).collect()
    }

    /// What breaks, counted in a database before the upgrade.
    #[must_use]
    pub fn counted(&self, manifests: &Manifests, seen: &Seen<'_>) -> Vec<Finding> {
        let mut findings = super::missing_of(manifests, self.from, seen.engine, seen.there);
        findings.extend(self.goal_lacks(manifests, seen));
        findings.extend(leftovers(manifests, self.from, seen));
        findings.extend(of_rows(self, seen.codes));
        findings.extend(self.to_be_drained(seen));
        findings.extend(self.nulls(seen));
        findings
    }

    /// What breaks in a database that is at the new release.
    #[must_use]
    pub fn left(&self, manifests: &Manifests, seen: &Seen<'_>) -> Vec<Finding> {
        let mut findings = super::missing_of(manifests, self.to, seen.engine, seen.there);
        findings.extend(leftovers(manifests, self.to, seen));
        // A code that both releases may write says nothing of who wrote it.
        let lost = |f: &Finding| f.code == "unreadable-state" || f.code == "illegal-state";
        findings.extend(of_rows(self, seen.codes).into_iter().filter(lost));
        findings
    }

    /// What the new release has and the database lacks beyond what this upgrade brings.
    fn goal_lacks(&self, manifests: &Manifests, seen: &Seen<'_>) -> Vec<Finding> {
        let own = super::missing_of(manifests, self.from, seen.engine, seen.there);
        let own: BTreeSet<&str> = own.iter().map(|f| f.subject.as_str()).collect();
        let missing = super::missing_of(manifests, self.to, seen.engine, seen.there);
        let renamed = |f: &Finding| {
            let of = |c: &&crate::manifest::compare::Change| {
                matches!(c.kind, ChangeKind::TableRenamed | ChangeKind::ColumnRenamed)
                    && c.after.as_deref().is_some_and(|after| f.subject.split('.').any(|part| part == after))
            };
            self.changes.iter().find(of).is_some()
        };
        let new = missing.into_iter().filter(|f| !own.contains(f.subject.as_str()) && !renamed(f));
        let brought = |mut f: Finding| {
            f.code = "brought-by-upgrade".to_owned();
            f.level = Level::Info;
            f.message = f.message.replace("is missing, which", "is not there yet, which");
            f.help = vec!["the scheduler's own upgrade must bring it".to_owned()];
            f
        };
        new.map(brought).collect()
    }

    fn to_be_drained(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        for step in &self.steps {
            for note in &step.to.upgrade {
                let waiting = note.empty.iter().map(|role| (role, seen.rows.get(role).copied().unwrap_or(0)));
                let running = note.drained.iter().map(|column| (column, unfinished(self.from, column, seen.codes)));
                for (what, rows) in waiting.chain(running).filter(|(_, rows)| *rows > 0) {
                    let subject =
                        self.from.roles.get(what).map_or_else(|| self.from.real_name(what), |role| role.table.clone());
                    let mut f =
                        Finding::new(About::Before, "must-be-done-before", Level::Error, subject.clone(), &note.says);
                    f.since = step.to.releases.first().cloned();
                    f.why.push(note.source.clone());
                    f.help.push(format!("{subject} must be empty, or hold nothing unfinished, before the upgrade"));
                    findings.push(f.counted(rows, Vec::new()));
                }
            }
        }
        findings.extend(self.unfinished_rows(seen));
        findings
    }

    /// Work that is still going on: whoever upgrades should know.
    fn unfinished_rows(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let of_column = |column: &String| {
            let rows = unfinished(self.from, column, seen.codes);
            let part = self.from.states.values().any(|s| s.with.as_ref() == Some(column));
            let subject = self.from.real_name(column);
            let message = format!("{subject}: unfinished rows, best finished or stopped before the upgrade");
            let finding = Finding::new(About::Before, "unfinished-rows", Level::Info, subject, message);
            (rows > 0 && !part).then(|| finding.counted(rows, Vec::new()))
        };
        self.from.states.keys().filter_map(of_column).collect()
    }

    fn nulls(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (table, columns) in seen.nulls {
            for (column, rows) in columns.iter().filter(|(_, rows)| **rows > 0) {
                let subject = format!("{table}.{column}");
                let message = format!("{subject} holds NULL, which {} does not allow", self.goal());
                let mut f = Finding::new(About::Rows, "null-not-allowed", Level::Error, subject, message);
                f.help.push("give these rows a value before the upgrade, or its schema step fails".to_owned());
                findings.push(f.counted(*rows, Vec::new()));
            }
        }
        findings
    }
}

/// How many rows hold an unfinished state.
fn unfinished(m: &Manifest, column: &str, codes: &[CodeRows]) -> u64 {
    let Some(set) = m.states.get(column) else { return 0 };
    let runs =
        |c: &&CodeRows| c.column == column && set.of(c.code.as_deref(), c.with.as_deref()).is_some_and(|s| !s.finished);
    codes.iter().filter(runs).map(|c| c.rows).sum()
}

/// Tables and columns that other releases of the scheduler have, and this one does not.
fn leftovers(manifests: &Manifests, m: &Manifest, seen: &Seen<'_>) -> Vec<Finding> {
    let all = manifests.of(&m.scheduler).unwrap_or_default();
    let table_in = |m: &Manifest, name: &str| m.tables.values().find(|t| t.name.eq_ignore_ascii_case(name)).cloned();
    let mut findings = Vec::new();
    for (table, columns) in seen.live {
        let others: Vec<_> = all.iter().filter_map(|other| Some((other, table_in(other, table)?))).collect();
        let Some(own) = table_in(m, table) else {
            if let Some((other, _)) = others.last() {
                findings.push(leftover(m, other, table.clone(), format!("table {table}")));
            }
            continue;
        };
        let has =
            |t: &crate::manifest::TableSpec, name: &str| t.columns.iter().any(|c| c.name.eq_ignore_ascii_case(name));
        for column in columns.iter().filter(|c| !has(&own, c)) {
            if let Some((other, _)) = others.iter().rev().find(|(_, t)| has(t, column)) {
                findings.push(leftover(m, other, format!("{table}.{column}"), format!("column {table}.{column}")));
            }
        }
    }
    findings
}

fn leftover(m: &Manifest, other: &Manifest, subject: String, what: String) -> Finding {
    let (own, other) = (m.release_range(), other.release_range());
    let message = format!("{what} belongs to {other}, not to {own}");
    let mut f = Finding::new(About::Schema, "left-over", Level::Warning, subject, message);
    f.help.push("an upgrade left it behind, or the release is not the one that runs".to_owned());
    f
}

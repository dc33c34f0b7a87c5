//! What a database says about an upgrade: what it lacks, what it still holds, what must go first.

use std::collections::{BTreeMap, BTreeSet};

use super::schema::{Lacking, lacking};
use super::{About, CodeRows, Finding, Upgrade, in_one_bundle, of_rows};
use crate::lint::Level;
use crate::manifest::compare::ChangeKind;
use crate::manifest::{Engine, Manifest, Manifests};
use crate::recipe::Recipes;

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
    /// Table → how many rows hold a value that will not be allowed.
    pub doubts: &'a BTreeMap<String, BTreeMap<Doubt, u64>>,
    /// New unique keys, and how many rows are in their way.
    pub shared: &'a [super::Shared],
    /// Whether scripts are looked at besides.
    pub scripts: bool,
}

/// A value that the new schema does not allow: NULL, or a text that is too long.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubt {
    /// The column.
    pub column: String,
    /// The most characters that the new schema allows; without it NULL is meant.
    pub longer_than: Option<u64>,
}

impl Upgrade<'_> {
    /// Values that are allowed now and will not be, by table.
    #[must_use]
    pub fn doubts(&self) -> BTreeMap<String, Vec<Doubt>> {
        let mut found: BTreeMap<String, Vec<Doubt>> = BTreeMap::new();
        for change in self.changes.iter().filter(|c| c.kind == ChangeKind::ColumnRetyped) {
            let Some((table, column)) = change.subject.split_once('.') else { continue };
            let not_null = |text: &Option<String>| text.as_ref().is_some_and(|t| t.contains(" NOT NULL"));
            let will = not_null(&change.after) && !not_null(&change.before);
            let doubt = |longer_than| Doubt { column: column.to_owned(), longer_than };
            if super::schema::converted(self, change).is_some() {
                continue;
            }
            let doubts = will.then(|| doubt(None)).into_iter();
            let doubts = doubts.chain(super::schema::narrowed(change).map(|n| doubt(Some(n))));
            found.entry(table.to_owned()).or_default().extend(doubts);
        }
        found.retain(|_, doubts| !doubts.is_empty());
        found
    }

    /// Roles whose rows must be counted, because they must be gone before the upgrade.
    #[must_use]
    pub fn must_be_empty(&self) -> BTreeSet<String> {
        self.notes().flat_map(|(_, note)| note.empty.clone()).collect()
    }

    /// What breaks, counted in a database before the upgrade.
    #[must_use]
    pub fn counted(&self, manifests: &Manifests, recipes: &Recipes, seen: &Seen<'_>) -> Vec<Finding> {
        let mut findings = missing_of(manifests, self.from, seen);
        findings.extend(self.way_back());
        findings.extend(self.approximate());
        findings.extend(self.repairs(recipes));
        if seen.scripts {
            findings.extend(super::schema::not_compared(self));
            findings.extend(super::schema::unseen_in_scripts(self));
            let of_rows = |f: &Finding| f.code == super::schema::NEW_STATE_COLUMN;
            findings.extend(super::schema::foreseen(self).into_iter().filter(of_rows));
        } else {
            findings.extend(self.scripts_aside());
        }
        findings.extend(self.goal_lacks(manifests, seen));
        findings.extend(leftovers(manifests, self.from, seen));
        findings.extend(of_rows(self, seen.codes));
        findings.extend(in_one_bundle(self, seen.codes));
        findings.extend(self.to_be_drained(recipes, seen));
        findings.extend(self.doubtful(seen));
        findings.extend(self.rows_that_share(seen.shared));
        findings
    }

    /// What breaks in a database that is at the new release.
    #[must_use]
    pub fn left(&self, manifests: &Manifests, seen: &Seen<'_>) -> Vec<Finding> {
        let mut findings = missing_of(manifests, self.to, seen);
        findings.extend(leftovers(manifests, self.to, seen));
        findings.extend(self.keys_left_out(seen.shared));
        // A code that both releases may write says nothing of who wrote it.
        let lost = |f: &Finding| f.code == "unreadable-state" || f.code == "illegal-state";
        findings.extend(of_rows(self, seen.codes).into_iter().filter(lost));
        findings.extend(in_one_bundle(self, seen.codes));
        findings
    }

    /// What the new release has and neither the old one nor the database.
    fn goal_lacks(&self, manifests: &Manifests, seen: &Seen<'_>) -> Vec<Finding> {
        let own: BTreeSet<String> = lacking(self.from, seen.engine, seen.there).iter().map(Lacking::subject).collect();
        let renamed = |lacks: &Lacking<'_>| {
            self.changes.iter().any(|c| {
                matches!(c.kind, ChangeKind::TableRenamed | ChangeKind::ColumnRenamed)
                    && c.after.as_deref().is_some_and(|after| after == lacks.table || lacks.column == Some(after))
            })
        };
        let missing = lacking(self.to, seen.engine, seen.there);
        let new = missing.iter().filter(|lacks| !own.contains(&lacks.subject()) && !renamed(lacks));
        new.map(|lacks| lacks.brought(manifests)).collect()
    }

    fn to_be_drained(&self, recipes: &Recipes, seen: &Seen<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (step, note) in self.notes() {
            let wanted = step.wants(note);
            if !note.speaks_of_rows() {
                findings.push(wanted.clone());
            }
            let waiting = note.empty.iter().map(|role| (role, seen.rows.get(role).copied().unwrap_or(0)));
            let running = note.drained.iter().map(|column| (column, unfinished(self.from, column, seen.codes)));
            let banned = note.without.iter().map(|(column, codes)| (column, holding(column, codes, seen.codes)));
            for (what, rows) in waiting.chain(running).chain(banned).filter(|(_, rows)| *rows > 0) {
                let subject =
                    self.from.roles.get(what).map_or_else(|| self.from.real_name(what), |role| role.table.clone());
                let help = match note.without.get(what) {
                    Some(codes) => format!("{subject} must not hold {} at the upgrade", codes.join(" or ")),
                    None => format!("{subject} must be empty, or hold nothing unfinished, before the upgrade"),
                };
                let f = Finding { level: Level::Error, subject, help: vec![help], ..wanted.clone() };
                findings.push(f.counted(rows, Vec::new()));
            }
        }
        findings.extend(self.unfinished_rows(recipes, seen));
        findings
    }

    /// Work that is still going on: whoever upgrades should know.
    fn unfinished_rows(&self, recipes: &Recipes, seen: &Seen<'_>) -> Vec<Finding> {
        // Rows without an owner are no work: enabled jobs, triggers that wait for their time.
        let owned = recipes.owner_columns(self.from);
        let roles: BTreeSet<&str> = owned.iter().filter_map(|column| column.split('.').next()).collect();
        let works = |column: &&String| {
            column.split_once('.').is_some_and(|(role, name)| name == "state" && roles.contains(role))
        };
        let of_column = |column: &String| {
            let rows = unfinished(self.from, column, seen.codes);
            let part = self.from.states.values().any(|s| s.with.as_ref() == Some(column));
            let subject = self.from.real_name(column);
            let message = format!("{subject}: unfinished rows, best finished or stopped before the upgrade");
            let finding = Finding::new(About::Before, "unfinished-rows", Level::Info, subject, message);
            (rows > 0 && !part).then(|| finding.counted(rows, Vec::new()))
        };
        self.from.states.keys().filter(works).filter_map(of_column).collect()
    }

    /// What changes for scripts is not to be seen in a database: it is said how to see it.
    fn scripts_aside(&self) -> Vec<Finding> {
        let foreseen = super::schema::foreseen(self);
        let (of_rows, foreseen): (Vec<Finding>, Vec<Finding>) =
            foreseen.into_iter().partition(|f| f.code == super::schema::NEW_STATE_COLUMN);
        let breaking = foreseen.iter().filter(|f| f.level > Level::Info).count();
        let message = format!(
            "{breaking} names or keys that scripts and views may use change: give --sql DIR to check yours, or leave --url out to list them"
        );
        let aside = Finding::new(About::Scripts, "scripts-not-looked-at", Level::Info, "scripts", message);
        let renamed = foreseen.into_iter().filter(|f| f.code == "table-renamed");
        let renamed = renamed.map(|f| Finding { level: Level::Info, help: Vec::new(), ..f });
        (breaking > 0).then_some(aside).into_iter().chain(renamed).chain(of_rows).collect()
    }

    fn doubtful(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (table, doubts) in seen.doubts {
            for (doubt, rows) in doubts.iter().filter(|(_, rows)| **rows > 0) {
                let subject = format!("{table}.{}", doubt.column);
                let (code, message) = match doubt.longer_than {
                    None => ("null-not-allowed", format!("NULL, which {} does not allow", self.goal())),
                    Some(n) => ("too-long", format!("longer than the {n} characters that {} allows", self.goal())),
                };
                let mut f = Finding::new(About::Rows, code, Level::Error, subject, message);
                f.help.push("change these rows before the upgrade, or its schema step fails on them".to_owned());
                findings.push(f.counted(*rows, Vec::new()));
            }
        }
        findings
    }
}

/// What a release must have in a database and the database lacks.
fn missing_of(manifests: &Manifests, m: &Manifest, seen: &Seen<'_>) -> Vec<Finding> {
    lacking(m, seen.engine, seen.there).iter().map(|lacks| lacks.missing(manifests)).collect()
}

/// How many rows of a column hold one of some codes.
fn holding(column: &str, codes: &[String], counted: &[CodeRows]) -> u64 {
    let held = |c: &&CodeRows| c.column == column && c.code.as_ref().is_some_and(|code| codes.contains(code));
    counted.iter().filter(held).map(|c| c.rows).sum()
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
    let mut findings = Vec::new();
    for (table, columns) in seen.live {
        let Some(own) = m.table_named(table) else {
            let having = all.iter().copied().filter(|other| other.table_named(table).is_some());
            findings.extend(nearest(&all, m, having).map(|o| leftover(m, o, table.clone(), format!("table {table}"))));
            continue;
        };
        for column in columns.iter().filter(|c| !own.has_column(c)) {
            let has = |other: &&Manifest| other.table_named(table).is_some_and(|t| t.has_column(column));
            let subject = format!("{table}.{column}");
            if let Some(other) = nearest(&all, m, all.iter().copied().filter(has)) {
                findings.push(leftover(m, other, subject.clone(), format!("column {subject}")));
            }
        }
    }
    findings
}

/// Of some generations the one that is nearest to another.
fn nearest<'m>(all: &[&Manifest], m: &Manifest, some: impl Iterator<Item = &'m Manifest>) -> Option<&'m Manifest> {
    let place = |m: &Manifest| all.iter().position(|other| other.generation == m.generation).unwrap_or_default();
    some.min_by_key(|other| place(other).abs_diff(place(m)))
}

fn leftover(m: &Manifest, other: &Manifest, subject: String, what: String) -> Finding {
    let (own, other) = (m.release_range(), other.release_range());
    let message = format!("{what} belongs to {other}, not to {own}");
    let mut f = Finding::new(About::Schema, "left-over", Level::Warning, subject, message);
    f.help.push("an upgrade left it behind, or the release is not the one that runs".to_owned());
    f
}

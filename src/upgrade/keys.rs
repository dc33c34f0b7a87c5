//! Keys that the new release has and the old one lacks: rows that share them, and what a delete does.

use std::collections::BTreeSet;

use super::{About, Finding, Upgrade};
use crate::lint::Level;
use crate::manifest::compare::{Change, ChangeKind};
use crate::manifest::{Engine, TableSpec};

/// Columns whose values rows may not share any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueKey {
    /// The table, as the release calls it whose database is looked at.
    pub table: String,
    /// The columns, as that release calls them.
    pub columns: Vec<String>,
    /// `table(columns)` as findings name it.
    pub subject: String,
    /// The release with which it came.
    pub since: Option<String>,
}

/// Rows that share the values of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The key.
    pub key: UniqueKey,
    /// Whether the database has the key.
    pub is_there: bool,
    /// How many rows share their values with others.
    pub rows: u64,
    /// The values of some of them.
    pub sample: Vec<String>,
}

/// `table(a, b)` in its parts.
fn parts(subject: &str) -> Option<(&str, Vec<&str>)> {
    let (table, columns) = subject.strip_suffix(')')?.split_once('(')?;
    Some((table, columns.split(", ").collect()))
}

fn set<'c>(columns: impl IntoIterator<Item = &'c str>) -> BTreeSet<String> {
    columns.into_iter().map(str::to_lowercase).collect()
}

/// Whether one key at least of a table, by which rows differ already, is within some columns.
fn is_implied(table: &TableSpec, columns: &[String], engine: Engine) -> bool {
    let wanted = set(columns.iter().map(String::as_str));
    let keys = table.unique_on(engine).iter().map(Vec::as_slice).chain([table.key_on(engine)]);
    keys.filter(|key| !key.is_empty()).any(|key| set(key.iter().map(String::as_str)).is_subset(&wanted))
}

impl Upgrade<'_> {
    /// What a column of the new release is called in the old one.
    fn old_column<'c>(&'c self, table: &str, column: &'c str) -> &'c str {
        let is = |c: &&Change| c.kind == ChangeKind::ColumnRenamed && c.after.as_deref() == Some(column);
        let old = |c: &'c Change| c.subject.strip_prefix(table)?.strip_prefix('.');
        self.changes.iter().filter(is).find_map(old).unwrap_or(column)
    }

    /// A key by which rows of today may not be told apart, by the names of today.
    fn new_key(&self, change: &Change) -> Option<UniqueKey> {
        let (table, columns) = parts(&change.subject).filter(|_| change.kind == ChangeKind::UniqueAdded)?;
        let own = self.from.tables.get(table)?;
        let columns: Vec<String> = columns.into_iter().map(|c| self.old_column(table, c).to_owned()).collect();
        let is_known = columns.iter().all(|c| own.has_column(c));
        let is_new = is_known && !self.engines(change).into_iter().all(|e| is_implied(own, &columns, e));
        let (table, subject) = (table.to_owned(), change.subject.clone());
        is_new.then(|| UniqueKey { table, columns, subject, since: self.since(change) })
    }

    /// Columns whose values rows may not share any more, by the names of the release whose database is
    /// looked at.
    #[must_use]
    pub fn new_keys(&self) -> Vec<UniqueKey> {
        let by_new_names = |key: UniqueKey, change: &Change| {
            let (table, columns) = parts(&change.subject)?;
            let columns = columns.into_iter().map(ToOwned::to_owned).collect();
            Some(UniqueKey { table: self.renamed_table(table).to_owned(), columns, ..key })
        };
        let key = |change: &Change| {
            let key = self.new_key(change)?;
            if self.is_done { by_new_names(key, change) } else { Some(key) }
        };
        self.changes.iter().filter_map(key).collect()
    }

    /// Rows that share the values of a key, before the upgrade.
    pub(super) fn rows_that_share(&self, shared: &[Shared]) -> Vec<Finding> {
        shared.iter().filter(|s| s.rows > 0).map(|s| self.sharing(s)).collect()
    }

    fn sharing(&self, shared: &Shared) -> Finding {
        let subject = &shared.key.subject;
        let message = format!("rows share these values, which {} does not allow", self.goal());
        let mut f = Finding::new(About::Rows, "rows-not-unique", Level::Error, subject, message);
        f.since.clone_from(&shared.key.since);
        f.why.push(format!(
            "({}) is a unique key of {} in {}",
            shared.key.columns.join(", "),
            shared.key.table,
            self.releases.1
        ));
        f.help.push(
            "keep one row of each and delete or rename the others first: the step that makes the key fails on them"
                .to_owned(),
        );
        f.counted(shared.rows, shared.sample.clone())
    }

    /// Keys that the upgrade did not make, and rows that are in their way.
    pub(super) fn keys_left_out(&self, shared: &[Shared]) -> Vec<Finding> {
        let missing = |s: &Shared| {
            let subject = &s.key.subject;
            let message = format!("the unique key {subject} of {} is missing", self.goal());
            let mut f = Finding::new(About::Schema, "key-missing", Level::Warning, subject, message);
            f.since.clone_from(&s.key.since);
            f.why.push("a fresh install has it; not every upgrade script of upstream makes it".to_owned());
            f.help.push(
                "make it once no rows share its values: without it a second row is taken where the release expects one"
                    .to_owned(),
            );
            f
        };
        let mut findings: Vec<Finding> = shared.iter().filter(|s| !s.is_there).map(missing).collect();
        findings.extend(self.rows_that_share(shared));
        findings
    }
}

/// What a change of a key means for scripts: a code, how bad it is, and the way out.
pub(super) fn of_change(upgrade: &Upgrade<'_>, change: &Change) -> Option<(&'static str, Level, String)> {
    match change.kind {
        ChangeKind::UniqueAdded => upgrade.new_key(change).map(|_| {
            let help = "an INSERT of a second row fails, and so does the upgrade on rows that share the values: --url counts them";
            ("unique-added", Level::Warning, help.to_owned())
        }),
        ChangeKind::UniqueDropped => is_free(upgrade, change).then(|| {
            let help = "INSERTs that count on it (ON CONFLICT, ON DUPLICATE KEY, REPLACE) fail or make a second row";
            ("unique-dropped", Level::Warning, help.to_owned())
        }),
        ChangeKind::ForeignKeyAdded => {
            let target = Target::of(change.after.as_deref()?)?;
            (is_known(upgrade, target.table) && !carries_on(upgrade, change, &target))
                .then(|| ("foreign-key-added", Level::Warning, target.effect()))
        }
        ChangeKind::ForeignKeyDropped => {
            let target = Target::of(change.before.as_deref()?)?;
            (upgrade.to.has_table(target.table) && !carries_on(upgrade, change, &target))
                .then(|| ("foreign-key-dropped", Level::Warning, target.no_effect()))
        }
        ChangeKind::ForeignKeyChanged => {
            let target = Target::of(change.after.as_deref()?)?;
            Some(("foreign-key-changed", Level::Warning, target.effect()))
        }
        _ => None,
    }
}

/// Whether no key of the new release is within the columns of one that is gone.
fn is_free(upgrade: &Upgrade<'_>, change: &Change) -> bool {
    let Some((table, columns)) = parts(&change.subject) else { return false };
    let Some(new) = upgrade.to.tables.get(upgrade.renamed_table(table)) else { return false };
    let new_name = |column: &str| {
        let subject = format!("{table}.{column}");
        let renamed = upgrade.changes.iter().find(|c| c.kind == ChangeKind::ColumnRenamed && c.subject == subject);
        renamed.and_then(|c| c.after.clone()).unwrap_or_else(|| column.to_owned())
    };
    let columns: Vec<String> = columns.into_iter().map(new_name).collect();
    // Where a column is gone, that is said instead.
    columns.iter().all(|c| new.has_column(c))
        && !upgrade.engines(change).into_iter().all(|e| is_implied(new, &columns, e))
}

/// Whether the old release has a table, which the new one calls so.
fn is_known(upgrade: &Upgrade<'_>, table: &str) -> bool {
    let renamed = |c: &Change| c.kind == ChangeKind::TableRenamed && c.after.as_deref() == Some(table);
    upgrade.from.has_table(table) || upgrade.changes.iter().any(renamed)
}

/// Whether the same table refers to the same other one before and after, by other columns.
fn carries_on(upgrade: &Upgrade<'_>, change: &Change, target: &Target<'_>) -> bool {
    let other = match change.kind {
        ChangeKind::ForeignKeyAdded => ChangeKind::ForeignKeyDropped,
        _ => ChangeKind::ForeignKeyAdded,
    };
    let table = |c: &Change| parts(&c.subject).map(|(table, _)| table.to_owned());
    upgrade.changes.iter().filter(|c| c.kind == other && table(c) == table(change)).any(|c| {
        let text = c.after.as_deref().or(c.before.as_deref()).unwrap_or_default();
        Target::of(text).is_some_and(|t| (t.table, t.on_delete) == (target.table, target.on_delete))
    })
}

/// What a foreign key refers to.
struct Target<'t> {
    table: &'t str,
    on_delete: &'t str,
}

impl<'t> Target<'t> {
    /// Reads `table(columns) ON DELETE CASCADE`.
    fn of(text: &'t str) -> Option<Self> {
        let (target, on_delete) = text.split_once(" ON DELETE ")?;
        Some(Self { table: parts(target)?.0, on_delete })
    }

    /// What a DELETE does here.
    fn effect(&self) -> String {
        let table = self.table;
        match self.on_delete {
            "CASCADE" => format!("a DELETE in {table} takes these rows along"),
            "SET NULL" => format!("a DELETE in {table} sets the columns to NULL"),
            _ => format!("a DELETE in {table} fails while such rows refer to it: delete these first"),
        }
    }

    /// What a DELETE does no more.
    fn no_effect(&self) -> String {
        let table = self.table;
        match self.on_delete {
            "CASCADE" => format!("a DELETE in {table} leaves these rows behind: delete them first"),
            "SET NULL" => format!("a DELETE in {table} leaves the columns as they are"),
            _ => format!("nothing stops a DELETE in {table} while such rows refer to it"),
        }
    }
}

//! What an upgrade leaves behind: codes that the new release cannot read, and rows that must go first.

use std::collections::BTreeMap;

use toml::Spanned;

use super::file::{LegacyFile, ManifestFile, UpgradeFile};
use super::load::{code, version_order};
use super::source::Source;
use super::{Manifest, State, TableSpec};
use crate::Result;

/// Names that changed while the thing stayed the same.
#[derive(Clone, Debug, Default)]
pub struct Renamed {
    /// The old name of a table → its new one.
    pub tables: BTreeMap<String, String>,
    /// The old name of a table, and of a column of it → the column's new name.
    pub columns: BTreeMap<(String, String), String>,
}

/// A code of an earlier generation, which this one cannot read.
#[derive(Clone, Debug)]
pub struct Legacy {
    /// The role column.
    pub column: String,
    /// The code as the database holds it.
    pub code: String,
    /// What the earlier generation called it.
    pub name: String,
    /// The name of the state that a row may get instead.
    pub to: String,
    /// Whether the two mean the same; otherwise somebody must judge it.
    pub sure: bool,
    /// Why that state, with the source.
    pub why: String,
}

impl Legacy {
    /// Whether another entry speaks of the same code.
    fn is_of(&self, other: &Self) -> bool {
        (&self.column, &self.code) == (&other.column, &other.code)
    }
}

/// What must be done before an upgrade to a generation.
#[derive(Clone, Debug)]
pub struct Drain {
    /// The sentence.
    pub says: String,
    /// Where it was read.
    pub source: String,
    /// Roles whose rows must be gone.
    pub empty: Vec<String>,
    /// Role columns that must hold no unfinished state.
    pub drained: Vec<String>,
    /// Role column → codes that it must not hold.
    pub without: BTreeMap<String, Vec<String>>,
    /// Whether it matters to this generation only, not to those that come after it.
    pub here_only: bool,
    /// It is for upgrades from releases before this one.
    pub from_before: Option<String>,
}

impl Legacy {
    /// What to add to a proposal that somebody must judge.
    #[must_use]
    pub fn caveat(&self) -> &'static str {
        if self.sure { "" } else { ", which somebody must judge" }
    }
}

impl Drain {
    /// Whether rows of a database can be in its way.
    #[must_use]
    pub fn speaks_of_rows(&self) -> bool {
        !(self.empty.is_empty() && self.drained.is_empty() && self.without.is_empty())
    }
}

impl Manifest {
    /// What a row with a code of an earlier generation may become.
    #[must_use]
    pub fn legacy(&self, column: &str, code: &str) -> Option<&Legacy> {
        self.legacy.iter().find(|l| l.column == column && l.code == code)
    }

    /// How the operator confirms what is proposed for a code of an earlier generation:
    /// `task.5=KILL`, with the role column where the role has several with such codes.
    #[must_use]
    pub fn confirmation(&self, legacy: &Legacy) -> String {
        let role = |l: &Legacy| l.column.split('.').next().unwrap_or_default().to_owned();
        let alone = self.legacy.iter().all(|l| role(l) != role(legacy) || l.column == legacy.column);
        let column = if alone { role(legacy) } else { legacy.column.clone() };
        format!("{column}.{}={}", legacy.code, legacy.to)
    }

    /// The state that is proposed for a code of an earlier generation, for people.
    #[must_use]
    pub fn proposed(&self, legacy: &Legacy) -> String {
        let state = self.state_named(&legacy.column, &legacy.to).zip(self.states.get(&legacy.column));
        state.map_or_else(|| legacy.to.clone(), |(state, set)| set.shown(state))
    }

    /// The real column of a role column, `table.column`.
    #[must_use]
    pub fn real_name(&self, column: &str) -> String {
        let role = column.split('.').next().unwrap_or_default();
        match (self.roles.get(role), self.column(column)) {
            (Some(role), Ok(name)) => format!("{}.{name}", role.table),
            _ => column.to_owned(),
        }
    }

    /// What a table of an earlier generation is called now, where it got another name.
    #[must_use]
    pub fn new_name(&self, table: &str) -> Option<&str> {
        self.names_after(table).last().filter(|name| self.has_table(name))
    }

    /// The names that a table got, in order; no more than there are entries.
    pub(super) fn names_after(&self, table: &str) -> impl Iterator<Item = &str> {
        let renamed = &self.renamed.tables;
        std::iter::successors(renamed.get(table), move |name| renamed.get(*name))
            .take(renamed.len())
            .map(String::as_str)
    }

    /// The state of a name that a column may hold.
    #[must_use]
    pub fn state_named(&self, column: &str, name: &str) -> Option<&State> {
        self.states.get(column)?.states.iter().find(|s| s.name == name && s.legal)
    }
}

/// Reads what a file says of earlier generations into its manifest, which has the states already.
pub(super) fn read(manifest: &mut Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    renamed(manifest, source, file)?;
    converted(manifest, source, file)?;
    let mut own: Vec<Legacy> = Vec::new();
    for entry in &file.legacy {
        let legacy = legacy(manifest, source, entry)?;
        if own.iter().any(|l| l.is_of(&legacy)) {
            let message = format!("legacy.code: {} {} is listed twice", legacy.column, legacy.code);
            return Err(source.at(&entry.code, message));
        }
        own.push(legacy);
    }
    manifest.legacy.retain(|l| !own.iter().any(|o| o.is_of(l)));
    manifest.legacy.extend(own);
    // What may be written again is no leftover.
    let states = &manifest.states;
    let readable = |l: &Legacy| states.get(&l.column).is_none_or(|set| set.by_code(&l.code).is_some_and(|s| s.legal));
    manifest.legacy.retain(|l| !readable(l));
    manifest.upgrade = file.upgrade.iter().map(|entry| drain(manifest, source, entry)).collect::<Result<_>>()?;
    Ok(())
}

fn legacy(manifest: &Manifest, source: Source<'_>, file: &LegacyFile) -> Result<Legacy> {
    let column = file.column.get_ref();
    let Some(set) = manifest.states.get(column) else {
        return Err(source.at(&file.column, format!("legacy.column: {column} holds no states")));
    };
    let kind = if set.text { "text" } else { "int" };
    let code = code(source, kind, &file.code, "legacy.code")?;
    if set.by_code(&code).is_some_and(|s| s.legal) {
        return Err(source.at(&file.code, format!("legacy.code: {column} may hold {code}, so it is no leftover")));
    }
    let to = file.to.get_ref();
    if manifest.state_named(column, to).is_none() {
        return Err(source.at(&file.to, format!("legacy.to: {column} has no legal state {to}")));
    }
    if file.why.get_ref().trim().is_empty() {
        return Err(source.at(&file.why, "legacy.why: say why, and where it was read"));
    }
    Ok(Legacy {
        column: column.clone(),
        code,
        name: file.name.clone(),
        to: to.clone(),
        sure: file.sure,
        why: file.why.get_ref().clone(),
    })
}

fn drain(manifest: &Manifest, source: Source<'_>, file: &UpgradeFile) -> Result<Drain> {
    if let Some(role) = file.empty.iter().find(|role| !manifest.roles.contains_key(role.get_ref())) {
        return Err(source.at(role, format!("upgrade.empty: no role {}", role.get_ref())));
    }
    if let Some(column) = file.drained.iter().find(|column| !manifest.states.contains_key(column.get_ref())) {
        return Err(source.at(column, format!("upgrade.drained: {} holds no states", column.get_ref())));
    }
    let mut without = BTreeMap::new();
    for (column, codes) in &file.without {
        let Some(set) = manifest.states.get(column.get_ref()) else {
            return Err(source.at(column, format!("upgrade.without: {} holds no states", column.get_ref())));
        };
        let kind = if set.text { "text" } else { "int" };
        let codes = codes.iter().map(|c| code(source, kind, c, "upgrade.without")).collect::<Result<_>>()?;
        without.insert(column.get_ref().clone(), codes);
    }
    if let Some(release) = file.from_before.as_ref().filter(|r| version_order(r.get_ref()).is_empty()) {
        return Err(source.at(release, format!("upgrade.from_before: {} is no release", release.get_ref())));
    }
    if file.says.get_ref().trim().is_empty() {
        return Err(source.at(&file.says, "upgrade.says: say what must be done"));
    }
    let texts = |list: &[Spanned<String>]| list.iter().map(|t| t.get_ref().clone()).collect();
    Ok(Drain {
        says: file.says.get_ref().clone(),
        source: file.source.clone(),
        empty: texts(&file.empty),
        drained: texts(&file.drained),
        without,
        here_only: file.here_only,
        from_before: file.from_before.as_ref().map(|release| release.get_ref().clone()),
    })
}

/// The columns whose values an upgrade rewrites; those of earlier ones stay known. Of files that
/// come with the program not all tables of their time are read here, and the tests have checked them.
fn converted(manifest: &mut Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    for (name, says) in &file.converted {
        let known = name.get_ref().split_once('.').filter(|(table, column)| {
            let has = |t: &TableSpec| t.columns.iter().any(|c| c.name == *column);
            source.file.built_in || manifest.tables.get(*table).is_some_and(has)
        });
        let Some((table, column)) = known else {
            return Err(source.at(name, format!("converted: there is no column {}", name.get_ref())));
        };
        manifest.converted.insert((table.to_owned(), column.to_owned()), says.clone());
    }
    Ok(())
}

/// The names that a generation changes; those of earlier ones stay known. Checked as [`converted`].
fn renamed(manifest: &mut Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    for (old, new) in &file.renamed.tables {
        if !(source.file.built_in || manifest.has_table(new.get_ref())) {
            return Err(source.at(new, format!("renamed.tables: there is no table {}", new.get_ref())));
        }
        manifest.renamed.tables.insert(old.clone(), new.get_ref().clone());
    }
    for (old, new) in &file.renamed.columns {
        let Some((table, column)) = old.get_ref().split_once('.') else {
            return Err(source.at(old, format!("renamed.columns: `{}` is not table.column", old.get_ref())));
        };
        let now = manifest.renamed.tables.get(table).map_or(table, String::as_str);
        let has = |t: &TableSpec| t.columns.iter().any(|c| c.name == *new.get_ref());
        // A role may have taken the table along under another name.
        let there = manifest.tables.get(now).map_or_else(|| manifest.tables.values().any(has), has);
        if !(there || source.file.built_in) {
            return Err(source.at(new, format!("renamed.columns: {now} has no column {}", new.get_ref())));
        }
        manifest.renamed.columns.insert((table.to_owned(), column.to_owned()), new.get_ref().clone());
    }
    Ok(())
}

//! What is known of the release that a script will run on, and of its neighbours.

mod elsewhere;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use self::elsewhere::Neighbours;
use super::reading::{Change, Does, Filter};
use crate::manifest::{ColumnSpec, Engine, ForeignKey, Manifest, Manifests, Role, StateSet, TableSpec};
use crate::{Error, Result};

/// The release, on one kind of database.
pub struct Knowledge<'a> {
    /// The release's generation.
    pub manifest: &'a Manifest,
    /// The release that was named.
    pub release: String,
    /// What people call it, where a database may be one of several that look alike.
    span: Option<String>,
    /// The kind of database.
    pub engine: Engine,
    /// Tables by their name in lower case.
    tables: BTreeMap<String, &'a TableSpec>,
    /// The other generations, of which most scripts need to know nothing.
    neighbours: Neighbours<'a>,
    /// What most of the tables' names begin with, in lower case.
    prefix: Option<String>,
    /// Tables in lower case → the role that each plays. Every statement asks for these four.
    roles: BTreeMap<String, (&'a str, &'a Role)>,
    /// Table and column in lower case → the role column.
    role_columns: BTreeMap<String, BTreeMap<String, String>>,
    /// Tables in lower case → their state columns, as the manifest spells them.
    state_columns: BTreeMap<String, Vec<StateColumn<'a>>>,
    /// Tables in lower case that no repair writes.
    forbidden: BTreeSet<String>,
    /// Referring and referred columns in lower case, where their names differ.
    references: References,
}

/// Referring and referred columns, in lower case.
pub(super) type References = Arc<[(String, String)]>;

/// A column that holds states, as the manifest spells it, with them.
pub type StateColumn<'a> = (String, &'a StateSet);

impl<'a> Knowledge<'a> {
    /// What is known of a release.
    ///
    /// # Errors
    /// The scheduler or the release is not known, or has no schema for the kind of database.
    pub fn of(manifests: &'a Manifests, scheduler: &str, release: &str, engine: Engine) -> Result<Self> {
        let manifest = manifests.release(scheduler, release)?;
        let tables: BTreeMap<String, &TableSpec> =
            manifest.tables.values().filter(|t| t.on(engine)).map(|t| (t.name.to_lowercase(), t)).collect();
        if !manifest.runs_on(engine) {
            let others: Vec<&str> = manifest.engines.iter().map(|e| e.title()).collect();
            let message = format!("{} {release} has no schema for {}", manifest.title, engine.title());
            let hint =
                format!("its schema is for {}: --dialect {}", others.join(", "), others.join(" or ").to_lowercase());
            return Err(Error::usage(message).hint(hint));
        }
        let prefix = common_prefix(tables.keys());
        let role_columns = role_columns(manifest);
        let state_columns = tables.iter().map(|(name, spec)| {
            let known = role_columns.get(name);
            let set = |column: &str| manifest.states.get(known?.get(&column.to_lowercase())?);
            let columns = spec.columns_on(engine).filter_map(|c| Some((c.name.clone(), set(&c.name)?)));
            (name.clone(), columns.collect())
        });
        let mut roles = BTreeMap::new();
        for (name, role) in &manifest.roles {
            roles.entry(role.table.to_lowercase()).or_insert((name.as_str(), role));
        }
        Ok(Self {
            state_columns: state_columns.collect(),
            forbidden: tables.keys().filter(|t| manifest.is_forbidden_table(t)).cloned().collect(),
            references: references(manifest),
            role_columns,
            roles,
            manifest,
            release: release.to_owned(),
            span: None,
            engine,
            tables,
            neighbours: Neighbours { manifests, here: manifest },
            prefix,
        })
    }

    /// How people call the release: the scheduler's title and the version.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{} {}", self.manifest.title, self.span.as_ref().unwrap_or(&self.release))
    }

    /// The same, of a database that may be any of some releases: `2.10.3 to 2.11.2`.
    #[must_use]
    pub fn of_any(self, span: &str) -> Self {
        Self { span: Some(span.to_owned()), ..self }
    }

    /// The scheduler's table of a name, however it is spelt.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&'a TableSpec> {
        self.tables.get(lower(name).as_ref()).copied()
    }

    /// Whether the release has a table of which nothing but the name is known.
    #[must_use]
    pub fn has_undescribed(&self, table: &str) -> bool {
        self.manifest.other_tables.iter().any(|t| t.eq_ignore_ascii_case(table))
    }

    /// The names of the tables that are described.
    pub fn table_names(&self) -> impl Iterator<Item = &'a str> {
        self.tables.values().map(|t| t.name.as_str())
    }

    /// Whether a table has a column on this kind of database.
    #[must_use]
    pub fn has_column(&self, table: &TableSpec, column: &str) -> bool {
        table.column_on(self.engine, column).is_some()
    }

    /// The column's form, if the table has it.
    #[must_use]
    pub fn column_spec<'t>(&self, table: &'t TableSpec, column: &str) -> Option<Cow<'t, ColumnSpec>> {
        table.column_on(self.engine, column)?.on(self.engine)
    }

    /// Whether a column holds dates with their time.
    #[must_use]
    pub fn is_date(&self, table: &str, column: &str) -> bool {
        let spec = self.table(table).and_then(|t| self.column_spec(t, column));
        spec.is_some_and(|c| ["datetime", "timestamp"].iter().any(|t| c.type_sql.to_lowercase().starts_with(t)))
    }

    /// Whether a column holds moments, which each session reads in its own zone.
    #[must_use]
    pub fn is_moment(&self, table: &str, column: &str) -> bool {
        let spec = self.table(table).and_then(|t| self.column_spec(t, column));
        let type_sql = spec.map(|c| c.type_sql.to_lowercase()).unwrap_or_default();
        match self.engine {
            Engine::PostgreSql => type_sql.contains("with time zone") || type_sql.starts_with("timestamptz"),
            Engine::MySql => type_sql.starts_with("timestamp"),
            Engine::Sqlite => false,
        }
    }

    /// The columns of the scheduler's tables by which rows refer to others.
    #[must_use]
    pub(super) fn references(&self) -> References {
        self.references.clone()
    }

    /// The role that a table plays.
    #[must_use]
    pub fn role(&self, table: &str) -> Option<(&'a str, &'a Role)> {
        self.roles.get(lower(table).as_ref()).copied()
    }

    /// Whether no repair writes a table.
    #[must_use]
    pub fn is_forbidden(&self, table: &str) -> bool {
        let lower = lower(table);
        if self.tables.contains_key(lower.as_ref()) {
            return self.forbidden.contains(lower.as_ref());
        }
        // What the release lacks may be named all the same. A pattern fits names of one's own, too,
        // unless they begin as the scheduler's do.
        let is_named = self.manifest.forbidden.tables.iter().any(|name| name.eq_ignore_ascii_case(table));
        let begins = self.prefix.as_ref().is_some_and(|prefix| lower.starts_with(prefix.as_str()));
        (is_named || begins || self.has_undescribed(table)) && self.manifest.is_forbidden_table(table)
    }

    /// Whether a table holds records whose old rows may be deleted to make room.
    #[must_use]
    pub fn is_cleaned(&self, table: &str) -> bool {
        self.manifest.forbidden.cleaned.iter().any(|t| t.eq_ignore_ascii_case(table))
    }

    /// Whether a change deletes old rows of such a table.
    #[must_use]
    pub fn makes_room(&self, change: &Change) -> bool {
        change.does == Does::Delete && self.is_cleaned(&change.table) && !change.filter.older.is_empty()
    }

    /// The role column of a column: `task_instance.state`.
    #[must_use]
    pub fn role_column(&self, table: &str, column: &str) -> Option<&str> {
        let of_table = self.role_columns.get(lower(table).as_ref())?;
        of_table.get(lower(column).as_ref()).map(String::as_str)
    }

    /// The states of a column, if it holds states.
    #[must_use]
    pub fn states(&self, table: &str, column: &str) -> Option<(&str, &'a StateSet)> {
        let name = self.role_column(table, column)?;
        let set = self.manifest.states.get(name)?;
        Some((name, set))
    }

    /// The table's primary key.
    #[must_use]
    pub fn key(&self, table: &str) -> Vec<String> {
        self.table(table).map(|t| t.key_on(self.engine).to_vec()).unwrap_or_default()
    }

    /// Whether a condition names rows: by the primary key, or by a unique one.
    #[must_use]
    pub fn names_rows(&self, table: &str, filter: &Filter) -> bool {
        let unique = self.table(table).map(|t| t.unique_on(self.engine)).unwrap_or_default();
        filter.names(&self.key(table)) || unique.iter().any(|key| filter.names(key))
    }

    /// Whether a column leads the primary key, a unique key or an index.
    #[must_use]
    pub fn is_indexed(&self, table: &str, column: &str) -> bool {
        let Some(spec) = self.table(table) else { return false };
        let leads = |key: &Vec<String>| key.first().is_some_and(|c| c.eq_ignore_ascii_case(column));
        let key = spec.key_on(self.engine).first().is_some_and(|c| c.eq_ignore_ascii_case(column));
        // InnoDB makes an index for each foreign key.
        let foreign = self.engine == Engine::MySql && spec.foreign_keys_mysql.iter().any(|k| leads(&k.columns));
        key || foreign || spec.unique_on(self.engine).iter().chain(spec.indexes_on(self.engine)).any(leads)
    }

    /// The tables with a foreign key to a table.
    #[must_use]
    pub fn children(&self, table: &str) -> Vec<(&'a str, &'a ForeignKey)> {
        let all =
            self.tables.values().flat_map(|t| t.foreign_keys_on(self.engine).iter().map(|k| (t.name.as_str(), k)));
        all.filter(|(_, key)| key.references.eq_ignore_ascii_case(table)).collect()
    }

    /// Whether the manifest names tables of the scheduler that it does not describe: whatever is
    /// said of who refers to a row is then not all.
    #[must_use]
    pub fn leaves_tables_out(&self) -> bool {
        let undescribed = |name: &&String| {
            let lower = name.to_lowercase();
            !lower.contains('*') && !self.tables.contains_key(&lower) && self.elsewhere(&lower).is_none()
        };
        !self.manifest.other_tables.is_empty() || self.manifest.forbidden.tables.iter().any(|name| undescribed(&name))
    }

    /// Whether a table's rows go along with a table's rows, or hold them fast.
    #[must_use]
    pub fn holds_on_to(&self, child: &str, table: &str) -> bool {
        let own = |(name, key): &(&str, &ForeignKey)| {
            name.eq_ignore_ascii_case(child) && !key.on_delete.eq_ignore_ascii_case("SET NULL")
        };
        self.children(table).iter().any(own)
    }

    /// The tables whose rows a table's rows are parts of, with the referring column.
    #[must_use]
    pub fn parents_of_parts(&self, table: &str) -> Vec<(String, String)> {
        let relations = self.manifest.relations.iter().filter(|r| r.part_of);
        let named = relations.filter_map(|r| {
            let (child, column) = r.child.split_once('.')?;
            let (parent, _) = r.parent.split_once('.')?;
            let (child, parent) = (self.manifest.roles.get(child)?, self.manifest.roles.get(parent)?);
            let ours = child.table.eq_ignore_ascii_case(table) && !parent.table.eq_ignore_ascii_case(table);
            ours.then(|| (parent.table.clone(), column.to_owned()))
        });
        named.collect()
    }

    /// The tables whose rows are parts of a table's rows.
    #[must_use]
    pub fn parts_of(&self, table: &str) -> Vec<String> {
        let mut found: Vec<String> = self
            .table_names()
            .filter(|child| self.parents_of_parts(child).iter().any(|(p, _)| p.eq_ignore_ascii_case(table)))
            .map(ToOwned::to_owned)
            .collect();
        found.dedup();
        found
    }

    /// The state columns of a table, as the manifest spells them, with their states.
    #[must_use]
    pub fn state_columns(&self, table: &TableSpec) -> &[StateColumn<'a>] {
        self.state_columns.get(lower(&table.name).as_ref()).map_or(&[], Vec::as_slice)
    }

    /// Whether a column says, alone or with the one beside it, whether a row of a table is over.
    #[must_use]
    pub fn is_own_state(&self, table: &str, column: &str) -> bool {
        let Some((own, set)) = self.own_state(table) else { return false };
        let with = set.with.as_ref().and_then(|with| self.manifest.column(with).ok());
        own.eq_ignore_ascii_case(column) || with.is_some_and(|with| with.eq_ignore_ascii_case(column))
    }

    /// The column that says whether a row of a table is over, with its states.
    #[must_use]
    pub fn own_state(&self, table: &str) -> Option<(&'a str, &'a StateSet)> {
        let (_, role) = self.role(table)?;
        let column = role.columns.get("state")?;
        Some((column, self.states(table, column)?.1))
    }
}

/// A name in lower case. Most are written so.
fn lower(name: &str) -> Cow<'_, str> {
    let is_lower = name.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase());
    if is_lower { Cow::Borrowed(name) } else { Cow::Owned(name.to_lowercase()) }
}

/// Table and column in lower case → the role column; of several roles the first counts.
fn role_columns(m: &Manifest) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (name, role) in &m.roles {
        let columns = found.entry(role.table.to_lowercase()).or_default();
        for (alias, real) in &role.columns {
            columns.entry(real.to_lowercase()).or_insert_with(|| format!("{name}.{alias}"));
        }
    }
    found
}

/// What at least half of the names begin with, up to an underscore.
fn common_prefix<'n>(names: impl Iterator<Item = &'n String>) -> Option<String> {
    let names: Vec<&String> = names.collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &names {
        for (at, _) in name.match_indices('_') {
            *counts.entry(&name[..=at]).or_default() += 1;
        }
    }
    let common = counts.into_iter().filter(|(prefix, n)| n * 2 >= names.len() && prefix.len() > 2);
    common.max_by_key(|(prefix, n)| (*n, prefix.len())).map(|(prefix, _)| prefix.to_owned())
}

fn references(m: &Manifest) -> References {
    let real = |name: &str| m.column(name).ok().map(str::to_lowercase);
    let pairs = m.relations.iter().filter_map(|r| Some((real(&r.child)?, real(&r.parent)?)));
    pairs.filter(|(child, parent)| child != parent).collect()
}

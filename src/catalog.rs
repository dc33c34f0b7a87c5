//! The live tables as a plan needs them: names, columns, keys, triggers, foreign keys. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::dialect::TypeClass;
use crate::manifest::marks;

/// One row, read as text.
pub type Row = Vec<Option<String>>;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// An ordinary table.
    Base,
    /// A partitioned table.
    Partitioned,
    /// A view, foreign table or anything else that rows do not live in.
    Other,
}

/// A table of the live database.
#[derive(Clone, Debug)]
pub struct LiveTable {
    /// The name as the server writes it.
    pub name: String,
    /// What the name stands for.
    pub kind: TableKind,
    /// The storage engine (MySQL) or, elsewhere, nothing.
    pub engine: Option<String>,
    /// Columns in order.
    pub columns: Vec<LiveColumn>,
    /// Primary key columns in order.
    pub key: Vec<String>,
    /// Names of the triggers and rules on it.
    pub triggers: Vec<String>,
    /// Foreign keys from or to it.
    pub foreign_keys: Vec<LiveForeignKey>,
    /// Keys and indexes on whole columns.
    pub indexes: Vec<LiveIndex>,
}

/// A key or an index of the live database.
#[derive(Clone, Debug)]
pub struct LiveIndex {
    /// Its name.
    pub name: String,
    /// Whether it forbids doubles.
    pub unique: bool,
    /// Its columns in order.
    pub columns: Vec<String>,
}

/// A column of the live database.
#[derive(Clone, Debug)]
pub struct LiveColumn {
    /// The name.
    pub name: String,
    /// The type as the server writes it, with character set where that matters.
    pub type_sql: String,
    /// The class of the type.
    pub class: TypeClass,
    /// Whether the server computes it.
    pub generated: bool,
    /// Whether an update of the row moves it by itself.
    pub on_update: bool,
    /// Whether NULL is allowed.
    pub nullable: bool,
}

/// A foreign key of the live database.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LiveForeignKey {
    /// The referring table.
    pub child: String,
    /// The table referred to.
    pub parent: String,
    /// What a delete of the parent does.
    pub on_delete: String,
    /// Referring and referred columns, side by side.
    pub columns: Vec<(String, String)>,
}

impl LiveForeignKey {
    /// Whether a delete of the parent writes the child.
    #[must_use]
    pub fn acts(&self) -> bool {
        !matches!(self.on_delete.as_str(), "NO ACTION" | "RESTRICT")
    }
}

/// All tables of the scheduler's schema.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    tables: BTreeMap<String, LiveTable>,
}

impl Catalog {
    /// The table of a name, whatever its case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&LiveTable> {
        self.tables.get(name).or_else(|| self.tables.values().find(|t| t.name.eq_ignore_ascii_case(name)))
    }

    /// All tables of a name, whatever their case.
    #[must_use]
    pub fn named(&self, name: &str) -> Vec<&LiveTable> {
        self.tables.values().filter(|t| t.name.eq_ignore_ascii_case(name)).collect()
    }

    /// All tables in name order.
    pub fn iter(&self) -> impl Iterator<Item = &LiveTable> {
        self.tables.values()
    }

    /// Whether there is no table at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Tables and `table.column` marks, in lower case, as manifests give them.
    #[must_use]
    pub fn marks(&self) -> BTreeSet<String> {
        let mut marks = BTreeSet::new();
        for table in self.iter() {
            marks.insert(table.name.to_lowercase());
            marks.extend(table.columns.iter().map(|c| format!("{}.{}", table.name, c.name).to_lowercase()));
        }
        marks
    }

    /// Marks of types, keys and indexes, as manifests give them.
    #[must_use]
    pub fn details(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for table in self.iter() {
            found.extend(table.columns.iter().flat_map(|c| marks::of_type(&table.name, &c.name, &c.type_sql)));
            found.extend(table.indexes.iter().flat_map(|i| marks::of_index(&table.name, &i.columns, i.unique)));
        }
        found
    }

    pub(crate) fn table_mut(&mut self, name: &str) -> Option<&mut LiveTable> {
        self.tables.get_mut(name)
    }

    pub(crate) fn add_table(&mut self, name: String, kind: TableKind, engine: Option<String>) {
        let table = LiveTable {
            name: name.clone(),
            kind,
            engine,
            columns: Vec::new(),
            key: Vec::new(),
            triggers: Vec::new(),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
        };
        self.tables.insert(name, table);
    }

    pub(crate) fn add_foreign_key(&mut self, key: &LiveForeignKey) {
        for end in [&key.child, &key.parent] {
            if let Some(table) = self.table_mut(end)
                && !table.foreign_keys.contains(key)
            {
                table.foreign_keys.push(key.clone());
            }
        }
    }
}

impl LiveTable {
    /// The column of a name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&LiveColumn> {
        self.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name))
    }

    /// Foreign keys through which a delete from this table would write others.
    pub fn reached(&self) -> impl Iterator<Item = &LiveForeignKey> {
        self.foreign_keys.iter().filter(|k| k.parent.eq_ignore_ascii_case(&self.name) && k.acts())
    }

    /// Columns that hold data of their own.
    pub fn stored_columns(&self) -> impl Iterator<Item = &LiveColumn> {
        self.columns.iter().filter(|c| !c.generated)
    }
}

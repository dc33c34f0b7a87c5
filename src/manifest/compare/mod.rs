//! What differs between two generations: states, tables, columns, keys and behaviour.

mod behaviours;
mod keys;
mod renames;
mod states;
mod tables;

use serde::Serialize;

use super::{Engine, Manifest};

/// The databases that upstream ships schemas for.
const ENGINES: [Engine; 2] = [Engine::MySql, Engine::PostgreSql];

/// A kind of difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// A column holds states that the older generation does not name.
    StatesAdded,
    /// A column's states are gone: the column, or its role, is.
    StatesDropped,
    /// The codes of a column are text instead of numbers, or the other way round.
    CodesRetyped,
    /// A code is new.
    StateAdded,
    /// A code is gone.
    StateRemoved,
    /// The same name has another code.
    StateRenumbered,
    /// The same code has another name.
    StateRenamed,
    /// The column may now hold the code.
    StateLegal,
    /// The column may no longer hold the code.
    StateIllegal,
    /// The same code means something else.
    StateMeaning,
    /// The code now counts as finished, for repairs or for the scheduler, or no longer does.
    StateFinished,
    /// A table is new.
    TableAdded,
    /// A table is gone.
    TableDropped,
    /// A table has another name.
    TableRenamed,
    /// A column is new.
    ColumnAdded,
    /// A column is gone.
    ColumnDropped,
    /// A column has another name.
    ColumnRenamed,
    /// A column has another type, default or nullability.
    ColumnRetyped,
    /// A table has another primary key.
    KeyChanged,
    /// Rows may no longer share the values of some columns.
    UniqueAdded,
    /// Rows may share the values of some columns.
    UniqueDropped,
    /// A table refers to another.
    ForeignKeyAdded,
    /// A table refers to another no more.
    ForeignKeyDropped,
    /// A table refers to another one, or a delete there does something else here.
    ForeignKeyChanged,
    /// A fact about what the scheduler does is another.
    BehaviourChanged,
    /// A recipe can be used from here on.
    RecipeStarts,
    /// A recipe can be used no longer.
    RecipeStops,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Change {
    /// Its kind.
    pub kind: ChangeKind,
    /// What changes: a role column with states, a table, `table.column`, `table(columns)` of a key, a name
    /// of `[behaviour]`, or a recipe.
    /// Tables and columns are called as the older generation calls them, if it has them.
    pub subject: String,
    /// The code, of a state: as the database holds it, `NULL`, or `other` for every code
    /// that is not listed. `6 (beside 0)` where its meaning hangs on a second column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The kind of database, where the others differ otherwise or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
    /// What it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl Change {
    /// A difference of a kind.
    #[must_use]
    pub fn new(kind: ChangeKind, subject: impl Into<String>) -> Self {
        Self { kind, subject: subject.into(), code: None, engine: None, before: None, after: None }
    }

    fn code(mut self, code: &str) -> Self {
        self.code = Some(code.to_owned());
        self
    }

    fn was(mut self, before: impl Into<String>) -> Self {
        self.before = Some(before.into());
        self
    }

    fn is(mut self, after: impl Into<String>) -> Self {
        self.after = Some(after.into());
        self
    }

    /// The difference in one line.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (before, after) = (self.before.as_deref().unwrap_or(""), self.after.as_deref().unwrap_or(""));
        let code = self.code.as_deref().unwrap_or("");
        let what = &self.subject;
        let sentence = match self.kind {
            ChangeKind::StatesAdded => format!("{what} holds states: {after}"),
            ChangeKind::StatesDropped => format!("{what} is gone, with its states"),
            ChangeKind::CodesRetyped => format!("the codes of {what} are {after}; they were {before}"),
            ChangeKind::StateAdded => format!("{what} {code} {after} is new"),
            ChangeKind::StateRemoved => format!("{what} {code} {before} is gone"),
            ChangeKind::StateRenumbered => format!("{what} {code}: {before} became {after}"),
            ChangeKind::StateRenamed => format!("{what} {code} is called {after}; it was {before}"),
            ChangeKind::StateLegal => format!("{what} may hold {code} {after}"),
            ChangeKind::StateIllegal => format!("{what} may no longer hold {code} {before}"),
            ChangeKind::StateMeaning => format!("{what} {code} means {after}; it meant {before}"),
            ChangeKind::StateFinished => format!("{what} {code} counts as {after}; it was {before}"),
            ChangeKind::TableAdded => format!("table {what} is new"),
            ChangeKind::TableDropped => format!("table {what} is gone"),
            ChangeKind::TableRenamed => format!("table {what} is called {after}"),
            ChangeKind::ColumnAdded => format!("column {what} is new: {after}"),
            ChangeKind::ColumnDropped => format!("column {what} is gone"),
            ChangeKind::ColumnRenamed => format!("column {what} is called {after}"),
            ChangeKind::ColumnRetyped => format!("column {what} is {after}; it was {before}"),
            ChangeKind::KeyChanged => format!("the primary key of {what} is ({after}); it was ({before})"),
            ChangeKind::UniqueAdded => format!("rows may not share the values of {what} any more"),
            ChangeKind::UniqueDropped => format!("{what} is not unique any more"),
            ChangeKind::ForeignKeyAdded => format!("{what} refers to {after}"),
            ChangeKind::ForeignKeyDropped => format!("{what} refers to {before} no more"),
            ChangeKind::ForeignKeyChanged => format!("{what} refers to {after}; it was {before}"),
            ChangeKind::BehaviourChanged => behaviours::sentence(self),
            ChangeKind::RecipeStarts => format!("recipe {what} can be used"),
            ChangeKind::RecipeStops => format!("recipe {what} cannot be used any more: {after}"),
        };
        match self.engine {
            Some(engine) => format!("{sentence} ({})", engine.title()),
            None => sentence,
        }
    }

    /// Whether another change is of the same thing, whatever it was and is.
    #[must_use]
    pub fn is_of(&self, other: &Self) -> bool {
        (self.kind, &self.subject, &self.code) == (other.kind, &other.subject, &other.code)
    }
}

/// What differs from one generation to another, ordered by kind and subject.
#[must_use]
pub fn compare(from: &Manifest, to: &Manifest) -> Vec<Change> {
    let mut changes = states::compare(from, to);
    changes.extend(tables::compare(from, to));
    changes.extend(behaviours::compare(from, to));
    changes.sort();
    changes
}

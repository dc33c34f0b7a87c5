//! One step of a plan: one table, one kind of change, its rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{NULL_STATE, OTHER_STATE, RowChange, with_utc};
use crate::catalog::{LiveForeignKey, LiveTable};
use crate::dialect::{Dialect, TypeClass};
use crate::manifest::Words;
use crate::recipe::{ConditionTime, Names, Op, SetKind};
use crate::ui::safe;

/// How many characters of a value are shown.
const SHOWN: usize = 200;

/// One step: one table, one kind of change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The recipe it is from.
    pub recipe: String,
    /// The role of the table, which names the step.
    pub role: String,
    /// The role of what the rows' `instance` names; nothing for runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// What it does, for people.
    pub title: String,
    /// Recipe and round, where other steps have the same title.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub apart: String,
    /// The kind of change.
    pub op: Op,
    /// Whether the scheduler moves these rows on as soon as it takes what the plan inserts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
    /// What it writes that no repair writes otherwise, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<String>,
    /// Rule of the linter → why the step may do what the rule calls an error.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accepts: BTreeMap<String, String>,
    /// Columns that the scheduler goes on to write once it takes the rows up again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves_on: Vec<String>,
    /// Whether the scheduler deletes these rows when it is done with them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_end: bool,
    /// The table's name.
    pub table: String,
    /// Primary key columns.
    pub key: Vec<Column>,
    /// All columns that hold data of their own, in order.
    pub columns: Vec<Column>,
    /// Columns that are written.
    pub set: Vec<SetColumn>,
    /// Columns that must still hold what was read: written ones and witnesses.
    pub pins: Vec<Column>,
    /// A row of another table that must not have moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub related: Option<Related>,
    /// Tables that a delete would reach: no row there may refer to the step's rows then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub referrers: Vec<Referrer>,
    /// Other unique keys of a table from which rows are deleted: a new row may take such a key, and the
    /// deleted one cannot come back then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unique: Vec<Vec<String>>,
    /// What must hold on other rows, for the row with alias `t`.
    #[serde(default)]
    pub conditions: Vec<PlanCondition>,
    /// Columns that hold times as milliseconds since the epoch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub epoch_ms: Vec<String>,
    /// Column → code → name, for people.
    #[serde(default)]
    pub states: BTreeMap<String, BTreeMap<String, String>>,
    /// The rows, ordered by key.
    pub rows: Vec<RowChange>,
}

/// The name of a step by its place in the plan, also its file's name.
#[must_use]
pub fn step_name(index: usize, role: &str) -> String {
    // Preflight and backup are 01 and 02.
    format!("{:02}_{role}", index + 3)
}

/// A column of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The type as the server writes it.
    pub type_sql: String,
    /// The class of the type.
    pub class: TypeClass,
    /// Whether an update of the row moves it by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_update: bool,
}

/// A column that is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetColumn {
    /// The column.
    pub column: Column,
    /// How the new value is known.
    pub kind: SetKind,
    /// The expression of `now` and `recount`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
}

/// A row of another table that a step's rows hang on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Related {
    /// The table's name.
    pub table: String,
    /// The step's columns that refer to it.
    pub from: Names,
    /// Its columns that are referred to, in the same order.
    pub to: Names,
    /// Its columns that must still hold what was read.
    pub pins: Vec<Column>,
    /// Those of them that must still hold it when the repair is undone: its states. A row that went
    /// back under one that has ended meanwhile would be nobody's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<String>,
}

/// A table with a foreign key through which a delete would write it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Referrer {
    /// The table's name.
    pub table: String,
    /// Its columns and the step's, side by side.
    pub columns: Vec<(String, String)>,
}

impl Referrer {
    /// The referrers of a table that a bundle can look at: those of its own schema.
    pub(super) fn of(table: &LiveTable) -> Vec<Self> {
        let own = table.reached().filter(|key| !key.child.contains('.'));
        own.map(|key| Self { table: key.child.clone(), columns: key.columns.clone() }).collect()
    }

    /// Whether this is the one of a foreign key.
    #[must_use]
    pub fn is(&self, key: &LiveForeignKey) -> bool {
        self.table == key.child && self.columns == key.columns
    }
}

impl Related {
    /// The condition that joins it (alias `r`) to a row of the step (alias `t`).
    #[must_use]
    pub fn on(&self, d: &Dialect) -> String {
        let pairs = self.from.0.iter().zip(&self.to.0);
        pairs.map(|(from, to)| format!("r.{} = t.{}", d.ident(to), d.ident(from))).collect::<Vec<_>>().join(" AND ")
    }
}

/// A condition of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanCondition {
    /// Stable name.
    pub name: String,
    /// What it says.
    pub title: String,
    /// When it must hold.
    pub at: ConditionTime,
    /// The expression over alias `t`.
    pub sql: String,
    /// Whether it need hold only until the repair ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

fn retain_places<T>(items: &mut Vec<T>, without: &[bool]) {
    let mut places = without.iter();
    items.retain(|_| !places.next().copied().unwrap_or_default());
}

impl Step {
    /// The title, told apart from other steps of the same title.
    #[must_use]
    pub fn full_title(&self) -> String {
        if self.apart.is_empty() { self.title.clone() } else { format!("{} ({})", self.title, self.apart) }
    }

    /// What names a row for people, in one text or two that are joined: its key and its label,
    /// or one of them. A row to come has no key of its own yet. `clean` is done to each text
    /// of somebody else.
    #[must_use]
    pub fn row_name(&self, words: &Words, row: &RowChange, clean: impl Fn(&str) -> String) -> Vec<String> {
        let key = match (self.op, &row.instance) {
            (Op::Insert, Some(of)) => format!("new, for {} {}", words.unit(&self.unit, 1), clean(of)),
            (Op::Insert, None) => "new".to_owned(),
            _ => clean(&row.key_text()),
        };
        words.row_name(&self.role, &key, &clean(&row.label)).into_iter().map(str::to_owned).collect()
    }

    /// Whether it inserts rows that the scheduler takes and deletes: their effect cannot be undone.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.op == Op::Insert && self.may_end
    }

    /// Whether it writes a counter, which follows other rows.
    #[must_use]
    pub fn is_recount(&self) -> bool {
        self.set.iter().any(|s| s.kind == SetKind::Recount)
    }

    /// Writes no column that keeps its value in every row. It stays pinned.
    pub(super) fn leave_kept_columns(&mut self) {
        let kept = |(index, set): (usize, &SetColumn)| {
            let pin = self.pin_index(&set.column.name).filter(|_| set.kind == SetKind::Row);
            pin.is_some_and(|pin| self.rows.iter().all(|r| r.old[pin] == r.new[index]))
        };
        let kept: Vec<bool> = self.set.iter().enumerate().map(kept).collect();
        if kept.iter().all(|kept| *kept) {
            return;
        }
        retain_places(&mut self.set, &kept);
        self.rows.iter_mut().for_each(|row| retain_places(&mut row.new, &kept));
    }

    /// The written column of a name, with its place in `RowChange::new`.
    #[must_use]
    pub fn set_column(&self, name: &str) -> Option<(usize, &SetColumn)> {
        self.set.iter().enumerate().find(|(_, s)| s.column.name == name)
    }

    /// The place of a column in `RowChange::old`.
    #[must_use]
    pub fn pin_index(&self, name: &str) -> Option<usize> {
        self.pins.iter().position(|c| c.name == name)
    }

    /// What a planned row holds in a column before the repair, if the plan knows.
    #[must_use]
    pub fn value_before<'r>(&self, row: &'r RowChange, column: &str) -> Option<&'r str> {
        row.old.get(self.pin_index(column)?)?.as_deref()
    }

    /// What a planned row holds in a column after the repair, if the plan knows.
    #[must_use]
    pub fn value_after<'r>(&self, row: &'r RowChange, column: &str) -> Option<&'r str> {
        match self.set_column(column) {
            Some((index, _)) => row.new.get(index)?.as_deref(),
            None => self.value_before(row, column),
        }
    }

    /// A value with its state's name, where it is a state, or with its moment, where it is one.
    /// It is one line of limited length: it goes into comments of SQL files, where a
    /// line break would make a statement, or a client's command, of what follows.
    #[must_use]
    pub fn show_value(&self, column: &str, value: Option<&str>) -> String {
        match value {
            None => match self.states.get(column).and_then(|names| names.get(NULL_STATE)) {
                Some(name) => format!("NULL {name}"),
                None => "NULL".to_owned(),
            },
            Some(ms) if self.epoch_ms.iter().any(|c| c == column) => with_utc(&safe(ms, SHOWN)),
            Some(code) => match self.states.get(column).and_then(|names| names.get(code).or(names.get(OTHER_STATE))) {
                // Where states are stored as text, the code is its own name.
                Some(name) if !name.eq_ignore_ascii_case(code) => format!("{} {name}", safe(code, SHOWN)),
                _ => safe(code, SHOWN),
            },
        }
    }
}

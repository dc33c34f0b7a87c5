//! A statement as the rules see it: which rows it selects, what it writes.
//!
//! Nothing of the syntax tree is kept, so a long script needs little memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use sqlparser::tokenizer::Span;

/// One statement.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Its bytes.
    pub range: Range<usize>,
    /// What it does as a whole.
    pub deed: Deed,
    /// The changes in it; several with CTEs, triggers and joined updates.
    pub changes: Vec<Change>,
    /// The tables it names.
    pub tables: Vec<TableUse>,
    /// The columns that no table in scope has.
    pub strangers: Vec<Stranger>,
    /// Where a state column meets a literal.
    pub codes: Vec<CodeUse>,
    /// Remarks on conditions, wherever they stand.
    pub remarks: Vec<(Remark, Span)>,
}

/// What a statement does as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Deed {
    /// Reads.
    Query,
    /// Changes rows.
    Change,
    /// Begins a transaction.
    Begin,
    /// Ends one.
    Commit,
    /// Undoes one.
    Rollback,
    /// Makes or changes a table, a trigger, an event, a routine …
    Define(Definition),
    /// Sets a session's variable.
    Set {
        /// Its name in lower case, without marks.
        name: String,
        /// Its value as written.
        value: String,
    },
    /// Anything else.
    #[default]
    Other,
}

/// A statement that defines something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// `CREATE TABLE`, `DROP TABLE`, `TRUNCATE`, `CREATE TRIGGER` …
    pub what: &'static str,
    /// The tables that it makes, changes, or hangs on.
    pub tables: Vec<String>,
    /// Whether a table is filled from a query in the same statement.
    pub filled: bool,
    /// Whether it is temporary, which commits nothing.
    pub temporary: bool,
}

/// A table by name.
#[derive(Clone, Debug)]
pub struct TableUse {
    /// The name without its schema.
    pub name: String,
    /// The schema that is written before it.
    pub schema: Option<String>,
    /// Whether it is written.
    pub written: bool,
    /// In what part of the statement.
    pub part: Part,
    /// Whether the statement asks that there be no row of it: `NOT EXISTS`, `NOT IN`, an outer join, a count of 0.
    pub absent: bool,
    /// Where.
    pub span: Span,
}

/// A part of a statement, as far as a server reads its tables apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// The statement itself, with its joins.
    #[default]
    Itself,
    /// A sub-query of an expression.
    SubQuery,
    /// A derived table or a common table expression: a result of its own.
    Derived,
}

/// A column that is not there.
#[derive(Clone, Debug)]
pub struct Stranger {
    /// The tables it was looked for in, as the manifest spells them.
    pub tables: Vec<String>,
    /// The column as written.
    pub column: String,
    /// Where.
    pub span: Span,
}

/// A literal that a state column is compared with, or gets.
#[derive(Clone, Debug)]
pub struct CodeUse {
    /// `task_instance.state`.
    pub role_column: String,
    /// The column as the manifest spells it, with its table.
    pub column: String,
    /// The literal.
    pub scalar: Scalar,
    /// Whether it is written.
    pub written: bool,
    /// Whether the column must equal it, or another of a list.
    pub equal: bool,
    /// Where the literal stands.
    pub span: Span,
}

/// A literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// NULL.
    Null,
    /// A quoted text.
    Text(String),
    /// A number.
    Number(String),
    /// TRUE or FALSE.
    Bool(bool),
}

impl Scalar {
    /// The value as a whole number, if it reads as one.
    #[must_use]
    pub fn whole_number(&self) -> Option<i64> {
        match self {
            Self::Null => None,
            Self::Text(text) | Self::Number(text) => text.parse().ok(),
            Self::Bool(yes) => Some(i64::from(*yes)),
        }
    }

    /// The value as a code: `'07'` and `7` are the same number.
    #[must_use]
    pub fn code(&self) -> Option<String> {
        match (self, self.whole_number()) {
            (_, Some(number)) => Some(number.to_string()),
            (Self::Text(text) | Self::Number(text), None) => Some(text.clone()),
            (Self::Null | Self::Bool(_), None) => None,
        }
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Self::Number(text) => f.write_str(text),
            Self::Bool(yes) => write!(f, "{yes}"),
        }
    }
}

/// What is written to a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A literal.
    Literal(Scalar),
    /// One of these literals (a CASE).
    OneOf(Vec<Scalar>),
    /// Settings joined by AND instead of commas (`SET a = 1 AND b = 2`): where each part stands.
    Joined(Vec<Span>),
    /// What another column holds, of the row itself or of another one.
    Column,
    /// Something that is not known here: a variable, a sum, the result of a query.
    Unknown,
}

impl Written {
    /// The literals that it may be, if they are known.
    #[must_use]
    pub fn literals(&self) -> &[Scalar] {
        match self {
            Self::Literal(one) => std::slice::from_ref(one),
            Self::OneOf(some) => some,
            _ => &[],
        }
    }
}

/// A column that gets a value.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The column as written, without qualifier.
    pub column: String,
    /// What it gets.
    pub value: Written,
    /// What a CASE or IF makes of a state; none for other columns and values.
    pub outcome: Option<Outcome>,
    /// Where the column stands.
    pub span: Span,
    /// Where the value stands.
    pub value_span: Span,
}

/// What a CASE or IF makes of each state that a row may be in.
pub type Outcome = BTreeMap<Before, BTreeSet<After>>;

/// The state of a row before a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Before {
    /// A code that the manifest lists.
    Code(String),
    /// NULL.
    Null,
    /// Any other code.
    Other,
}

/// What a branch makes of a state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum After {
    /// It stays.
    Same,
    /// It becomes a code.
    Code(String),
    /// It becomes NULL, written or for want of an ELSE.
    Null,
    /// It becomes something that is not known here.
    Unknown,
}

impl After {
    /// Whether a state is another one afterwards, as far as can be known.
    #[must_use]
    pub fn changes(&self, before: &Before) -> bool {
        match (self, before) {
            (Self::Same, _) | (Self::Null, Before::Null) => false,
            (Self::Code(after), Before::Code(before)) => after != before,
            _ => true,
        }
    }
}

/// How a change touches rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Does {
    /// UPDATE, and the update of an upsert.
    Update,
    /// DELETE and TRUNCATE.
    Delete,
    /// INSERT and REPLACE.
    Insert,
}

impl Does {
    /// Its keyword.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Insert => "insert",
        }
    }
}

/// A change of one table's rows.
#[derive(Clone, Debug)]
pub struct Change {
    /// What it does.
    pub does: Does,
    /// The table as written, without its schema.
    pub table: String,
    /// Where the table's name stands.
    pub span: Span,
    /// What is written.
    pub sets: Vec<Assignment>,
    /// Which rows.
    pub filter: Filter,
    /// How many tables the statement writes.
    pub targets: usize,
    /// Whether it stands in a trigger or routine.
    pub in_body: bool,
    /// Whether a row that is in the way is replaced.
    pub replaces: bool,
}

impl Change {
    /// The assignment to a column; of several the last counts.
    #[must_use]
    pub fn set(&self, column: &str) -> Option<&Assignment> {
        self.sets.iter().rev().find(|s| s.column.eq_ignore_ascii_case(column))
    }
}

/// Which rows a change selects.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Where the condition stands; none if there is no condition.
    pub span: Option<Span>,
    /// Whether it holds for every row, whatever is in it.
    pub always: bool,
    /// Whether it holds for no row.
    pub never: bool,
    /// Columns of the changed table (lower case) that are bound, and how.
    pub bounds: BTreeMap<String, Bound>,
    /// Columns (lower case) that are less than a limit in the past, or one that is not the clock.
    pub older: BTreeSet<String>,
    /// State columns (lower case) → which states it may select.
    pub states: BTreeMap<String, Selected>,
    /// `LIMIT` without an order by the key.
    pub limited: Option<Span>,
}

impl Filter {
    /// Whether rows are named, by values of all these columns or by another table's rows.
    #[must_use]
    pub fn names(&self, columns: &[String]) -> bool {
        let named = |c: &String| self.bounds.get(&c.to_lowercase()).is_some_and(|b| *b <= Bound::Join);
        !columns.is_empty() && columns.iter().all(named)
    }

    /// Whether a column's value stands in another table, where nobody sees it here.
    #[must_use]
    pub fn is_elsewhere(&self, column: &str) -> bool {
        let bound = self.bounds.get(&column.to_lowercase());
        bound.is_some_and(|b| matches!(b, Bound::Row | Bound::Join | Bound::Query))
    }

    /// What it says of a state column, if it is one.
    #[must_use]
    pub fn state(&self, column: &str) -> Option<&Selected> {
        self.states.get(&column.to_lowercase())
    }

    /// Whether it asks for a state in a way that is not understood.
    #[must_use]
    pub fn is_unclear(&self, column: &str) -> bool {
        self.state(column).is_some_and(|s| s.unclear.is_some())
    }

    /// Whether it names a state column, with success or without.
    #[must_use]
    pub fn names_state(&self, column: &str) -> bool {
        self.state(column).is_some_and(|s| s.named)
    }

    /// Whether it speaks of a state column.
    #[must_use]
    pub fn speaks_of(&self, column: &str) -> bool {
        self.state(column).is_some_and(|s| s.spoken)
    }

    /// Whether a column must equal something, so that the condition has been thought of.
    #[must_use]
    pub fn fixes(&self, column: &str) -> bool {
        self.bounds.get(&column.to_lowercase()).is_some_and(|b| *b <= Bound::Join)
    }
}

/// How a column is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// It equals a literal, a parameter, or one of a list.
    Value,
    /// It equals a column of another table, NULL included.
    Row,
    /// It equals a column of another table.
    Join,
    /// It is in the result of a query.
    Query,
    /// It begins with a text or lies between two: `LIKE 'http://10.0.0.8:%'`, `BETWEEN 5 AND 9`.
    Pattern,
    /// It is compared in another way.
    Range,
}

/// Which states a condition may select.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// Codes.
    pub codes: Vec<String>,
    /// Names of states of these codes that the condition on the column beside rules out.
    pub ruled_out: BTreeSet<String>,
    /// Codes that the manifest does not list.
    pub other: bool,
    /// NULL.
    pub null: bool,
    /// Whether the condition names the column.
    pub named: bool,
    /// Whether it rules out a state.
    pub spoken: bool,
    /// Where it speaks of the column in a way that is not understood, so that it may select fewer.
    pub unclear: Option<Span>,
}

/// Remarks on conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// `<>` or `NOT IN` on a column that may be NULL: table and column.
    NullBlind(String, String),
    /// `= NULL`.
    EqualsNull,
    /// A function around an indexed column: table and column.
    WrappedColumn(String, String),
    /// The database's clock against a column that the scheduler writes: table and column.
    DatabaseClock(String, String),
    /// A date against a column of milliseconds since the epoch: table and column.
    EpochAgainstTime(String, String),
    /// Seconds or milliseconds since the epoch against a column of dates: table and column.
    TimeAgainstEpoch(String, String),
    /// Seconds since the epoch against a column of milliseconds: table and column.
    SecondsAgainstMillis(String, String),
    /// `LIMIT` inside `IN (SELECT …)`.
    LimitInSubquery,
}

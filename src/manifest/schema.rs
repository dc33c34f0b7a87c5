//! The shape of tables as a manifest states it.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use crate::{Error, Result};

/// A family of databases that share column types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// MySQL and MariaDB.
    MySql,
    /// PostgreSQL.
    PostgreSql,
    /// SQLite; its types are derived from the others.
    Sqlite,
}

impl Engine {
    /// Its name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::MySql => "MySQL",
            Self::PostgreSql => "PostgreSQL",
            Self::Sqlite => "SQLite",
        }
    }
}

/// A table of one generation.
#[derive(Clone, Debug)]
pub struct TableSpec {
    /// The table's name.
    pub name: String,
    /// The only engine that has it, if not all do.
    pub only: Option<Engine>,
    /// Why the table may be missing, if it may.
    pub optional: Option<String>,
    /// Primary key columns on MySQL and SQLite.
    pub primary_key: Vec<String>,
    /// Primary key columns on PostgreSQL.
    pub primary_key_postgresql: Vec<String>,
    /// Columns in the schema's order.
    pub columns: Vec<TableColumn>,
    /// Foreign keys on MySQL.
    pub foreign_keys_mysql: Vec<ForeignKey>,
    /// Foreign keys on PostgreSQL.
    pub foreign_keys_postgresql: Vec<ForeignKey>,
    /// Unique keys on MySQL.
    pub unique_mysql: Vec<Vec<String>>,
    /// Unique keys on PostgreSQL.
    pub unique_postgresql: Vec<Vec<String>>,
    /// Indexes on MySQL.
    pub indexes_mysql: Vec<Vec<String>>,
    /// Indexes on PostgreSQL.
    pub indexes_postgresql: Vec<Vec<String>>,
}

/// A column with its form on each engine that has it.
#[derive(Clone, Debug)]
pub struct TableColumn {
    /// The column's name.
    pub name: String,
    /// Its form on MySQL.
    pub mysql: Option<ColumnSpec>,
    /// Its form on PostgreSQL.
    pub postgresql: Option<ColumnSpec>,
}

/// A foreign key.
#[derive(Clone, Debug)]
pub struct ForeignKey {
    /// The referring columns.
    pub columns: Vec<String>,
    /// The table referred to.
    pub references: String,
    /// The columns referred to.
    pub ref_columns: Vec<String>,
    /// What a delete of the parent does.
    pub on_delete: String,
}

/// Type, nullability and default of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// The type as the engine writes it.
    pub type_sql: String,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// The default: a keyword or the text of a literal.
    pub default: Option<DefaultValue>,
    /// Whether the engine numbers the rows.
    pub auto_increment: bool,
    /// What an update of the row writes here by itself (MySQL).
    pub on_update: Option<String>,
}

/// The default of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// A keyword such as `CURRENT_TIMESTAMP`.
    Keyword(String),
    /// The text of a literal.
    Text(String),
}

impl TableSpec {
    /// Whether the engine has the table.
    #[must_use]
    pub fn on(&self, engine: Engine) -> bool {
        match (engine, self.only) {
            (_, None) => true,
            // SQLite follows MySQL's table set.
            (Engine::Sqlite, Some(only)) => only == Engine::MySql,
            (engine, Some(only)) => engine == only,
        }
    }

    /// Whether the table has a column on some engine, however it is spelt.
    #[must_use]
    pub fn has_column(&self, name: &str) -> bool {
        self.columns.iter().any(|c| c.name.eq_ignore_ascii_case(name))
    }

    /// Columns the engine has.
    pub fn columns_on(&self, engine: Engine) -> impl Iterator<Item = &TableColumn> {
        self.columns.iter().filter(move |c| c.is_on(engine))
    }

    /// The column of a name, however it is spelt, if the engine has it.
    #[must_use]
    pub fn column_on(&self, engine: Engine, name: &str) -> Option<&TableColumn> {
        self.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name) && c.is_on(engine))
    }

    /// Primary key columns on the engine.
    #[must_use]
    pub fn key_on(&self, engine: Engine) -> &[String] {
        match engine {
            Engine::PostgreSql => &self.primary_key_postgresql,
            _ => &self.primary_key,
        }
    }

    /// Unique keys on the engine, besides the primary key.
    #[must_use]
    pub fn unique_on(&self, engine: Engine) -> &[Vec<String>] {
        match engine {
            Engine::PostgreSql => &self.unique_postgresql,
            Engine::MySql | Engine::Sqlite => &self.unique_mysql,
        }
    }

    /// Indexes on the engine that are not unique.
    #[must_use]
    pub fn indexes_on(&self, engine: Engine) -> &[Vec<String>] {
        match engine {
            Engine::PostgreSql => &self.indexes_postgresql,
            Engine::MySql | Engine::Sqlite => &self.indexes_mysql,
        }
    }

    /// Foreign keys on the engine (none on SQLite: upstream ships no schema for it).
    #[must_use]
    pub fn foreign_keys_on(&self, engine: Engine) -> &[ForeignKey] {
        match engine {
            Engine::MySql => &self.foreign_keys_mysql,
            Engine::PostgreSql => &self.foreign_keys_postgresql,
            Engine::Sqlite => &[],
        }
    }
}

impl TableColumn {
    /// Whether an engine has the column.
    #[must_use]
    pub fn is_on(&self, engine: Engine) -> bool {
        self.upstream(engine).is_some()
    }

    /// The column's form on an engine.
    #[must_use]
    pub fn on(&self, engine: Engine) -> Option<Cow<'_, ColumnSpec>> {
        let spec = self.upstream(engine)?;
        Some(match engine {
            Engine::MySql | Engine::PostgreSql => Cow::Borrowed(spec),
            Engine::Sqlite => Cow::Owned(ColumnSpec {
                type_sql: sqlite_type(&spec.type_sql).to_owned(),
                on_update: None,
                ..spec.clone()
            }),
        })
    }

    /// The form in the schema that upstream has for an engine, or that the engine's is derived from.
    fn upstream(&self, engine: Engine) -> Option<&ColumnSpec> {
        match engine {
            Engine::MySql => self.mysql.as_ref(),
            Engine::PostgreSql => self.postgresql.as_ref(),
            Engine::Sqlite => self.mysql.as_ref().or(self.postgresql.as_ref()),
        }
    }
}

impl ColumnSpec {
    /// Reads `int(11) NOT NULL DEFAULT '0' AUTO_INCREMENT ON UPDATE CURRENT_TIMESTAMP`.
    ///
    /// # Errors
    /// Something follows the type that is none of these.
    pub fn parse(text: &str) -> Result<Self> {
        let mut rest = text.trim();
        let on_update = take_tail(&mut rest, " ON UPDATE ");
        let auto_increment = strip_end(&mut rest, " AUTO_INCREMENT");
        let default = take_tail(&mut rest, " DEFAULT ").map(|tail| default_value(&tail));
        let nullable = !strip_end(&mut rest, " NOT NULL");
        let plain = |c: char| c.is_ascii_alphanumeric() || " (),_".contains(c);
        let type_is_plain =
            !rest.is_empty() && rest.chars().all(plain) && !rest.chars().any(|c| c.is_ascii_uppercase());
        if !type_is_plain || matches!(default, Some(None)) {
            return Err(Error::usage(format!(
                "`{text}` is not a column: write the type, then NOT NULL, DEFAULT …, AUTO_INCREMENT, ON UPDATE …, in this order"
            )));
        }
        let default = default.flatten();
        Ok(Self { type_sql: rest.to_owned(), nullable, default, auto_increment, on_update })
    }
}

/// As [`ColumnSpec::parse`] reads it.
impl fmt::Display for ColumnSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.type_sql)?;
        if !self.nullable {
            f.write_str(" NOT NULL")?;
        }
        match &self.default {
            Some(DefaultValue::Keyword(word)) => write!(f, " DEFAULT {word}")?,
            Some(DefaultValue::Text(text)) => write!(f, " DEFAULT '{}'", text.replace('\'', "''"))?,
            None => {}
        }
        if self.auto_increment {
            f.write_str(" AUTO_INCREMENT")?;
        }
        self.on_update.iter().try_for_each(|word| write!(f, " ON UPDATE {word}"))
    }
}

/// A quoted literal or one keyword; anything else is a mistake.
fn default_value(text: &str) -> Option<DefaultValue> {
    match text.strip_prefix('\'') {
        Some(rest) => {
            let literal = rest.strip_suffix('\'')?;
            let plain = !literal.replace("''", "").contains('\'');
            plain.then(|| DefaultValue::Text(literal.replace("''", "'")))
        }
        None => (!text.is_empty() && !text.contains([' ', '\''])).then(|| DefaultValue::Keyword(text.to_owned())),
    }
}

fn take_tail(rest: &mut &str, word: &str) -> Option<String> {
    let at = rest.find(word)?;
    let tail = rest[at + word.len()..].to_owned();
    *rest = &rest[..at];
    Some(tail)
}

fn strip_end(rest: &mut &str, word: &str) -> bool {
    match rest.strip_suffix(word) {
        Some(shorter) => {
            *rest = shorter;
            true
        }
        None => false,
    }
}

/// The SQLite type that holds what a MySQL or PostgreSQL type holds.
#[must_use]
pub fn sqlite_type(type_sql: &str) -> &'static str {
    let lower = type_sql.to_lowercase();
    let starts = |names: &[&str]| names.iter().any(|n| lower.starts_with(n));
    if starts(&["int", "tinyint", "smallint", "mediumint", "bigint", "bool", "serial", "bigserial"]) {
        "INTEGER"
    } else if starts(&["decimal", "numeric"]) {
        "NUMERIC"
    } else if starts(&["double", "float", "real"]) {
        "REAL"
    } else if starts(&["blob", "bytea", "binary", "varbinary"]) {
        "BLOB"
    } else {
        "TEXT"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_specs() {
        let spec =
            ColumnSpec::parse("timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP").unwrap();
        assert_eq!(spec.type_sql, "timestamp");
        assert!(!spec.nullable);
        assert_eq!(spec.default, Some(DefaultValue::Keyword("CURRENT_TIMESTAMP".into())));
        assert_eq!(spec.on_update.as_deref(), Some("CURRENT_TIMESTAMP"));
        let spec = ColumnSpec::parse("int(11) NOT NULL AUTO_INCREMENT").unwrap();
        assert!(spec.auto_increment);
        let spec = ColumnSpec::parse("varchar(64) DEFAULT 'default'").unwrap();
        assert_eq!(spec.default, Some(DefaultValue::Text("default".into())));
        let spec = ColumnSpec::parse("varchar(64) DEFAULT 'it''s'").unwrap();
        assert_eq!(spec.default, Some(DefaultValue::Text("it's".into())));
        for wrong in [
            "int(11) NOTNULL",
            "int DEFAULT '1' NOT NULL",
            "int DEFAULT 0 NOT NULL",
            "int DEFAULT '1",
            "int DEFAULT 'a'b'",
            "",
        ] {
            assert!(ColumnSpec::parse(wrong).is_err(), "{wrong}");
        }
    }
}

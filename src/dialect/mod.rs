//! How a database writes names, literals and the few functions recipes need. Pure.

mod days;
mod literal;
mod rows;

use serde::Deserialize;

pub use literal::TypeClass;

use crate::data::Tree;
use crate::manifest::Engine;
use crate::{Error, Result};

/// One database product.
#[derive(Clone, Debug)]
pub struct Dialect {
    /// Short name: `mysql`, `mariadb`, `postgresql`, `sqlite`.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// The family whose types and catalog it shares.
    pub engine: Engine,
    /// The macro file that writes the statements of a bundle.
    pub macros: String,
    /// Suffix of the runner files (`apply.<client>`).
    pub client: String,
    /// The client's command line.
    pub command: String,
    /// What the client shows when a guard does not hold.
    pub guard_fails: String,
    /// Schemas of the server's own, in which nothing of a bundle may lie.
    pub system_schemas: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DialectFile {
    name: String,
    title: String,
    engine: String,
    macros: String,
    client: String,
    command: String,
    guard_fails: String,
    #[serde(default)]
    system_schemas: Vec<String>,
}

impl Dialect {
    /// The dialect of a name.
    ///
    /// # Errors
    /// There is no such dialect.
    pub fn load(name: &str) -> Result<Self> {
        let tree = Tree::dialects();
        let Some(file) = tree.get(&format!("{name}.toml")) else {
            let known: Vec<&str> = tree.iter().filter_map(|(path, _)| path.strip_suffix(".toml")).collect();
            let message = format!("unknown dialect `{name}`");
            return Err(Error::usage(message).hint(format!("known: {}", known.join(", "))));
        };
        let raw: DialectFile =
            toml::from_str(&file.text).map_err(|e| Error::internal(format!("{}: {e}", file.origin)))?;
        let engine = match raw.engine.as_str() {
            "mysql" => Engine::MySql,
            "postgresql" => Engine::PostgreSql,
            "sqlite" => Engine::Sqlite,
            other => {
                return Err(Error::internal(format!("{}: unknown engine {other}", file.origin)));
            }
        };
        Ok(Self {
            name: raw.name,
            title: raw.title,
            engine,
            macros: raw.macros,
            client: raw.client,
            command: raw.command,
            guard_fails: raw.guard_fails,
            system_schemas: raw.system_schemas,
        })
    }

    /// A name, quoted.
    #[must_use]
    pub fn ident(&self, name: &str) -> String {
        match self.engine {
            Engine::MySql => format!("`{}`", name.replace('`', "``")),
            Engine::PostgreSql | Engine::Sqlite => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// A table, with its schema where one is given.
    #[must_use]
    pub fn table(&self, schema: Option<&str>, table: &str) -> String {
        match schema {
            Some(schema) => format!("{}.{}", self.ident(schema), self.ident(table)),
            None => self.ident(table),
        }
    }

    /// A value as text, for reading rows without knowing their types.
    #[must_use]
    pub fn as_text(&self, expression: &str) -> String {
        match self.engine {
            // CHAR without a length keeps every character; the binary step
            // would lose the character set.
            Engine::MySql => format!("CAST({expression} AS CHAR)"),
            Engine::PostgreSql => format!("({expression})::text"),
            Engine::Sqlite => format!("CAST({expression} AS TEXT)"),
        }
    }

    /// A column's value as a text from which the very same value can be written
    /// again: the plain text of a floating number may be another number.
    #[must_use]
    pub fn as_exact_text(&self, expression: &str, type_sql: &str) -> String {
        let lower = type_sql.to_lowercase();
        let floating = ["float", "double", "real"].iter().any(|t| lower.starts_with(t));
        let text = self.as_text(expression);
        match self.engine {
            // A FLOAT shows six digits; as a DOUBLE it shows all that it holds.
            Engine::MySql if floating => self.as_text(&format!("{expression} + 0e0")),
            Engine::Sqlite if floating => {
                format!(
                    "CASE WHEN CAST({text} AS REAL) <> {expression} THEN printf('%!.17g', {expression}) ELSE {text} END"
                )
            }
            Engine::MySql | Engine::PostgreSql | Engine::Sqlite => text,
        }
    }

    /// A column's value as a reader sees it. Bytes, and shapes of MySQL, which
    /// have no text of their own, are shown in hexadecimal.
    #[must_use]
    pub fn as_shown(&self, expression: &str, type_sql: &str) -> String {
        const SHAPES: [&str; 5] = ["geom", "point", "linestring", "polygon", "multi"];
        let lower = type_sql.to_lowercase();
        let shape = SHAPES.iter().any(|s| lower.starts_with(s));
        match self.engine {
            Engine::MySql if shape || TypeClass::of(type_sql) == TypeClass::Binary => format!("HEX({expression})"),
            Engine::Sqlite => format!(
                "CASE typeof({expression}) WHEN 'blob' THEN HEX({expression}) ELSE {} END",
                self.as_text(expression)
            ),
            Engine::MySql | Engine::PostgreSql => self.as_text(expression),
        }
    }

    /// Whether a row can be locked alone; SQLite locks the whole file.
    #[must_use]
    pub fn locks_rows(&self) -> bool {
        self.engine != Engine::Sqlite
    }

    /// Texts joined.
    #[must_use]
    pub fn concat(&self, parts: &[String]) -> String {
        match self.engine {
            Engine::MySql => format!("CONCAT({})", parts.join(", ")),
            Engine::PostgreSql | Engine::Sqlite => format!("({})", parts.join(" || ")),
        }
    }

    /// Whether a column of the type holds an instant, which the session's zone only shows.
    #[must_use]
    pub fn is_instant(&self, type_sql: &str) -> bool {
        let kind = type_sql.to_lowercase();
        match self.engine {
            Engine::MySql => kind.starts_with("timestamp"),
            Engine::PostgreSql => kind.ends_with("with time zone") || kind.starts_with("timestamptz"),
            Engine::Sqlite => false,
        }
    }

    /// Adds to a comparison of a time that it is a time at all: MySQL and MariaDB may hold a
    /// date of zeros, which is before everything and says nothing. Unknown there, as for NULL.
    #[must_use]
    pub fn if_a_date(&self, comparison: &str, expression: &str) -> String {
        match self.engine {
            Engine::MySql => format!("({comparison} AND NULLIF(YEAR({expression}), 0))"),
            Engine::PostgreSql | Engine::Sqlite => comparison.to_owned(),
        }
    }

    /// Whether an instant lies before a moment, given in seconds since the epoch.
    #[must_use]
    pub fn instant_before(&self, expression: &str, seconds: i64) -> String {
        match self.engine {
            Engine::PostgreSql => format!("{expression} < to_timestamp({seconds})"),
            Engine::MySql | Engine::Sqlite => format!("UNIX_TIMESTAMP({expression}) < {seconds}"),
        }
    }

    /// Now, on the clock of a scheduler that runs `offset_minutes` east of UTC.
    ///
    /// An instant takes the database's own clock, whatever the scheduler's zone.
    #[must_use]
    pub fn now(&self, type_sql: &str, offset_minutes: i64) -> String {
        match self.engine {
            Engine::MySql if self.is_instant(type_sql) => "CURRENT_TIMESTAMP".to_owned(),
            Engine::MySql => format!("(UTC_TIMESTAMP() + INTERVAL {offset_minutes} MINUTE)"),
            Engine::PostgreSql if self.is_instant(type_sql) => "date_trunc('second', now())".to_owned(),
            Engine::PostgreSql => {
                format!("date_trunc('second', (now() AT TIME ZONE 'UTC') + INTERVAL '{offset_minutes} minutes')")
            }
            Engine::Sqlite => {
                format!("strftime('%Y-%m-%d %H:%M:%S', 'now', '{offset_minutes} minutes')")
            }
        }
    }

    /// Equality in which NULL equals NULL, and text is compared byte by byte.
    #[must_use]
    pub fn same(&self, left: &str, right: &str, class: TypeClass) -> String {
        match (self.engine, class) {
            (Engine::MySql, TypeClass::Text | TypeClass::Binary) => {
                format!("CAST({left} AS BINARY) <=> CAST({right} AS BINARY)")
            }
            (Engine::MySql, _) => format!("{left} <=> {right}"),
            // A collation may call different texts equal, and 1.50 equals 1.5: bytes do not.
            (Engine::PostgreSql, TypeClass::Text) => {
                format!("({left})::text COLLATE \"C\" IS NOT DISTINCT FROM ({right})::text COLLATE \"C\"")
            }
            (Engine::PostgreSql, TypeClass::Other | TypeClass::Number) => {
                format!("{left}::text IS NOT DISTINCT FROM {right}::text")
            }
            (Engine::PostgreSql, _) => format!("{left} IS NOT DISTINCT FROM {right}"),
            (Engine::Sqlite, _) => format!("{left} IS {right} COLLATE BINARY"),
        }
    }

    /// Whether two expressions differ, NULL being a value of its own.
    #[must_use]
    pub fn differs(&self, left: &str, right: &str, class: TypeClass) -> String {
        format!("NOT ({})", self.same(left, right, class))
    }

    /// The order of keys: binary, so that it does not hang on a collation.
    #[must_use]
    pub fn key_order(&self, expression: &str, class: TypeClass) -> String {
        match (self.engine, class) {
            (Engine::MySql, TypeClass::Text) => format!("CAST({expression} AS BINARY)"),
            (Engine::PostgreSql, TypeClass::Text) => format!("({expression})::text COLLATE \"C\""),
            _ => expression.to_owned(),
        }
    }
}

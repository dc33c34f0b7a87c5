//! The only place that names sqlx: connect, read rows as text, run statements.
//!
//! Rows are read as text because a repair only compares, copies and shows
//! values; the statements that write take their types from the schema itself.

mod catalog;
mod fault;
mod my_cnf;
mod open;
mod url;

use futures_util::StreamExt as _;
use sqlx::{AssertSqlSafe, ColumnIndex, Decode, Either, Type};

pub use fault::{DbFault, FaultKind};
pub use open::Access;
pub use url::Address;
pub(crate) use url::percent_decode;

pub use crate::catalog::Row;
use crate::dialect::Dialect;
use crate::manifest::Engine;
use crate::{Error, Result};

/// What a statement did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Rows the driver counted as affected.
    pub affected: u64,
    /// Rows the statement returned.
    pub rows: Vec<Row>,
}

enum Connection {
    MySql(sqlx::MySqlConnection),
    PostgreSql(sqlx::PgConnection),
    Sqlite(sqlx::SqliteConnection),
}

/// An open connection and what is known of the server behind it.
pub struct Database {
    connection: Connection,
    /// The product that answers.
    pub dialect: Dialect,
    /// The address, without secrets.
    pub address: Address,
    /// The schema (PostgreSQL) or database (MySQL) the scheduler's tables are in.
    pub schema: Option<String>,
    /// Whether the operator named the schema.
    pub schema_given: bool,
    /// The server's version text.
    pub version: String,
}

impl Database {
    /// Runs one statement and collects what it returns.
    ///
    /// # Errors
    /// What the server said.
    pub async fn run(&mut self, sql: &str) -> std::result::Result<Outcome, DbFault> {
        match &mut self.connection {
            Connection::MySql(c) => {
                collect(sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).fetch_many(c), |r| r.rows_affected()).await
            }
            Connection::PostgreSql(c) => {
                collect(sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).fetch_many(c), |r| r.rows_affected()).await
            }
            Connection::Sqlite(c) => {
                collect(sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).fetch_many(c), |r| r.rows_affected()).await
            }
        }
    }

    /// The rows of a query.
    ///
    /// # Errors
    /// What the server said.
    pub async fn rows(&mut self, sql: &str) -> Result<Vec<Row>> {
        tracing::debug!(%sql, "query");
        Ok(self.run(sql).await.map_err(Error::from)?.rows)
    }

    /// The single value of a query, NULL and no row both being `None`.
    ///
    /// # Errors
    /// What the server said.
    pub async fn value(&mut self, sql: &str) -> Result<Option<String>> {
        Ok(self.rows(sql).await?.into_iter().next().and_then(|row| row.into_iter().next().flatten()))
    }

    /// The server's number for this session; SQLite has none.
    ///
    /// # Errors
    /// What the server said.
    pub async fn session_number(&mut self) -> Result<Option<String>> {
        let sql = match self.dialect.engine {
            Engine::MySql => "SELECT CAST(CONNECTION_ID() AS CHAR)",
            Engine::PostgreSql => "SELECT pg_backend_pid()::text",
            Engine::Sqlite => return Ok(None),
        };
        self.value(sql).await
    }

    /// Closes the connection politely; errors do not matter any more.
    pub async fn close(self) {
        use sqlx::Connection as _;
        let _ = match self.connection {
            Connection::MySql(c) => c.close().await,
            Connection::PostgreSql(c) => c.close().await,
            Connection::Sqlite(c) => c.close().await,
        };
    }
}

async fn collect<Q, R>(
    mut stream: impl futures_util::Stream<Item = std::result::Result<Either<Q, R>, sqlx::Error>> + Unpin,
    affected: impl Fn(&Q) -> u64,
) -> std::result::Result<Outcome, DbFault>
where
    R: sqlx::Row,
    usize: ColumnIndex<R>,
    for<'r> String: Decode<'r, R::Database> + Type<R::Database>,
{
    let mut outcome = Outcome::default();
    while let Some(item) = stream.next().await {
        match item.map_err(|e| DbFault::from_sqlx(&e))? {
            Either::Left(done) => outcome.affected += affected(&done),
            Either::Right(row) => {
                let cells = (0..row.columns().len()).map(|i| row.try_get_unchecked::<Option<String>, _>(i));
                let cells: std::result::Result<Row, sqlx::Error> = cells.collect();
                outcome.rows.push(cells.map_err(|e| DbFault::from_sqlx(&e))?);
            }
        }
    }
    Ok(outcome)
}

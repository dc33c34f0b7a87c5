//! Opens a connection, with the driver's own habits switched off.

use std::time::Duration;

use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use super::url::Scheme;
use super::{Address, Connection, Database, DbFault, FaultKind, my_cnf};
use crate::dialect::Dialect;
use crate::{Error, Result, ui};

/// What a connection may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only, enforced by the session.
    ReadOnly,
    /// Read and write.
    ReadWrite,
}

/// How long to wait for a server to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

impl Database {
    /// Connects, finds out which product answers and where the tables are.
    ///
    /// # Errors
    /// The server cannot be reached, refuses the login, or the file is no database.
    pub async fn open(address: &Address, schema: Option<&str>, access: Access) -> Result<Self> {
        let opening = async {
            match address.scheme {
                Scheme::MySql => open_mysql(address).await,
                Scheme::PostgreSql => open_postgres(address).await,
                Scheme::Sqlite => open_sqlite(address, access).await,
            }
        };
        let connection = tokio::time::timeout(CONNECT_TIMEOUT, opening).await.map_err(|_| {
            Error::database(format!("{address} does not answer within {} seconds", CONNECT_TIMEOUT.as_secs()))
        })??;
        let dialect = Dialect::load(match address.scheme {
            Scheme::MySql => "mysql",
            Scheme::PostgreSql => "postgresql",
            Scheme::Sqlite => "sqlite",
        })?;
        let mut database = Self {
            connection,
            dialect,
            address: address.clone(),
            schema: None,
            schema_given: false,
            version: String::new(),
        };
        database.learn(schema).await?;
        if access == Access::ReadOnly {
            database.be_read_only().await?;
        }
        Ok(database)
    }

    /// Gives every statement of this session a time limit.
    ///
    /// # Errors
    /// What the server said.
    pub async fn limit(&mut self, limit: Duration) -> Result<()> {
        let milliseconds = limit.as_millis();
        match self.dialect.name.as_str() {
            "postgresql" => self.rows(&format!("SET statement_timeout = {milliseconds}")).await.map(drop),
            "mysql" => self.rows(&format!("SET SESSION max_execution_time = {milliseconds}")).await.map(drop),
            "mariadb" => self.rows(&format!("SET SESSION max_statement_time = {}", limit.as_secs())).await.map(drop),
            // SQLite reads from a local file and holds no server up.
            _ => Ok(()),
        }
    }

    async fn learn(&mut self, schema: Option<&str>) -> Result<()> {
        match self.address.scheme {
            Scheme::MySql => {
                // The settings under which texts and literals are read must not hang on the server's.
                self.rows("SET SESSION completion_type = 0, SESSION sql_big_selects = 1, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'").await?;
                self.version = self.value("SELECT VERSION()").await?.unwrap_or_default();
                if self.version.to_lowercase().contains("mariadb") {
                    self.dialect = Dialect::load("mariadb")?;
                    // Seen on 10.11: a grouped derived table that is split by the outer row
                    // gives the groups of another row when the query also sorts.
                    let switches = self.value("SELECT @@optimizer_switch").await?.unwrap_or_default();
                    if switches.contains("split_materialized=on") {
                        self.rows("SET SESSION optimizer_switch = 'split_materialized=off'").await?;
                    }
                }
                if let Some(other) = schema.filter(|s| *s != self.address.database) {
                    return Err(Error::usage(format!(
                        "--schema {other}: on {} the schema is the database of the address",
                        self.dialect.title
                    ))
                    .hint(format!("put {other} at the end of --url")));
                }
                self.schema = None;
            }
            Scheme::PostgreSql => {
                self.version = self.value("SHOW server_version").await?.unwrap_or_default();
                let current = self.value("SELECT current_schema()::text").await?;
                self.schema = schema.map(ToOwned::to_owned).or(current);
                self.schema_given = schema.is_some();
                if self.schema.is_none() {
                    return Err(Error::usage("the login's search path names no schema that exists")
                        .hint("name the schema of the scheduler's tables with --schema"));
                }
                for setting in [
                    "DateStyle = 'ISO, MDY'",
                    "TimeZone = 'UTC'",
                    "standard_conforming_strings = on",
                    "quote_all_identifiers = off",
                    "search_path = pg_catalog, pg_temp",
                ] {
                    self.rows(&format!("SET {setting}")).await?;
                }
            }
            Scheme::Sqlite => {
                self.version = self.value("SELECT sqlite_version()").await?.unwrap_or_default();
                if let Some(other) = schema.filter(|s| *s != "main") {
                    return Err(Error::usage(format!("--schema {other}: SQLite has one schema, main")));
                }
            }
        }
        Ok(())
    }

    async fn be_read_only(&mut self) -> Result<()> {
        match self.address.scheme {
            Scheme::MySql => self.rows("SET SESSION TRANSACTION READ ONLY").await.map(drop),
            Scheme::PostgreSql => self.rows("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY").await.map(drop),
            Scheme::Sqlite => self.rows("PRAGMA query_only = 1").await.map(drop),
        }
    }
}

async fn open_mysql(address: &Address) -> Result<Connection> {
    let file = my_cnf::read()?;
    let mut options = MySqlConnectOptions::new()
        .host(non_empty(address.host_name(), "127.0.0.1"))
        .port(address.port.unwrap_or(3306))
        .database(&address.database)
        // The session must behave as it does for the stock client.
        .pipes_as_concat(false)
        .no_engine_substitution(false)
        // As the bundle's own session: a TIMESTAMP is an instant, whatever the server's zone.
        .timezone(Some("+00:00".to_owned()))
        .set_names(true)
        .ssl_mode(MySqlSslMode::Preferred);
    for (name, value) in &address.options {
        options = match name.as_str() {
            "socket" => options.socket(value),
            "ssl-mode" | "sslmode" => options.ssl_mode(value.parse().map_err(|_| bad_option(name))?),
            "ssl-ca" => options.ssl_ca(value),
            _ => return Err(bad_option(name)),
        };
    }
    if let Some(user) = address.user.as_deref().or(file.user.as_deref()) {
        options = options.username(user);
    }
    let from_env = std::env::var("MYSQL_PWD").ok();
    let from_file = file.password.as_ref().map(|p| secrecy::ExposeSecret::expose_secret(p).to_owned());
    let password = address.password_text().map(ToOwned::to_owned).or(from_env).or(from_file);
    let opened = match &password {
        Some(password) => options.clone().password(password).connect().await,
        None => options.clone().connect().await,
    };
    match opened.map_err(|e| DbFault::from_sqlx(&e)) {
        Ok(connection) => Ok(Connection::MySql(connection)),
        Err(fault) if fault.kind == FaultKind::Denied && password.is_none() => {
            let typed = ui::ask_password(&address.to_string()).ok_or_else(|| refused(address, &fault))?;
            let connection = options.password(&typed).connect().await;
            connection.map(Connection::MySql).map_err(|e| refused(address, &DbFault::from_sqlx(&e)))
        }
        Err(fault) => Err(refused(address, &fault)),
    }
}

/// The options of an address without its password. Only the driver's own way
/// from a URL looks into `.pgpass` with this host, port, database and user.
fn postgres_options(address: &Address) -> Result<PgConnectOptions> {
    let unusable = || Error::usage(format!("the database address cannot be used: {address}"));
    // Without a host: PGHOST, or the local socket.
    let mut url = url::Url::parse("postgres:///").map_err(|_| unusable())?;
    if !address.host.is_empty() {
        url.set_host(Some(&address.host)).map_err(|_| unusable())?;
        url.set_port(address.port).map_err(|()| unusable())?;
    }
    url.set_path(&address.database);
    // As options, because a URL without a host can hold neither user nor port.
    if let Some(user) = &address.user {
        url.query_pairs_mut().append_pair("user", user);
    }
    for (name, value) in address.options.iter().filter(|(name, _)| name == "host" || name == "port") {
        url.query_pairs_mut().append_pair(name, value);
    }
    let options = PgConnectOptions::from_url(&url).map_err(|_| unusable())?;
    Ok(options.database(&address.database).application_name("flowmend"))
}

async fn open_postgres(address: &Address) -> Result<Connection> {
    let mut options = postgres_options(address)?;
    for (name, value) in &address.options {
        options = match name.as_str() {
            // Already in `postgres_options`, where `.pgpass` is asked.
            "host" | "port" => options,
            "sslmode" => options.ssl_mode(value.parse().map_err(|_| bad_option(name))?),
            "sslrootcert" => options.ssl_root_cert(value),
            _ => return Err(bad_option(name)),
        };
    }
    let mut with_password = options.clone();
    if let Some(password) = address.password_text() {
        with_password = with_password.password(password);
    }
    let opened = sqlx::PgConnection::connect_with(&with_password).await;
    match opened.map_err(|e| DbFault::from_sqlx(&e)) {
        Ok(connection) => Ok(Connection::PostgreSql(connection)),
        Err(fault) if fault.kind == FaultKind::Denied && address.password.is_none() => {
            let typed = ui::ask_password(&address.to_string()).ok_or_else(|| refused(address, &fault))?;
            let opened = sqlx::PgConnection::connect_with(&options.password(&typed)).await;
            opened.map(Connection::PostgreSql).map_err(|e| refused(address, &DbFault::from_sqlx(&e)))
        }
        Err(fault) => Err(refused(address, &fault)),
    }
}

async fn open_sqlite(address: &Address, access: Access) -> Result<Connection> {
    let path = std::path::Path::new(&address.database);
    if !path.is_file() {
        return Err(Error::usage(format!("{} is not a file", path.display()))
            .hint("give the file of an existing SQLite database"));
    }
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .read_only(access == Access::ReadOnly)
        // The stock client leaves foreign keys off.
        .foreign_keys(false)
        .busy_timeout(Duration::from_secs(5));
    let opened = sqlx::SqliteConnection::connect_with(&options).await;
    opened.map(Connection::Sqlite).map_err(|e| refused(address, &DbFault::from_sqlx(&e)))
}

fn non_empty<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}

fn bad_option(name: &str) -> Error {
    // Never the value: it may be a secret in the wrong place.
    Error::usage(format!("the database address has an option that cannot be used: {name}"))
        .hint("known options: ssl-mode, ssl-ca, socket (MySQL); sslmode, sslrootcert, host, port (PostgreSQL)")
}

fn refused(address: &Address, fault: &DbFault) -> Error {
    Error::database(format!("cannot connect to {address}: {fault}"))
}

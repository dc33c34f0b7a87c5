//! A database of its own for each test, on any server that is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use flowmend::db::{Access, Address, Database, Row};
use flowmend::dialect::Dialect;
use flowmend::manifest::{Manifest, ddl};

/// A product the tests run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    Sqlite,
    MariaDb,
    PostgreSql,
    MySql,
}

impl Server {
    pub const ALL: [Self; 4] = [Self::Sqlite, Self::MariaDb, Self::PostgreSql, Self::MySql];

    /// The products that are there, noting those that are not.
    pub fn available(what: &str) -> Vec<Self> {
        Self::ALL.into_iter().filter(|s| s.is_there(what)).collect()
    }

    /// The releases to try here: all on SQLite, and with FLOWMEND_TEST_LONG; on a
    /// server, where each costs seconds, its share, with those that most people run.
    pub fn share<'a>(self, releases: &[&'a str]) -> Vec<&'a str> {
        let share: &[&str] = match self {
            Self::Sqlite => return releases.to_vec(),
            _ if super::long() => return releases.to_vec(),
            Self::MariaDb => &["1.3.9", "3.1.9", "3.2.2", "3.4.1"],
            Self::PostgreSql => &["2.0.9", "3.1.9", "3.2.2", "3.3.2"],
            Self::MySql => &["1.2.1", "3.0.6", "3.4.1"],
        };
        releases.iter().copied().filter(|r| share.contains(r)).collect()
    }

    pub fn is_there(self, what: &str) -> bool {
        let Some(variable) = self.variable() else {
            return true;
        };
        if std::env::var_os(variable).is_some() {
            return true;
        }
        super::skipped(what, &format!("no {self:?} server ({variable} is not set)"));
        false
    }

    /// The environment variable with the administrator's address.
    pub fn variable(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::MariaDb => Some("FLOWMEND_TEST_MARIADB_URL"),
            Self::PostgreSql => Some("FLOWMEND_TEST_POSTGRES_URL"),
            Self::MySql => Some("FLOWMEND_TEST_MYSQL_URL"),
        }
    }

    pub fn dialect(self) -> Dialect {
        Dialect::load(match self {
            Self::Sqlite => "sqlite",
            Self::MariaDb => "mariadb",
            Self::PostgreSql => "postgresql",
            Self::MySql => "mysql",
        })
        .unwrap()
    }

    /// The suffix of the runner files.
    pub fn client(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::MariaDb | Self::MySql => "mysql",
            Self::PostgreSql => "psql",
        }
    }
}

/// A database that goes when the test ends.
pub struct TestDb {
    pub server: Server,
    pub url: String,
    pub name: String,
    admin: Option<String>,
    pub dir: tempfile::TempDir,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl TestDb {
    /// An empty database.
    pub fn new(server: Server) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("fm_{}_{number}", std::process::id());
        let dir = tempfile::tempdir().unwrap();
        let admin = server.variable().map(|v| std::env::var(v).unwrap());
        let url = match &admin {
            None => {
                let file = dir.path().join("ds.db");
                std::fs::File::create(&file).unwrap();
                format!("sqlite:{}", file.display())
            }
            Some(admin) => {
                run_on(admin, &[format!("CREATE DATABASE {name}")]);
                format!("{}/{name}", admin.rsplit_once('/').unwrap().0)
            }
        };
        Self { server, url, name, admin, dir }
    }

    /// A database with the tables of a generation that recipes speak of.
    pub fn with_schema(server: Server, manifest: &Manifest) -> Self {
        let db = Self::new(server);
        db.exec_all(&ddl::create_named(manifest, &server.dialect()));
        db
    }

    /// Runs statements on one connection.
    pub fn exec_all(&self, statements: &[String]) {
        run_on(&self.url, statements);
    }

    pub fn exec(&self, sql: &str) {
        self.exec_all(&[sql.to_owned()]);
    }

    pub fn rows(&self, sql: &str) -> Vec<Row> {
        block_on(async {
            let mut db = open(&self.url).await;
            let rows = db.rows(sql).await.unwrap();
            db.close().await;
            rows
        })
    }

    pub fn value(&self, sql: &str) -> Option<String> {
        self.rows(sql).into_iter().next().and_then(|r| r.into_iter().next().flatten())
    }

    /// Every row of every table that is not flowmend's own, as text, in a stable order.
    pub fn dump(&self) -> Dump {
        Watch::new(self).rows()
    }

    /// The ledger without its times.
    pub fn ledger(&self) -> Vec<Row> {
        let d = self.server.dialect();
        let mut rows = self.rows(&format!(
            "SELECT bundle, step, {}, {} FROM flowmend_ledger",
            d.as_text("expected"),
            d.as_text("actual")
        ));
        rows.sort();
        rows
    }

    /// The ledger's steps with expected and actual count, whatever bundle they are of.
    pub fn guards(&self) -> Vec<Row> {
        self.ledger().into_iter().map(|row| row[1..].to_vec()).collect()
    }

    /// Runs a file with the stock client, as a DBA would by hand.
    pub fn stock(&self, file: &Path) -> Output {
        self.stock_with(file, &[])
    }

    /// The same with extra flags (`--force` …).
    pub fn stock_with(&self, file: &Path, flags: &[&str]) -> Output {
        let mut command = self.stock_command();
        command.args(flags);
        if self.server == Server::PostgreSql {
            command.arg("-f").arg(file);
            return command.stdin(Stdio::null()).output().unwrap();
        }
        command.stdin(std::fs::File::open(file).unwrap()).output().unwrap()
    }

    /// Runs somebody else's script, which may hold statements that fail.
    pub fn stock_lenient(&self, file: &Path) -> Output {
        let flags: &[&str] = if self.server == Server::PostgreSql { &["-v", "ON_ERROR_STOP=0"] } else { &[] };
        self.stock_with(file, flags)
    }

    /// The columns of a table in order.
    pub fn columns(&self, table: &str) -> Vec<String> {
        block_on(async {
            let mut db = open(&self.url).await;
            let catalog = db.catalog().await.unwrap();
            db.close().await;
            catalog.get(table).unwrap().columns.iter().map(|c| c.name.clone()).collect()
        })
    }

    /// The stock client, connected to this database.
    pub fn stock_command(&self) -> Command {
        match self.server {
            Server::Sqlite => {
                let mut c = Command::new("sqlite3");
                c.arg(self.sqlite_file());
                c
            }
            Server::PostgreSql => {
                let mut c = Command::new("psql");
                c.args(["-X", "-q"]).arg(&self.url);
                c
            }
            Server::MariaDb | Server::MySql => {
                let program = match self.server {
                    Server::MySql => std::env::var("FLOWMEND_TEST_MYSQL_CLIENT").unwrap_or_else(|_| "mysql".into()),
                    _ => "mariadb".into(),
                };
                let url = url::Url::parse(&self.url).unwrap();
                let mut c = Command::new(program);
                c.arg("--no-defaults").args(["-h", "127.0.0.1", "-P"]).arg(url.port().unwrap().to_string());
                c.arg("-u").arg(url.username()).env("MYSQL_PWD", url.password().unwrap_or_default()).arg(&self.name);
                c
            }
        }
    }

    pub fn sqlite_file(&self) -> PathBuf {
        PathBuf::from(self.url.strip_prefix("sqlite:").unwrap())
    }

    /// A new folder inside the test's own.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

impl Drop for TestDb {
    fn drop(&mut self) {
        let Some(admin) = &self.admin else { return };
        let force = if self.server == Server::PostgreSql { " WITH (FORCE)" } else { "" };
        let sql = format!("DROP DATABASE IF EXISTS {}{force}", self.name);
        block_on(async {
            let mut db = open(admin).await;
            let _ = db.run(&sql).await;
            db.close().await;
        });
    }
}

/// Every row of some tables.
pub type Dump = BTreeMap<String, Vec<Row>>;

/// Two dumps are the same; says the first row that is not.
#[track_caller]
pub fn same(found: &Dump, expected: &Dump, what: &str) {
    let tables: std::collections::BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
    for table in tables {
        let rows = |dump: &Dump| dump.get(table).cloned().unwrap_or_default();
        let (found, expected) = (rows(found), rows(expected));
        assert_eq!(found.len(), expected.len(), "{what}: rows of {table}");
        for (f, e) in found.iter().zip(&expected) {
            assert_eq!(f, e, "{what}: {table}");
        }
    }
}

/// Reads all rows of the scheduler's tables again and again, on one connection.
pub struct Watch {
    runtime: tokio::runtime::Runtime,
    db: Option<Database>,
    /// Table, columns, query.
    tables: Vec<(String, Vec<String>, String)>,
}

impl Watch {
    pub fn new(of: &TestDb) -> Self {
        let runtime = runtime();
        let (db, tables) = runtime.block_on(async {
            let mut db = open(&of.url).await;
            let catalog = db.catalog().await.unwrap();
            let d = db.dialect.clone();
            let mut tables = Vec::new();
            for table in catalog.iter().filter(|t| !t.name.starts_with("flowmend_")) {
                let names: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
                let columns: Vec<String> =
                    table.columns.iter().map(|c| d.as_shown(&d.ident(&c.name), &c.type_sql)).collect();
                let sql = format!("SELECT {} FROM {}", columns.join(", "), d.ident(&table.name));
                tables.push((table.name.clone(), names, sql));
            }
            (db, tables)
        });
        Self { runtime, db: Some(db), tables }
    }

    /// Table → rows in a stable order, without empty tables.
    pub fn rows(&mut self) -> Dump {
        let db = self.db.as_mut().unwrap();
        let mut dump = BTreeMap::new();
        for (table, _, sql) in &self.tables {
            let mut rows = self.runtime.block_on(db.rows(sql)).unwrap();
            rows.sort();
            if !rows.is_empty() {
                dump.insert(table.clone(), rows);
            }
        }
        dump
    }

    pub fn columns(&self, table: &str) -> &[String] {
        &self.tables.iter().find(|t| t.0 == table).unwrap().1
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(db) = self.db.take() {
            self.runtime.block_on(db.close());
        }
    }
}

/// A second session that stays open: a master at work, a DBA who forgot to commit.
pub struct Session {
    runtime: tokio::runtime::Runtime,
    db: Option<Database>,
    /// The server's number for it.
    pub id: String,
}

impl Session {
    pub fn new(of: &TestDb) -> Self {
        let runtime = runtime();
        let (db, id) = runtime.block_on(async {
            let mut db = open(&of.url).await;
            let id = match of.server {
                Server::Sqlite => None,
                Server::PostgreSql => db.value("SELECT pg_backend_pid()::text").await.unwrap(),
                Server::MariaDb | Server::MySql => db.value("SELECT CAST(CONNECTION_ID() AS CHAR)").await.unwrap(),
            };
            (db, id.unwrap_or_default())
        });
        Self { runtime, db: Some(db), id }
    }

    pub fn rows(&mut self, sql: &str) -> flowmend::Result<Vec<Row>> {
        self.runtime.block_on(self.db.as_mut().unwrap().rows(sql))
    }

    pub fn exec(&mut self, sql: &str) -> &mut Self {
        let done = self.runtime.block_on(self.db.as_mut().unwrap().run(sql));
        if let Err(fault) = done {
            panic!("{fault}\nin {sql}");
        }
        self
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(db) = self.db.take() {
            self.runtime.block_on(db.close());
        }
    }
}

async fn open(url: &str) -> Database {
    let mut db = Database::open(&Address::parse(url).unwrap(), None, Access::ReadWrite).await.unwrap();
    if db.dialect.engine == flowmend::manifest::Engine::PostgreSql {
        // The tests' own statements name no schema.
        db.rows("SET search_path = public").await.unwrap();
    }
    db
}

/// Runs statements on any server.
pub fn run_on(url: &str, statements: &[String]) {
    block_on(async {
        let mut db = open(url).await;
        for sql in statements {
            if let Err(fault) = db.run(sql).await {
                panic!("{fault}\nin {sql}");
            }
        }
        db.close().await;
    });
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Runs one statement on a database that another owns.
pub fn exec_on(url: &str, sql: &str) {
    run_on(url, &[sql.to_owned()]);
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    runtime().block_on(future)
}

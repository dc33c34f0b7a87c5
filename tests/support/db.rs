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

    fn variable(self) -> Option<&'static str> {
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
    pub fn dump(&self) -> BTreeMap<String, Vec<Row>> {
        block_on(async {
            let mut db = open(&self.url).await;
            let catalog = db.catalog().await.unwrap();
            let d = db.dialect.clone();
            let mut dump = BTreeMap::new();
            for table in catalog.iter().filter(|t| !t.name.starts_with("flowmend_")) {
                let columns: Vec<String> = table.columns.iter().map(|c| d.as_text(&d.ident(&c.name))).collect();
                let sql = format!("SELECT {} FROM {}", columns.join(", "), d.ident(&table.name));
                let mut rows = db.rows(&sql).await.unwrap();
                rows.sort();
                if !rows.is_empty() {
                    dump.insert(table.name.clone(), rows);
                }
            }
            db.close().await;
            dump
        })
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

async fn open(url: &str) -> Database {
    Database::open(&Address::parse(url).unwrap(), None, Access::ReadWrite).await.unwrap()
}

fn run_on(url: &str, statements: &[String]) {
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

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

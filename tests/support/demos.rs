//! The stories of the demos, as the data has them.

use std::path::Path;

use flowmend::manifest::{Manifest, Manifests, ddl};

use super::db::{Server, TestDb};

/// One story.
pub struct Demo {
    /// Its scheduler.
    pub name: String,
    /// Whether it is told when nobody names one.
    pub first: bool,
    /// The moment that it is told at.
    pub now: String,
    /// Its release.
    pub release: String,
    /// What its commands say, with the choices that are made.
    pub said: Vec<String>,
    rows: String,
}

/// Every story there is, by name.
pub fn demos() -> Vec<Demo> {
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let folders = std::fs::read_dir(templates).unwrap().map(|e| e.unwrap().path());
    let mut demos: Vec<Demo> = folders.filter(|path| path.join("demo/demo.toml").is_file()).map(|p| read(&p)).collect();
    demos.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(demos.len() > 3);
    demos
}

fn read(folder: &Path) -> Demo {
    let text = |file: &str| std::fs::read_to_string(folder.join("demo").join(file)).unwrap();
    let story: toml::Table = text("demo.toml").parse().unwrap();
    let words = |value: &toml::Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let choices = story["choices"].as_array().unwrap().iter().flat_map(words);
    Demo {
        said: words(&story["arguments"]).into_iter().chain(choices).collect(),
        name: folder.file_name().unwrap().to_str().unwrap().to_owned(),
        first: story.get("first").and_then(toml::Value::as_bool).unwrap_or_default(),
        now: story["now"].as_str().unwrap().to_owned(),
        release: story["release"].as_str().unwrap().to_owned(),
        rows: text("rows.sql"),
    }
}

impl Demo {
    /// The manifest of its release.
    pub fn manifest(&self) -> Manifest {
        Manifests::load(None).unwrap().release(&self.name, &self.release).unwrap().clone()
    }

    /// Whether the scheduler has tables on this server.
    pub fn runs_on(&self, server: Server) -> bool {
        let engine = server.dialect().engine;
        self.manifest().tables.values().any(|t| t.on(engine))
    }

    /// The database that the story is about.
    pub fn database(&self, server: Server) -> TestDb {
        let db = TestDb::new(server);
        db.exec_all(&ddl::create_all(&self.manifest(), &server.dialect()));
        let said: String = self.rows.lines().filter(|l| !l.starts_with("--")).map(|l| format!("{l}\n")).collect();
        let statements = said.split(";\n").filter(|s| !s.trim().is_empty());
        db.exec_all(&statements.map(|sql| quoted(sql, server)).collect::<Vec<_>>());
        db
    }
}

/// An INSERT with names as this server quotes them.
fn quoted(sql: &str, server: Server) -> String {
    let (head, values) = sql.split_once(") VALUES").unwrap();
    let (table, columns) = head.split_once(" (").unwrap();
    let dialect = server.dialect();
    let columns: Vec<String> = columns.split(", ").map(|c| dialect.ident(c)).collect();
    let table = dialect.ident(table.rsplit(' ').next().unwrap().trim_matches('"'));
    format!("INSERT INTO {table} ({}) VALUES{values}", columns.join(", "))
}

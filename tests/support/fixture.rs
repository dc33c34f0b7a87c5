//! Rows that every generation can hold, written by role.

use std::collections::BTreeMap;

use flowmend::dialect::Dialect;
use flowmend::manifest::{DefaultValue, Manifest, Manifests};

/// The manifest of a release of Apache DolphinScheduler.
pub fn manifest(release: &str) -> Manifest {
    manifest_of("dolphinscheduler", release)
}

/// The manifest of a release of any scheduler.
pub fn manifest_of(scheduler: &str, release: &str) -> Manifest {
    Manifests::load(None).unwrap().release(scheduler, release).unwrap().clone()
}

/// Makes INSERT statements from role columns; what the generation lacks is left
/// out, and columns that must not be NULL get a value.
pub struct Rows<'a> {
    pub manifest: &'a Manifest,
    pub dialect: Dialect,
    pub statements: Vec<String>,
}

impl<'a> Rows<'a> {
    pub fn new(manifest: &'a Manifest, dialect: Dialect) -> Self {
        Self { manifest, dialect, statements: Vec::new() }
    }

    /// Adds a row; `None` is NULL. A role that the generation lacks adds nothing.
    /// A name that begins with `@` is a real column, left out where there is none.
    pub fn add(&mut self, role: &str, values: &[(&str, Option<&str>)]) -> &mut Self {
        let Some(found) = self.manifest.roles.get(role) else {
            return self;
        };
        let table = &self.manifest.tables[&found.table];
        let mut columns: BTreeMap<String, Option<String>> = BTreeMap::new();
        for (name, value) in values {
            let real =
                name.strip_prefix('@').filter(|real| table.columns_on(self.dialect.engine).any(|c| c.name == *real));
            if let Some(column) = real.or_else(|| found.columns.get(*name).map(String::as_str)) {
                columns.insert(column.to_owned(), value.map(ToOwned::to_owned));
            }
        }
        for column in table.columns_on(self.dialect.engine) {
            let spec = column.on(self.dialect.engine).unwrap();
            let needed = !spec.nullable && spec.default.is_none() && !spec.auto_increment;
            // The server's clock in a fixture would make two databases differ.
            let clock = spec.default.as_ref().is_some_and(is_keyword);
            if (needed || clock) && !columns.contains_key(&column.name) {
                let value = if clock { LONG_AGO } else { filler(&spec.type_sql) };
                columns.insert(column.name.clone(), Some(value.to_owned()));
            }
        }
        let names: Vec<String> = columns.keys().map(|c| self.dialect.ident(c)).collect();
        let values: Vec<String> =
            columns.values().map(|v| v.as_ref().map_or("NULL".to_owned(), |v| self.dialect.text_literal(v))).collect();
        let table = self.dialect.ident(&found.table);
        self.statements.push(format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), values.join(", ")));
        self
    }
}

const LONG_AGO: &str = "2026-11-01 00:00:00";

fn filler(type_sql: &str) -> &'static str {
    let t = type_sql.to_lowercase();
    if t == "uuid" {
        "00000000-0000-0000-0000-000000000000"
    } else if t.starts_with("date") || t.starts_with("time") {
        LONG_AGO
    } else if t.contains("char") || t.contains("text") {
        "x"
    } else {
        "0"
    }
}

fn is_keyword(value: &DefaultValue) -> bool {
    matches!(value, DefaultValue::Keyword(word) if word.starts_with("CURRENT_TIMESTAMP"))
}

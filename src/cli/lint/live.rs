//! The database that scripts will run on: what it is, and how many rows they reach there.

use clap::ArgMatches;

use super::super::App;
use super::super::args::given;
use super::super::context::{open, table_prefix};
use crate::db::{Access, Database};
use crate::inspect::{Said, identify, nothing_hidden};
use crate::lint::{Config, Finding, Hit, Knowledge, Level, Linted, hits};
use crate::manifest::Engine;
use crate::{Result, ui};

/// An open database, read only, and what it was found to be.
pub(super) struct Live {
    db: Database,
    scheduler: String,
    release: String,
    /// The releases that it may be.
    span: String,
    prefix: Option<String>,
}

impl Live {
    /// The database of `--url`, if one was named.
    pub async fn open(app: &App, m: &ArgMatches) -> Result<Option<Self>> {
        if given(m, "url").is_none() {
            return Ok(None);
        }
        let mut db = open(m, Access::ReadOnly).await?;
        nothing_hidden(&mut db).await?;
        let catalog = db.catalog().await?;
        let prefix = table_prefix(m)?;
        let said = Said { scheduler: given(m, "scheduler"), release: given(m, "release"), table_prefix: prefix };
        let found = identify(&mut db, &catalog, &app.manifests, said).await?;
        found.warnings.iter().for_each(ui::warn);
        if let (Engine::PostgreSql, Some(schema)) = (db.dialect.engine, &db.schema) {
            // Scripts name tables without their schema. pg_catalog still comes first.
            let path = db.dialect.ident(schema);
            db.rows(&format!("SET search_path = {path}")).await?;
        }
        let release = found.manifest.listed(&found.release).to_owned();
        let (scheduler, span) = (found.manifest.scheduler, found.release);
        Ok(Some(Self { db, scheduler, release, span, prefix: prefix.map(ToOwned::to_owned) }))
    }

    /// All that the database may be, if a release is the one that it was taken for.
    pub fn span(&self, release: &str) -> Option<&str> {
        (release == self.release).then_some(&self.span)
    }

    /// What it says of a script's target.
    pub fn says(&self, flag: &str) -> Option<String> {
        match flag {
            "scheduler" => Some(self.scheduler.clone()),
            "release" => Some(self.release.clone()),
            "dialect" => Some(self.db.dialect.name.clone()),
            "table-prefix" => self.prefix.clone(),
            _ => None,
        }
    }

    /// Adds how many rows each change of a script reaches, as the database is now.
    pub async fn count(&mut self, text: &str, knowledge: &Knowledge<'_>, config: &Config, linted: &mut Linted) {
        let mut found = Vec::new();
        for hit in hits(text, knowledge) {
            found.push(self.reached(&hit).await);
        }
        linted.findings.extend(config.levelled(found));
        linted.sort();
    }

    async fn reached(&mut self, hit: &Hit) -> Finding {
        let (does, table) = (hit.does.name(), &hit.table);
        let found = |message: String| Finding::new("rows-reached", Level::Info, hit.range.clone(), message);
        let sql = match &hit.query {
            Ok(sql) => sql,
            Err(why) => return found(format!("how many rows of {table} it would {does} was not counted: {why}")),
        };
        match self.db.value(sql).await {
            Ok(count) => {
                let rows = ui::rows_of(count.and_then(|n| n.parse::<u64>().ok()).unwrap_or_default());
                found(format!("it would {does} {rows} of {table}, as the database is now"))
            }
            // What the database cannot read is what the other findings are about.
            Err(fault) => {
                let mut finding = found(format!("how many rows of {table} it would {does} was not counted"));
                finding.why(ui::safe(&fault.to_string(), 300));
                finding
            }
        }
    }

    pub async fn close(self) {
        self.db.close().await;
    }
}

//! The files of a bundle, from a plan. Pure: the same plan gives the same bytes.

use std::collections::BTreeMap;

pub use super::book::{Book, EndCheck, LEDGER, LOCK_SECONDS, PARTIAL, Partial, PartialStep};
use super::chain::Chain;
use super::ticket;
use crate::data::Tree;
use crate::dialect::Dialect;
use crate::lint::Allow;
use crate::plan::Plan;
use crate::{Error, Result, bundle};

/// Everything in a bundle but SHA256SUMS and receipts.
///
/// # Errors
/// A template that does not render.
pub fn render(plan: &Plan, templates: &Tree) -> Result<BTreeMap<String, String>> {
    let (plan_toml, id) = bundle::plan_text(plan)?;
    let dialect = Dialect::load(&plan.target.dialect)?;
    let mut files = sql_files(&Book::new(plan, &dialect, &id)?)?;
    files.insert("TICKET.md".to_owned(), ticket::render(plan, &id, &dialect, templates)?);
    files.insert("plan.toml".to_owned(), plan_toml);
    Ok(files)
}

fn sql_files(book: &Book<'_>) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    let body = book.body()?;
    let rollback = book.rollback(None)?;
    let client = &book.d.client;
    files.insert("session.sql".to_owned(), book.session()?);
    files.insert("tables.sql".to_owned(), book.tables()?);
    files.insert("clean.sql".to_owned(), book.clean()?);
    files.insert(format!("apply.{client}"), book.runner("apply", &body.files, &body.guards)?);
    files.insert(format!("rollback.{client}"), book.rollback_runner(&rollback)?);
    files.insert("rollback.sql".to_owned(), rollback.text);
    files.extend(body.files);
    Ok(files)
}

/// Whether the SQL of a bundle is what its plan gives: the files that people read, and the runners
/// that run, word for word.
///
/// # Errors
/// A file is another one, or a template that does not render.
pub fn check_sql(bundle: &bundle::Bundle) -> Result<()> {
    let wanted = sql(&bundle.plan)?;
    let is_sql = |name: &str| !["TICKET.md", "plan.toml"].contains(&name);
    let strange = bundle.files.keys().filter(|name| is_sql(name) && !wanted.contains_key(*name));
    let other = wanted.iter().filter(|(name, text)| bundle.files.get(*name) != Some(text)).map(|(name, _)| name);
    let Some(name) = other.chain(strange).next() else { return Ok(()) };
    let message = format!("{name} is not what plan.toml gives");
    Err(Error::refused(message).hint("somebody edited it and sealed the bundle again: plan again"))
}

/// The SQL files of a bundle.
fn sql(plan: &Plan) -> Result<BTreeMap<String, String>> {
    let (_, id) = bundle::plan_text(plan)?;
    let dialect = Dialect::load(&plan.target.dialect)?;
    sql_files(&Book::new(plan, &dialect, &id)?)
}

/// The numbered files and the guards they leave in the ledger.
pub struct Body {
    /// Name and text, in order.
    pub files: Vec<(String, String)>,
    /// The guards, in order.
    pub guards: Vec<String>,
}

/// The text of a rollback and the guards it leaves in the ledger.
pub struct Undo {
    /// The text.
    pub text: String,
    /// The guards, in order.
    pub guards: Vec<String>,
}

impl Book<'_> {
    /// The runner of a rollback.
    ///
    /// # Errors
    /// The dialect's macros do not render.
    pub fn rollback_runner(&self, undo: &Undo) -> Result<String> {
        self.runner("rollback", &[("rollback.sql".to_owned(), undo.text.clone())], &undo.guards)
    }

    fn session(&self) -> Result<String> {
        Ok(format!("-- flowmend bundle {}: session settings\n{}\n", self.id, self.call("session", self.base())?))
    }

    fn tables(&self) -> Result<String> {
        let mut parts = vec![
            format!("-- flowmend bundle {}: the ledger, and the bundle's own tables", self.id),
            "-- Leftover empty tables of a run that failed are used again.".to_owned(),
            self.call("ledger_table", self.base())?,
        ];
        for view in self.views() {
            let mut x = self.base();
            x.extend(view.map());
            parts.push(self.call("work_table", x.clone())?);
            for image in self.images(&view).into_iter().skip(1) {
                x.insert("image".to_owned(), view.own(image).into());
                parts.push(self.call("image_table", x.clone())?);
            }
        }
        Ok(parts.join("\n") + "\n")
    }

    fn clean(&self) -> Result<String> {
        let mut parts = vec![
            format!("-- flowmend bundle {}: drops the bundle's own tables", self.id),
            "-- After this the bundle cannot be rolled back. The ledger keeps its rows.".to_owned(),
        ];
        for name in self.own_tables() {
            parts.push(self.call("drop_table", BTreeMap::from([("name".to_owned(), name.into())]))?);
        }
        Ok(parts.join("\n") + "\n")
    }

    /// The numbered files.
    ///
    /// # Errors
    /// A template that does not render.
    pub fn body(&self) -> Result<Body> {
        let views = self.views();
        let mut chain = Chain { book: self, guards: Vec::new() };
        let mut files = vec![
            ("01_preflight.sql".to_owned(), chain.preflight()?),
            ("02_backup.sql".to_owned(), chain.backup(&views)?),
        ];
        for view in &views {
            files.push((format!("{}.sql", view.name), chain.write(view)?));
        }
        files.push((format!("{:02}_verify.sql", views.len() + 3), chain.verify(&views)?));
        Ok(Body { files, guards: chain.guards })
    }

    /// The rollback, of all rows or of a part.
    ///
    /// # Errors
    /// A template that does not render.
    pub fn rollback(&self, partial: Option<&Partial>) -> Result<Undo> {
        let views = self.views();
        let mut chain = Chain { book: self, guards: Vec::new() };
        let text = chain.rollback(&views, partial)?;
        Ok(Undo { text, guards: chain.guards })
    }

    /// A runner: session, tables, begin, the files, the end, in one text that a
    /// stock client reads from anywhere.
    fn runner(&self, what: &str, files: &[(String, String)], guards: &[String]) -> Result<String> {
        let mut parts = vec![format!(
            "-- flowmend bundle {}: {what}, for the stock client\n-- {}\n-- If it stops with `{}`, a guard counted other rows than planned,\n-- and nothing was changed: the line that is named, or the last guard printed, says which guard.",
            self.id,
            self.how_to_run(what),
            self.d.guard_fails
        )];
        if what == "apply" {
            parts.extend(
                self.plan
                    .allowed
                    .iter()
                    .map(|a| Allow { rule: a.rule.clone(), reason: a.reason.clone() }.comment_for_file()),
            );
        }
        let head = self.call("runner_head", self.base())?;
        if !head.is_empty() {
            parts.push(head);
        }
        let session = self.session()?;
        let tables = if what == "apply" { self.tables()? } else { String::new() };
        let begin = self.begin()?;
        parts.extend(self.opening(&session, &tables, &begin).map(ToOwned::to_owned));
        for (name, text) in files {
            parts.push(format!("-- ==== {name} ====\n{text}"));
        }
        let mut x = self.base();
        x.insert("guards".to_owned(), guards.iter().map(|g| format!("'{g}'")).collect::<Vec<_>>().join(", ").into());
        x.insert("guard_count".to_owned(), guards.len().into());
        x.insert("last".to_owned(), guards.last().cloned().unwrap_or_default().into());
        let done = if what == "apply" { "applied" } else { "rolled back" };
        x.insert("done".to_owned(), format!("bundle {} is {done}", self.id).into());
        parts.push(format!("-- ==== end ====\n{}", self.call("end_transaction", x)?));
        parts.retain(|p| !p.is_empty());
        Ok(parts.join("\n") + "\n")
    }

    fn how_to_run(&self, what: &str) -> String {
        let file = format!("{what}.{}", self.d.client);
        match self.d.client.as_str() {
            "psql" => format!("{} -f {file}", self.d.command),
            _ => format!("{} < {file}", self.d.command),
        }
    }
}

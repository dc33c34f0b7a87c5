//! The files of a bundle, from a plan. Pure: the same plan gives the same bytes.

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior, Value};

use super::chain::{Chain, holds_at_end, violations};
use super::ticket;
use super::view::StepView;
use crate::data::Tree;
use crate::dialect::Dialect;
use crate::plan::Plan;
use crate::recipe::Op;
use crate::{Error, Result, bundle};

/// The ledger's table.
pub const LEDGER: &str = "flowmend_ledger";
/// The ledger's step that says how many rows a partial rollback left alone.
pub const PARTIAL: &str = "rollback.partial";
/// How long a statement of a bundle waits for a lock.
pub const LOCK_SECONDS: u32 = 10;
/// How long a statement of a bundle may take.
pub const STATEMENT_SECONDS: u32 = 120;

/// Everything in a bundle but SHA256SUMS and receipts.
///
/// # Errors
/// A template that does not render.
pub fn render(plan: &Plan, templates: &Tree) -> Result<BTreeMap<String, String>> {
    let (plan_toml, id) = bundle::plan_text(plan)?;
    let dialect = Dialect::load(&plan.target.dialect)?;
    let book = Book::new(plan, &dialect, &id)?;
    let mut files = BTreeMap::new();
    let body = book.body()?;
    let rollback = book.rollback(None)?;
    let client = &dialect.client;
    files.insert("session.sql".to_owned(), book.session()?);
    files.insert("tables.sql".to_owned(), book.tables()?);
    files.insert("clean.sql".to_owned(), book.clean()?);
    files.insert(format!("apply.{client}"), book.runner("apply", &body.files, &body.guards)?);
    let undo = vec![("rollback.sql".to_owned(), rollback.text.clone())];
    files.insert(format!("rollback.{client}"), book.runner("rollback", &undo, &rollback.guards)?);
    files.insert("rollback.sql".to_owned(), rollback.text);
    files.extend(body.files);
    files.insert("TICKET.md".to_owned(), ticket::render(plan, &id, &dialect, templates)?);
    files.insert("plan.toml".to_owned(), plan_toml);
    Ok(files)
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

/// A query that counts 0 when all is well.
pub struct EndCheck {
    /// Stable name.
    pub name: String,
    /// What it says.
    pub title: String,
    /// The query.
    pub query: String,
}

/// Which rows a partial rollback restores: step → how many, and the SQL that
/// keeps to them, over aliases `a` and `b`.
pub type Partial = BTreeMap<String, PartialStep>;

/// The share of one step in a partial rollback.
pub struct PartialStep {
    /// How many rows are restored.
    pub rows: usize,
    /// Key values of the rows that are left alone.
    pub skip: Vec<Vec<Option<String>>>,
}

/// Writes the parts of one bundle.
pub struct Book<'a> {
    pub(super) plan: &'a Plan,
    d: &'a Dialect,
    pub(super) id: &'a str,
    env: Environment<'static>,
}

impl<'a> Book<'a> {
    /// A writer for one plan.
    ///
    /// # Errors
    /// The dialect's macros do not parse.
    pub fn new(plan: &'a Plan, d: &'a Dialect, id: &'a str) -> Result<Self> {
        let tree = Tree::dialects();
        let file = tree.get(&d.macros).ok_or_else(|| Error::internal(format!("no macros {}", d.macros)))?;
        let mut env = Environment::new();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        env.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        env.add_template_owned(d.macros.clone(), file.text.clone())?;
        Ok(Self { plan, d, id, env })
    }

    pub(super) fn call(&self, name: &str, x: BTreeMap<String, Value>) -> Result<String> {
        let template = self.env.get_template(&self.d.macros)?;
        let mut module = template.render_captured(())?;
        Ok(module.with_state_mut(|state| state.call_macro(name, &[Value::from(x)]))?)
    }

    pub(super) fn base(&self) -> BTreeMap<String, Value> {
        let schema = self.plan.target.schema.clone().unwrap_or_else(|| "public".to_owned());
        let mut tables: Vec<String> = self.plan.steps.iter().map(|s| s.table.clone()).collect();
        tables.sort();
        tables.dedup();
        let literals: Vec<String> = tables.iter().map(|t| self.d.text_literal(t)).collect();
        BTreeMap::from([
            ("id".to_owned(), self.id.into()),
            ("ledger".to_owned(), self.ledger().into()),
            ("dialect".to_owned(), self.d.name.as_str().into()),
            ("schema_q".to_owned(), self.d.ident(&schema).into()),
            ("schema_literal".to_owned(), self.d.text_literal(&schema).into()),
            ("table_literals".to_owned(), literals.join(", ").into()),
            ("table_count".to_owned(), tables.len().into()),
            ("lock_seconds".to_owned(), LOCK_SECONDS.into()),
            ("statement_seconds".to_owned(), STATEMENT_SECONDS.into()),
        ])
    }

    /// The ledger's table, qualified.
    #[must_use]
    pub fn ledger(&self) -> String {
        let target = &self.plan.target;
        self.d.table(target.work_schema.as_deref().or(target.schema.as_deref()), LEDGER)
    }

    /// The steps' SQL parts.
    #[must_use]
    pub fn views(&self) -> Vec<StepView<'_>> {
        (0..self.plan.steps.len()).map(|i| StepView::new(self.d, self.plan, self.id, i)).collect()
    }

    /// The bundle's own tables, in the order they are made.
    #[must_use]
    pub fn own_tables(&self) -> Vec<String> {
        self.views()
            .iter()
            .flat_map(|v| self.images(v).into_iter().map(|what| v.own(what)).collect::<Vec<_>>())
            .collect()
    }

    fn images(&self, view: &StepView<'_>) -> Vec<&'static str> {
        match view.step.op {
            Op::Update => vec!["work", "before", "after"],
            Op::Insert => vec!["work", "after"],
            Op::Delete => vec!["work", "before"],
        }
    }

    /// The statement that opens the transaction.
    ///
    /// # Errors
    /// The dialect's macros do not render.
    pub fn begin(&self) -> Result<String> {
        self.call("begin_transaction", self.base())
    }

    /// The runner of a rollback.
    ///
    /// # Errors
    /// The dialect's macros do not render.
    pub fn rollback_runner(&self, undo: &Undo) -> Result<String> {
        self.runner("rollback", &[("rollback.sql".to_owned(), undo.text.clone())], &undo.guards)
    }

    /// What must still hold after the end: conditions and the recipe's checks.
    #[must_use]
    pub fn end_checks(&self) -> Vec<EndCheck> {
        let views = self.views();
        let mut found = Vec::new();
        for view in &views {
            for condition in view.step.conditions.iter().filter(|c| holds_at_end(view, c.at)) {
                found.push(EndCheck {
                    name: format!("{}.{}", view.name, condition.name),
                    title: condition.title.clone(),
                    query: violations(view, &condition.sql),
                });
            }
        }
        for check in &self.plan.checks {
            if let Some(view) = views.iter().find(|v| v.step.role == check.step) {
                let query = check.sql.replace("{work}", &view.own("work"));
                found.push(EndCheck { name: check.name.clone(), title: check.title.clone(), query });
            }
        }
        found
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
        let mut parts =
            vec![format!("-- flowmend bundle {}: {what}, for the stock client\n-- {}", self.id, self.how_to_run(what))];
        let head = self.call("runner_head", self.base())?;
        if !head.is_empty() {
            parts.push(head);
        }
        let session = self.session()?;
        let tables = if what == "apply" { self.tables()? } else { String::new() };
        let begin = self.begin()?;
        if self.d.engine == crate::manifest::Engine::MySql {
            // Here CREATE TABLE commits, so the tables are made first.
            parts.extend([session, tables, begin]);
        } else {
            parts.extend([begin, session, tables]);
        }
        for (name, text) in files {
            parts.push(format!("-- ==== {name} ====\n{text}"));
        }
        let mut x = self.base();
        x.insert("guards".to_owned(), guards.iter().map(|g| format!("'{g}'")).collect::<Vec<_>>().join(", ").into());
        x.insert("guard_count".to_owned(), guards.len().into());
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

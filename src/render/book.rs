//! What a bundle's files are written with: the dialect's macros and the steps' parts. Pure.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{Environment, UndefinedBehavior, Value};

use super::view::StepView;
use crate::data::Tree;
use crate::dialect::Dialect;
use crate::manifest::Engine;
use crate::plan::Plan;
use crate::recipe::Op;
use crate::{Error, Result};

/// The ledger's table.
pub const LEDGER: &str = "flowmend_ledger";
/// The ledger's step that says how many rows a partial rollback left alone.
pub const PARTIAL: &str = "rollback.partial";
/// How long a statement of a bundle waits for a lock.
pub const LOCK_SECONDS: u32 = 10;
/// How long a statement of a bundle may take.
pub const STATEMENT_SECONDS: u32 = 120;

/// A query that counts 0 when all is well.
pub struct EndCheck {
    /// Stable name.
    pub name: String,
    /// What it says.
    pub title: String,
    /// The query.
    pub query: String,
    /// Whether it need hold only when the repair ends.
    pub once: bool,
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
    pub(super) d: &'a Dialect,
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
        if tree.get(&d.macros).is_none() {
            return Err(Error::internal(format!("no macros {}", d.macros)));
        }
        let mut env = Environment::new();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        env.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        for (name, file) in tree.iter().filter(|(name, _)| name.starts_with("macros/")) {
            env.add_template_owned(name.to_owned(), file.text.clone())?;
        }
        Ok(Self { plan, d, id, env })
    }

    pub(super) fn call(&self, name: &str, x: BTreeMap<String, Value>) -> Result<String> {
        let template = self.env.get_template(&self.d.macros)?;
        let mut module = template.render_captured(())?;
        Ok(module.with_state_mut(|state| state.call_macro(name, &[Value::from(x)]))?)
    }

    pub(super) fn base(&self) -> BTreeMap<String, Value> {
        let schema = self.plan.target.schema.clone().unwrap_or_else(|| "public".to_owned());
        let written: BTreeSet<&str> = self.plan.steps.iter().map(|s| s.table.as_str()).collect();
        let list =
            |tables: Vec<&str>| tables.into_iter().map(|t| self.d.text_literal(t)).collect::<Vec<_>>().join(", ");
        BTreeMap::from([
            ("id".to_owned(), self.id.into()),
            ("ledger".to_owned(), self.ledger().into()),
            ("ledger_literal".to_owned(), self.d.text_literal(&self.ledger()).into()),
            ("work_schema_literal".to_owned(), self.work_schema_literal().into()),
            ("dialect".to_owned(), self.d.name.as_str().into()),
            ("server_literal".to_owned(), self.d.text_literal(&self.plan.target.server).into()),
            ("database_literal".to_owned(), self.d.text_literal(&self.plan.target.database).into()),
            ("schema_q".to_owned(), self.d.ident(&schema).into()),
            ("schema_literal".to_owned(), self.d.text_literal(&schema).into()),
            ("table_literals".to_owned(), list(written.into_iter().collect()).into()),
            ("plain_literals".to_owned(), list(self.plain_tables()).into()),
            ("lock_seconds".to_owned(), LOCK_SECONDS.into()),
            ("statement_seconds".to_owned(), STATEMENT_SECONDS.into()),
        ])
    }

    /// The schema of the scheduler's tables, where it must be named.
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        self.plan.target.schema.as_deref()
    }

    /// The tables whose rows are written or locked, each once.
    #[must_use]
    pub fn plain_tables(&self) -> Vec<&str> {
        let locked = self.plan.locks.iter().map(|l| l.table.as_str());
        let all: BTreeSet<&str> = self.plan.steps.iter().map(|s| s.table.as_str()).chain(locked).collect();
        all.into_iter().collect()
    }

    /// The schema of the ledger as a literal, or the database of the session.
    fn work_schema_literal(&self) -> String {
        let schema = self.plan.target.work_schema.as_deref();
        schema.map_or_else(|| "DATABASE()".to_owned(), |s| self.d.text_literal(s))
    }

    /// The ledger's table, qualified.
    #[must_use]
    pub fn ledger(&self) -> String {
        self.d.table(self.plan.target.own_schema(), LEDGER)
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

    pub(super) fn images(&self, view: &StepView<'_>) -> Vec<&'static str> {
        match view.step.op {
            Op::Update => vec!["work", "before", "after"],
            Op::Insert => vec!["work", "after"],
            Op::Delete => vec!["work", "before"],
        }
    }

    /// The texts before the first numbered file, in order: on MySQL a CREATE
    /// TABLE commits, so there the tables are made before the transaction begins.
    #[must_use]
    pub fn opening<'t>(&self, session: &'t str, tables: &'t str, begin: &'t str) -> [&'t str; 3] {
        match self.d.engine {
            Engine::MySql => [session, tables, begin],
            Engine::PostgreSql | Engine::Sqlite => [begin, session, tables],
        }
    }

    /// The statement that opens the transaction.
    ///
    /// # Errors
    /// The dialect's macros do not render.
    pub fn begin(&self) -> Result<String> {
        self.call("begin_transaction", self.base())
    }

    /// The condition under which the ledger can hold, as an expression.
    ///
    /// # Errors
    /// The dialect's macros do not render.
    pub fn ledger_sound(&self) -> Result<String> {
        self.call("ledger_sound", self.base())
    }

    /// What must still hold after the end: conditions and the recipe's checks.
    #[must_use]
    pub fn end_checks(&self) -> Vec<EndCheck> {
        let views = self.views();
        let mut found = Vec::new();
        for view in &views {
            for condition in view.step.conditions.iter().filter(|c| view.holds_at_end(c.at)) {
                found.push(EndCheck {
                    name: format!("{}.{}", view.name, condition.name),
                    title: condition.title.clone(),
                    query: view.violations(&condition.sql),
                    once: condition.once,
                });
            }
        }
        for check in &self.plan.checks {
            if let Some(view) = views.iter().find(|v| v.name == check.step) {
                let query = check.sql.replace("{work}", &view.own("work"));
                found.push(EndCheck { name: check.name.clone(), title: check.title.clone(), query, once: check.once });
            }
        }
        found
    }
}

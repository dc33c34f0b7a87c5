//! The files of a bundle, from a plan. Pure: the same plan gives the same bytes.

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior, Value};

use super::ticket;
use super::view::StepView;
use crate::data::Tree;
use crate::dialect::Dialect;
use crate::plan::Plan;
use crate::recipe::{ConditionTime, Op};
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
    plan: &'a Plan,
    d: &'a Dialect,
    id: &'a str,
    env: Environment<'static>,
}

/// The chain of guards: each knows the one before.
struct Chain<'b, 'a> {
    book: &'b Book<'a>,
    guards: Vec<String>,
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

    fn call(&self, name: &str, x: BTreeMap<String, Value>) -> Result<String> {
        let template = self.env.get_template(&self.d.macros)?;
        let mut module = template.render_captured(())?;
        Ok(module.with_state_mut(|state| state.call_macro(name, &[Value::from(x)]))?)
    }

    fn base(&self) -> BTreeMap<String, Value> {
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
            Op::Update | Op::Insert => vec!["work", "before", "after"],
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
            for condition in view.step.conditions.iter().filter(|c| c.at != ConditionTime::Start) {
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

impl Chain<'_, '_> {
    fn x(&self, own: &str, expected: usize) -> BTreeMap<String, Value> {
        let mut x = self.book.base();
        x.insert("own".to_owned(), own.into());
        x.insert("prev".to_owned(), self.guards.last().cloned().unwrap_or_default().into());
        x.insert("expected".to_owned(), expected.into());
        x
    }

    fn step_x(&self, view: &StepView<'_>, own: &str, expected: usize) -> BTreeMap<String, Value> {
        let mut x = view.map();
        x.extend(self.x(own, expected));
        x
    }

    fn call(&mut self, name: &str, own: &str, x: BTreeMap<String, Value>) -> Result<String> {
        let text = self.book.call(name, x)?;
        self.guards.push(own.to_owned());
        Ok(text)
    }

    /// A guard over a query that gives one number.
    fn guard(&mut self, own: &str, title: &str, expected: usize, query: &str) -> Result<String> {
        let mut x = self.x(own, expected);
        x.insert("query".to_owned(), query.into());
        let text = self.call("guard", own, x)?;
        Ok(format!("-- guard {own}: {title} (expected {expected})\n{text}\n"))
    }

    fn preflight(&mut self) -> Result<String> {
        let book = self.book;
        let base = book.base();
        let count = self.x("begin", 0);
        let mut text = format!(
            "-- 01 preflight: nothing is changed here.\n\
             -- The begin row's key is also the lock against a second run: a duplicate means \"already applied\".\n{}\n",
            self.call("begin_row", "begin", count)?
        );
        let empty: Vec<String> = book.own_tables().iter().map(|t| format!("(SELECT COUNT(*) FROM {t})")).collect();
        let empty = format!("SELECT {}", empty.join(" + "));
        text += &self.guard("01_preflight.own_tables", "the bundle's own tables are empty", 0, &empty)?;
        let tables = book.plan.steps.iter().map(|s| &s.table).collect::<std::collections::BTreeSet<_>>().len();
        let query = book.call("tables_count", base.clone())?;
        text += &self.guard(
            "01_preflight.tables",
            "the target tables are plain tables that can be rolled back",
            tables,
            &query,
        )?;
        let query = book.call("triggers_count", base)?;
        let allowed = book.plan.target.allowed_triggers.len();
        text += &self.guard("01_preflight.triggers", "triggers on the target tables", allowed, &query)?;
        Ok(text)
    }

    fn backup(&mut self, views: &[StepView<'_>]) -> Result<String> {
        let mut text =
            "-- 02 backup: loads keys, pins and new values, then copies the affected rows whole, under row locks.\n\
                        -- Work table columns: k_ key, o_ old value, n_ new value, r_ value of the related row.\n"
                .to_owned();
        for view in views {
            let rows = view.step.rows.len();
            for chunk in view.chunks() {
                let mut x = view.map();
                x.insert("rows".to_owned(), chunk.into());
                x.insert("work_names".to_owned(), view.work_names().into());
                text += &self.book.call("load", x)?;
                text.push('\n');
            }
            let own = format!("02_backup.{}.loaded", view.name);
            text += &self.guard(&own, "rows loaded", rows, &format!("SELECT COUNT(*) FROM {}", view.own("work")))?;
        }
        for view in views {
            let rows = view.step.rows.len();
            let own = format!("02_backup.{}", view.name);
            let titles: Vec<String> = view
                .step
                .conditions
                .iter()
                .filter(|c| c.at != ConditionTime::End)
                .map(|c| format!("--   and {}\n", c.title))
                .collect();
            let x = self.step_x(view, &own, rows);
            text += &format!(
                "-- guard {own}: rows of {} that still are as planned (expected {rows})\n{}{}\n",
                view.step.table,
                titles.concat(),
                self.call("backup", &own, x)?
            );
        }
        Ok(text)
    }

    fn write(&mut self, view: &StepView<'_>) -> Result<String> {
        let rows = view.step.rows.len();
        let own = view.name.clone();
        let verb = match view.step.op {
            Op::Update => "update",
            Op::Delete => "delete",
            Op::Insert => return Err(Error::internal("inserts are not rendered yet")),
        };
        let mut text = format!("-- {own}: {} ({rows} rows of {})\n", view.step.title, view.step.table);
        for line in super::ticket::transitions(view.step) {
            text += &format!("--   {line}\n");
        }
        let x = self.step_x(view, &own, rows);
        text += &format!("{}\n", self.call(verb, &own, x)?);
        if view.step.op == Op::Update {
            let after = format!("{own}.after");
            let x = self.step_x(view, &after, rows);
            text += &format!("-- guard {after}: the rows as they are now, for verify and rollback (expected {rows})\n");
            text += &format!("{}\n", self.call("after_image", &after, x)?);
            let map = view.map();
            let part = |name: &str| map.get(name).map(ToString::to_string).unwrap_or_default();
            let query = format!(
                "SELECT COUNT(*) FROM {} a JOIN {} b ON {} JOIN {} w ON {}\n WHERE {}",
                view.own("after"),
                view.own("before"),
                part("key_ab"),
                view.own("work"),
                part("key_bw"),
                view.exact()
            );
            text += &self.guard(
                &format!("{own}.exact"),
                "rows that hold the planned values and nothing else changed",
                rows,
                &query,
            )?;
        }
        Ok(text)
    }

    fn verify(&mut self, views: &[StepView<'_>]) -> Result<String> {
        let number = views.len() + 3;
        let mut text = format!("-- {number:02} verify: the end is reached only if all of this holds.\n");
        for view in views {
            let rows = view.step.rows.len();
            let (query, expected) = standing(view, rows);
            text +=
                &self.guard(&format!("{number:02}_verify.{}", view.name), "rows stand as written", expected, &query)?;
        }
        for check in self.book.end_checks() {
            let own = format!("{number:02}_verify.{}", check.name);
            text +=
                &self.guard(&own, &format!("rows for which it is not true that {}", check.title), 0, &check.query)?;
        }
        text += &self.end("end")?;
        Ok(text)
    }

    /// The last guard counts the others.
    fn end(&mut self, own: &str) -> Result<String> {
        let names: Vec<String> = self.guards.iter().map(|g| format!("'{g}'")).collect();
        let query = format!(
            "SELECT COUNT(*) FROM {} e WHERE e.bundle = '{}' AND e.step IN ({})",
            self.book.ledger(),
            self.book.id,
            names.join(", ")
        );
        self.guard(own, "guards that held", names.len(), &query)
    }

    fn rollback(&mut self, views: &[StepView<'_>], partial: Option<&Partial>) -> Result<String> {
        let mut text = "-- Rollback: restores the rows that nobody changed since; refuses if one moved.\n".to_owned();
        let mut x = self.x("rollback.begin", 1);
        let query = format!(
            "SELECT COUNT(*) FROM {} e WHERE e.bundle = '{}' AND e.step = 'end'",
            self.book.ledger(),
            self.book.id
        );
        x.insert("query".to_owned(), query.into());
        text += "-- guard rollback.begin: the bundle was applied (a duplicate means \"already rolled back\")\n";
        text += &format!("{}\n", self.call("first_guard", "rollback.begin", x)?);
        if let Some(partial) = partial {
            let left: usize = partial.values().map(|p| p.skip.len()).sum();
            text += &self.guard(
                PARTIAL,
                "rows that moved, or belong to a run with one that did, stay as they are",
                left,
                &format!("SELECT {left}"),
            )?;
        }
        for view in views {
            for condition in view.step.conditions.iter().filter(|c| c.at == ConditionTime::Both) {
                let own = format!("rollback.{}.{}", view.name, condition.name);
                let title = format!("rows for which it is not true that {}", condition.title);
                text +=
                    &self.guard(&own, &title, 0, &self.limited(view, partial, &violations(view, &condition.sql)))?;
            }
        }
        // A counter that is recounted comes last: it follows the rows that went back.
        let recounted = |view: &&StepView<'_>| partial.is_some() && counts(view);
        for view in views.iter().rev().filter(|v| !recounted(v)).chain(views.iter().rev().filter(recounted)) {
            text += &self.undo(view, partial)?;
        }
        text += &self.end("rollback.end")?;
        Ok(text)
    }

    fn limited(&self, view: &StepView<'_>, partial: Option<&Partial>, query: &str) -> String {
        match partial {
            None => query.to_owned(),
            Some(partial) => format!("{query}{}", skip(view, partial, "t")),
        }
    }

    fn undo(&mut self, view: &StepView<'_>, partial: Option<&Partial>) -> Result<String> {
        let own = format!("rollback.{}", view.name);
        let rows = partial.map_or(view.step.rows.len(), |p| p.get(&view.name).map_or(0, |s| s.rows));
        let mut x = self.step_x(view, &own, rows);
        if let Some(partial) = partial {
            if counts(view) {
                let text = self.book.call("recount", x)?;
                let map = view.map();
                let key = map.get("key_ta").map(ToString::to_string).unwrap_or_default();
                let wrong = view.must_change().join(" OR ");
                let query = format!(
                    "SELECT COUNT(*) FROM {} t JOIN {} a ON {key}\n WHERE {wrong}",
                    view.table(),
                    view.own("after")
                );
                let guard = self.guard(&own, "counters that are not the number of rows they count", 0, &query)?;
                return Ok(format!("-- {own}: recount\n{text}\n{guard}"));
            }
            x.insert("only".to_owned(), skip(view, partial, "b").into());
            x.insert("only_b".to_owned(), skip(view, partial, "b").into());
        }
        let (verb, restored) = match view.step.op {
            Op::Update => ("restore_update", "rows that nobody changed since, restored"),
            Op::Delete => ("restore_delete", "deleted rows that came back under their keys"),
            Op::Insert => return Err(Error::internal("inserts are not rendered yet")),
        };
        let mut text = format!("-- guard {own}: {restored} (expected {rows})\n{}\n", self.call(verb, &own, x)?);
        let map = view.map();
        let key = map.get("key_tb").map(ToString::to_string).unwrap_or_default();
        let same = view.all_same("t", "b");
        let limit = partial.map(|p| skip(view, p, "b")).unwrap_or_default();
        let query = format!(
            "SELECT COUNT(*) FROM {} t JOIN {} b ON {key}\n WHERE {same}{limit}",
            view.table(),
            view.own("before")
        );
        text += &self.guard(&format!("{own}.exact"), "rows equal to the backup in every column", rows, &query)?;
        Ok(text)
    }
}

/// Whether a step writes a counter.
fn counts(view: &StepView<'_>) -> bool {
    view.step.set.iter().any(|s| s.kind == crate::recipe::SetKind::Recount)
}

/// Rows that a partial rollback leaves alone, as a condition on an alias.
fn skip(view: &StepView<'_>, partial: &Partial, alias: &str) -> String {
    let skipped = partial.get(&view.name).map(|p| &p.skip);
    let parts: Vec<String> = skipped.into_iter().flatten().map(|key| view.is_key(alias, key)).collect();
    if parts.is_empty() { String::new() } else { format!("\n   AND NOT ({})", parts.join(" OR ")) }
}

/// The query that counts a step's rows that stand as written, and its right answer.
fn standing(view: &StepView<'_>, rows: usize) -> (String, usize) {
    let map = view.map();
    let part = |name: &str| map.get(name).map(ToString::to_string).unwrap_or_default();
    match view.step.op {
        Op::Delete => {
            (format!("SELECT COUNT(*) FROM {} t JOIN {} b ON {}", view.table(), view.own("before"), part("key_tb")), 0)
        }
        Op::Update | Op::Insert => (
            format!(
                "SELECT COUNT(*) FROM {} t JOIN {} a ON {}\n WHERE {}",
                view.table(),
                view.own("after"),
                part("key_ta"),
                part("same_ta")
            ),
            rows,
        ),
    }
}

/// The query that counts a step's rows for which a condition does not hold.
fn violations(view: &StepView<'_>, condition: &str) -> String {
    let image = if view.step.op == Op::Delete { "before" } else { "after" };
    format!("SELECT COUNT(*) FROM {} t WHERE CASE WHEN {condition} THEN 0 ELSE 1 END = 1", view.own(image))
}

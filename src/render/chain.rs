//! The chain of guards: the numbered files and the rollback, statement by statement. Pure.

use std::collections::BTreeMap;

use minijinja::Value;

use super::book::{Book, PARTIAL, Partial};
use super::locks;
use super::view::StepView;
use crate::Result;
use crate::lint::Allow;
use crate::recipe::{ConditionTime, Op};
use crate::ui::safe;

/// The chain of guards: each knows the one before.
pub(super) struct Chain<'b, 'a> {
    pub book: &'b Book<'a>,
    pub guards: Vec<String>,
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
        Ok(format!("-- guard {own}: {} (expected {expected})\n{text}\n", one_line(title)))
    }

    pub fn preflight(&mut self) -> Result<String> {
        let book = self.book;
        let base = book.base();
        let count = self.x("begin", 0);
        let mut text = format!(
            "-- 01 preflight: nothing is changed here.\n\
             -- The begin row's key is also the lock against a second run: a duplicate means \"already applied\".\n{}\n",
            self.call("begin_row", "begin", count)?
        );
        text += &self.take_locks("01_preflight.locks");
        text += &self.held_locks("01_preflight.locks")?;
        let empty: Vec<String> = book.own_tables().iter().map(|t| format!("(SELECT COUNT(*) FROM {t})")).collect();
        let empty = format!("SELECT {}", empty.join(" + "));
        let place = book.call("place_count", base.clone())?;
        if !place.is_empty() {
            text += &self.guard("01_preflight.place", "this is the server and the database of the plan", 1, &place)?;
        }
        text += &self.guard("01_preflight.own_tables", "the bundle's own tables are empty", 0, &empty)?;
        let tables = book.plain_tables().len();
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

    /// Takes the rows that the scheduler locks before it writes, one statement a row,
    /// so that the order is the scheduler's.
    fn take_locks(&self, own: &str) -> String {
        let (d, schema, locks) = (self.book.d, self.book.schema(), &self.book.plan.locks);
        if locks.is_empty() {
            return String::new();
        }
        let statements: Vec<String> = locks.iter().map(|l| locks::take(d, schema, l)).collect();
        format!(
            "-- {own}: the rows that the scheduler itself locks before it writes, in its order\n{}\n",
            statements.join("\n")
        )
    }

    /// The rows that were there in the plan are there, and so held. An undo does without:
    /// where they are gone, no scheduler takes them.
    fn held_locks(&mut self, own: &str) -> Result<String> {
        let (d, schema) = (self.book.d, self.book.schema());
        let there = self.book.plan.locks.iter().filter(|l| l.there);
        let counts: Vec<String> = there.map(|l| format!("({})", locks::count(d, schema, l))).collect();
        if counts.is_empty() {
            return Ok(String::new());
        }
        self.guard(own, "lock rows that are held", counts.len(), &format!("SELECT {}", counts.join(" + ")))
    }

    pub fn backup(&mut self, views: &[StepView<'_>]) -> Result<String> {
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
        // A row that is to come cannot be backed up or locked.
        for view in views.iter().filter(|v| v.step.op != Op::Insert) {
            let rows = view.step.rows.len();
            let own = format!("02_backup.{}", view.name);
            let titles: Vec<String> = view
                .step
                .conditions
                .iter()
                .filter(|c| c.at != ConditionTime::End)
                .map(|c| format!("--   and {}\n", one_line(&c.title)))
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

    pub fn write(&mut self, view: &StepView<'_>) -> Result<String> {
        let rows = view.step.rows.len();
        let own = view.name.clone();
        let (verb, image) = match view.step.op {
            Op::Update => ("update", Some("after_image")),
            Op::Delete => ("delete", None),
            Op::Insert => ("insert", Some("after_insert")),
        };
        let title = one_line(&view.step.full_title());
        let mut text = format!("-- {own}: {title} ({rows} rows of {})\n", view.step.table);
        for line in super::ticket::transitions(view.step) {
            text += &format!("--   {}\n", one_line(&line));
        }
        if view.step.op == Op::Insert {
            let query = format!(
                "SELECT COUNT(*) FROM {} t JOIN {} w ON {}",
                view.table(),
                view.own("work"),
                view.insert_match()
            );
            text += &self.guard(&format!("{own}.absent"), "such rows that are there already", 0, &query)?;
        }
        for (number, (child, query)) in view.reached().into_iter().enumerate() {
            let own = format!("{own}.reached.{}", number + 1);
            text += &self.guard(&own, &format!("rows of {child} that the delete would reach"), 0, &query)?;
        }
        for (rule, reason) in &view.step.accepts {
            let allow = Allow { rule: rule.clone(), reason: reason.clone() };
            text += &format!("{}\n", allow.comment());
        }
        let x = self.step_x(view, &own, rows);
        text += &format!("{}\n", self.call(verb, &own, x)?);
        if let Some(image) = image {
            let after = format!("{own}.after");
            let x = self.step_x(view, &after, rows);
            text += &format!("-- guard {after}: the rows as they are now, for verify and rollback (expected {rows})\n");
            text += &format!("{}\n", self.call(image, &after, x)?);
        }
        if view.step.op == Op::Update {
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

    pub fn verify(&mut self, views: &[StepView<'_>]) -> Result<String> {
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

    pub fn rollback(&mut self, views: &[StepView<'_>], partial: Option<&Partial>) -> Result<String> {
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
        text += &self.take_locks("rollback.locks");
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
            for condition in
                view.step.conditions.iter().filter(|c| c.at == ConditionTime::Both && view.holds_at_end(c.at))
            {
                let own = format!("rollback.{}.{}", view.name, condition.name);
                let title = format!("rows for which it is not true that {}", condition.title);
                text += &self.guard(&own, &title, 0, &self.limited(view, partial, &view.violations(&condition.sql)))?;
            }
        }
        for view in views {
            let Some(query) = view.tied(views, "COUNT(*)") else { continue };
            let table = view.step.related.as_ref().map_or("", |r| r.table.as_str());
            let title = format!("rows whose row of {table} has another state since, which this bundle did not write");
            let own = format!("rollback.{}.tied", view.name);
            text += &self.guard(&own, &title, 0, &self.limited(view, partial, &query))?;
        }
        // A counter that is recounted comes last: it follows the rows that went back.
        let recounted = |view: &&StepView<'_>| partial.is_some() && view.step.is_recount();
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
            if view.step.is_recount() {
                let text = self.book.call("recount", x)?;
                let map = view.map();
                let key = map.get("key_ta").map(ToString::to_string).unwrap_or_default();
                let wrong = view.must_change();
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
            Op::Insert => ("restore_insert", "new rows that nobody took or changed, deleted"),
        };
        let mut text = format!("-- guard {own}: {restored} (expected {rows})\n{}\n", self.call(verb, &own, x)?);
        let limit = partial.map(|p| skip(view, p, "b")).unwrap_or_default();
        let (query, expected) = undone(view, rows, &limit);
        text += &self.guard(&format!("{own}.exact"), "rows equal to the backup in every column", expected, &query)?;
        Ok(text)
    }
}

/// The query that counts a step's rows that are as they were before, and its right answer.
fn undone(view: &StepView<'_>, rows: usize, limit: &str) -> (String, usize) {
    let map = view.map();
    let part = |name: &str| map.get(name).map(ToString::to_string).unwrap_or_default();
    match view.step.op {
        Op::Insert => {
            (format!("SELECT COUNT(*) FROM {} t JOIN {} a ON {}", view.table(), view.own("after"), part("key_ta")), 0)
        }
        Op::Update | Op::Delete => (
            format!(
                "SELECT COUNT(*) FROM {} t JOIN {} b ON {}\n WHERE {}{limit}",
                view.table(),
                view.own("before"),
                part("key_tb"),
                view.all_same("t", "b")
            ),
            rows,
        ),
    }
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

/// Text for a comment, which ends where the line ends.
fn one_line(text: &str) -> String {
    safe(text, usize::MAX)
}

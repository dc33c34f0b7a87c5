//! Partial rollback: only whole instances none of whose rows moved. It is final, so
//! what it leaves is said before anything is tried.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::drift::{CONSUMED, drift_of, held_back, tied};
use super::own;
use crate::bundle::Bundle;
use crate::db::Database;
use crate::plan::{Plan, RowChange, Step};
use crate::recipe::Op;
use crate::render::files::{Book, Partial, PartialStep};
use crate::render::view::StepView;
use crate::ui::{rows_of, safe};
use crate::{Error, Result};

/// How much a rollback undoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All rows or none.
    Whole,
    /// Whole instances none of whose rows moved, if that leaves nothing.
    Part,
    /// The same, and what it leaves is given up.
    PartForGood,
}

/// The text of a rollback runner: of everything, or of the instances that stand still.
/// And the instances that it leaves.
///
/// # Errors
/// The backup tables are gone, nothing stands still, or something is left that
/// nobody gave up.
pub async fn rollback_text(db: &mut Database, bundle: &Bundle, extent: Extent) -> Result<(String, Vec<String>)> {
    let dialect = db.dialect.clone();
    let book = Book::new(&bundle.plan, &dialect, &bundle.id)?;
    own::require(db, &book).await?;
    let Moved { instances: moved, keys: moved_keys, consumed } = moved(db, &book, extent != Extent::Whole).await?;
    if extent == Extent::Whole {
        refuse_consumed(&consumed)?;
        refuse_drift(&book, &moved, &moved_keys, &bundle.plan)?;
        return Ok((bundle.file(&format!("rollback.{}", dialect.client))?.to_owned(), Vec::new()));
    }
    if bundle.plan.steps.iter().any(|s| s.op == Op::Insert) {
        return Err(Error::refused("a bundle that inserts rows is rolled back whole, not in part"));
    }
    let shares = shares(&book, &moved, &moved_keys);
    if restored(&shares) == 0 {
        let unit = bundle.plan.unit_nouns(1);
        return Err(Error::refused(format!("nothing can be rolled back: every {unit} has a row that moved")));
    }
    if extent == Extent::Part {
        refuse_to_leave(&book, &bundle.plan, &shares, &moved)?;
    }
    let undo = book.rollback(Some(&shares))?;
    Ok((book.rollback_runner(&undo)?, moved.into_iter().map(|(_, name)| name).collect()))
}

/// A row that moved is refused before anything is tried; the guards of the
/// rollback see to what moves after this look.
fn refuse_drift(book: &Book<'_>, moved: &BTreeSet<Unit>, keys: &Keys, plan: &Plan) -> Result<()> {
    let rows: usize = keys.values().map(BTreeSet::len).sum();
    let Some((step, first)) = keys.iter().next() else { return Ok(()) };
    let named: Vec<String> = first.iter().take(5).map(|k| safe(&k.join("/"), 100)).collect();
    let partial = GivenUp::of(book, plan, &shares(book, moved, keys)).map(|g| format!("; {}", g.says()));
    Err(Error::refused(format!(
        "{} moved since the repair, or the row that they belong to did (first in {step}: {}): nothing was rolled back",
        rows_of(rows),
        named.join(", ")
    ))
    .hint(format!("`flowmend verify` shows what moved{}", partial.unwrap_or_default())))
}

/// What a partial rollback would leave for good: whole units, not only the rows that moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GivenUp {
    /// How many rows it would leave.
    pub rows: usize,
    /// Of how many that the bundle changed, counters aside.
    pub of: usize,
    /// What is restored or left together, for people.
    #[serde(skip)]
    units: String,
}

impl GivenUp {
    /// Nothing where there is no partial rollback.
    fn of(book: &Book<'_>, plan: &Plan, shares: &Partial) -> Option<Self> {
        let rows = left(book, shares);
        let of = rows + restored(shares);
        (!plan.inserts() && rows > 0).then(|| Self { rows, of, units: plan.unit_nouns(2) })
    }

    /// In a sentence.
    #[must_use]
    pub fn says(&self) -> String {
        let Self { rows, of, units } = self;
        if rows == of {
            return format!("--partial restores only whole {units} of which no row moved, and here there is none");
        }
        format!(
            "--partial restores only whole {units} of which no row moved: here it gives up {rows} of {}, for good",
            rows_of(*of)
        )
    }
}

/// What a partial rollback would give up now; nothing if the whole can be undone.
///
/// # Errors
/// What the server said.
pub(super) async fn given_up(db: &mut Database, book: &Book<'_>, plan: &Plan) -> Result<Option<GivenUp>> {
    let Moved { instances, keys, .. } = moved(db, book, true).await?;
    Ok(GivenUp::of(book, plan, &shares(book, &instances, &keys)))
}

/// How many rows a partial rollback restores.
fn restored(shares: &Partial) -> usize {
    shares.values().map(|s| s.rows).sum()
}

/// How many rows a partial rollback leaves. A counter that moved is counted anew.
fn left(book: &Book<'_>, shares: &Partial) -> usize {
    let rows = book.views().into_iter().filter(|view| !view.step.is_recount());
    rows.filter_map(|view| Some(shares.get(&view.name)?.skip.len())).sum()
}

/// After a partial rollback the bundle is done: what it leaves, no bundle restores any more.
fn refuse_to_leave(book: &Book<'_>, plan: &Plan, shares: &Partial, moved: &BTreeSet<Unit>) -> Result<()> {
    let left = left(book, shares);
    if left == 0 {
        return Ok(());
    }
    let named: Vec<String> = moved.iter().take(5).map(|(_, name)| safe(name, 60)).collect();
    let more =
        if moved.len() > named.len() { format!(" … and {} more", moved.len() - named.len()) } else { String::new() };
    let of = match moved.len() {
        0 => String::new(),
        n => format!(" of the {} {}{more}", plan.unit_nouns(n), named.join(", ")),
    };
    Err(Error::refused(format!(
        "--partial would restore {} and leave {}{of} as they are, for good: this bundle can roll nothing back any more afterwards",
        rows_of(restored(shares)),
        rows_of(left)
    ))
    .hint("`flowmend verify` shows what moved; if the rest may stay as it is, add --give-up-rest"))
}

/// An inserted row that the scheduler took has had its effect: there is nothing to take back.
fn refuse_consumed(consumed: &[String]) -> Result<()> {
    let Some(first) = consumed.first() else { return Ok(()) };
    Err(Error::refused(format!(
        "{} consumed since the repair (first {first}): nothing was rolled back",
        if consumed.len() == 1 {
            "1 inserted row was".to_owned()
        } else {
            format!("{} inserted rows were", consumed.len())
        }
    ))
    .hint("what they started is the scheduler's now: stop it there, or inspect again"))
}

type Keys = BTreeMap<String, BTreeSet<Vec<String>>>;

/// What is restored or left together: its role (nothing for runs), and its name.
type Unit = (String, String);

/// What moved since the repair.
#[derive(Default)]
struct Moved {
    /// Units with a row that moved.
    instances: BTreeSet<Unit>,
    /// Step → keys of the rows that moved.
    keys: Keys,
    /// Table and key of inserted rows that are gone.
    consumed: Vec<String>,
}

impl Moved {
    fn add(&mut self, view: &StepView<'_>, key: Vec<String>) {
        let row = view.step.rows.iter().find(|r| r.key_texts() == key);
        self.instances.extend(row.and_then(|row| unit_of(view.step, row)));
        self.keys.entry(view.name.clone()).or_default().insert(key);
    }
}

/// What moved; and, for a part, what the conditions of the undo hold back.
async fn moved(db: &mut Database, book: &Book<'_>, in_part: bool) -> Result<Moved> {
    let mut found = Moved::default();
    let views = book.views();
    for view in &views {
        for key in tied(db, &views, view).await? {
            found.add(view, key);
        }
        if in_part {
            for key in held_back(db, view).await? {
                found.add(view, key);
            }
        }
        let image = if view.step.op == Op::Delete { "before" } else { "after" };
        for drift in drift_of(db, view, image, false).await? {
            if drift.kind == CONSUMED {
                found.consumed.push(format!("{} {}", drift.table, drift.key.join("/")));
            }
            found.add(view, drift.key);
        }
    }
    Ok(found)
}

fn unit_of(step: &Step, row: &RowChange) -> Option<Unit> {
    Some((step.unit.clone(), row.instance.clone()?))
}

fn shares(book: &Book<'_>, moved: &BTreeSet<Unit>, moved_keys: &Keys) -> Partial {
    let mut partial = Partial::new();
    for view in book.views() {
        // Counters follow the rows, whatever happened to them.
        let stays = |row: &&RowChange| {
            unit_of(view.step, row).is_some_and(|unit| moved.contains(&unit))
                || moved_keys.get(&view.name).is_some_and(|keys| keys.contains(&row.key_texts()))
        };
        let skip: Vec<Vec<Option<String>>> = view.step.rows.iter().filter(stays).map(|r| r.key.clone()).collect();
        let rows = if view.step.is_recount() { 0 } else { view.step.rows.len() - skip.len() };
        partial.insert(view.name.clone(), PartialStep { rows, skip });
    }
    partial
}

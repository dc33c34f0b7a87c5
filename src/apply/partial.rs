//! Partial rollback: only whole instances none of whose rows moved.

use std::collections::{BTreeMap, BTreeSet};

use super::own;
use super::verify::{CONSUMED, drift_of};
use crate::bundle::Bundle;
use crate::db::Database;
use crate::recipe::Op;
use crate::render::files::{Book, Partial, PartialStep};
use crate::{Error, Result};

/// The text of a rollback runner: of everything, or of the instances that stand still.
///
/// # Errors
/// The backup tables are gone, or nothing stands still.
pub async fn rollback_text(db: &mut Database, bundle: &Bundle, partial: bool) -> Result<(String, Vec<String>)> {
    let dialect = db.dialect.clone();
    let book = Book::new(&bundle.plan, &dialect, &bundle.id)?;
    own::require(db, &book).await?;
    let Moved { instances: moved, keys: moved_keys, consumed } = moved(db, &book).await?;
    if !partial {
        refuse_consumed(&consumed)?;
        refuse_drift(&moved_keys, bundle.plan.inserts())?;
        return Ok((bundle.file(&format!("rollback.{}", dialect.client))?.to_owned(), Vec::new()));
    }
    if bundle.plan.steps.iter().any(|s| s.op == Op::Insert) {
        return Err(Error::refused("a bundle that inserts rows is rolled back whole, not in part"));
    }
    let shares = shares(&book, &moved, &moved_keys);
    if shares.values().all(|s| s.rows == 0) {
        return Err(Error::refused("nothing can be rolled back: every instance has a row that moved"));
    }
    let undo = book.rollback(Some(&shares))?;
    Ok((book.rollback_runner(&undo)?, moved.into_iter().collect()))
}

/// A row that moved is refused before anything is tried; the guards of the
/// rollback see to what moves after this look.
fn refuse_drift(moved: &Keys, inserts: bool) -> Result<()> {
    let rows: usize = moved.values().map(BTreeSet::len).sum();
    let Some((step, keys)) = moved.iter().next() else { return Ok(()) };
    let named: Vec<String> = keys.iter().take(5).map(|k| k.join("/")).collect();
    let moved = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    let partial = if inserts { "" } else { "; --partial restores only whole runs of which no row moved" };
    Err(Error::refused(format!(
        "{moved} moved since the repair (first in {step}: {}): nothing was rolled back",
        named.join(", ")
    ))
    .hint(format!("`flowmend verify` shows what moved{partial}")))
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

/// What moved since the repair.
#[derive(Default)]
struct Moved {
    /// Instances with a row that moved.
    instances: BTreeSet<String>,
    /// Step → keys of the rows that moved.
    keys: Keys,
    /// Table and key of inserted rows that are gone.
    consumed: Vec<String>,
}

async fn moved(db: &mut Database, book: &Book<'_>) -> Result<Moved> {
    let mut found = Moved::default();
    for view in book.views() {
        let image = if view.step.op == Op::Delete { "before" } else { "after" };
        for drift in drift_of(db, &view, image, false).await? {
            if drift.kind == CONSUMED {
                found.consumed.push(format!("{} {}", drift.table, drift.key.join("/")));
            }
            if let Some(row) = view.step.rows.iter().find(|r| r.key_texts() == drift.key) {
                found.instances.extend(row.instance.clone());
            }
            found.keys.entry(view.name.clone()).or_default().insert(drift.key);
        }
    }
    Ok(found)
}

fn shares(book: &Book<'_>, moved: &BTreeSet<String>, moved_keys: &Keys) -> Partial {
    let mut partial = Partial::new();
    for view in book.views() {
        // Counters follow the rows, whatever happened to them.
        let stays = |row: &&crate::plan::RowChange| {
            row.instance.as_ref().is_some_and(|i| moved.contains(i))
                || moved_keys.get(&view.name).is_some_and(|keys| keys.contains(&row.key_texts()))
        };
        let skip: Vec<Vec<Option<String>>> = view.step.rows.iter().filter(stays).map(|r| r.key.clone()).collect();
        let rows = if view.step.is_recount() { 0 } else { view.step.rows.len() - skip.len() };
        partial.insert(view.name.clone(), PartialStep { rows, skip });
    }
    partial
}

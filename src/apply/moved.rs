//! After a guard of the backup failed: which planned rows are not as planned any more.

use std::collections::BTreeMap;

use crate::bundle::Bundle;
use crate::db::Database;
use crate::plan::{RowChange, Step};
use crate::recipe::ConditionTime;
use crate::render::files::Book;
use crate::render::view::StepView;

/// Rows of one question to the server.
const CHUNK: usize = 200;
/// How many rows are named, and looked through.
const NAMED: usize = 5;
const LOOKED: usize = 5_000;

/// Lines for people; empty where nothing is found, or the guard is another one.
/// An answer here is a help, so a fault on the way to it is not one more error.
pub async fn moved_rows(db: &mut Database, bundle: &Bundle, guard: &str) -> Vec<String> {
    let dialect = db.dialect.clone();
    let Ok(book) = Book::new(&bundle.plan, &dialect, &bundle.id) else { return Vec::new() };
    let views = book.views();
    let Some(view) = views.iter().find(|v| guard == format!("02_backup.{}", v.name)) else { return Vec::new() };
    let mut lines = Vec::new();
    let rows = &view.step.rows[..view.step.rows.len().min(LOOKED)];
    for chunk in rows.chunks(CHUNK) {
        let Ok(live) = live_pins(db, view, chunk).await else { break };
        lines.extend(chunk.iter().filter_map(|row| difference(view.step, row, &live)));
        if lines.len() >= NAMED {
            break;
        }
    }
    lines.truncate(NAMED);
    if lines.is_empty() {
        lines.push(what_else_moved(view.step));
    }
    lines
}

/// What may have failed where the rows themselves are as planned, in the recipe's own words.
fn what_else_moved(step: &Step) -> String {
    let related = step.related.as_ref().map(|r| format!("their rows of {} are as they were", r.table));
    let asked = step.conditions.iter().filter(|c| c.at != ConditionTime::End).map(|c| c.title.clone());
    let needed: Vec<String> = related.into_iter().chain(asked).collect();
    let rows = format!("the rows of {} hold what was planned", step.table);
    match needed.as_slice() {
        [] => rows,
        [one] => format!("{rows}; this is not true of each any more: {one}"),
        several => format!("{rows}; one of these is not true of each any more: {}", several.join("; ")),
    }
}

type Pins = BTreeMap<Vec<String>, Vec<Option<String>>>;

async fn live_pins(db: &mut Database, view: &StepView<'_>, rows: &[RowChange]) -> crate::Result<Pins> {
    let (d, step) = (db.dialect.clone(), view.step);
    let columns = step.key.iter().chain(&step.pins).map(|c| d.as_text(&format!("t.{}", d.ident(&c.name))));
    let wanted: Vec<String> = rows.iter().map(|r| view.is_key("t", &r.key)).collect();
    let sql = format!(
        "SELECT {} FROM {} t WHERE {}",
        columns.collect::<Vec<_>>().join(", "),
        view.table(),
        wanted.join(" OR ")
    );
    let keys = step.key.len();
    let split = |row: crate::catalog::Row| {
        let key = row[..keys].iter().map(|k| k.clone().unwrap_or_default()).collect();
        (key, row[keys..].to_vec())
    };
    Ok(db.rows(&sql).await?.into_iter().map(split).collect())
}

fn difference(step: &Step, row: &RowChange, live: &Pins) -> Option<String> {
    let place = format!("{} {}", step.table, row.key_text());
    let Some(found) = live.get(&row.key_texts()) else { return Some(format!("{place} is gone")) };
    let changed: Vec<String> = step
        .pins
        .iter()
        .zip(row.old.iter().zip(found))
        .filter(|(_, (planned, found))| planned != found)
        .map(|(c, (planned, found))| {
            let show = |v: &Option<String>| crate::ui::safe(&step.show_value(&c.name, v.as_deref()), 40);
            format!("{} was {}, is {}", c.name, show(planned), show(found))
        })
        .collect();
    (!changed.is_empty()).then(|| format!("{place} moved: {}", changed.join("; ")))
}

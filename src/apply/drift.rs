//! Rows that differ from an image of theirs: the backup, or what was written.

use serde::Serialize;

use crate::Result;
use crate::db::Database;
use crate::plan::Step;
use crate::recipe::{ConditionTime, Op};
use crate::render::view::StepView;

/// The kind of an inserted row that the scheduler took.
pub(super) const CONSUMED: &str = "consumed";
/// The kind of a row that is gone.
const MISSING: &str = "missing";

/// A row that is not as it should be.
#[derive(Debug, Serialize)]
pub struct Drift {
    /// The kind: `drifted-after-apply`, `missing`, `consumed` (an inserted row), `came-back` or `not-restored`.
    pub kind: String,
    /// The table.
    pub table: String,
    /// The key.
    pub key: Vec<String>,
    /// Column, expected value and found value, for each that differs.
    pub columns: Vec<(String, String, String)>,
}

impl Drift {
    /// Whether the row only went on as the repair gave it back for. Who wrote that, the row does not say.
    pub(super) fn has_moved_on(&self, step: &Step) -> bool {
        let expected = |(column, ..): &(String, String, String)| step.moves_on.contains(column);
        match self.kind.as_str() {
            MISSING => step.may_end,
            _ => !self.columns.is_empty() && self.columns.iter().all(expected),
        }
    }
}

/// Keys of the rows of a step that differ from an image.
pub(super) async fn drift_of(
    db: &mut Database,
    view: &StepView<'_>,
    image: &str,
    restored: bool,
) -> Result<Vec<Drift>> {
    let step = view.step;
    match step.op {
        Op::Delete if !restored => return still_there(db, view, image, "came-back").await,
        Op::Insert if restored => return still_there(db, view, image, "not-restored").await,
        _ => {}
    }
    let d = db.dialect.clone();
    let q = |alias: &str, name: &str| format!("{alias}.{}", d.ident(name));
    let key: Vec<String> = step.key.iter().map(|c| d.as_text(&q("i", &c.name))).collect();
    let mut fields = key;
    fields.push(format!("CASE WHEN {} IS NULL THEN '1' ELSE '0' END", q("t", &step.key[0].name)));
    for column in &step.columns {
        let (kept, live) = (q("i", &column.name), q("t", &column.name));
        fields.push(format!("CASE WHEN {} THEN '1' ELSE '0' END", d.same(&kept, &live, column.class)));
        fields.push(d.as_shown(&kept, &column.type_sql));
        fields.push(d.as_shown(&live, &column.type_sql));
    }
    let on: Vec<String> = step.key.iter().map(|c| format!("{} = {}", q("t", &c.name), q("i", &c.name))).collect();
    let sql = format!(
        "SELECT {} FROM {} i LEFT JOIN {} t ON {} WHERE {} IS NULL OR NOT ({}) ORDER BY {}",
        fields.join(", "),
        view.own(image),
        view.table(),
        on.join(" AND "),
        q("t", &step.key[0].name),
        view.all_same("t", "i"),
        step.key.iter().map(|c| q("i", &c.name)).collect::<Vec<_>>().join(", "),
    );
    let kind = if restored { "not-restored" } else { "drifted-after-apply" };
    Ok(db.rows(&sql).await?.into_iter().map(|row| read_drift(step, row, kind)).collect())
}

/// Keys of a step's rows that can go back no more, although they stand as written: the row that
/// they belong to has another state since.
pub(super) async fn tied(db: &mut Database, views: &[StepView<'_>], view: &StepView<'_>) -> Result<Vec<Vec<String>>> {
    let d = &db.dialect;
    let fields: Vec<String> = view.step.key.iter().map(|c| d.as_text(&format!("t.{}", d.ident(&c.name)))).collect();
    let Some(sql) = view.tied(views, &fields.join(", ")) else { return Ok(Vec::new()) };
    let key = |row: crate::catalog::Row| row.into_iter().map(Option::unwrap_or_default).collect();
    Ok(db.rows(&sql).await?.into_iter().map(key).collect())
}

/// Keys of a step's rows for which a condition of the undo does not hold.
pub(super) async fn held_back(db: &mut Database, view: &StepView<'_>) -> Result<Vec<Vec<String>>> {
    let d = &db.dialect;
    let fields: Vec<String> = view.step.key.iter().map(|c| d.as_text(&format!("t.{}", d.ident(&c.name)))).collect();
    let asked = view.step.conditions.iter().filter(|c| c.at == ConditionTime::Both && view.holds_at_end(c.at));
    let queries: Vec<String> = asked.map(|c| view.violating(&fields.join(", "), &c.sql)).collect();
    let mut keys = Vec::new();
    for sql in queries {
        let key = |row: crate::catalog::Row| row.into_iter().map(Option::unwrap_or_default).collect();
        keys.extend(db.rows(&sql).await?.into_iter().map(key));
    }
    Ok(keys)
}

fn read_drift(step: &Step, row: crate::catalog::Row, kind: &str) -> Drift {
    let mut cells = row.into_iter();
    let mut next = || cells.next().flatten();
    let key = step.key.iter().map(|_| next().unwrap_or_default()).collect();
    let missing = next().as_deref() == Some("1");
    let mut columns = Vec::new();
    for column in &step.columns {
        let same = next().as_deref() == Some("1");
        let (kept, live) = (next(), next());
        if !same && !missing {
            let show = |v: Option<&str>| step.show_value(&column.name, v);
            columns.push((column.name.clone(), show(kept.as_deref()), show(live.as_deref())));
        }
    }
    let kind = match missing {
        true if step.is_taken() => CONSUMED,
        true => MISSING,
        false => kind,
    };
    Drift { kind: kind.to_owned(), table: step.table.clone(), key, columns }
}

/// Rows of an image whose key, or another unique key, is in the table, where none should be.
async fn still_there(db: &mut Database, view: &StepView<'_>, image: &str, kind: &str) -> Result<Vec<Drift>> {
    let d = db.dialect.clone();
    let step = view.step;
    let key: Vec<String> = step.key.iter().map(|c| d.as_text(&format!("b.{}", d.ident(&c.name)))).collect();
    let same = |columns: Vec<&String>| {
        let pairs = columns.into_iter().map(|c| format!("t.{0} = b.{0}", d.ident(c)));
        format!("({})", pairs.collect::<Vec<_>>().join(" AND "))
    };
    let own = step.key.iter().map(|c| &c.name).collect();
    let taken: Vec<String> =
        std::iter::once(own).chain(step.unique.iter().map(|k| k.iter().collect())).map(same).collect();
    let sql = format!(
        "SELECT DISTINCT {} FROM {} t JOIN {} b ON {}",
        key.join(", "),
        view.table(),
        view.own(image),
        taken.join(" OR ")
    );
    let drift = |row: crate::catalog::Row| Drift {
        kind: kind.to_owned(),
        table: step.table.clone(),
        key: row.into_iter().map(Option::unwrap_or_default).collect(),
        columns: Vec::new(),
    };
    Ok(db.rows(&sql).await?.into_iter().map(drift).collect())
}

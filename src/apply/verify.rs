//! Verify: live rows against what was written, or, after a rollback, against the backup.

use serde::Serialize;

use super::ledger::{self, BundleState};
use crate::bundle::Bundle;
use crate::db::Database;
use crate::plan::Step;
use crate::recipe::Op;
use crate::render::files::{Book, EndCheck};
use crate::render::view::StepView;
use crate::{Error, Result};

/// How many drifted rows a report shows of each step.
const SAMPLE: usize = 20;

/// The kind of an inserted row that is gone.
pub(super) const CONSUMED: &str = "consumed";

/// What verify found.
#[derive(Debug, Serialize)]
pub struct VerifyReport {
    /// The version of this form.
    pub format: u32,
    /// The bundle's id.
    pub bundle: String,
    /// `applied`, `rolled_back` or `not_applied`.
    pub state: String,
    /// Rows that were looked at.
    pub rows: usize,
    /// Rows that a partial rollback left alone.
    pub left_alone: usize,
    /// Inserted rows that are gone: the scheduler took them, as it should.
    pub consumed: usize,
    /// Rows that are not as they should be.
    pub drifted: usize,
    /// The first of them.
    pub drift: Vec<Drift>,
    /// Conditions and checks that do not hold.
    pub failed_checks: Vec<String>,
}

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

impl VerifyReport {
    /// Whether everything stands as it should.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.drifted == 0 && self.failed_checks.is_empty()
    }
}

/// Verifies a bundle.
///
/// # Errors
/// The backup tables are gone, or the database said no.
pub async fn verify(db: &mut Database, bundle: &Bundle) -> Result<VerifyReport> {
    let state = ledger::state_of(db, bundle).await?;
    let name = match state {
        BundleState::NotApplied => "not_applied",
        BundleState::Applied => "applied",
        BundleState::RolledBack => "rolled_back",
    };
    let mut report = VerifyReport {
        format: 1,
        bundle: bundle.id.clone(),
        state: name.to_owned(),
        rows: bundle.plan.row_count(),
        left_alone: 0,
        consumed: 0,
        drifted: 0,
        drift: Vec::new(),
        failed_checks: Vec::new(),
    };
    if state == BundleState::NotApplied {
        return Ok(report);
    }
    let dialect = db.dialect.clone();
    let book = Book::new(&bundle.plan, &dialect, &bundle.id)?;
    let restored = state == BundleState::RolledBack;
    let left = if restored { ledger::left_alone(db, bundle).await? } else { None };
    let mut moved_on = Vec::new();
    for view in book.views() {
        let image = match (view.step.op, state) {
            (Op::Update, BundleState::Applied) | (Op::Insert, _) => "after",
            _ => "before",
        };
        let drift = drift_of(db, &view, image, restored).await.map_err(|e| {
            e.hint("if the backup tables were dropped (flowmend clean), a bundle can no longer be verified")
        })?;
        // A partial rollback recounts: the number before the repair is not the right one any more.
        if left.is_some() && view.step.is_recount() {
            continue;
        }
        let (consumed, drift): (Vec<Drift>, Vec<Drift>) = drift.into_iter().partition(|d| d.kind == CONSUMED);
        report.consumed += consumed.len();
        if view.step.transient {
            moved_on.extend(drift);
            continue;
        }
        report.drifted += drift.len();
        report.drift.extend(drift.into_iter().take(SAMPLE));
    }
    // Rows that the scheduler moves on are right once it took what was inserted.
    if report.consumed == 0 {
        report.drifted += moved_on.len();
        report.drift.extend(moved_on.into_iter().take(SAMPLE));
    }
    if let Some(left) = left {
        forgive_left_alone(&mut report, left);
    }
    if state == BundleState::Applied {
        for EndCheck { name, title, query, .. } in book.end_checks().into_iter().filter(|c| !c.once) {
            if db.value(&format!("SELECT {}", dialect.as_text(&format!("({query})")))).await?.as_deref() != Some("0") {
                report.failed_checks.push(format!("{name}: no longer true that {title}"));
            }
        }
    }
    Ok(report)
}

/// After a partial rollback exactly the rows that it left alone differ from the backup.
fn forgive_left_alone(report: &mut VerifyReport, left: usize) {
    report.left_alone = left;
    if report.drifted == left {
        report.drifted = 0;
        report.drift.clear();
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
    let kind = match (missing, step.op) {
        (true, Op::Insert) => CONSUMED,
        (true, Op::Update | Op::Delete) => "missing",
        (false, _) => kind,
    };
    Drift { kind: kind.to_owned(), table: step.table.clone(), key, columns }
}

/// Rows of an image whose key is in the table, where none should be.
async fn still_there(db: &mut Database, view: &StepView<'_>, image: &str, kind: &str) -> Result<Vec<Drift>> {
    let d = db.dialect.clone();
    let step = view.step;
    let key: Vec<String> = step.key.iter().map(|c| d.as_text(&format!("t.{}", d.ident(&c.name)))).collect();
    let on: Vec<String> = step.key.iter().map(|c| format!("t.{0} = b.{0}", d.ident(&c.name))).collect();
    let sql =
        format!("SELECT {} FROM {} t JOIN {} b ON {}", key.join(", "), view.table(), view.own(image), on.join(" AND "));
    let drift = |row: crate::catalog::Row| Drift {
        kind: kind.to_owned(),
        table: step.table.clone(),
        key: row.into_iter().map(Option::unwrap_or_default).collect(),
        columns: Vec::new(),
    };
    Ok(db.rows(&sql).await?.into_iter().map(drift).collect())
}

/// Whether the backup tables are there.
pub(super) async fn require_backup(db: &mut Database, book: &Book<'_>) -> Result<()> {
    for table in book.own_tables() {
        if db.run(&format!("SELECT COUNT(*) FROM {table} WHERE 1 = 0")).await.is_err() {
            return Err(Error::refused(format!("the backup table {table} is not there (or cannot be read)"))
                .hint("after `flowmend clean` a bundle cannot be rolled back"));
        }
    }
    Ok(())
}

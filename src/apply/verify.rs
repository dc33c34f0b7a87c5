//! Verify: live rows against what was written, or, after a rollback, against the backup.

use serde::Serialize;

use super::check::oddities;
use super::ledger::{self, BundleState};
use super::own;
use super::partial::{self, GivenUp};
use crate::Result;
use crate::bundle::Bundle;
use crate::db::Database;
use crate::plan::Step;
use crate::recipe::Op;
use crate::render::files::{Book, EndCheck};
use crate::render::view::StepView;

/// How many drifted rows a report shows of each step.
const SAMPLE: usize = 20;

/// The kind of an inserted row that the scheduler took.
pub(super) const CONSUMED: &str = "consumed";
/// The kind of a row that is gone.
const MISSING: &str = "missing";

/// What verify found.
#[derive(Debug, Serialize)]
pub struct VerifyReport {
    /// The version of this form.
    pub format: u32,
    /// The bundle's id.
    pub bundle: String,
    /// `applied` or `rolled_back`.
    pub state: BundleState,
    /// Rows that were looked at.
    pub rows: usize,
    /// What has changed around the rows: a trigger that appeared, another column.
    pub warnings: Vec<String>,
    /// Rows that a partial rollback left alone.
    pub left_alone: usize,
    /// Inserted rows that are gone: the scheduler took them, as it should.
    pub consumed: usize,
    /// Rows that went on since in a way that they are there for: the scheduler took them up, or a hand wrote that.
    pub moved_on: usize,
    /// What a rollback would have to leave for good now; nothing if all can be undone, or nothing in part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up: Option<GivenUp>,
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

    fn add(&mut self, drift: Vec<Drift>) {
        self.drifted += drift.len();
        self.drift.extend(drift.into_iter().take(SAMPLE));
    }

    /// After a partial rollback exactly the rows that it left alone differ from the backup.
    fn forgive_left_alone(&mut self, left: usize) {
        self.left_alone = left;
        if self.drifted == left {
            self.drifted = 0;
            self.drift.clear();
        }
    }
}

/// Verifies a bundle.
///
/// # Errors
/// The bundle was not applied, its tables or the scheduler's cannot be looked
/// at, or the database said no.
pub async fn verify(db: &mut Database, bundle: &Bundle) -> Result<VerifyReport> {
    let state = ledger::state_of(db, bundle).await?;
    if state == BundleState::NotApplied {
        return Err(ledger::not_applied(bundle, "verify"));
    }
    let dialect = db.dialect.clone();
    let book = Book::new(&bundle.plan, &dialect, &bundle.id)?;
    own::require(db, &book).await?;
    let mut report = VerifyReport {
        format: 1,
        bundle: bundle.id.clone(),
        state,
        rows: bundle.plan.row_count(),
        warnings: oddities(db, &bundle.plan).await?,
        left_alone: 0,
        consumed: 0,
        moved_on: 0,
        given_up: None,
        drifted: 0,
        drift: Vec::new(),
        failed_checks: Vec::new(),
    };
    let left = if state == BundleState::RolledBack { ledger::left_alone(db, bundle).await? } else { None };
    compare(db, &book, left.is_some(), &mut report).await?;
    if let Some(left) = left {
        report.forgive_left_alone(left);
    }
    if state == BundleState::Applied {
        if report.moved_on + report.drifted > 0 {
            report.given_up = partial::given_up(db, &book, &bundle.plan).await?;
        }
        report.failed_checks = failed_checks(db, &book).await?;
    }
    Ok(report)
}

/// Compares the rows of each step with what they should be.
async fn compare(db: &mut Database, book: &Book<'_>, in_part: bool, report: &mut VerifyReport) -> Result<()> {
    let mut transient = Vec::new();
    for view in book.views() {
        let image = match (view.step.op, report.state) {
            (Op::Update, BundleState::Applied) | (Op::Insert, _) => "after",
            _ => "before",
        };
        let drift = drift_of(db, &view, image, report.state == BundleState::RolledBack).await?;
        // A partial rollback recounts: the number before the repair is not the right one any more.
        if in_part && view.step.is_recount() {
            continue;
        }
        let (consumed, drift): (Vec<Drift>, Vec<Drift>) = drift.into_iter().partition(|d| d.kind == CONSUMED);
        report.consumed += consumed.len();
        let moved = |d: &Drift| report.state == BundleState::Applied && has_moved_on(view.step, d);
        let (moved_on, drift): (Vec<Drift>, Vec<Drift>) = drift.into_iter().partition(moved);
        report.moved_on += moved_on.len();
        if view.step.transient {
            transient.extend(drift);
        } else {
            report.add(drift);
        }
    }
    // Rows that the scheduler moves on are right once it took what was inserted.
    if report.consumed == 0 {
        report.add(transient);
    }
    Ok(())
}

/// Whether a row only went on as the repair gave it back for. Who wrote that, the row does not say.
fn has_moved_on(step: &Step, drift: &Drift) -> bool {
    let expected = |(column, ..): &(String, String, String)| step.moves_on.contains(column);
    match drift.kind.as_str() {
        MISSING => step.may_end,
        _ => !drift.columns.is_empty() && drift.columns.iter().all(expected),
    }
}

/// Conditions and checks that hold no longer.
async fn failed_checks(db: &mut Database, book: &Book<'_>) -> Result<Vec<String>> {
    let mut failed = Vec::new();
    for EndCheck { name, title, query, .. } in book.end_checks().into_iter().filter(|c| !c.once) {
        let count = db.dialect.as_text(&format!("({query})"));
        if db.value(&format!("SELECT {count}")).await?.as_deref() != Some("0") {
            failed.push(format!("{name}: no longer true that {title}"));
        }
    }
    Ok(failed)
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
    let kind = match missing {
        true if step.is_taken() => CONSUMED,
        true => MISSING,
        false => kind,
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

//! Verify: live rows against what was written, or, after a rollback, against the backup.

use serde::Serialize;

use super::check::oddities;
use super::drift::{CONSUMED, Drift, drift_of, tied};
use super::ledger::{self, BundleState};
use super::own;
use super::partial::{self, GivenUp};
use crate::Result;
use crate::bundle::Bundle;
use crate::db::Database;
use crate::recipe::Op;
use crate::render::files::{Book, EndCheck};

/// How many drifted rows a report shows of each step.
const SAMPLE: usize = 20;

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
    /// Rows that stand as written, and whose run, or what else they belong to, has another state since: no rollback
    /// brings them back.
    pub tied: usize,
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
        tied: 0,
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
        let views = book.views();
        for view in &views {
            report.tied += tied(db, &views, view).await?.len();
        }
        if report.moved_on + report.drifted + report.tied > 0 {
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
        let moved = |d: &Drift| report.state == BundleState::Applied && d.has_moved_on(view.step);
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

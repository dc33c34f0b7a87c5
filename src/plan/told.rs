//! What a plan says beside its steps: what was found, what is left out, what begins at commit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Column;

/// A recipe that has steps in a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeRef {
    /// The recipe's name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// SHA-256 over its files.
    pub sha256: String,
}

/// A rule of the linter that the bundle may break.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowedRule {
    /// The rule's code.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// Who says so.
    pub said_by: String,
    /// What the linter said, with the place in the bundle.
    pub found: Vec<String>,
}

/// The zone of the scheduler's clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Minutes east of UTC.
    pub offset_minutes: i64,
    /// How it is known.
    pub known_by: String,
}

/// Something counted at plan time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The finding's code.
    pub finding: String,
    /// What it is.
    pub title: String,
    /// How many rows.
    pub count: usize,
    /// How many of each role.
    #[serde(default)]
    pub rows: BTreeMap<String, usize>,
    /// How many of them the plan itself uncovers: they are not there to find before it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncovered: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A run as people know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunName {
    /// Its key.
    pub id: String,
    /// Its own name.
    pub name: String,
    /// The workflow that it is a run of.
    pub workflow: String,
    /// The project of the workflow.
    pub project: String,
}

/// What begins to run by itself once a repair is committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Starts {
    /// What it is, in the plural.
    pub title: String,
    /// How many.
    pub count: usize,
    /// The first of them, a few words each.
    pub sample: Vec<String>,
    /// How to keep it from starting; empty where there is no such way.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub way_out: String,
}

impl Starts {
    /// In one sentence: what, how many, which, and how to keep it from starting.
    #[must_use]
    pub fn says(&self) -> String {
        let more = match self.count - self.sample.len().min(self.count) {
            0 => String::new(),
            more => format!(" … and {more} more"),
        };
        let way_out = if self.way_out.is_empty() { String::new() } else { format!(" {}", self.way_out) };
        format!("{} ({}): {}{more}.{way_out}", self.title, self.count, self.sample.join(", "))
    }
}

/// How many planned rows of a role name a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostRows {
    /// The host as the rows hold it.
    pub host: String,
    /// The role of the rows.
    pub role: String,
    /// How many rows.
    pub rows: usize,
}

/// Rows of one finding that no recipe writes: somebody must decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// The finding's code.
    pub finding: String,
    /// What it is.
    pub title: String,
    /// The recipe that shows them.
    pub recipe: String,
    /// The role of the rows.
    pub role: String,
    /// How many rows.
    pub count: usize,
    /// The first keys.
    pub sample: Vec<String>,
}

/// Rows that were looked at and left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The reason's code.
    pub reason: String,
    /// The role of the rows.
    pub role: String,
    /// How many rows.
    pub count: usize,
    /// Why.
    pub why: String,
    /// The way out.
    pub way_out: String,
    /// The first keys.
    pub sample: Vec<String>,
}

/// A step that this release does not need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotNeeded {
    /// The step's title.
    pub title: String,
    /// Why it is not needed.
    pub why: String,
}

/// A query that must count 0 before the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanCheck {
    /// Stable name.
    pub name: String,
    /// What it says.
    pub title: String,
    /// The step whose work table the query reads, as its file is named.
    pub step: String,
    /// The query, with `{work}` for the work table.
    pub sql: String,
    /// Whether it need hold only when the repair ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

/// A row that the scheduler itself locks before it writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanLock {
    /// The table's name.
    pub table: String,
    /// Primary key columns.
    pub key: Vec<Column>,
    /// Their values.
    pub row: Vec<String>,
    /// Whether it was there when this was planned.
    pub there: bool,
}

impl PlanLock {
    /// `ns_lock (dispatch)`, for people.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} ({})", self.table, self.row.join(", "))
    }
}

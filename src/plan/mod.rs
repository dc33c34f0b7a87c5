//! The plan: ordered row changes on one database, each row once. Pure.

mod answers;
mod conditions;
mod draft;
mod epoch;
mod finish;
mod foresee;
mod legacy;
mod locks;
mod overlay;
mod owner;
mod params;
mod query;
mod tally;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use answers::{Answers, Before, Seen};
pub use draft::{Draft, PassedOver};
pub use epoch::{epoch_ms, utc, with_utc};
pub use foresee::Foreseen;
pub use legacy::Confirmed;
pub use locks::lock_rows;
pub use overlay::Overlay;
pub use owner::{
    HEARTBEAT, OwnerClaim, OwnerForm, OwnerName, Proof, bare_address, names_an_owner, said_dead_now, shown_claim,
    with_scope, writes_scope,
};
pub use params::{ParamValue, Params, duration, numbers, wall_clock};
pub use query::{Inputs, Site, StepRows, effect_query, names_query, place_in_step, report_query, step_query};

use crate::catalog::{LiveForeignKey, LiveTable};
use crate::dialect::{Dialect, TypeClass};
use crate::manifest::Words;
use crate::recipe::{ConditionTime, Names, Op, SetKind};
use crate::ui::safe;

/// Stands among a step's codes for SQL NULL, where it is a state. No scheduler has such a code.
pub const NULL_STATE: &str = "NULL";
/// Stands among a step's codes for every code that is not listed, where the codes are an open set.
pub const OTHER_STATE: &str = "*";

/// The version of plan.toml's form.
pub const FORMAT: u32 = 1;
/// How many characters of a value are shown.
const SHOWN: usize = 200;
/// How many keys of left-out rows a plan shows.
pub(crate) const SAMPLE: usize = 5;

/// Everything that a bundle is rendered from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of this form.
    pub format: u32,
    /// The flowmend that planned.
    pub flowmend: String,
    /// What it was planned from.
    pub from: From,
    /// The database it is for.
    pub target: Target,
    /// What the operator said, as given.
    pub args: BTreeMap<String, String>,
    /// Who is said to be dead, and by whom.
    #[serde(default)]
    pub owners: Vec<OwnerClaim>,
    /// What was counted when it was planned.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// The runs that the planned rows are of, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunName>,
    /// Rows that feel the repair although it does not write them, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// What begins to run as soon as the repair is committed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Starts>,
    /// What would do harm although it looks like the next thing to do, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dangers: Vec<String>,
    /// Hosts that the planned rows name: where processes may still run.
    #[serde(default)]
    pub hosts: Vec<HostRows>,
    /// Rows that were looked at and left out.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// Rows that the recipes show and never write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Shown>,
    /// Steps of the recipe that this release does not need, with the reason.
    #[serde(default)]
    pub not_needed: Vec<NotNeeded>,
    /// Queries that must count 0 before the end.
    #[serde(default)]
    pub checks: Vec<PlanCheck>,
    /// Rules of the linter that the bundle breaks and the operator allows it to break.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<AllowedRule>,
    /// Rows that the scheduler locks before it writes, in its order: the repair takes them first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<PlanLock>,
    /// The recipe's prose for the ticket.
    pub prose: String,
    /// The ordered changes.
    pub steps: Vec<Step>,
}

/// What a plan was derived from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct From {
    /// The scheduler's short name.
    pub scheduler: String,
    /// The scheduler's full name.
    pub title: String,
    /// The release that was identified.
    pub release: String,
    /// How the release was identified.
    pub identified_by: String,
    /// Sentences about the scheduler's processes.
    #[serde(default)]
    pub words: Words,
    /// Why the manifest is approximate, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approximate: Option<String>,
    /// The generation whose manifest was used.
    pub generation: String,
    /// SHA-256 of that manifest as resolved.
    pub manifest_sha256: String,
    /// What the scheduler's table names begin with, where that can be chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_prefix: Option<String>,
    /// Whether the manifest came from a directory of the operator's own (`--enums`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_manifest: bool,
    /// The recipe's name.
    pub recipe: String,
    /// The recipe's title.
    pub recipe_title: String,
    /// SHA-256 over the recipe's files.
    pub recipe_sha256: String,
    /// The recipes that have steps in the plan, the one that was asked for and those that follow.
    #[serde(default)]
    pub recipes: Vec<RecipeRef>,
    /// The moment of the plan, UTC.
    pub now: String,
    /// The scheduler's zone: minutes east of UTC, and how that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<Zone>,
    /// What the newest heartbeat says of the scheduler's clock beside the database's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<String>,
    /// The cut-off on the scheduler's clock, if an age was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<String>,
}

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

/// The database a plan is for. apply refuses any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The dialect's name.
    pub dialect: String,
    /// The server's version text when it was planned.
    pub server_version: String,
    /// What tells this server from another one.
    pub server: String,
    /// Where it was reached, for people; nothing hangs on it.
    #[serde(default)]
    pub address: String,
    /// The database's name, or the file of SQLite.
    pub database: String,
    /// The schema, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// SHA-256 over the columns of the tables in the plan.
    pub schema_sha256: String,
    /// Where work tables and the ledger go, if not beside the scheduler's tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_schema: Option<String>,
    /// Triggers that the operator accepted, as `table.trigger`.
    #[serde(default)]
    pub allowed_triggers: Vec<String>,
}

impl Target {
    /// The schema of the ledger and of the bundles' own tables, where it must be named.
    #[must_use]
    pub fn own_schema(&self) -> Option<&str> {
        self.work_schema.as_deref().or(self.schema.as_deref())
    }
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

/// One step: one table, one kind of change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The recipe it is from.
    pub recipe: String,
    /// The role of the table, which names the step.
    pub role: String,
    /// The role of what the rows' `instance` names; nothing for runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// What it does, for people.
    pub title: String,
    /// Recipe and round, where other steps have the same title.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub apart: String,
    /// The kind of change.
    pub op: Op,
    /// Whether the scheduler moves these rows on as soon as it takes what the plan inserts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
    /// What it writes that no repair writes otherwise, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<String>,
    /// Rule of the linter → why the step may do what the rule calls an error.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub accepts: BTreeMap<String, String>,
    /// Columns that the scheduler goes on to write once it takes the rows up again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves_on: Vec<String>,
    /// Whether the scheduler deletes these rows when it is done with them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_end: bool,
    /// The table's name.
    pub table: String,
    /// Primary key columns.
    pub key: Vec<Column>,
    /// All columns that hold data of their own, in order.
    pub columns: Vec<Column>,
    /// Columns that are written.
    pub set: Vec<SetColumn>,
    /// Columns that must still hold what was read: written ones and witnesses.
    pub pins: Vec<Column>,
    /// A row of another table that must not have moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub related: Option<Related>,
    /// Tables that a delete would reach: no row there may refer to the step's rows then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub referrers: Vec<Referrer>,
    /// What must hold on other rows, for the row with alias `t`.
    #[serde(default)]
    pub conditions: Vec<PlanCondition>,
    /// Columns that hold times as milliseconds since the epoch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub epoch_ms: Vec<String>,
    /// Column → code → name, for people.
    #[serde(default)]
    pub states: BTreeMap<String, BTreeMap<String, String>>,
    /// The rows, ordered by key.
    pub rows: Vec<RowChange>,
}

/// The name of a step by its place in the plan, also its file's name.
#[must_use]
pub fn step_name(index: usize, role: &str) -> String {
    // Preflight and backup are 01 and 02.
    format!("{:02}_{role}", index + 3)
}

/// A column of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The type as the server writes it.
    pub type_sql: String,
    /// The class of the type.
    pub class: TypeClass,
    /// Whether an update of the row moves it by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_update: bool,
}

/// A column that is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetColumn {
    /// The column.
    pub column: Column,
    /// How the new value is known.
    pub kind: SetKind,
    /// The expression of `now` and `recount`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
}

/// A row of another table that a step's rows hang on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Related {
    /// The table's name.
    pub table: String,
    /// The step's columns that refer to it.
    pub from: Names,
    /// Its columns that are referred to, in the same order.
    pub to: Names,
    /// Its columns that must still hold what was read.
    pub pins: Vec<Column>,
}

/// A table with a foreign key through which a delete would write it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Referrer {
    /// The table's name.
    pub table: String,
    /// Its columns and the step's, side by side.
    pub columns: Vec<(String, String)>,
}

impl Referrer {
    /// The referrers of a table that a bundle can look at: those of its own schema.
    pub(super) fn of(table: &LiveTable) -> Vec<Self> {
        let own = table.reached().filter(|key| !key.child.contains('.'));
        own.map(|key| Self { table: key.child.clone(), columns: key.columns.clone() }).collect()
    }

    /// Whether this is the one of a foreign key.
    #[must_use]
    pub fn is(&self, key: &LiveForeignKey) -> bool {
        self.table == key.child && self.columns == key.columns
    }
}

impl Related {
    /// The condition that joins it (alias `r`) to a row of the step (alias `t`).
    #[must_use]
    pub fn on(&self, d: &Dialect) -> String {
        let pairs = self.from.0.iter().zip(&self.to.0);
        pairs.map(|(from, to)| format!("r.{} = t.{}", d.ident(to), d.ident(from))).collect::<Vec<_>>().join(" AND ")
    }
}

/// A condition of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanCondition {
    /// Stable name.
    pub name: String,
    /// What it says.
    pub title: String,
    /// When it must hold.
    pub at: ConditionTime,
    /// The expression over alias `t`.
    pub sql: String,
    /// Whether it need hold only until the repair ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

fn retain_places<T>(items: &mut Vec<T>, without: &[bool]) {
    let mut places = without.iter();
    items.retain(|_| !places.next().copied().unwrap_or_default());
}

/// One row's change. NULL is written as `null = true` in the text form, so
/// values are optional texts.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RowChange {
    /// Key values.
    pub key: Vec<Option<String>>,
    /// Old values of the pinned columns.
    pub old: Vec<Option<String>>,
    /// New values of the written columns (for `now`: NULL; for `recount`: the value expected).
    pub new: Vec<Option<String>>,
    /// Values of the related row's pinned columns.
    pub related: Vec<Option<String>>,
    /// The run the row belongs to, if it belongs to one.
    pub instance: Option<String>,
    /// A name for people.
    pub label: String,
}

impl Plan {
    /// The steps of a role, in order.
    pub fn steps_of<'a>(&'a self, role: &'a str) -> impl Iterator<Item = &'a Step> {
        self.steps.iter().filter(move |s| s.role == role)
    }

    /// Tables that the plan writes or reads by name.
    #[must_use]
    pub fn tables(&self) -> Vec<&str> {
        let related = self.steps.iter().filter_map(|s| s.related.as_ref().map(|r| r.table.as_str()));
        let locks = self.locks.iter().map(|l| l.table.as_str());
        self.steps.iter().map(|s| s.table.as_str()).chain(related).chain(locks).collect()
    }

    /// What planned rows are of, by its role: each once.
    #[must_use]
    pub fn units(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut units: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for step in &self.steps {
            for instance in step.rows.iter().filter_map(|r| r.instance.as_deref()) {
                units.entry(&step.unit).or_default().insert(instance);
            }
        }
        units
    }

    /// What people call it, if so many of each are meant: `runs and jobs`.
    #[must_use]
    pub fn unit_nouns(&self, n: usize) -> String {
        let nouns: Vec<String> = self.units().keys().map(|unit| self.from.words.unit(unit, n)).collect();
        if nouns.is_empty() { self.from.words.unit("", n) } else { nouns.join(if n == 1 { " or " } else { " and " }) }
    }

    /// The runs that planned rows are of, each once.
    #[must_use]
    pub fn instances(&self) -> BTreeSet<&str> {
        self.steps.iter().flat_map(|s| &s.rows).filter_map(|r| r.instance.as_deref()).collect()
    }

    /// Whether rows are inserted: then the whole is undone, or nothing.
    #[must_use]
    pub fn inserts(&self) -> bool {
        self.steps.iter().any(|s| s.op == Op::Insert)
    }

    /// What ends the undo of the whole bundle, where it inserts rows that the scheduler
    /// takes; and what to do so that the rest stays undoable.
    #[must_use]
    pub fn undo_ends(&self) -> Option<String> {
        let inserts: Vec<&Step> = self.steps.iter().filter(|s| s.is_taken()).collect();
        let first = inserts.first()?;
        let rows = inserts.iter().map(|s| s.rows.len()).sum();
        let noun = self.from.words.noun(&first.role, 1);
        let recipes: BTreeSet<&str> = inserts.iter().map(|s| s.recipe.as_str()).collect();
        let others = self.from.recipes.iter().any(|r| !recipes.contains(r.name.as_str()));
        let rest = if others {
            let except: Vec<String> = recipes.iter().map(|r| format!("--except {r}")).collect();
            format!(
                " To keep the rest undoable, plan it with `--all {}`, and {} as a second bundle.",
                except.join(" "),
                recipes.into_iter().collect::<Vec<_>>().join(", ")
            )
        } else {
            String::new()
        };
        let (count, one) = (self.from.words.count(&first.role, rows), if rows == 1 { "it" } else { "one of them" });
        Some(format!(
            "No undo once the scheduler takes a {noun}: this bundle queues {count}, and after {one} was taken no row of the bundle can be rolled back, not in part either.{rest}"
        ))
    }

    /// How many rows the plan changes.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.steps.iter().map(|s| s.rows.len()).sum()
    }
}

impl RowChange {
    /// The key as people read it.
    #[must_use]
    pub fn key_text(&self) -> String {
        self.key.iter().map(|k| k.as_deref().unwrap_or("NULL")).collect::<Vec<_>>().join("/")
    }

    /// What names the row: its key. A row to come has none yet; the run it is for names it.
    #[must_use]
    pub fn name(&self, op: Op) -> String {
        match op {
            Op::Insert => self.instance.clone().unwrap_or_default(),
            Op::Update | Op::Delete => self.key_text(),
        }
    }

    /// The key values as texts.
    #[must_use]
    pub fn key_texts(&self) -> Vec<String> {
        self.key.iter().map(|k| k.clone().unwrap_or_default()).collect()
    }
}

impl Step {
    /// The title, told apart from other steps of the same title.
    #[must_use]
    pub fn full_title(&self) -> String {
        if self.apart.is_empty() { self.title.clone() } else { format!("{} ({})", self.title, self.apart) }
    }

    /// What names a row for people, in one text or two that are joined: its key and its label,
    /// or one of them. A row to come has no key of its own yet. `clean` is done to each text
    /// of somebody else.
    #[must_use]
    pub fn row_name(&self, words: &Words, row: &RowChange, clean: impl Fn(&str) -> String) -> Vec<String> {
        let key = match (self.op, &row.instance) {
            (Op::Insert, Some(of)) => format!("new, for {} {}", words.unit(&self.unit, 1), clean(of)),
            (Op::Insert, None) => "new".to_owned(),
            _ => clean(&row.key_text()),
        };
        words.row_name(&self.role, &key, &clean(&row.label)).into_iter().map(str::to_owned).collect()
    }

    /// Whether it inserts rows that the scheduler takes and deletes: their effect cannot be undone.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.op == Op::Insert && self.may_end
    }

    /// Whether it writes a counter, which follows other rows.
    #[must_use]
    pub fn is_recount(&self) -> bool {
        self.set.iter().any(|s| s.kind == SetKind::Recount)
    }

    /// Writes no column that keeps its value in every row. It stays pinned.
    pub(super) fn leave_kept_columns(&mut self) {
        let kept = |(index, set): (usize, &SetColumn)| {
            let pin = self.pin_index(&set.column.name).filter(|_| set.kind == SetKind::Row);
            pin.is_some_and(|pin| self.rows.iter().all(|r| r.old[pin] == r.new[index]))
        };
        let kept: Vec<bool> = self.set.iter().enumerate().map(kept).collect();
        if kept.iter().all(|kept| *kept) {
            return;
        }
        retain_places(&mut self.set, &kept);
        self.rows.iter_mut().for_each(|row| retain_places(&mut row.new, &kept));
    }

    /// The written column of a name, with its place in `RowChange::new`.
    #[must_use]
    pub fn set_column(&self, name: &str) -> Option<(usize, &SetColumn)> {
        self.set.iter().enumerate().find(|(_, s)| s.column.name == name)
    }

    /// The place of a column in `RowChange::old`.
    #[must_use]
    pub fn pin_index(&self, name: &str) -> Option<usize> {
        self.pins.iter().position(|c| c.name == name)
    }

    /// What a planned row holds in a column before the repair, if the plan knows.
    #[must_use]
    pub fn value_before<'r>(&self, row: &'r RowChange, column: &str) -> Option<&'r str> {
        row.old.get(self.pin_index(column)?)?.as_deref()
    }

    /// What a planned row holds in a column after the repair, if the plan knows.
    #[must_use]
    pub fn value_after<'r>(&self, row: &'r RowChange, column: &str) -> Option<&'r str> {
        match self.set_column(column) {
            Some((index, _)) => row.new.get(index)?.as_deref(),
            None => self.value_before(row, column),
        }
    }

    /// A value with its state's name, where it is a state, or with its moment, where it is one.
    /// It is one line of limited length: it goes into comments of SQL files, where a
    /// line break would make a statement, or a client's command, of what follows.
    #[must_use]
    pub fn show_value(&self, column: &str, value: Option<&str>) -> String {
        match value {
            None => match self.states.get(column).and_then(|names| names.get(NULL_STATE)) {
                Some(name) => format!("NULL {name}"),
                None => "NULL".to_owned(),
            },
            Some(ms) if self.epoch_ms.iter().any(|c| c == column) => with_utc(&safe(ms, SHOWN)),
            Some(code) => match self.states.get(column).and_then(|names| names.get(code).or(names.get(OTHER_STATE))) {
                // Where states are stored as text, the code is its own name.
                Some(name) if !name.eq_ignore_ascii_case(code) => format!("{} {name}", safe(code, SHOWN)),
                _ => safe(code, SHOWN),
            },
        }
    }
}

/// A row in its text form: an array of five arrays and two texts would be hard
/// to read, so a row is one array of texts: key, old, new, related, instance,
/// label. NULL is the empty array.
mod row_text {
    use serde::de::Error as _;
    use serde::ser::SerializeSeq as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::RowChange;

    struct Cell<'a>(Option<&'a str>);

    impl Serialize for Cell<'_> {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            match self.0 {
                Some(text) => s.serialize_str(text),
                None => s.serialize_seq(Some(0))?.end(),
            }
        }
    }

    impl Serialize for RowChange {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            let groups = [&self.key, &self.old, &self.new, &self.related];
            let cells: Vec<Vec<Cell<'_>>> = groups.map(|g| g.iter().map(|v| Cell(v.as_deref())).collect()).into();
            let mut row = s.serialize_seq(Some(6))?;
            for group in &cells {
                row.serialize_element(group)?;
            }
            row.serialize_element(&Cell(self.instance.as_deref()))?;
            row.serialize_element(&self.label)?;
            row.end()
        }
    }

    impl<'de> Deserialize<'de> for RowChange {
        fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
            let row = toml::Value::deserialize(d)?;
            let parts =
                row.as_array().filter(|a| a.len() == 6).ok_or_else(|| D::Error::custom("a row is an array of six"))?;
            let group = |i: usize| -> Result<Vec<Option<String>>, D::Error> {
                let cells = parts[i].as_array().ok_or_else(|| D::Error::custom("values are arrays"))?;
                cells.iter().map(cell::<D>).collect()
            };
            let label = parts[5].as_str().ok_or_else(|| D::Error::custom("a label is a text"))?.to_owned();
            Ok(Self {
                key: group(0)?,
                old: group(1)?,
                new: group(2)?,
                related: group(3)?,
                instance: cell::<D>(&parts[4])?,
                label,
            })
        }
    }

    fn cell<'de, D: Deserializer<'de>>(value: &toml::Value) -> Result<Option<String>, D::Error> {
        match value {
            toml::Value::String(text) => Ok(Some(text.clone())),
            toml::Value::Array(empty) if empty.is_empty() => Ok(None),
            _ => Err(D::Error::custom("a value is a text, or [] for NULL")),
        }
    }
}

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
mod row;
mod step;
mod tally;
mod told;

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
    HEARTBEAT, OwnerClaim, OwnerName, Proof, bare_address, names_an_owner, said_dead_now, shown_claim, with_scope,
    writes_scope,
};
pub use params::{ParamValue, Params, duration, numbers, wall_clock};
pub use query::{Inputs, Site, StepRows, effect_query, names_query, place_in_step, report_query, step_query};
pub use row::RowChange;
pub use step::{Column, PlanCondition, Referrer, Related, SetColumn, Step, step_name};
pub use told::{
    AllowedRule, Evidence, HostRows, LeftOut, NotNeeded, PlanCheck, PlanLock, RecipeRef, RunName, Shown, Starts, Zone,
};

use crate::manifest::Words;
use crate::recipe::Op;

/// Stands among a step's codes for SQL NULL, where it is a state. No scheduler has such a code.
pub const NULL_STATE: &str = "NULL";
/// Stands among a step's codes for every code that is not listed, where the codes are an open set.
pub const OTHER_STATE: &str = "*";

/// The version of plan.toml's form.
pub const FORMAT: u32 = 1;
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

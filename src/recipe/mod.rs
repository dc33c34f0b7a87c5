//! Recipes: one repair each, an ordered list of queries that return row changes. Pure.

mod load;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

pub use load::{Recipes, SHARED};

/// One repair for one scheduler.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The scheduler's short name.
    pub scheduler: String,
    /// The recipe's folder, inside the template tree.
    pub folder: String,
    /// What the recipe file says.
    pub file: RecipeFile,
    /// The files beside it, by name.
    pub templates: Arc<BTreeMap<String, String>>,
    /// The files that all recipes of the scheduler share, by name.
    pub shared: Arc<BTreeMap<String, String>>,
}

/// The file form of a recipe.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeFile {
    /// The recipe's name, the folder's name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Roles without which the recipe makes no sense.
    pub needs: Vec<String>,
    /// Its place when several recipes make one plan: what others wait for comes first.
    #[serde(default)]
    pub order: u32,
    /// Recipes whose rows this one may uncover; what is new goes into the same plan.
    #[serde(default)]
    pub then: Vec<String>,
    /// Recipes all of whose rows go into the same plan.
    #[serde(default)]
    pub also: Vec<String>,
    /// Shared parameters that it takes, by name.
    #[serde(default)]
    pub uses: Vec<String>,
    /// What the operator may say, besides.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
    /// What a query may find.
    pub findings: Vec<Finding>,
    /// Why a query may leave a row out; shared reasons come on top.
    #[serde(default)]
    pub left_out: Vec<Reason>,
    /// Whether, when it follows and finds something new, all that it finds goes
    /// into the plan: counters hang on every row, not only on new ones.
    #[serde(default)]
    pub whole: bool,
    /// The choice that the operator must make, if the recipe has one.
    pub choice: Option<Choice>,
    /// The role column that names the owner of a row, for the proof of death.
    pub owner: Option<String>,
    /// The role that the `instance` of a row speaks of: what is undone together, and
    /// listed in the ticket. Left out: a run.
    pub unit: Option<String>,
    /// The ordered changes; none if the recipe only reports.
    #[serde(default)]
    pub steps: Vec<StepFile>,
    /// Queries whose rows are shown to people and never written.
    #[serde(default)]
    pub reports: Vec<ReportFile>,
    /// What rows feel the repair that it does not write.
    #[serde(default)]
    pub effects: Vec<EffectFile>,
    /// What must hold afterwards.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// The template of the ticket's prose.
    pub prose: String,
}

/// What the recipes of one scheduler share.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedWords {
    /// Parameters that a recipe takes by naming them in `uses`.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
    /// The `unit` of recipes that name none.
    pub unit: Option<String>,
    /// Reasons that every recipe may give.
    #[serde(default)]
    pub left_out: Vec<Reason>,
}

/// A parameter of a recipe.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// The name, which is also the flag.
    pub name: String,
    /// The kind of value.
    pub kind: ParameterKind,
    /// The values of a choice.
    #[serde(default)]
    pub values: Vec<String>,
    /// What holds when nothing is said.
    pub default: Option<String>,
    /// Where the rows are that a value names: role columns, or lists of them that are
    /// joined by full stops. A value that none of them holds is refused.
    #[serde(default)]
    pub among: Vec<Names>,
    /// Role columns besides, whose text holds a value somewhere.
    #[serde(default)]
    pub within: Vec<String>,
    /// Whether what the operator says of one of these need not be true of another, so that
    /// `plan` wants it said where the tables hold several.
    #[serde(default)]
    pub which: bool,
    /// Other parameters that may not be given the same value: the two contradict each other.
    #[serde(default)]
    pub excludes: Vec<String>,
    /// Of owners: the age without which a claim that names no time says nothing of an owner that
    /// the heartbeat tables list.
    pub listed_needs: Option<String>,
    /// One line of help.
    pub help: String,
    /// Whether the scheduler's recipes share it. The loader says so.
    #[serde(skip)]
    pub shared: bool,
}

impl Parameter {
    /// Whether it narrows what is repaired, whatever the recipe: the rows that it names
    /// are those that people mean. A recipe that does not know it must not plan others.
    #[must_use]
    pub fn narrows_all(&self) -> bool {
        self.shared && !self.among.is_empty()
    }
}

/// The kind of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// One of `values`.
    Choice,
    /// A duration before now (`30m`, `2h`, `1d`), which becomes a cut-off.
    Age,
    /// Texts, given several times (a name may hold a comma).
    Texts,
    /// Whole numbers, given several times or separated by commas.
    Numbers,
    /// Present or not.
    Flag,
    /// Owners known by their address, `HOST[:PORT][@TIME]`, given several times.
    Owners,
    /// Owners known by a name of their own, `NAME[@TIME]`, given several times.
    Names,
    /// What codes of earlier releases become, `COLUMN.CODE=STATE`, given several times.
    Legacy,
}

/// How a scheduler names its owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerForm {
    /// `HOST` or `HOST:PORT`.
    Address,
    /// Any text.
    Name,
}

impl ParameterKind {
    /// How owners are named, if it names owners.
    #[must_use]
    pub fn owner_form(self) -> Option<OwnerForm> {
        match self {
            Self::Owners => Some(OwnerForm::Address),
            Self::Names => Some(OwnerForm::Name),
            Self::Choice | Self::Age | Self::Texts | Self::Numbers | Self::Flag | Self::Legacy => None,
        }
    }
}

/// Something a query finds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Stable code.
    pub code: String,
    /// What it is, in a sentence.
    pub title: String,
    /// Whether it harms more than its own rows: it is shown before all others.
    #[serde(default)]
    pub urgent: bool,
    /// The template of a paragraph about one row: what it waits for, why
    /// nothing wakes it, what can be done.
    #[serde(default)]
    pub explain: String,
}

/// Why a row is left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Stable code, the query's `verdict`.
    pub code: String,
    /// Why, in a sentence.
    pub why: String,
    /// The way out.
    pub way_out: String,
    /// Whether the row would be repaired if the operator proved its owner dead.
    #[serde(default)]
    pub needs_owner: bool,
    /// Whether the row is wrong all the same, and only the operator's word is missing:
    /// inspect shows it as found.
    #[serde(default)]
    pub found: bool,
    /// The parameter by which only the operator can choose what becomes of the row: a plan of which
    /// nothing is left because nobody gave it is refused as incomplete.
    pub asks: Option<String>,
}

/// A choice that is never made silently.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The parameter that makes it.
    pub parameter: String,
    /// The verdict of a row that waits for it.
    pub verdict: String,
    /// The template that explains both sides on one screen.
    pub screen: String,
    /// The template of what becomes of the rows that the choice leaves to the
    /// scheduler, for the ticket; it may come out empty.
    pub left: Option<String>,
}

/// One step of a recipe.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepFile {
    /// The role of the table; also the step's name.
    pub role: String,
    /// What happens to the rows.
    pub op: Op,
    /// One line for people.
    pub title: String,
    /// Whether the release needs the step: a template that gives `yes`, or the reason why not.
    pub when: String,
    /// The query file.
    pub query: String,
    /// Role column → where its new value comes from.
    #[serde(default)]
    pub set: BTreeMap<String, SetFrom>,
    /// Another table's row that must not have moved.
    pub related: Option<RelatedFile>,
    /// What must hold on other rows.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Forbidden columns that this step may write all the same, with the reason.
    #[serde(default)]
    pub allow: BTreeMap<String, String>,
    /// The reason why this step, and what it does alone, may touch a forbidden table.
    pub allow_table: Option<String>,
    /// Rule of the linter → a template that says why this step may do what the rule calls
    /// an error; where it comes out empty, the rule holds.
    #[serde(default)]
    pub accepts: BTreeMap<String, String>,
    /// Further columns of the query, for the finding's paragraph.
    #[serde(default)]
    pub gives: Vec<String>,
    /// Whether the scheduler moves these rows on as soon as it takes what the plan inserts.
    #[serde(default)]
    pub transient: bool,
    /// Role columns that the scheduler goes on to write once it takes the rows up
    /// again: verify calls a later change of them moved on, not drift.
    #[serde(default)]
    pub moves_on: Vec<String>,
    /// Whether the scheduler deletes these rows when it is done with them. An inserted row of
    /// this kind is there to be taken, and after that there is no undo.
    #[serde(default)]
    pub may_end: bool,
    /// Steps of a higher rank come after all steps of a lower one, whichever
    /// recipe they are from: what counts or follows other rows comes late.
    #[serde(default)]
    pub rank: u8,
}

/// A query of rows that people should know of and flowmend does not write.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportFile {
    /// The role whose key the rows have.
    pub role: String,
    /// Whether the release needs it: a template that gives `yes`, or the reason why not.
    pub when: String,
    /// The query file.
    pub query: String,
    /// Further columns of the query, for the finding's paragraph.
    #[serde(default)]
    pub gives: Vec<String>,
}

/// A query of rows that feel the repair although it does not write them, asked
/// of the database as it will be.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectFile {
    /// Stable name.
    pub name: String,
    /// Whether the release needs it: a template that gives `yes`, or the reason why not.
    pub when: String,
    /// The query file.
    pub query: String,
    /// The columns of the query; the first one orders the rows.
    pub gives: Vec<String>,
    /// The template of the sentence about one row.
    pub text: String,
    /// What the sentence says of the row.
    #[serde(default)]
    pub tells: Tells,
    /// What starts, where the effect tells that something does.
    #[serde(default)]
    pub title: String,
    /// How to keep it from starting: a template.
    #[serde(default)]
    pub way_out: String,
}

/// What an effect says of its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tells {
    /// They feel the repair although it does not write them.
    #[default]
    Felt,
    /// Their work begins as soon as the repair is committed.
    Starts,
    /// They make something dangerous that looks like the next thing to do.
    Danger,
}

/// What happens to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Columns get new values.
    Update,
    /// The row goes.
    Delete,
    /// A row comes.
    Insert,
}

/// Where a new value comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetFrom {
    /// How the value is known.
    pub kind: SetKind,
    /// Whether NULL is a value that the query may give.
    #[serde(default)]
    pub null: bool,
    /// The template of the expression, for `recount`.
    #[serde(default)]
    pub sql: String,
}

/// How a new value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetKind {
    /// The query gives it per row, as `new_<role column>`.
    Row,
    /// The moment of apply, on the scheduler's clock.
    Now,
    /// An expression over other rows, computed when it is written.
    Recount,
}

/// A row of another table that the step's rows hang on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelatedFile {
    /// Its role.
    pub role: String,
    /// The step's role columns that refer to it.
    pub from: Names,
    /// Its role columns that are referred to, in the same order.
    pub to: Names,
}

/// One name, or several.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(from = "OneOrMany", into = "OneOrMany")]
pub struct Names(pub Vec<String>);

#[derive(serde::Serialize, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl From<OneOrMany> for Names {
    fn from(names: OneOrMany) -> Self {
        match names {
            OneOrMany::One(name) => Self(vec![name]),
            OneOrMany::Many(names) => Self(names),
        }
    }
}

impl From<Names> for OneOrMany {
    fn from(Names(mut names): Names) -> Self {
        match names.pop() {
            Some(name) if names.is_empty() => Self::One(name),
            last => {
                names.extend(last);
                Self::Many(names)
            }
        }
    }
}

impl RelatedFile {
    /// Referring and referred role columns, side by side.
    pub fn pairs(&self) -> impl Iterator<Item = (&String, &String)> {
        self.from.0.iter().zip(&self.to.0)
    }
}

/// A condition on other rows: SQL that must be true for a row (alias `t`).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// Stable name, part of the guard's name.
    pub name: String,
    /// What it says, in a sentence.
    pub title: String,
    /// When it must hold.
    pub at: ConditionTime,
    /// The template of the expression.
    pub sql: String,
    /// Whether the release needs it: a template that gives `yes` or nothing.
    #[serde(default)]
    pub when: String,
    /// A role: where the plan itself inserts rows of it, the condition is looked
    /// at when the rows are locked, and not again.
    pub until: Option<String>,
    /// Whether it need hold only until the repair ends: verify does not ask.
    #[serde(default)]
    pub once: bool,
    /// Names of the step's `gives` that its templates are told of the planned rows.
    #[serde(default)]
    pub given: Vec<String>,
}

/// When a condition must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConditionTime {
    /// When the rows are locked.
    Start,
    /// Before the end.
    End,
    /// Both.
    Both,
}

/// A query that counts what must not be there after the repair.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Stable name.
    pub name: String,
    /// What it says, in a sentence.
    pub title: String,
    /// The role of the planned step whose rows (alias `w`, key columns `k_…`) it looks at.
    pub step: String,
    /// The template of a query that gives one number, 0 when all is well.
    pub sql: String,
    /// Whether it looks at such steps of every recipe in the plan, not of its own alone.
    #[serde(default)]
    pub every: bool,
    /// Whether it holds when the repair ends, and need not hold for ever: verify does not ask.
    #[serde(default)]
    pub once: bool,
}

impl Recipe {
    /// Whether a release has what the recipe needs.
    #[must_use]
    pub fn applies_to(&self, manifest: &crate::manifest::Manifest) -> bool {
        self.scheduler == manifest.scheduler && self.lacking(manifest).is_empty()
    }

    /// What the recipe needs and the release lacks.
    #[must_use]
    pub fn lacking(&self, manifest: &crate::manifest::Manifest) -> Vec<&str> {
        self.file.needs.iter().map(String::as_str).filter(|role| !manifest.has(role)).collect()
    }

    /// SHA-256 over the recipe's files, so that a bundle knows what it came from.
    #[must_use]
    pub fn sha256(&self) -> String {
        let files = self.templates.iter().chain(self.shared.iter());
        let parts: Vec<&[u8]> = files.flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]).collect();
        crate::digest::sha256(&parts)
    }

    /// The parameter of a name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.file.parameters.iter().find(|p| p.name == name)
    }

    /// The further columns that the queries of its steps give.
    pub fn given_names(&self) -> impl Iterator<Item = &String> + Clone {
        self.file.steps.iter().flat_map(|s| &s.gives)
    }

    /// The reason of a verdict.
    #[must_use]
    pub fn reason(&self, code: &str) -> Option<&Reason> {
        self.file.left_out.iter().find(|r| r.code == code)
    }

    /// Whether a row with this verdict is shown as found: it is planned or shown, or only
    /// the operator's choice or word is missing.
    #[must_use]
    pub fn finds(&self, verdict: &str) -> bool {
        let chosen = self.file.choice.as_ref().is_some_and(|c| c.verdict == verdict);
        verdict == "plan" || chosen || self.reason(verdict).is_some_and(|r| r.found)
    }

    /// The finding of a code.
    #[must_use]
    pub fn finding(&self, code: &str) -> Option<&Finding> {
        self.file.findings.iter().find(|f| f.code == code)
    }
}

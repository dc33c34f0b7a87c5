//! Upgrade checks: what of today's rows, codes, names and scripts is still right in another release. Pure.

mod keys;
mod live;
mod rows;
mod schema;

use serde::Serialize;

pub use keys::{Shared, UniqueKey};
pub use live::{Doubt, Seen};
pub use rows::{CodeRows, in_one_bundle, of_rows};

use crate::lint::Level;
use crate::manifest::compare::{Change, ChangeKind, compare};
use crate::manifest::{Drain, Engine, Manifest, Manifests, version_order};
use crate::recipe::{Recipe, Recipes};
use crate::{Error, Result};

/// The code of a database that is at the new release, or further on.
const FURTHER: &str = "already-upgraded";

/// The code of what a database lacks of its release.
const MISSING: &str = "schema-older-than-version";

/// The code of what the upgrade itself brings.
pub const BROUGHT: &str = "brought-by-upgrade";

/// The version of the report's JSON form.
pub const FORMAT: u32 = 1;

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// What must be done before.
    Before,
    /// Rows and their codes.
    Rows,
    /// The database's tables and columns.
    Schema,
    /// Scripts and reports that name tables, columns and codes.
    Scripts,
    /// What flowmend can repair.
    Repairs,
}

/// One thing that an upgrade breaks, or that must be known about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A stable code.
    pub code: String,
    /// How bad it is.
    pub level: Level,
    /// What it is about.
    pub about: About,
    /// What it is about exactly: a table, `table.column`, a code of a column.
    pub subject: String,
    /// The sentence.
    pub message: String,
    /// The release with which it came, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// How many rows, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Keys of some of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sample: Vec<String>,
    /// The fact and its source.
    pub why: Vec<String>,
    /// The ways out.
    pub help: Vec<String>,
    /// The script and the line, of a finding in a script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<(String, usize)>,
}

impl Finding {
    fn new(about: About, code: &str, level: Level, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            level,
            about,
            subject: subject.into(),
            message: message.into(),
            since: None,
            rows: None,
            sample: Vec::new(),
            why: Vec::new(),
            help: Vec::new(),
            place: None,
        }
    }

    /// The database is known as another release than the one that was named.
    #[must_use]
    pub fn another_release(title: &str, release: &str, is: &str, (further, after): (bool, bool)) -> Self {
        let message = format!("the schema is that of {title} {is}, not of {release}");
        let code = if further { FURTHER } else { "another-release" };
        let mut finding = Self::new(About::Schema, code, Level::Error, "schema", message);
        let help = if after {
            "the upgrade has not run, or a step of it did not; --to names the release that was to be reached"
        } else {
            "give the release that runs with --from, and --after where the upgrade has run; or a step of an upgrade did not run"
        };
        finding.help.push(help.to_owned());
        finding
    }

    /// Whether something is not there that should be.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.code == MISSING
    }

    /// Whether nothing else can be said.
    #[must_use]
    pub fn ends_the_check(&self) -> bool {
        self.code == FURTHER
    }

    /// The version row names a release that the database has not reached.
    #[must_use]
    pub fn version_row_ahead(row: &str, release: &str, to: &str) -> Self {
        let message = format!("the version row says {row}, but {release} runs");
        let mut finding = Self::new(About::Before, "version-row-ahead", Level::Error, "version row", message);
        finding.why.push("some fresh installs are marked with another version than their own".to_owned());
        finding.help.push(format!(
            "upstream's upgrade tool reads this row and would skip the steps to {to}: correct it by upstream's instructions first, and look with --after whether every step ran"
        ));
        finding
    }

    /// The database is not known as any release.
    #[must_use]
    pub fn not_recognised(title: &str, release: &str, why: &str) -> Self {
        let message = format!("the schema is not wholly that of {title} {release}, nor of another release");
        let mut finding = Self::new(About::Schema, "half-upgraded", Level::Error, "schema", message);
        finding.why.push(why.to_owned());
        finding.help.push("look whether every step of the upgrade ran, and repair the schema first; where it is right and the version row alone is old, correct that row by upstream's instructions".to_owned());
        finding
    }

    /// A script that could not be read.
    #[must_use]
    pub fn unread_script(file: &str, why: &str) -> Self {
        let mut finding = Self::new(About::Scripts, "unread-script", Level::Warning, file, why);
        finding.help.push("convert it to UTF-8, or move it elsewhere: it was not checked".to_owned());
        finding
    }

    /// What the linter says of a script at the new release.
    #[must_use]
    pub fn of_script(file: &str, (line, column): (usize, usize), found: &crate::lint::Finding) -> Self {
        let place = format!("{file}:{line}:{column}");
        let message = format!("{place}: {}", found.message);
        let mut finding = Self::new(About::Scripts, &found.rule, found.level, place, message);
        finding.place = Some((file.to_owned(), line));
        finding.why.clone_from(&found.why);
        finding.help.clone_from(&found.help);
        finding
    }

    /// A finding about rows that were counted: how many, and keys of some.
    #[must_use]
    pub fn counted(mut self, rows: u64, sample: Vec<String>) -> Self {
        self.rows = Some(rows);
        self.sample = sample;
        self
    }
}

/// An upgrade from one release to another, with every generation on the way.
pub struct Upgrade<'m> {
    /// The release that runs.
    pub from: &'m Manifest,
    /// The release that will run.
    pub to: &'m Manifest,
    /// The releases as they were named.
    pub releases: (String, String),
    /// What differs between the two.
    pub changes: Vec<Change>,
    /// What each generation on the way changes.
    pub steps: Vec<Step<'m>>,
    /// Whether the new release runs already.
    pub is_done: bool,
    /// The command by which flowmend gives rows a code of the new release, where it can.
    pub mapping: Option<Mapping>,
}

/// A command that gives codes of earlier releases a state of the new one.
pub struct Mapping {
    /// What is planned.
    plan: String,
    /// The flag before each code that is confirmed.
    flag: String,
    /// Where, and for which release.
    rest: String,
}

impl Mapping {
    /// The command that confirms some codes.
    fn command(&self, confirmed: &[String]) -> String {
        let flags: Vec<String> = confirmed.iter().map(|c| format!(" {} {c}", self.flag)).collect();
        format!("{}{}{}", self.plan, flags.concat(), self.rest)
    }
}

/// A word of a command line as a shell takes it.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@,+=%".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// The way from one generation to the next.
pub struct Step<'m> {
    /// The generation that is reached.
    pub to: &'m Manifest,
    /// What it changes.
    pub changes: Vec<Change>,
}

impl Step<'_> {
    /// The first release of the generation.
    fn since(&self) -> Option<String> {
        self.to.releases.first().cloned()
    }

    /// What one of the generation's notes wants done before.
    fn wants(&self, note: &Drain) -> Finding {
        let subject =
            note.empty.iter().chain(&note.drained).chain(note.without.keys()).cloned().collect::<Vec<_>>().join(", ");
        let mut finding = Finding::new(About::Before, "must-be-done-before", Level::Warning, subject, &note.says);
        finding.since = self.since();
        finding.why.push(note.source.clone());
        finding
    }
}

impl<'m> Upgrade<'m> {
    /// The upgrade between two releases of a scheduler.
    ///
    /// # Errors
    /// The scheduler or a release is not known.
    pub fn between(manifests: &'m Manifests, scheduler: &str, from: &str, to: &str) -> Result<Self> {
        let all = manifests.of(scheduler)?;
        let (old, new) = (manifests.release(scheduler, from)?, manifests.release(scheduler, to)?);
        let place = |m: &Manifest| all.iter().position(|other| other.generation == m.generation);
        let (Some(first), Some(last)) = (place(old), place(new)) else {
            return Err(Error::internal("a release without a generation"));
        };
        let mut way: Vec<&Manifest> = all[first.min(last)..=first.max(last)].to_vec();
        if first > last {
            way.reverse();
        }
        let steps = way.windows(2).map(|pair| Step { to: pair[1], changes: compare(pair[0], pair[1]) }).collect();
        let changes = compare(old, new);
        let releases = (from.to_owned(), to.to_owned());
        Ok(Self { from: old, to: new, releases, changes, steps, is_done: false, mapping: None })
    }

    /// The same, with what these recipes can do for it afterwards, or now if it is done; `place`
    /// is the database, without secrets, if one is looked at.
    #[must_use]
    pub fn repaired_by(self, recipes: &Recipes, is_done: bool, place: Option<&str>) -> Self {
        let place = place.map(|url| format!(" --url {}", shell_word(url))).unwrap_or_default();
        let rest = format!("{place} --scheduler {} --release {}", self.to.scheduler, self.releases.1);
        let mapping = recipes.mapping(self.to).map(|(plan, flag)| Mapping { plan, flag, rest });
        Self { mapping, is_done, ..self }
    }

    /// The first release of the last generation that brings a change.
    #[must_use]
    pub fn since(&self, change: &Change) -> Option<String> {
        if self.is_way_back() {
            return None;
        }
        // What came, went and came back is there since it came back.
        self.steps.iter().rev().find(|step| step.changes.iter().any(|c| c.is_of(change)))?.since()
    }

    /// The release that a code of a column cannot be read in any more.
    fn lost(&self, column: &str, code: &str) -> Option<String> {
        self.last_change_of(column, |c| match c.kind {
            ChangeKind::StateRemoved | ChangeKind::StateIllegal | ChangeKind::StateMeaning => {
                c.code.as_deref() == Some(code)
            }
            ChangeKind::StateRenumbered => c.before.as_deref() == Some(code),
            _ => false,
        })
    }

    /// The release since which a code of a column means what it means at the end.
    fn became(&self, column: &str, code: &str) -> Option<String> {
        self.last_change_of(column, |c| match c.kind {
            ChangeKind::StateAdded
            | ChangeKind::StateRenamed
            | ChangeKind::StateMeaning
            | ChangeKind::StateFinished
            | ChangeKind::StateLegal => c.code.as_deref() == Some(code),
            ChangeKind::StateRenumbered => c.after.as_deref() == Some(code),
            _ => false,
        })
    }

    /// The first release of the last generation on the way that changes a column so: a code
    /// may go, come back and go again.
    fn last_change_of(&self, column: &str, so: impl Fn(&Change) -> bool) -> Option<String> {
        if self.is_way_back() {
            return None;
        }
        let changes = |step: &&Step<'_>| step.changes.iter().any(|c| c.subject == column && so(c));
        self.steps.iter().rev().find(changes)?.since()
    }

    /// The same upgrade, as one kind of database sees it. SQLite follows MySQL's tables.
    #[must_use]
    pub fn on(mut self, engine: Engine) -> Self {
        let engine = if engine == Engine::Sqlite { Engine::MySql } else { engine };
        let lists = std::iter::once(&mut self.changes).chain(self.steps.iter_mut().map(|step| &mut step.changes));
        lists.for_each(|changes| changes.retain(|c| c.engine.is_none_or(|e| e == engine)));
        self
    }

    /// The kinds of databases of a change.
    fn engines(&self, change: &Change) -> Vec<Engine> {
        let runs = |e: &Engine| self.from.runs_on(*e) && self.to.runs_on(*e);
        change
            .engine
            .map_or_else(|| vec![Engine::MySql, Engine::PostgreSql], |e| vec![e])
            .into_iter()
            .filter(runs)
            .collect()
    }

    /// What a table of the old release is called in the new one.
    fn renamed_table<'n>(&'n self, table: &'n str) -> &'n str {
        let renamed = self.changes.iter().find(|c| c.kind == ChangeKind::TableRenamed && c.subject == table);
        renamed.and_then(|c| c.after.as_deref()).unwrap_or(table)
    }

    /// Facts that were not read from a tagged source.
    fn approximate(&self) -> Vec<Finding> {
        let releases = [(self.from, &self.releases.0), (self.to, &self.releases.1)];
        let approximate = releases.into_iter().filter(|(m, release)| m.approximate.contains(*release));
        let finding = |(m, release): (&Manifest, &String)| {
            let message = format!("what is known of {release} is approximate: {}", m.approximate_because);
            Finding::new(About::Before, "approximate", Level::Info, release, message)
        };
        approximate.map(finding).collect()
    }

    /// How people call the release that is reached.
    fn goal(&self) -> String {
        format!("{} {}", self.to.title, self.releases.1)
    }

    /// What breaks, as far as it is known without a database.
    #[must_use]
    pub fn findings(&self, recipes: &Recipes) -> Vec<Finding> {
        let mut findings = self.before();
        findings.extend(self.way_back());
        findings.extend(self.approximate());
        findings.extend(rows::foreseen(self));
        findings.extend(schema::foreseen(self));
        findings.extend(schema::not_compared(self));
        findings.extend(self.repairs(recipes));
        findings
    }

    /// What is to be said beside scripts that are checked: what changes there without a name that a
    /// script could hold.
    #[must_use]
    pub fn beside_scripts(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.way_back().into_iter().collect();
        findings.extend(self.approximate());
        findings.extend(schema::unseen_in_scripts(self));
        findings.extend(schema::not_compared(self));
        findings
    }

    /// What upstream wants done before the upgrade, at every generation on the way.
    fn before(&self) -> Vec<Finding> {
        self.notes().map(|(step, note)| step.wants(note)).collect()
    }

    /// The notes of every generation on the way. What is so in one generation only matters where
    /// the way ends in it.
    fn notes(&self) -> impl Iterator<Item = (&Step<'m>, &Drain)> {
        let from = version_order(&self.releases.0);
        let matters = move |step: &Step<'m>, note: &Drain| {
            (!note.here_only || step.to.generation == self.to.generation)
                && note.from_before.as_ref().is_none_or(|before| from < version_order(before))
        };
        let all = self.steps.iter().flat_map(|step| step.to.upgrade.iter().map(move |note| (step, note)));
        all.filter(move |(step, note)| matters(step, note))
    }

    /// Whether the way goes back.
    #[must_use]
    pub fn is_way_back(&self) -> bool {
        version_order(&self.from.generation) > version_order(&self.to.generation)
    }

    fn way_back(&self) -> Option<Finding> {
        if !self.is_way_back() {
            return None;
        }
        let (from, to) = &self.releases;
        let message = format!("{to} comes before {from}: what follows is said of a way back");
        let mut finding = Finding::new(About::Before, "way-back", Level::Warning, "releases", message);
        let help = "upstream's upgrade scripts do not go back: restore a backup from before the upgrade";
        finding.help.push(help.to_owned());
        Some(finding)
    }

    fn repairs(&self, recipes: &Recipes) -> Vec<Finding> {
        let title = |name: &str| recipes.get(&self.to.scheduler, name).map_or("", |r| r.file.title.as_str());
        let finding = |change: Change| {
            let name = &change.subject;
            let (code, says) = match change.kind {
                ChangeKind::RecipeStops => {
                    let why = change.after.as_deref().unwrap_or_default();
                    ("recipe-stops", format!("{name} cannot be used any more: {why}"))
                }
                _ => ("recipe-starts", format!("{name} can be used from here on: {}", title(name))),
            };
            Finding::new(About::Repairs, code, Level::Info, name, says)
        };
        recipe_changes(recipes, self.from, self.to).into_iter().map(finding).collect()
    }
}

fn lacks(recipe: &Recipe, manifest: &Manifest) -> String {
    let roles = recipe.lacking(manifest).join(", ");
    format!("{} has no such rows to repair ({roles})", manifest.release_range())
}

/// What differs between two generations in the recipes that can be used.
#[must_use]
pub fn recipe_changes(recipes: &Recipes, from: &Manifest, to: &Manifest) -> Vec<Change> {
    let change = |recipe: &Recipe| match (recipe.applies_to(from), recipe.applies_to(to)) {
        (true, false) => {
            let mut change = Change::new(ChangeKind::RecipeStops, &recipe.file.name);
            change.after = Some(lacks(recipe, to));
            Some(change)
        }
        (false, true) => Some(Change::new(ChangeKind::RecipeStarts, &recipe.file.name)),
        _ => None,
    };
    recipes.of(&from.scheduler).filter_map(change).collect()
}

/// The source of a fact among a manifest's sources: the file that a name is in.
fn source_of(manifest: &Manifest, name: &str) -> Vec<String> {
    manifest.sources.iter().filter(|source| source.contains(name)).take(2).cloned().collect()
}

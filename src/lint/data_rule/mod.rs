//! Rules about one scheduler: `rules/<scheduler>/<code>.toml`.

mod file;
mod text;

use self::file::RuleFile;
use self::text::Told;
use crate::data::Tree;
use crate::lint::finding::Level;
use crate::lint::knowledge::Knowledge;
use crate::lint::reading::{Assignment, Change, Does, Reading, Scalar, Written};
use crate::lint::report::{Report, after, listed, selected, written};
use crate::manifest::{Manifests, Role, State, StateSet, version_order};
use crate::{Error, Result};

/// The rules of all schedulers.
#[derive(Debug, Default)]
pub struct DataRules {
    rules: Vec<DataRule>,
}

/// One rule.
#[derive(Debug)]
pub struct DataRule {
    /// Its code.
    pub code: String,
    /// The scheduler it is about.
    pub scheduler: String,
    /// What to call its file in a message.
    origin: String,
    level: Level,
    file: RuleFile,
}

/// A role that a table plays, by its name.
pub(super) type Played<'r> = (&'r str, &'r Role);

impl DataRules {
    /// The built-in rules, which the tests have checked against the manifests.
    ///
    /// # Errors
    /// A rule with a mistake.
    pub fn load(manifests: &Manifests) -> Result<Self> {
        let read = Self::read(&Tree::rules())?;
        read.rules.iter().filter(|r| !manifests.is_built_in(&r.scheduler)).try_for_each(|r| r.fits(manifests))?;
        Ok(read)
    }

    /// The rules of a tree, each checked against the manifests.
    ///
    /// # Errors
    /// A rule with a mistake.
    pub fn from_tree(tree: &Tree, manifests: &Manifests) -> Result<Self> {
        let read = Self::read(tree)?;
        read.rules.iter().try_for_each(|r| r.fits(manifests))?;
        Ok(read)
    }

    fn read(tree: &Tree) -> Result<Self> {
        let mut rules = Vec::new();
        for (path, data) in tree.iter() {
            let Some((scheduler, code)) = path.strip_suffix(".toml").and_then(|p| p.split_once('/')) else {
                continue;
            };
            let wrong = |what: String| Error::usage(format!("{}: {what}", data.origin));
            let file: RuleFile = toml::from_str(&data.text).map_err(|e| wrong(e.to_string().trim().to_owned()))?;
            let level =
                Level::of(&file.level).ok_or_else(|| wrong(format!("level = \"{}\" is no level", file.level)))?;
            let (code, scheduler, origin) = (code.to_owned(), scheduler.to_owned(), data.origin.clone());
            rules.push(DataRule { code, scheduler, origin, level, file });
        }
        Ok(Self { rules })
    }

    /// The rules that are about a release.
    pub(in crate::lint) fn of(&self, knowledge: &Knowledge<'_>) -> Vec<&DataRule> {
        let release = version_order(&knowledge.release);
        let ours = |r: &&DataRule| r.scheduler == knowledge.manifest.scheduler && r.file.covers(&release);
        self.rules.iter().filter(ours).collect()
    }

    /// All rules.
    pub fn iter(&self) -> impl Iterator<Item = &DataRule> {
        self.rules.iter()
    }
}

impl DataRule {
    /// Whether the manifests have what it names, and its sentences can be filled in.
    fn fits(&self, manifests: &Manifests) -> Result<()> {
        let names = self.file.check_unless().and_then(|()| self.file.check_names(&self.scheduler, manifests));
        names.and_then(|()| text::check(self, manifests)).map_err(|e| e.context(&self.origin))
    }

    /// Looks at a statement, whose changes are of tables that play these roles.
    pub(in crate::lint) fn check(&self, report: &mut Report<'_>, reading: &Reading, roles: &[Option<Played<'_>>]) {
        for (change, role) in reading.changes.iter().zip(roles) {
            let Some((role, spec)) = *role else { continue };
            if self.is_answered_by(report.knowledge, change, (role, spec)) {
                report.answered.insert(self.code.clone());
            }
            if let Some(found) = self.applies(report.knowledge, change, (role, spec))
                && !self.asks(report.knowledge, reading)
                && !self.is_asked_before(report.knowledge, change, reading)
            {
                self.say(report, change, &found);
            }
        }
    }

    /// Whether the statement asks what the rule would have it ask.
    fn asks(&self, knowledge: &Knowledge<'_>, reading: &Reading) -> bool {
        let read = reading.tables.iter().filter(|t| !t.written);
        let roles = read.filter_map(|t| Some((knowledge.role(&t.name)?.0, t.absent)));
        let is_asked = |(role, absent): (&str, bool)| {
            let named = |list: &[String]| list.iter().any(|r| r == role);
            named(&self.file.reads_none) || absent && named(&self.file.not_without)
        };
        roles.into_iter().any(is_asked)
    }

    /// Whether the rows were chosen before: a table of one's own holds their keys, and what was asked
    /// for when it was filled stands elsewhere.
    fn is_asked_before(&self, knowledge: &Knowledge<'_>, change: &Change, reading: &Reading) -> bool {
        let key = knowledge.key(&change.table);
        let is_own = |table: &str| knowledge.table(table).is_none();
        let (_, role) = knowledge.role(&change.table).unzip();
        let spoken = |column: &String| {
            role.and_then(|r| r.columns.get(column)).is_some_and(|name| change.filter.speaks_of(name))
        };
        let unseen = change.does == Does::Delete && self.file.from.keys().any(|column| !spoken(column));
        let asks = !self.file.not_without.is_empty() || unseen;
        asks && !key.is_empty()
            && key.iter().all(|column| change.filter.is_elsewhere(column))
            && reading.tables.iter().any(|t| !t.written && is_own(&t.name))
    }

    /// Whether a change is the one that makes right what the rule objects to.
    fn is_answered_by(&self, knowledge: &Knowledge<'_>, change: &Change, (role, spec): (&str, &Role)) -> bool {
        let Some(unless) = &self.file.unless else { return false };
        if !unless.deletes.is_empty() {
            return change.does == Does::Delete && unless.deletes.iter().any(|r| r == role);
        }
        let has = |(column, wanted): (&String, &Vec<String>), before: bool| {
            spec.columns.get(column).is_some_and(|name| match before {
                true => states(knowledge, change, name, wanted, selected).is_some(),
                // Rows that get each their own state were thought of one by one.
                false => {
                    change.set(name).is_some_and(|a| a.value.literals().is_empty())
                        || states(knowledge, change, name, wanted, written).is_some()
                }
            })
        };
        let on = if unless.on.is_empty() { &self.file.on } else { &unless.on };
        on.iter().any(|r| r == role)
            && unless.from.iter().all(|pair| has(pair, true))
            && unless.to.iter().all(|pair| has(pair, false))
    }

    fn applies(&self, knowledge: &Knowledge<'_>, change: &Change, (role, spec): (&str, &Role)) -> Option<Found> {
        let file = &self.file;
        if !(file.on.is_empty() || file.on.iter().any(|r| r == role)) {
            return None;
        }
        if !(file.does.is_empty() || file.does.iter().any(|d| d == change.does.name())) {
            return None;
        }
        let real = |column: &String| spec.columns.get(column);
        let set = |column: &String| real(column).is_some_and(|c| change.set(c).is_some());
        // NULL is nothing that was thought of.
        let filled = |column: &String| {
            let set = real(column).and_then(|c| change.set(c));
            set.is_some_and(|a| a.value != Written::Literal(Scalar::Null))
        };
        let bound = |column: &String| {
            let bound = real(column).and_then(|c| change.filter.bounds.get(&c.to_lowercase()));
            bound.is_some_and(|b| *b != crate::lint::reading::Bound::Range)
        };
        let older = |column: &String| {
            change.does == Does::Delete && real(column).is_some_and(|c| change.filter.older.contains(&c.to_lowercase()))
        };
        let asked =
            |column: &String| real(column).is_some_and(|c| change.filter.bounds.contains_key(&c.to_lowercase()));
        // A column that the release lacks can be neither written nor missed.
        let has = |columns: &[String]| columns.is_empty() || columns.iter().any(|c| real(c).is_some());
        let fits = file.sets.iter().all(set)
            && (file.sets_any.is_empty() || change.does != Does::Update || file.sets_any.iter().any(set))
            && has(&file.sets_none)
            && !file.sets_none.iter().any(filled)
            && file.binds.iter().all(bound)
            && has(&file.binds_none)
            && !file.binds_none.iter().any(bound)
            && !file.older_none.iter().any(older)
            && !file.asks_none.iter().any(asked)
            && (file.binds_only.is_empty() || self.binds_only(change, spec));
        if !fits {
            return None;
        }
        for (column, wanted) in &file.after {
            let name = real(column)?;
            match change.set(name) {
                None => drop(states(knowledge, change, name, wanted, selected)?),
                // What it gets is not known: it may be any of them.
                Some(set) if set.value.literals().is_empty() => {}
                Some(_) => drop(states(knowledge, change, name, wanted, written)?),
            }
        }
        let mut found = Found::default();
        for (column, wanted) in &file.from {
            if is_unseen(change, real(column)?) {
                return None;
            }
            found.from = states(knowledge, change, real(column)?, wanted, selected)?;
        }
        for (column, wanted) in &file.from_said {
            let name = real(column)?;
            let said = change.filter.speaks_of(name) || change.set(name).is_some_and(|a| a.outcome.is_some());
            if !said || is_unseen(change, name) {
                return None;
            }
            found.from = states(knowledge, change, name, wanted, selected)?;
        }
        for (column, wanted) in &file.to {
            let name = real(column)?;
            let assignment = change.set(name)?;
            match (file.from.get(column).or_else(|| file.from_said.get(column)), &assignment.outcome) {
                // With a CASE each state gets its own.
                (Some(before), Some(_)) => {
                    (found.from, found.to) = pairs(knowledge, change, assignment, (before, wanted))?;
                }
                _ => found.to = states(knowledge, change, name, wanted, written)?,
            }
            found.at = Some(assignment.clone());
        }
        for (column, wanted) in &file.gets {
            let assignment = change.set(real(column)?)?;
            let got = assignment
                .value
                .literals()
                .iter()
                .find(|s| wanted.iter().any(|w| s.code().map_or(w == "NULL", |code| code == *w)))?;
            found.to = got.to_string();
            found.at = Some(assignment.clone());
        }
        if found.at.is_none() {
            found.at = file.sets.first().and_then(real).and_then(|c| change.set(c)).cloned();
        }
        Some(found)
    }

    /// Rows are named by some of these columns, and by no other.
    fn binds_only(&self, change: &Change, role: &crate::manifest::Role) -> bool {
        let named: Vec<&String> = change
            .filter
            .bounds
            .iter()
            .filter(|(_, b)| **b == crate::lint::reading::Bound::Value)
            .map(|(c, _)| c)
            // A state says which kind of rows, not which rows.
            .filter(|c| role.columns.get("state").is_none_or(|s| !s.eq_ignore_ascii_case(c)))
            .collect();
        let own = |column: &&String| {
            self.file.binds_only.iter().filter_map(|c| role.columns.get(c)).any(|c| c.eq_ignore_ascii_case(column))
        };
        !named.is_empty() && named.iter().all(own)
    }

    fn say(&self, report: &mut Report<'_>, change: &Change, found: &Found) {
        let knowledge = report.knowledge;
        let columns = knowledge.role(&change.table).map(|(_, role)| role.columns.clone()).unwrap_or_default();
        let release = knowledge.title();
        let told = Told { table: &change.table, from: &found.from, to: &found.to, release: &release, col: &columns };
        let render = |text: &str| text::render(text, &told).unwrap_or_else(|_| text.to_owned());
        let span = found.at.as_ref().map_or(change.span, |a| a.span);
        let finding = report.at(span, self.level, render(&self.file.message));
        for fact in &self.file.why {
            finding.why(render(fact));
        }
        finding.why(format!("read in {}", self.file.source.join("; ")));
        for way in &self.file.help {
            finding.help(render(way));
        }
    }
}

/// Whether the state that the rows are in stands elsewhere, or is asked for in a way that is not understood.
fn is_unseen(change: &Change, column: &str) -> bool {
    change.filter.is_elsewhere(column) || change.filter.is_unclear(column)
}

/// The states of a change that a rule names, if there are any.
fn states(
    knowledge: &Knowledge<'_>,
    change: &Change,
    column: &str,
    wanted: &[String],
    of: impl for<'s> Fn(&Change, &str, &'s StateSet) -> Vec<&'s State>,
) -> Option<String> {
    let (_, set) = knowledge.states(&change.table, column)?;
    let null = set.null.as_ref();
    let fits = |state: &&State| wanted.iter().any(|w| is_wanted(state, null, w));
    let states: Vec<&State> = of(change, column, set).into_iter().filter(fits).collect();
    (!states.is_empty()).then(|| listed(&states))
}

/// The states that a rule names before and after, as far as one becomes the other.
fn pairs(
    knowledge: &Knowledge<'_>,
    change: &Change,
    assignment: &Assignment,
    (before, wanted): (&[String], &[String]),
) -> Option<(String, String)> {
    let (_, set) = knowledge.states(&change.table, &assignment.column)?;
    let null = set.null.as_ref();
    let fits = |state: &State, words: &[String]| words.iter().any(|w| is_wanted(state, null, w));
    let ends_so = |state: &&State| after(assignment, set, &[state]).iter().any(|s| fits(s, wanted));
    let from = selected(change, &assignment.column, set).into_iter().filter(|s| fits(s, before));
    let from: Vec<&State> = from.filter(ends_so).collect();
    let reached = after(assignment, set, &from);
    let is_reached = |s: &&State| reached.iter().any(|r| std::ptr::eq(*r, *s));
    let to: Vec<&State> = set.states.iter().chain(null).filter(|s| fits(s, wanted)).filter(is_reached).collect();
    (!from.is_empty()).then(|| (listed(&from), listed(&to)))
}

#[derive(Default)]
struct Found {
    from: String,
    to: String,
    at: Option<Assignment>,
}

/// Whether a word of a rule means a state: a code, a name, `phase:…`, `finished`, `unfinished`, `null`.
fn is_wanted(state: &State, null: Option<&State>, word: &str) -> bool {
    match word {
        "finished" => state.finished,
        "unfinished" => !state.finished,
        "null" => null.is_some_and(|n| std::ptr::eq(n, state)),
        _ => match word.strip_prefix("phase:") {
            Some(phase) => state.phase == phase,
            None => state.code == word || state.name == word,
        },
    }
}

//! A plan in the making: the steps of one or more recipes, each row once. Pure.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;

use super::answers::{Answer, Answers, Before, StepAnswers};
use super::conditions::{self, Given};
use super::overlay::Overlay;
use super::query::{Inputs, Shape, now_expression, plan_column};
use super::tally::{Marks, Tally};
use super::{From, LeftOut, NotNeeded, Referrer, RowChange, SAMPLE, Step, params};
use super::{NULL_STATE, OTHER_STATE};
use crate::dialect::TypeClass;
use crate::manifest::{Manifest, State, Words};
use crate::recipe::{Op, SetKind, StepFile};
use crate::render::ser;
use crate::{Error, Result};

/// Why a recipe does not plan what it finds.
pub enum PassedOver<'a> {
    /// `--except` names it.
    Excepted,
    /// It does not know these filters.
    Beyond(&'a [String]),
}

impl PassedOver<'_> {
    /// The reason's code.
    fn code(&self) -> &'static str {
        match self {
            Self::Excepted => "excepted",
            Self::Beyond(_) => "beyond-filter",
        }
    }

    /// Why a row is left out that the recipe would repair, and the way out.
    fn says(&self, recipe: &str) -> (String, String) {
        match self {
            Self::Excepted => (
                format!("{recipe} would repair it after these changes, and --except leaves that recipe out"),
                format!("plan {recipe} next: flowmend plan {recipe}"),
            ),
            Self::Beyond(filters) => {
                let filters = filters.iter().map(|f| format!("--{f}")).collect::<Vec<_>>().join(" and ");
                (
                    format!("{recipe} would repair it, and {filters} cannot narrow that recipe"),
                    format!("if it shall be repaired, plan it apart, without {filters}: flowmend plan {recipe}"),
                )
            }
        }
    }
}

/// Steps of several recipes, gathered look by look.
#[derive(Default)]
pub struct Draft {
    pub(super) steps: Vec<DraftStep>,
    pub(super) notes: BTreeMap<usize, Notes>,
    /// Parameter and screen of each choice that nobody made.
    open: Vec<(String, String)>,
    overlay: Overlay,
    pub(super) passed_over: Vec<LeftOut>,
}

pub(super) struct DraftStep {
    pub part: usize,
    pub rank: u8,
    pub step: Step,
    /// What each row was found to be.
    pub found: Vec<Found>,
    /// Whether the plan itself uncovers them.
    pub uncovered: bool,
}

pub(super) struct Found {
    pub finding: String,
    /// Names of `gives` that are 1 for the row.
    pub marks: Vec<String>,
    /// What conditions of the step are told of the row.
    pub given: Given,
}

#[derive(Default)]
pub(super) struct Notes {
    pub tally: Tally,
    pub not_needed: Vec<NotNeeded>,
}

impl Draft {
    /// The database as it will be after the steps so far.
    #[must_use]
    pub fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    /// Nothing is planned while a choice is open: each is explained.
    ///
    /// # Errors
    /// A choice is open.
    pub fn ask_for_choices(&self, parts: &[&Inputs<'_>]) -> Result<()> {
        if self.open.is_empty() {
            return Ok(());
        }
        let parameters: BTreeSet<String> = self.open.iter().map(|(name, _)| format!("--{name}")).collect();
        let parameters = parameters.into_iter().collect::<Vec<_>>().join(" and ");
        let screens: Vec<&str> = self.open.iter().map(|(_, screen)| screen.as_str()).collect();
        let error = Error::usage(format!("a choice is needed: {parameters}\n\n{}\n", screens.join("\n\n")));
        Err(match self.later_choices(parts).as_slice() {
            [] => error,
            later => error.hint(format!(
                "what you choose may uncover rows that wait for another choice: give {} in the same command, if you know",
                later.join(" and ")
            )),
        })
    }

    /// Choices that nobody made and that no row waits for yet, as `--name one|other`.
    fn later_choices(&self, parts: &[&Inputs<'_>]) -> Vec<String> {
        let choices =
            parts.iter().filter_map(|p| Some((p, p.recipe.parameter(&p.recipe.file.choice.as_ref()?.parameter)?)));
        let later = choices.filter(|(p, parameter)| {
            !p.params.given.contains_key(&parameter.name) && !self.open.iter().any(|(name, _)| *name == parameter.name)
        });
        let texts: BTreeSet<String> = later.map(|(_, p)| format!("--{} {}", p.name, p.values.join("|"))).collect();
        texts.into_iter().collect()
    }

    /// Adds what a look of one recipe found. `part` tells recipes apart. Says
    /// whether a row was planned.
    ///
    /// # Errors
    /// A new value is missing, the database lacks a column, or two recipes want
    /// the same row.
    pub fn add(
        &mut self,
        part: usize,
        inputs: &Inputs<'_>,
        from: &From,
        answers: Answers<'_>,
        before: &Before,
    ) -> Result<bool> {
        let mut notes = Notes::default();
        let mut added = false;
        let (whole, words) = (inputs.recipe.file.whole && answers.news(before), &inputs.site.manifest.words);
        for step in answers.steps {
            match step {
                StepAnswers::NotNeeded(note) => notes.not_needed.push(note),
                StepAnswers::Rows(shape, answers) => {
                    let (known, uncovered): (Vec<_>, Vec<_>) = answers.into_iter().partition(|a| before.knows(a));
                    if !before.follows || whole {
                        let planned = self.planned((&shape, words), known, &mut notes.tally)?;
                        added |= self.keep(part, inputs, &shape, planned, false)?;
                    }
                    let planned = self.planned((&shape, words), uncovered, &mut notes.tally)?;
                    added |= self.keep(part, inputs, &shape, planned, true)?;
                }
            }
        }
        if let Some(open) = open_choice(inputs, from, &notes.tally)? {
            self.open.push(open);
        }
        self.notes.insert(part, notes);
        Ok(added)
    }

    /// Counts what a recipe would plan in the database as it will be, and may not:
    /// a repair may uncover something, but never in silence.
    pub fn pass_over(&mut self, inputs: &Inputs<'_>, answers: Answers<'_>, by: &PassedOver<'_>) {
        let choice = inputs.recipe.file.choice.as_ref().map(|c| c.verdict.as_str());
        let mut keys: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
        for step in answers.steps {
            let StepAnswers::Rows(shape, answers) = step else { continue };
            let wants = |a: &Answer| a.is_planned() || choice == Some(a.verdict.as_str());
            let role = &shape.file.role;
            let named = |a: Answer| {
                let key = a.change.name(shape.file.op);
                let handle = inputs.site.manifest.words.row_name(role, &key, &a.change.label)[0].to_owned();
                (key, handle)
            };
            keys.entry(role).or_default().extend(answers.into_iter().filter(wants).map(named));
        }
        let (why, way_out) = by.says(&inputs.recipe.file.name);
        let left = keys.into_iter().filter(|(_, keys)| !keys.is_empty()).map(|(role, keys)| LeftOut {
            reason: by.code().to_owned(),
            role: role.to_owned(),
            count: keys.len(),
            why: why.clone(),
            way_out: way_out.clone(),
            sample: keys.into_values().take(SAMPLE).collect(),
        });
        self.passed_over.extend(left);
    }

    /// The rows to plan, each with what it was found to be; the others are counted.
    fn planned(
        &self,
        (shape, words): (&Shape<'_>, &Words),
        answers: Vec<Answer>,
        tally: &mut Tally,
    ) -> Result<Vec<(RowChange, Found)>> {
        let role = &shape.file.role;
        let mut planned = Vec::new();
        for answer in answers {
            if answer.verdict.is_empty() {
                return Err(Error::internal(format!("the recipe's query for {role} gives no verdict")));
            }
            if answer.is_planned() {
                check_new_values(shape, &answer.change)?;
                let Answer { finding, marks, given, .. } = answer;
                planned.push((answer.change, Found { finding, marks, given }));
                continue;
            }
            let key = answer.change.name(shape.file.op);
            tally.leave_out(role, (key, words), &answer);
        }
        Ok(planned)
    }

    fn keep(
        &mut self,
        part: usize,
        inputs: &Inputs<'_>,
        shape: &Shape<'_>,
        planned: Vec<(RowChange, Found)>,
        uncovered: bool,
    ) -> Result<bool> {
        if planned.is_empty() {
            return Ok(false);
        }
        let file = shape.file;
        let (mut rows, found): (Vec<RowChange>, Vec<Found>) = planned.into_iter().unzip();
        if file.op == Op::Insert {
            // A row that is to come has no key yet: its number stands for it.
            rows.iter_mut().enumerate().for_each(|(i, r)| r.key = vec![Some((i + 1).to_string())]);
        }
        let mut set = Vec::new();
        for (_, mut column) in shape.set.clone() {
            if column.kind == SetKind::Now {
                column.sql = Some(now_expression(inputs, &column.column)?);
            }
            set.push(column);
        }
        let role = inputs.site.manifest.role(&file.role)?;
        let mut step = Step {
            recipe: inputs.recipe.file.name.clone(),
            role: file.role.clone(),
            unit: inputs.recipe.file.unit.clone().unwrap_or_default(),
            title: file.title.clone(),
            apart: String::new(),
            op: file.op,
            transient: file.transient,
            exceptions: exceptions(inputs.site.manifest, file),
            accepts: accepts(inputs, file)?,
            moves_on: role.real(&file.moves_on),
            may_end: file.may_end,
            epoch_ms: role.real(&role.epoch_ms),
            table: shape.table.name.clone(),
            columns: shape.table.stored_columns().map(plan_column).collect(),
            referrers: if file.op == Op::Delete { Referrer::of(shape.table) } else { Vec::new() },
            unique: if file.op == Op::Delete { other_unique_keys(shape) } else { Vec::new() },
            conditions: conditions::conditions(inputs, file, found.iter().map(|f| &f.given), uncovered)?,
            states: BTreeMap::new(),
            key: shape.key.clone(),
            set,
            pins: shape.pins.clone(),
            related: shape.related.clone(),
            rows,
        };
        step.states = state_names(inputs.site.manifest, &step);
        self.take_over(&step)?;
        self.overlay.add(&step);
        self.steps.push(DraftStep { part, rank: file.rank, step, found, uncovered });
        Ok(true)
    }

    /// A later look knows more of a row that is planned already: it takes the row
    /// over, if it says all that the earlier one said. No row is changed twice.
    fn take_over(&mut self, step: &Step) -> Result<()> {
        if step.op == Op::Insert {
            return Ok(());
        }
        let keys: BTreeSet<&Vec<Option<String>>> = step.rows.iter().map(|r| &r.key).collect();
        for earlier in self.steps.iter_mut().filter(|s| s.step.table == step.table && s.step.op != Op::Insert) {
            let Some(twice) = earlier.step.rows.iter().find(|r| keys.contains(&r.key)) else { continue };
            if earlier.step.op != step.op || !same_columns(&earlier.step, step) {
                let message = format!(
                    "{} and {} both want {} {}",
                    earlier.step.recipe,
                    step.recipe,
                    step.table,
                    twice.key_text()
                );
                return Err(Error::usage(message).hint("plan and apply one of the two, then inspect again"));
            }
            let stays: Vec<bool> = earlier.step.rows.iter().map(|r| !keys.contains(&r.key)).collect();
            let mut kept = stays.iter();
            earlier.step.rows.retain(|_| *kept.next().unwrap_or(&true));
            let mut kept = stays.iter();
            earlier.found.retain(|_| *kept.next().unwrap_or(&true));
        }
        Ok(())
    }
}

fn same_columns(a: &Step, b: &Step) -> bool {
    let names = |s: &Step| s.set.iter().map(|c| c.column.name.clone()).collect::<BTreeSet<_>>();
    names(a) == names(b)
}

/// A new value that the query could not give: only a time on an unknown clock.
fn check_new_values(shape: &Shape<'_>, change: &RowChange) -> Result<()> {
    if shape.file.op == Op::Insert {
        // A new row may hold NULL.
        return Ok(());
    }
    for ((name, column), value) in shape.set.iter().zip(&change.new) {
        let may_be_null = shape.file.set.get(name).is_some_and(|from| from.null);
        if value.is_some() || column.kind == SetKind::Now || may_be_null {
            continue;
        }
        let what = format!("{} {} has no known {}", shape.table.name, change.key_text(), column.column.name);
        return Err(match column.column.class {
            TypeClass::Time => params::zone_needed(&what),
            _ => Error::internal(format!("the recipe gives no new value: {what}")),
        });
    }
    Ok(())
}

/// What the linter is told of the step, where there is a reason.
fn accepts(inputs: &Inputs<'_>, file: &StepFile) -> Result<BTreeMap<String, String>> {
    let reason = |(rule, template): (&String, &String)| {
        let what = format!("steps.{}.accepts.{rule}", file.role);
        Ok((rule.clone(), inputs.env().text(&what, template, BTreeMap::new())?))
    };
    let mut all: BTreeMap<_, _> = file.accepts.iter().map(reason).collect::<Result<_>>()?;
    all.retain(|_, reason| !reason.is_empty());
    let (table, columns) = excepted(inputs.site.manifest, file);
    all.extend(table.map(|(_, reason)| ("forbidden-table".to_owned(), reason)));
    // A new row's columns are its own.
    let columns = columns.into_iter().filter(|_| file.op == Op::Update);
    let columns: Vec<String> = columns.map(|(_, reason)| reason).collect();
    if !columns.is_empty() {
        all.insert("forbidden-column".to_owned(), columns.join("; "));
    }
    Ok(all)
}

/// What the step may write by way of exception, with the reason.
fn exceptions(manifest: &Manifest, file: &StepFile) -> Vec<String> {
    let (table, columns) = excepted(manifest, file);
    let table = table.map(|(table, reason)| format!("the table {table}: {reason}"));
    table.into_iter().chain(columns.into_iter().map(|(column, reason)| format!("{column}: {reason}"))).collect()
}

/// A table or column with the reason why it may be written.
type Reasoned = (String, String);

/// A forbidden table and forbidden columns that the step may write.
fn excepted(manifest: &Manifest, file: &StepFile) -> (Option<Reasoned>, Vec<Reasoned>) {
    let role = manifest.roles.get(&file.role);
    let table = role.filter(|r| manifest.is_forbidden_table(&r.table)).zip(file.allow_table.as_ref());
    let forbidden = |name: &&String| manifest.forbidden.columns.contains(&format!("{}.{name}", file.role));
    let columns = file.allow.iter().filter(|(name, _)| file.set.contains_key(*name) && forbidden(name));
    let column = |name: &str| role.and_then(|r| r.columns.get(name)).cloned();
    (
        table.map(|(role, reason)| (role.table.clone(), reason.clone())),
        columns.filter_map(|(name, reason)| Some((column(name)?, reason.clone()))).collect(),
    )
}

/// Real column → code → name, for every state column of a step's role. A code whose
/// meaning hangs on another column has the names that it has in the step's rows, and a
/// code of an earlier release that these hold the one that it had there.
fn state_names(manifest: &Manifest, step: &Step) -> BTreeMap<String, BTreeMap<String, String>> {
    let prefix = format!("{}.", step.role);
    let of_role = manifest.states.iter().filter_map(|(name, set)| {
        name.strip_prefix(&prefix)?;
        let column = manifest.column(name).ok()?;
        let holds = |code: &str| step.rows.iter().any(|r| step.value_before(r, column) == Some(code));
        let old = manifest.legacy.iter().filter(|l| l.column == *name && holds(&l.code));
        let with = set.with.as_ref().and_then(|w| manifest.column(w).ok());
        let rows = || {
            let beside = |r| with.map_or([None; 2], |w| [step.value_before(r, w), step.value_after(r, w)]);
            step.rows.iter().flat_map(beside)
        };
        let name_of = |s: &State| if set.hangs(&s.code) { set.names_of(&s.code, rows()) } else { s.name.clone() };
        let mut names: BTreeMap<_, _> = set.states.iter().map(|s| (s.code.clone(), name_of(s))).collect();
        names.extend(set.null.iter().map(|s| (NULL_STATE.to_owned(), s.name.clone())));
        names.extend(set.other.iter().map(|s| (OTHER_STATE.to_owned(), s.name.clone())));
        names.extend(old.map(|l| (l.code.clone(), l.name.clone())));
        Some((column.to_owned(), names))
    });
    of_role.collect()
}

/// The choice that some rows wait for: its parameter, and the screen that explains it.
fn open_choice(inputs: &Inputs<'_>, from: &From, tally: &Tally) -> Result<Option<(String, String)>> {
    let Some(choice) = &inputs.recipe.file.choice else { return Ok(None) };
    let Some(waiting) = tally.waiting.get(&choice.verdict) else { return Ok(None) };
    let mut marks = Marks::of(inputs.recipe.given_names());
    if let Some(waiting) = tally.marks.get(&choice.verdict) {
        marks.keys.extend(waiting.keys.clone());
        marks.units.extend(waiting.units.clone());
    }
    let extra = BTreeMap::from([
        ("count", Value::from(waiting.len())),
        ("marked", ser(&marks.keys)),
        ("marked_units", ser(&marks.units)),
        ("rows", ser(tally.waiting_rows(&choice.verdict))),
        ("findings", ser(tally.kinds.get(&choice.verdict))),
        ("release", Value::from(format!("{} {}", from.title, from.release))),
    ]);
    Ok(Some((choice.parameter.clone(), inputs.env().file(&choice.screen, extra)?)))
}

/// The unique keys of a step's table beside its primary key.
fn other_unique_keys(shape: &Shape<'_>) -> Vec<Vec<String>> {
    let key: Vec<&String> = shape.key.iter().map(|c| &c.name).collect();
    let unique = shape.table.indexes.iter().filter(|i| i.unique && i.columns.iter().collect::<Vec<_>>() != key);
    unique.map(|i| i.columns.clone()).collect()
}

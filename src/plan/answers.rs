//! What the queries of one recipe said of a database, read once. Pure.

use std::collections::BTreeSet;

use super::conditions::{self, Given};
use super::query::{Inputs, Shape, StepRows, shape};
use super::{NotNeeded, RowChange};
use crate::Result;
use crate::catalog::Row;
use crate::recipe::{Op, RecipeFile};

/// The verdict of a row that is planned.
const PLANNED: &str = "plan";

/// What the step queries of a recipe said, in the recipe's order.
pub struct Answers<'a> {
    pub(super) steps: Vec<StepAnswers<'a>>,
}

pub(super) enum StepAnswers<'a> {
    NotNeeded(NotNeeded),
    Rows(Shape<'a>, Vec<Answer>),
}

/// A row of a step's query.
pub(super) struct Answer {
    pub verdict: String,
    pub finding: String,
    pub change: RowChange,
    /// Names of `gives` that are 1 for the row.
    pub marks: Vec<String>,
    /// What conditions of the step are told of the row.
    pub given: Given,
    identity: Identity,
}

impl Answer {
    pub fn is_planned(&self) -> bool {
        self.verdict == PLANNED
    }
}

impl<'a> Answers<'a> {
    /// Reads the rows of the queries.
    ///
    /// # Errors
    /// The database lacks a column of the recipe.
    pub fn read(inputs: &Inputs<'a>, rows: Vec<StepRows>) -> Result<Self> {
        let mut steps = Vec::new();
        for (index, (step, rows)) in inputs.recipe.file.steps.iter().zip(rows).enumerate() {
            steps.push(match rows {
                StepRows::NotNeeded(why) => StepAnswers::NotNeeded(NotNeeded { title: step.title.clone(), why }),
                StepRows::Rows(rows) => {
                    let shape = shape(inputs, step)?;
                    let answers = answers(&inputs.recipe.file, index, &shape, rows);
                    StepAnswers::Rows(shape, answers)
                }
            });
        }
        Ok(Self { steps })
    }

    /// What was said, so that a later look can tell what is new.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.all().map(|a| a.identity.clone()).collect()
    }

    /// Whether there is a row to plan that was not there before.
    pub(super) fn news(&self, before: &Before) -> bool {
        self.all().any(|a| a.is_planned() && !before.knows(a))
    }

    fn all(&self) -> impl Iterator<Item = &Answer> {
        self.steps.iter().flat_map(|step| match step {
            StepAnswers::NotNeeded(_) => &[],
            StepAnswers::Rows(_, answers) => answers.as_slice(),
        })
    }
}

/// What a recipe said of the rows of one database: place of the step, verdict, finding, row.
pub type Seen = BTreeSet<Identity>;

type Identity = (usize, String, String, Vec<String>);

/// What a recipe said of the database as it is.
#[derive(Default)]
pub struct Before {
    /// The rows, once something is planned; until then all there is.
    pub seen: Option<Seen>,
    /// Whether rows that were there before are none of the plan's business.
    pub follows: bool,
}

impl Before {
    pub(super) fn knows(&self, answer: &Answer) -> bool {
        self.seen.as_ref().is_none_or(|seen| seen.contains(&answer.identity))
    }
}

/// What was said of a row: it is told from others by its key, or by the values of a row to come.
///
/// A row that is planned, or waits for the choice, is news when it is found to be
/// something else; a row that stays left out is not.
fn identity(file: &RecipeFile, index: usize, verdict: &str, finding: &str, change: &RowChange) -> Identity {
    let to_come = change.key.is_empty();
    let values = if to_come { &change.new } else { &change.key };
    let chosen = file.choice.as_ref().is_some_and(|c| c.verdict == verdict);
    let finding = if chosen || verdict == PLANNED { finding.to_owned() } else { String::new() };
    let values = values.iter().map(|v| v.clone().unwrap_or_default()).collect();
    (index, verdict.to_owned(), finding, values)
}

/// Splits the rows of [`super::step_query`].
fn answers(file: &RecipeFile, index: usize, shape: &Shape<'_>, mut rows: Vec<Row>) -> Vec<Answer> {
    if shape.file.op == Op::Insert {
        rows.sort();
    }
    rows.into_iter().map(|row| answer(file, index, shape, row)).collect()
}

fn answer(file: &RecipeFile, index: usize, shape: &Shape<'_>, row: Row) -> Answer {
    let mut cells = row.into_iter();
    let mut next = || cells.next().flatten();
    let verdict = next().unwrap_or_default();
    let finding = next().unwrap_or_default();
    let instance = next();
    let label = next().unwrap_or_default();
    let mut take = |n: usize| -> Vec<Option<String>> { cells.by_ref().take(n).collect() };
    let keys = if shape.file.op == Op::Insert { 0 } else { shape.key.len() };
    let change = RowChange {
        key: take(keys),
        old: take(shape.pins.len()),
        new: take(shape.set.len()),
        related: take(shape.related.as_ref().map_or(0, |r| r.pins.len())),
        instance,
        label,
    };
    let identity = identity(file, index, &verdict, &finding, &change);
    let gives: Vec<_> = shape.file.gives.iter().zip(cells).collect();
    let marks = gives.iter().filter(|(_, v)| v.as_deref() == Some("1")).map(|(name, _)| (*name).clone()).collect();
    Answer { verdict, finding, change, marks, given: conditions::given(shape.file, gives), identity }
}

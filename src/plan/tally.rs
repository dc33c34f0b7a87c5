//! What the step queries said of rows that are not planned. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::RowChange;
use super::answers::Answer;
use crate::manifest::Words;
use crate::ui::quiet;

/// How many characters of a key or of a unit's name a text shows.
pub(super) const SHOWN: usize = 120;

/// Rows that a query marks: name of `gives` → of the rows for which it is 1, their keys or units.
#[derive(Default)]
pub(super) struct Marks {
    /// The keys.
    pub keys: BTreeMap<String, Vec<String>>,
    /// The runs, or what else the recipe's unit says, each once.
    pub units: BTreeMap<String, BTreeSet<String>>,
}

impl Marks {
    /// No row yet for any of the names.
    pub fn of<'n>(names: impl Iterator<Item = &'n String> + Clone) -> Self {
        Self {
            keys: names.clone().map(|name| (name.clone(), Vec::new())).collect(),
            units: names.map(|name| (name.clone(), BTreeSet::new())).collect(),
        }
    }

    /// Adds a row. Its texts are somebody else's, and go to terminals and tickets.
    pub fn add(&mut self, marks: &[String], key: &str, row: &RowChange) {
        for name in marks {
            self.keys.entry(name.clone()).or_default().push(quiet(key, SHOWN));
            let unit = row.instance.as_ref().map(|unit| quiet(unit, SHOWN));
            self.units.entry(name.clone()).or_default().extend(unit);
        }
    }
}

/// A row that is left out.
#[derive(Clone, Debug)]
pub(super) struct LeftRow {
    /// Its key.
    pub key: String,
    /// The run that it is of.
    pub run: Option<String>,
    /// What stands for it in a list.
    pub handle: String,
}

/// Rows that are not planned, by the reason that the queries gave.
#[derive(Default)]
pub(super) struct Tally {
    /// Verdict → the runs it was given to, each once however many rows hang on it.
    pub waiting: BTreeMap<String, BTreeSet<String>>,
    /// Verdict → the findings of these runs.
    pub kinds: BTreeMap<String, BTreeSet<String>>,
    /// Verdict and role → the rows, in the order of the queries.
    pub left: BTreeMap<(String, String), Vec<LeftRow>>,
    /// Verdict → the rows that the query marks.
    pub marks: BTreeMap<String, Marks>,
}

impl Tally {
    /// Role → how many rows of it were given a verdict, each counted once.
    pub fn waiting_rows(&self, verdict: &str) -> BTreeMap<&str, usize> {
        let of = self.left.iter().filter(|((v, _), _)| v == verdict);
        of.map(|((_, role), rows)| (role.as_str(), rows.iter().map(|row| &row.key).collect::<BTreeSet<_>>().len()))
            .collect()
    }

    /// Counts a row that is left out.
    pub fn leave_out(&mut self, role: &str, (key, words): (String, &Words), answer: &Answer) {
        let (verdict, change) = (&answer.verdict, &answer.change);
        let run = change.instance.clone().unwrap_or_else(|| key.clone());
        self.waiting.entry(verdict.clone()).or_default().insert(run);
        self.kinds.entry(verdict.clone()).or_default().insert(answer.finding.clone());
        self.marks.entry(verdict.clone()).or_default().add(&answer.marks, &key, change);
        let handle = words.row_name(role, &key, &change.label)[0].to_owned();
        let row = LeftRow { key, run: change.instance.clone(), handle };
        self.left.entry((verdict.clone(), role.to_owned())).or_default().push(row);
    }
}

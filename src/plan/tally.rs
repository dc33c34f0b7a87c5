//! What the step queries said of rows that are not planned. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::RowChange;

/// Key and run of a row.
pub(super) type LeftRow = (String, Option<String>);

/// Rows that are not planned, by the reason that the queries gave.
#[derive(Default)]
pub(super) struct Tally {
    /// Verdict → the runs it was given to, each once however many rows hang on it.
    pub waiting: BTreeMap<String, BTreeSet<String>>,
    /// Verdict → the findings of these runs.
    pub kinds: BTreeMap<String, BTreeSet<String>>,
    /// Verdict and role → the rows, in the order of the queries.
    pub left: BTreeMap<(String, String), Vec<LeftRow>>,
}

impl Tally {
    /// Role → how many rows of it were given a verdict, each counted once.
    pub fn waiting_rows(&self, verdict: &str) -> BTreeMap<&str, usize> {
        let of = self.left.iter().filter(|((v, _), _)| v == verdict);
        of.map(|((_, role), rows)| (role.as_str(), rows.iter().map(|(key, _)| key).collect::<BTreeSet<_>>().len()))
            .collect()
    }

    /// Counts a row that is left out.
    pub fn leave_out(&mut self, role: &str, verdict: &str, finding: &str, key: String, change: &RowChange) {
        let run = change.instance.clone().unwrap_or_else(|| key.clone());
        self.waiting.entry(verdict.to_owned()).or_default().insert(run);
        self.kinds.entry(verdict.to_owned()).or_default().insert(finding.to_owned());
        let row = (key, change.instance.clone());
        self.left.entry((verdict.to_owned(), role.to_owned())).or_default().push(row);
    }
}

//! What rules write their findings into.

use std::collections::BTreeSet;
use std::ops::Range;

use sqlparser::tokenizer::Span;

use super::finding::{Finding, Level};
use super::knowledge::Knowledge;
use super::reading::{After, Assignment, Before, Change, Does, Reading, Scalar, Selected};
use crate::manifest::{State, StateSet};
use crate::sql::Places;

/// Findings as they come, and what rules ask for.
pub struct Report<'r> {
    /// What is known of the release.
    pub knowledge: &'r Knowledge<'r>,
    places: &'r Places<'r>,
    /// Where the statement begins whose spans are spoken of.
    pub(super) start: usize,
    /// Where all of it stands, if the statement itself is not in the script.
    pub(super) pinned: Option<Range<usize>>,
    /// Tables (lower case) that the script itself made.
    pub(super) made: BTreeSet<String>,
    /// Rules whose objection another change of the script answers.
    pub(super) answered: BTreeSet<String>,
    /// The code of the rule that speaks.
    pub(super) rule: &'r str,
    pub(super) findings: Vec<Finding>,
}

impl<'r> Report<'r> {
    pub(super) fn new(knowledge: &'r Knowledge<'r>, places: &'r Places<'r>) -> Self {
        Self {
            knowledge,
            places,
            start: 0,
            pinned: None,
            made: BTreeSet::new(),
            answered: BTreeSet::new(),
            rule: "",
            findings: Vec::new(),
        }
    }

    /// Whether the script itself made a table.
    #[must_use]
    pub fn is_made(&self, table: &str) -> bool {
        self.made.contains(&table.to_lowercase())
    }

    /// The bytes of a span of the statement.
    #[must_use]
    pub fn bytes(&self, span: Span) -> Range<usize> {
        if let Some(pinned) = &self.pinned {
            return pinned.clone();
        }
        if span.start.line == 0 {
            return self.start..self.start;
        }
        let from = self.places.byte_at(self.start, span.start.line, span.start.column);
        // The end of a span is the place after its last character.
        let to = self.places.byte_at(self.start, span.end.line, span.end.column);
        from..to.max(from)
    }

    /// A finding at a span of the statement.
    pub fn at(&mut self, span: Span, level: Level, message: impl Into<String>) -> &mut Finding {
        let range = self.bytes(span);
        self.over(range, level, message)
    }

    /// A finding at bytes of the script.
    pub fn over(&mut self, range: Range<usize>, level: Level, message: impl Into<String>) -> &mut Finding {
        self.findings.push(Finding::new(self.rule, level, range, message));
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }

    /// A finding about a statement as a whole: at its first word.
    pub fn statement(&mut self, reading: &Reading, level: Level, message: impl Into<String>) -> &mut Finding {
        let text = self.places.text().get(reading.range.clone()).unwrap_or_default();
        let word = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        self.over(reading.range.start..reading.range.start + word, level, message)
    }

    /// The text of the script at some bytes.
    #[must_use]
    pub fn text(&self, range: Range<usize>) -> &'r str {
        self.places.text().get(range).unwrap_or_default()
    }
}

/// An update of a state: of which rows, and to what.
pub struct Transition<'c, 'k> {
    /// The update.
    pub change: &'c Change,
    /// The assignment of the state.
    pub assignment: &'c Assignment,
    /// The column as the manifest spells it.
    pub column: String,
    /// Its states.
    pub set: &'k StateSet,
    /// The states that the rows may have before.
    pub from: Vec<&'k State>,
    /// The states that are written, of which there is one at least.
    pub to: Vec<&'k State>,
    /// Whether the condition speaks of the column.
    pub spoken: bool,
}

impl<'k> Transition<'_, 'k> {
    /// Whether the condition speaks of the rows' state and yet rules out none that can be told: it
    /// must equal a parameter or another table's row, or is asked for in a way that is not understood.
    #[must_use]
    pub fn is_bound_unseen(&self) -> bool {
        let (filter, column) = (&self.change.filter, &self.column);
        let takes_all = |s: &Selected| self.set.states.iter().all(|state| s.codes.contains(&state.code));
        filter.is_unclear(column) || filter.fixes(column) && filter.state(column).is_none_or(takes_all)
    }

    /// The states that a row may be in afterwards that was in one of some before, each once.
    #[must_use]
    pub fn after(&self, before: &[&State]) -> Vec<&'k State> {
        after(self.assignment, self.set, before)
    }
}

/// The updates of states in a statement, and rows that are replaced.
pub fn transitions<'c, 'k>(knowledge: &Knowledge<'k>, reading: &'c Reading) -> Vec<Transition<'c, 'k>> {
    let mut found = Vec::new();
    for change in reading.changes.iter().filter(|c| c.does == Does::Update || c.replaces) {
        let columns = knowledge.table(&change.table).map(|t| knowledge.state_columns(t)).unwrap_or_default();
        for (column, set) in columns {
            let Some(assignment) = change.set(column) else { continue };
            let to = written(change, column, set);
            if to.is_empty() {
                continue;
            }
            let from = selected(change, column, set);
            let stays = |s: &State| !becomes_another(assignment, set, s);
            let spoken = set.states.iter().any(stays) || change.filter.speaks_of(column);
            found.push(Transition { change, assignment, column: column.clone(), set, from, to, spoken });
        }
    }
    found
}

/// The states that a change may select in a column. Rows whose state a CASE leaves as it is do not count.
pub fn selected<'s>(change: &Change, column: &str, set: &'s StateSet) -> Vec<&'s State> {
    let Some(selected) = change.filter.state(column) else {
        return set.states.iter().collect();
    };
    let possible = |s: &&State| selected.codes.contains(&s.code) && !selected.ruled_out.contains(&s.name);
    let mut states: Vec<&State> = set.states.iter().filter(possible).collect();
    states.extend(set.null.as_ref().filter(|_| selected.null));
    states.extend(set.other.as_ref().filter(|_| selected.other));
    if let Some(assignment) = change.set(column) {
        states.retain(|state| becomes_another(assignment, set, state));
    }
    states
}

/// The states that a change writes to a column, each once.
pub fn written<'s>(change: &Change, column: &str, set: &'s StateSet) -> Vec<&'s State> {
    change.set(column).map(|a| after(a, set, &selected(change, column, set))).unwrap_or_default()
}

/// What an assignment makes of states, each once.
pub(super) fn after<'s>(assignment: &Assignment, set: &'s StateSet, before: &[&State]) -> Vec<&'s State> {
    let Some(outcome) = &assignment.outcome else {
        let codes = assignment.value.literals().iter().map(Scalar::code);
        return each_once(codes.filter_map(|code| state_of(set, code.as_deref())));
    };
    let ends = before.iter().map(|state| as_before(set, state));
    let ends = ends.filter_map(|before| Some(outcome.get(&before)?.iter().filter(move |a| a.changes(&before))));
    each_once(ends.flatten().filter_map(|after| match after {
        After::Code(code) => state_of(set, Some(code)),
        After::Null => state_of(set, None),
        After::Same | After::Unknown => None,
    }))
}

/// Whether an assignment may make another state of one. Only a CASE leaves some as they are.
fn becomes_another(assignment: &Assignment, set: &StateSet, state: &State) -> bool {
    let Some(outcome) = &assignment.outcome else { return true };
    let before = as_before(set, state);
    outcome.get(&before).is_none_or(|ends| ends.iter().any(|after| after.changes(&before)))
}

fn as_before(set: &StateSet, state: &State) -> Before {
    let is = |one: &Option<State>| one.as_ref().is_some_and(|s| std::ptr::eq(s, state));
    match (is(&set.null), is(&set.other)) {
        (true, _) => Before::Null,
        (_, true) => Before::Other,
        _ => Before::Code(state.code.clone()),
    }
}

fn state_of<'s>(set: &'s StateSet, code: Option<&str>) -> Option<&'s State> {
    match code {
        None => set.null.as_ref(),
        Some(code) => set.by_code(code).or(set.other.as_ref()),
    }
}

fn each_once<'s>(states: impl Iterator<Item = &'s State>) -> Vec<&'s State> {
    let mut found: Vec<&State> = Vec::new();
    for state in states {
        if !found.iter().any(|known| std::ptr::eq(*known, state)) {
            found.push(state);
        }
    }
    found
}

/// `6 FAILURE, 7 SUCCESS`; where a code is the name in another case, the code alone.
#[must_use]
pub fn listed(states: &[&State]) -> String {
    let name = |s: &&State| match s.name.eq_ignore_ascii_case(&s.code) || s.code.is_empty() {
        true if s.code.is_empty() => s.name.clone(),
        true => s.code.clone(),
        false => format!("{} {}", s.code, s.name),
    };
    states.iter().map(name).collect::<Vec<_>>().join(", ")
}

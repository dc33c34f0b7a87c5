//! States: what the codes of a column mean.

use std::collections::BTreeSet;

/// The states of one column.
#[derive(Clone, Debug)]
pub struct StateSet {
    /// Upstream's name of the type.
    pub type_name: String,
    /// Whether the database holds the code as text.
    pub text: bool,
    /// The role column of the same row on which the meaning of some codes hangs, too.
    pub with: Option<String>,
    /// The states in upstream's order.
    pub states: Vec<State>,
    /// What SQL NULL means, where it is a state.
    pub null: Option<State>,
    /// What every code that is not listed means, where the codes are an open set.
    pub other: Option<State>,
}

/// One state.
#[derive(Clone, Debug)]
pub struct State {
    /// The code as the database holds it.
    pub code: String,
    /// The codes of the other column beside which this code means this state; empty: beside all others.
    pub when: Vec<String>,
    /// Upstream's name.
    pub name: String,
    /// What it means, independent of the scheduler.
    pub phase: String,
    /// Whether nothing runs any more under a row in this state.
    pub finished: bool,
    /// Whether the scheduler's own code counts the state as finished.
    pub upstream_finished: bool,
    /// Whether this column legally holds the code.
    pub legal: bool,
}

impl State {
    /// In words, whether the state is finished: for repairs, and where it differs for upstream.
    #[must_use]
    pub fn ending(&self) -> &'static str {
        match (self.finished, self.upstream_finished) {
            (true, true) => "finished",
            (true, false) => "over, but not finished for upstream",
            (false, false) => "unfinished",
            (false, true) => "unfinished, but finished for upstream",
        }
    }
}

impl StateSet {
    /// The state that a row means, by the column's value and that of the column it hangs on.
    /// NULL and codes that are not listed may mean one, too.
    #[must_use]
    pub fn of(&self, value: Option<&str>, with: Option<&str>) -> Option<&State> {
        let Some(code) = value else { return self.null.as_ref() };
        let beside = |s: &&State| s.when.is_empty() || with.is_some_and(|w| s.when.iter().any(|code| code == w));
        self.states.iter().filter(|s| s.code == code).find(beside).or(self.other.as_ref())
    }

    /// Every state of the column with what the database holds: codes (with the codes of the
    /// other column beside which they mean it), `NULL`, and `other` for any that is not listed.
    #[must_use]
    pub fn listed(&self, other: &str) -> Vec<(String, &State)> {
        let code = |state: &State| match state.when.as_slice() {
            [] => state.code.clone(),
            when => format!("{} (beside {})", state.code, when.join(", ")),
        };
        let listed = self.states.iter().map(|state| (code(state), state));
        let null = self.null.iter().map(|state| ("NULL".to_owned(), state));
        let rest = self.other.iter().map(|state| (other.to_owned(), state));
        listed.chain(null).chain(rest).collect()
    }

    /// The state with a code, by the code alone.
    #[must_use]
    pub fn by_code(&self, code: &str) -> Option<&State> {
        self.states.iter().find(|s| s.code == code)
    }

    /// Whether the meaning of a code hangs on the other column.
    #[must_use]
    pub fn hangs(&self, code: &str) -> bool {
        self.states.iter().any(|s| s.code == code && !s.when.is_empty())
    }

    /// Codes of the states that satisfy a predicate.
    pub fn codes(&self, mut keep: impl FnMut(&State) -> bool) -> Vec<String> {
        self.states.iter().filter(|s| keep(s)).map(|s| s.code.clone()).collect()
    }

    /// A condition that holds for a row in a state that satisfies a predicate. It is never NULL.
    /// `with` is the expression of the column on which the meaning hangs.
    pub fn condition(&self, value: &str, with: Option<&str>, mut keep: impl FnMut(&State) -> bool) -> String {
        let (mut yes, mut no, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        for state in &self.states {
            let kept = keep(state);
            match self.hangs(&state.code) {
                false if kept => yes.push(state.code.as_str()),
                false => no.push(state.code.as_str()),
                true => {
                    no.push(state.code.as_str());
                    if kept {
                        parts.push(self.beside(state, value, with.unwrap_or("NULL")));
                    }
                }
            }
        }
        no.dedup();
        match &self.other {
            Some(other) if keep(other) => parts.insert(0, self.among(value, "NOT IN", &no)),
            _ if yes.is_empty() && !parts.is_empty() => {}
            _ => parts.insert(0, self.among(value, "IN", &yes)),
        }
        if self.null.as_ref().is_some_and(keep) {
            parts.insert(0, format!("{value} IS NULL"));
        }
        format!("({})", parts.join(" OR "))
    }

    /// The condition of one state whose code means others, too.
    fn beside(&self, state: &State, value: &str, with: &str) -> String {
        let twins = self.states.iter().filter(|s| s.code == state.code);
        let others: Vec<&str> = twins.flat_map(|s| s.when.iter().map(String::as_str)).collect();
        let of_code = self.among(value, "IN", &[&state.code]);
        if state.when.is_empty() {
            return format!("{of_code} AND ({with} IS NULL OR {with} NOT IN ({}))", self.literals(&others));
        }
        let when: Vec<&str> = state.when.iter().map(String::as_str).collect();
        format!("{of_code} AND {}", self.among(with, "IN", &when))
    }

    fn among(&self, value: &str, operator: &str, codes: &[&str]) -> String {
        match (operator, codes.is_empty()) {
            ("IN", true) => "1 = 0".to_owned(),
            (_, true) => format!("{value} IS NOT NULL"),
            _ => format!("{value} IS NOT NULL AND {value} {operator} ({})", self.literals(codes)),
        }
    }

    fn literals(&self, codes: &[&str]) -> String {
        codes.iter().map(|code| self.literal(code)).collect::<Vec<_>>().join(", ")
    }

    /// A code as SQL writes it. Codes come from manifests and hold no backslash.
    #[must_use]
    pub fn literal(&self, code: &str) -> String {
        if self.text { format!("'{}'", code.replace('\'', "''")) } else { code.to_owned() }
    }

    /// A state for people: its code, and its name where that says more.
    #[must_use]
    pub fn shown(&self, state: &State) -> String {
        if state.name.eq_ignore_ascii_case(&state.code) {
            return state.name.clone();
        }
        format!("{} {}", state.code, state.name)
    }

    /// The one state in a phase whose code alone says so.
    #[must_use]
    pub fn of_phase(&self, phase: &str) -> Option<&State> {
        self.states.iter().find(|s| s.phase == phase && s.legal && !self.hangs(&s.code))
    }

    /// The names of a code in some rows, given by their values of the column it hangs on.
    #[must_use]
    pub fn names_of<'a>(&self, code: &str, rows: impl Iterator<Item = Option<&'a str>>) -> String {
        let names: BTreeSet<&str> = rows.filter_map(|w| Some(self.of(Some(code), w)?.name.as_str())).collect();
        names.into_iter().collect::<Vec<_>>().join(" / ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: bool, codes: &[(&str, bool)]) -> StateSet {
        let state = |(code, finished): &(&str, bool)| State {
            code: (*code).to_owned(),
            when: Vec::new(),
            name: code.to_uppercase(),
            phase: "running".to_owned(),
            finished: *finished,
            upstream_finished: *finished,
            legal: true,
        };
        let states = codes.iter().map(state).collect();
        StateSet { type_name: String::new(), text, with: None, states, null: None, other: None }
    }

    #[test]
    fn conditions_with_null_and_open_codes() {
        let mut texts = set(true, &[("running", false), ("o'k", true)]);
        assert_eq!(texts.condition("t.s", None, |s| s.finished), "(t.s IS NOT NULL AND t.s IN ('o''k'))");
        texts.null = Some(State { finished: false, ..texts.states[0].clone() });
        let unfinished = "(t.s IS NULL OR t.s IS NOT NULL AND t.s IN ('running'))";
        assert_eq!(texts.condition("t.s", None, |s| !s.finished), unfinished);
        assert_eq!(texts.of(None, None).map(|s| s.finished), Some(false));
        let mut open = set(false, &[("0", false), ("200", true)]);
        open.other = Some(State { name: "OTHER".to_owned(), ..open.states[1].clone() });
        assert_eq!(open.condition("t.c", None, |s| s.finished), "(t.c IS NOT NULL AND t.c NOT IN (0))");
        assert_eq!(open.condition("t.c", None, |s| !s.finished), "(t.c IS NOT NULL AND t.c IN (0))");
        assert_eq!(open.condition("t.c", None, |_| true), "(t.c IS NOT NULL)");
        assert_eq!(open.condition("t.c", None, |_| false), "(1 = 0)");
        assert_eq!(open.of(Some("777"), None).map(|s| s.name.as_str()), Some("OTHER"));
        assert!(open.of(None, None).is_none());
    }

    /// A set in which 0 means three things, as the other column says.
    fn hanging() -> StateSet {
        let mut set = set(false, &[("0", false), ("0", false), ("0", true), ("200", true)]);
        set.with = Some("log.answer".to_owned());
        for (state, (name, when)) in
            set.states.iter_mut().zip([("RUNNING", &["200"][..]), ("ASKED", &["0"]), ("REFUSED", &[]), ("DONE", &[])])
        {
            state.name = name.to_owned();
            state.when = when.iter().map(|w| (*w).to_owned()).collect();
        }
        set
    }

    #[test]
    fn a_meaning_may_hang_on_another_column() {
        let mut set = hanging();
        let name = |set: &StateSet, code, with| set.of(Some(code), with).map(|s| s.name.clone()).unwrap_or_default();
        assert_eq!(name(&set, "0", Some("200")), "RUNNING");
        assert_eq!(name(&set, "0", Some("0")), "ASKED");
        assert_eq!(name(&set, "0", Some("500")), "REFUSED");
        assert_eq!(name(&set, "0", None), "REFUSED");
        assert_eq!(name(&set, "200", Some("0")), "DONE");
        assert_eq!(name(&set, "404", None), "");
        let zero = "t.c IS NOT NULL AND t.c IN (0)";
        assert_eq!(
            set.condition("t.c", Some("t.w"), |s| !s.finished),
            format!("({zero} AND t.w IS NOT NULL AND t.w IN (200) OR {zero} AND t.w IS NOT NULL AND t.w IN (0))")
        );
        let refused = format!("{zero} AND (t.w IS NULL OR t.w NOT IN (200, 0))");
        let done = "t.c IS NOT NULL AND t.c IN (200)";
        assert_eq!(set.condition("t.c", Some("t.w"), |s| s.finished), format!("({done} OR {refused})"));
        set.other = Some(State { code: String::new(), ..set.states[3].clone() });
        let open = "t.c IS NOT NULL AND t.c NOT IN (0)";
        assert_eq!(set.condition("t.c", Some("t.w"), |s| s.finished), format!("({open} OR {refused})"));
        assert!(set.hangs("0") && !set.hangs("200"));
        assert_eq!(set.of_phase("running").map(|s| s.name.as_str()), Some("DONE"));
        assert_eq!(set.names_of("0", [Some("200"), Some("7"), None].into_iter()), "REFUSED / RUNNING");
    }
}

//! What the operator confirms that codes of earlier releases become. Pure.

use crate::manifest::{Legacy, Manifest, State};
use crate::near::near;
use crate::ui::safe;
use crate::{Error, Result};

/// How many names a hint offers.
const OFFERED: usize = 3;
/// How much of a value is shown.
const SHOWN: usize = 80;

/// A code of an earlier release, and the state that the operator confirmed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmed {
    /// The role column.
    pub column: String,
    /// The code that the rows hold.
    pub code: String,
    /// The code that they get.
    pub to: String,
    /// The name of that state.
    pub name: String,
    /// Whether nothing runs any more under a row in that state.
    pub finished: bool,
}

/// Reads `COLUMN.CODE=STATE`, each code once.
///
/// # Errors
/// No such column, a code that the release can read or that no earlier one had, a state
/// that the column may not hold, or a code that is confirmed twice.
pub(super) fn confirmations(flag: &str, texts: &[String], m: &Manifest) -> Result<Vec<Confirmed>> {
    let mut all: Vec<Confirmed> = Vec::new();
    for text in texts {
        let one = confirmation(text, m)
            .map_err(|(message, hint)| Error::usage(format!("--{flag} {}: {message}", safe(text, SHOWN))).hint(hint))?;
        if all.iter().any(|c| (&c.column, &c.code) == (&one.column, &one.code)) {
            let message = format!("--{flag} {}: {} {} is confirmed twice", safe(text, SHOWN), one.column, one.code);
            return Err(Error::usage(message).hint("give each code once"));
        }
        all.push(one);
    }
    Ok(all)
}

/// One confirmation, or what is wrong with it and the way out.
fn confirmation(text: &str, m: &Manifest) -> std::result::Result<Confirmed, (String, String)> {
    let form = || ("is not COLUMN.CODE=STATE".to_owned(), example(m));
    let (what, state) = text.split_once('=').ok_or_else(form)?;
    let (column, code) = what.trim().rsplit_once('.').ok_or_else(form)?;
    let columns = columns(m, column);
    if columns.is_empty() {
        let message = format!("{} {} has no codes of earlier releases in {column}", m.title, m.release_range());
        return Err((message, example(m)));
    }
    let legacy = m.legacy.iter().find(|l| columns.contains(&l.column.as_str()) && l.code == code);
    let legacy = legacy.ok_or_else(|| not_legacy(m, &columns, code))?;
    let state = state_named(m, &legacy.column, state.trim())?;
    Ok(Confirmed {
        column: legacy.column.clone(),
        code: legacy.code.clone(),
        to: state.code.clone(),
        name: state.name.clone(),
        finished: state.finished,
    })
}

/// The role columns with codes of earlier releases that a text speaks of: a role, a role
/// column, or the real names of either.
fn columns<'m>(m: &'m Manifest, said: &str) -> Vec<&'m str> {
    let speaks_of = |column: &str| {
        let (role, _) = column.split_once('.').unwrap_or((column, ""));
        let real = m.real_name(column);
        let table = real.split('.').next().unwrap_or_default();
        [column, role, &real, table].iter().any(|name| name.eq_ignore_ascii_case(said))
    };
    let mut found: Vec<&str> = m.legacy.iter().map(|l| l.column.as_str()).filter(|c| speaks_of(c)).collect();
    found.dedup();
    found
}

fn not_legacy(m: &Manifest, columns: &[&str], code: &str) -> (String, String) {
    let readable = columns.iter().find_map(|column| m.states.get(*column)?.by_code(code).filter(|s| s.legal));
    let codes = m.legacy.iter().filter(|l| columns.contains(&l.column.as_str()));
    let codes: Vec<String> = codes.map(|l| format!("{} {}", l.code, l.name)).collect();
    let message = match readable {
        Some(state) => format!("{code} is {}, which {} {} can read", state.name, m.title, m.release_range()),
        None => format!("{code} is no code of an earlier release"),
    };
    (message, format!("codes of earlier releases there: {}", codes.join(", ")))
}

fn state_named<'m>(m: &'m Manifest, column: &str, name: &str) -> std::result::Result<&'m State, (String, String)> {
    let states = m.states.get(column).map(|set| set.states.as_slice()).unwrap_or_default();
    let legal: Vec<&State> = states.iter().filter(|s| s.legal).collect();
    if let Some(state) = legal.iter().find(|s| s.name.eq_ignore_ascii_case(name)) {
        return Ok(state);
    }
    let names: Vec<&str> = legal.iter().map(|s| s.name.as_str()).collect();
    let message = match states.iter().find(|s| s.name.eq_ignore_ascii_case(name)) {
        Some(state) => format!("{column} never holds {}", state.name),
        None => format!("{column} has no state {}", if name.is_empty() { "without a name" } else { name }),
    };
    let hint = match near(name, &names, OFFERED).as_slice() {
        [] => format!("it has {}", names.join(", ")),
        near => format!("did you mean {}? It has {}", near.join(", "), names.join(", ")),
    };
    Err((message, hint))
}

/// What a confirmation looks like in a release.
fn example(m: &Manifest) -> String {
    match m.legacy.as_slice() {
        [] => {
            format!("{} {} reads every code of earlier releases: there is nothing to map", m.title, m.release_range())
        }
        all => {
            let said: Vec<String> = all.iter().map(|l: &Legacy| m.confirmation(l)).collect();
            format!("what may be confirmed, with the state that is proposed: {}", said.join(", "))
        }
    }
}

//! A code that the column cannot hold in this release.

use crate::lint::finding::Level;
use crate::lint::reading::{CodeUse, Reading, Scalar};
use crate::lint::report::{Report, listed};
use crate::manifest::{State, StateSet};

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for used in &reading.codes {
        let Some(code) = used.scalar.code() else { continue };
        let Some(set) = report.knowledge.manifest.states.get(&used.role_column) else { continue };
        match set.by_code(&code) {
            Some(state) if state.legal => {}
            Some(state) => illegal(report, used, set, state),
            None if set.other.is_some() => {}
            None => unknown(report, used, set, &code),
        }
    }
}

/// The release has a name for it, but not on this column.
fn illegal(report: &mut Report<'_>, used: &CodeUse, set: &StateSet, state: &State) {
    let title = report.knowledge.title();
    let message = format!("{} {} is not a state of {} in {title}", state.code, state.name, used.column);
    let level = level_of(used);
    let finding = report.at(used.span, level, message);
    finding.why(format!("{} lists it for compatibility only", set.type_name));
    offer(finding, set, &state.phase);
    finding.help(all_legal(set));
}

fn unknown(report: &mut Report<'_>, used: &CodeUse, set: &StateSet, code: &str) {
    let knowledge = report.knowledge;
    let title = knowledge.title();
    if let Some(right) = other_case(set, &used.scalar) {
        let message = format!("the state is spelt {} in {title}, not {code}", right.code);
        let range = report.bytes(used.span);
        let text = set.literal(&right.code);
        report
            .over(range.clone(), level_of(used), message)
            .why("the database may compare without case; the scheduler compares exactly")
            .help(format!("write {text}"))
            .edit(range, text);
        return;
    }
    if let Some(named) = set.states.iter().find(|s| s.name.eq_ignore_ascii_case(code)) {
        let message = format!("{} holds the code {}, not its name {code}", used.column, named.code);
        let range = report.bytes(used.span);
        let text = set.literal(&named.code);
        report.over(range.clone(), level_of(used), message).help(format!("write {text}")).edit(range, text);
        return;
    }
    let elsewhere = other_columns(report, code, &used.role_column);
    let releases = releases_with(report, &used.role_column, code);
    let shown = if code.is_empty() { "the empty text" } else { code };
    let message = format!("{shown} is not a state of {} in {title}", used.column);
    let finding = report.at(used.span, level_of(used), message);
    for fact in elsewhere.into_iter().chain(releases) {
        finding.why(fact);
    }
    finding.help(all_legal(set));
}

fn all_legal(set: &StateSet) -> String {
    let legal: Vec<&State> = set.states.iter().filter(|s| s.legal).collect();
    format!("states of this column: {}", listed(&legal))
}

/// Written, it breaks the reader; compared, it selects nothing.
fn level_of(used: &CodeUse) -> Level {
    if used.written { Level::Error } else { Level::Warning }
}

fn other_case<'s>(set: &'s StateSet, scalar: &Scalar) -> Option<&'s State> {
    let Scalar::Text(text) = scalar else { return None };
    set.states.iter().find(|s| set.text && s.legal && s.code.eq_ignore_ascii_case(text))
}

/// Where else in this release the code is a state: `a workflow_instance.state: 4 READY_STOP`.
fn other_columns(report: &Report<'_>, code: &str, except: &str) -> Option<String> {
    let m = report.knowledge.manifest;
    let suffix = except.rsplit_once('.').map(|(_, column)| column);
    let same_kind = |name: &str| name.rsplit_once('.').map(|(_, column)| column) == suffix;
    let others = m.states.iter().filter(|(name, _)| *name != except && same_kind(name));
    let mut found = others.filter_map(|(name, set)| {
        let state = set.by_code(code).filter(|s| s.legal)?;
        let (role, column) = name.split_once('.')?;
        let real = m.column(name).unwrap_or(column);
        Some(format!("{code} is {} in {}.{real}, which is another table", state.name, m.roles.get(role)?.table))
    });
    found.next()
}

/// The releases in which the column does hold the code.
fn releases_with(report: &Report<'_>, role_column: &str, code: &str) -> Option<String> {
    let m = report.knowledge.others_with_state(role_column, code)?;
    let state = m.states.get(role_column)?.by_code(code)?;
    Some(format!("{} has {code} {} there in {}", m.title, state.name, m.release_range()))
}

fn offer(finding: &mut crate::lint::finding::Finding, set: &StateSet, phase: &str) {
    let near: &[&str] = match phase {
        "stopped" => &["killed"],
        "killed" => &["stopped"],
        _ => &[],
    };
    for state in near.iter().filter_map(|p| set.of_phase(p)) {
        finding.help(format!("{} {} means that here", state.code, state.name));
    }
}

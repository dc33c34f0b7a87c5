//! Codes, names and what counts as finished.

use std::collections::BTreeSet;

use flowmend::manifest::{Manifest, StateSet, version_order};
use serde_json::Value;

use super::{Differences, Facts, releases, texts};

/// Role columns whose values are compared, where the release has them.
const COLUMNS: [&str; 5] = [
    "task_instance.state",
    "workflow_instance.state",
    "command.type",
    "task_group_queue.status",
    "serial_command.state",
];

/// A state that is finished for repairs although upstream's own predicate does not say so.
struct Difference {
    state: &'static str,
    first: &'static str,
    last: &'static str,
    #[expect(dead_code, reason = "for readers")]
    why: &'static str,
}

/// All known differences. All are states of a task.
const FINISHED_FOR_REPAIRS: [Difference; 3] = [
    Difference {
        state: "NEED_FAULT_TOLERANCE",
        first: "3.1.0",
        last: "3.1.0",
        why: "3.1.0 forgot it in isFailure, 3.1.1 put it back; the task that has it was lost and runs nowhere",
    },
    Difference {
        state: "FORCED_SUCCESS",
        first: "3.1.0",
        last: "3.1.9",
        why: "in no predicate of 3.1.x, final from 3.2.0; a user sets it by hand on a task that ended",
    },
    Difference {
        state: "STOP",
        first: "3.1.7",
        last: "3.1.9",
        why: "in no predicate of 3.1.x, final from 3.2.0; nothing runs under it",
    },
];

#[test]
fn codes_and_names_are_upstreams() {
    let Some(releases) = releases("codes_and_names_are_upstreams") else { return };
    let mut differences = Differences::default();
    for (facts, manifest) in releases {
        for column in COLUMNS {
            let place = format!("{} {column}", facts.version);
            let upstream = upstream(&facts, &manifest, column).map(values);
            let ours = manifest.states.get(column).map(ours);
            differences.same(place, &ours, &upstream);
        }
    }
    differences.none();
}

#[test]
fn finished_is_upstreams_predicate() {
    let Some(releases) = releases("finished_is_upstreams_predicate") else { return };
    let mut differences = Differences::default();
    for (facts, manifest) in releases {
        for column in ["task_instance.state", "workflow_instance.state"] {
            let theirs = texts(&upstream(&facts, &manifest, column).unwrap()["finished"]);
            let known =
                FINISHED_FOR_REPAIRS.iter().filter(|d| column == "task_instance.state" && d.holds(&facts.version));
            let known: Vec<String> = known.map(|d| d.state.to_owned()).collect();
            assert!(known.iter().all(|state| !theirs.contains(state)), "{}: {known:?} differs no more", facts.version);
            let expected: BTreeSet<String> = theirs.into_iter().chain(known).collect();
            let set = manifest.states(column).unwrap();
            let ours: BTreeSet<String> = set.states.iter().filter(|s| s.finished).map(|s| s.name.clone()).collect();
            differences.same(format!("{} {column}", facts.version), &ours, &expected);
        }
    }
    differences.none();
}

impl Difference {
    fn holds(&self, release: &str) -> bool {
        let release = version_order(release);
        version_order(self.first) <= release && release <= version_order(self.last)
    }
}

/// The enum whose facts name the role's column.
fn upstream<'f>(facts: &'f Facts, manifest: &Manifest, column: &str) -> Option<&'f Value> {
    let (role, name) = column.split_once('.')?;
    let role = manifest.roles.get(role)?;
    let real = format!("{}.{}", role.table, role.columns.get(name)?);
    let found = facts.json["enums"].as_object()?.values().find(|e| texts(&e["columns"]).contains(&real));
    Some(found.unwrap_or_else(|| panic!("{}: no enum of {real}", facts.version)))
}

fn values(upstream: &Value) -> (bool, Vec<(String, String)>) {
    let pair = |v: &Value| {
        let code = v["code"].as_str().map_or_else(|| v["code"].to_string(), ToOwned::to_owned);
        (code, super::text(&v["name"]))
    };
    (upstream["stored_as"] == "string", upstream["values"].as_array().unwrap().iter().map(pair).collect())
}

fn ours(set: &StateSet) -> (bool, Vec<(String, String)>) {
    (set.text, set.states.iter().map(|s| (s.code.clone(), s.name.clone())).collect())
}

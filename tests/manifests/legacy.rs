//! What an upgrade leaves: every code that a generation loses has a proposal, or a reason why there is none.

use std::collections::BTreeSet;

use flowmend::manifest::{Manifest, Manifests};

/// Scheduler, first generation without them, role column, codes, and why nothing can take their place.
const UNMAPPED: [(&str, &str, &str, &[&str], &str); 1] = [(
    "dolphinscheduler",
    "3.3.0",
    "command.type",
    &["1", "8", "9", "10", "11", "12", "13"],
    "a command of another type says something else, in other words: the queue must be empty",
)];

/// The codes of a column that one generation knows and the next cannot read.
fn lost(old: &Manifest, new: &Manifest) -> Vec<(String, String)> {
    let mut lost = Vec::new();
    for (column, set) in &old.states {
        let Some(next) = new.states.get(column) else { continue };
        let readable = |code: &str| next.other.is_some() || next.by_code(code).is_some_and(|s| s.legal);
        let known = |code: &str, legal: bool| legal || next.by_code(code).is_none();
        let codes = set.states.iter().filter(|s| !readable(&s.code) && known(&s.code, s.legal));
        lost.extend(codes.map(|s| (column.clone(), s.code.clone())));
    }
    lost
}

#[test]
fn every_lost_code_has_a_proposal_or_a_reason() {
    let manifests = Manifests::load(None).unwrap();
    let mut unmapped = BTreeSet::new();
    for scheduler in manifests.schedulers() {
        for pair in manifests.of(scheduler).unwrap().windows(2) {
            for (column, code) in lost(pair[0], pair[1]) {
                if pair[1].legacy(&column, &code).is_none() {
                    unmapped.insert((scheduler.to_owned(), pair[1].generation.clone(), column, code));
                }
            }
        }
    }
    let named = UNMAPPED.iter().flat_map(|(scheduler, generation, column, codes, _)| {
        codes.iter().map(|c| ((*scheduler).into(), (*generation).into(), (*column).into(), (*c).into()))
    });
    assert_eq!(unmapped, named.collect());
    // Where nothing can be put in their place, the upgrade wants them gone.
    for (scheduler, generation, column, _, _) in UNMAPPED {
        let m = manifests.release(scheduler, generation).unwrap();
        let role = column.split('.').next().unwrap();
        assert!(m.upgrade.iter().any(|note| note.empty.iter().any(|r| r == role)), "{scheduler} {generation} {role}");
    }
}

/// A proposal is inherited, and gone where its code can be read again.
#[test]
fn proposals_are_of_codes_that_cannot_be_read() {
    let manifests = Manifests::load(None).unwrap();
    let of = |release: &str, column: &str| -> Vec<String> {
        let m = manifests.release("dolphinscheduler", release).unwrap();
        let mut codes: Vec<String> = m.legacy.iter().filter(|l| l.column == column).map(|l| l.code.clone()).collect();
        codes.sort_by_key(|c| c.parse::<i64>().unwrap());
        codes
    };
    let (runs, tasks) = ("workflow_instance.state", "task_instance.state");
    assert_eq!(of("3.0.6", runs), [""; 0]);
    assert_eq!(of("3.1.0", runs), ["8", "9", "10", "11", "13", "17"]);
    assert_eq!(of("3.2.2", runs), ["8", "9", "10", "11", "13"]);
    assert_eq!(of("3.3.2", runs), ["8", "9", "10", "11", "12", "13", "15", "16"]);
    assert_eq!(of("3.4.1", runs), ["8", "9", "10", "11", "12", "13", "15", "16", "17"]);
    assert_eq!(of("3.1.6", tasks), ["2", "4", "5", "10", "11", "14", "15", "16"]);
    assert_eq!(of("3.2.2", tasks), ["2", "4", "10", "11", "14", "15", "16"]);
    assert_eq!(of("3.4.1", tasks), ["2", "4", "5", "10", "11", "14", "15", "16"]);
    for scheduler in manifests.schedulers() {
        for m in manifests.of(scheduler).unwrap() {
            for l in &m.legacy {
                assert!(m.states[&l.column].by_code(&l.code).is_none_or(|s| !s.legal), "{scheduler} {}", m.generation);
                let to = m.state_named(&l.column, &l.to).unwrap();
                assert!(to.finished, "{scheduler} {}: {} is no end", m.generation, l.to);
            }
        }
    }
}

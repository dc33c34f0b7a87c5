//! A runbook as it is passed around, wrong for every release that it names: each statement is explained.

use flowmend::lint::{Finding, Linted};

use super::check;

const RUNBOOK: &str = include_str!("blog/runbook.sql");

/// The findings of the statement under the comment `-- S4: …`.
fn of<'l>(linted: &'l Linted, statement: &str) -> Vec<&'l Finding> {
    let start = RUNBOOK.find(&format!("-- {statement}:")).unwrap();
    let end = RUNBOOK[start + 1..].find("-- S").map_or(RUNBOOK.len(), |n| start + 1 + n);
    linted.findings.iter().filter(|f| (start..end).contains(&f.range.start)).collect()
}

/// Whether one of the findings is by this rule and says all this somewhere.
fn says(findings: &[&Finding], rule: &str, words: &[&str]) -> bool {
    findings.iter().filter(|f| f.rule == rule).any(|f| {
        let whole = std::iter::once(&f.message).chain(&f.why).chain(&f.help).cloned().collect::<Vec<_>>().join("\n");
        words.iter().all(|w| whole.contains(w))
    })
}

#[test]
fn every_statement_is_explained_for_every_release() {
    let mut wrong = Vec::new();
    for release in ["2.0.9", "3.1.9", "3.2.2"] {
        let linted = check(RUNBOOK, "dolphinscheduler", release, "mysql");
        let old = release == "2.0.9";
        let project = release != "3.2.2";
        let stopping: &[&str] = match old {
            true => &["4 READY_STOP", "1 RUNNING_EXECUTION"],
            false => &["READY_STOP", "t_ds_process_instance", "1 RUNNING_EXECUTION"],
        };
        let mut want = |statement: &str, rule: &str, words: &[&str]| {
            let found = of(&linted, statement);
            if !says(&found, rule, words) {
                let have: Vec<String> =
                    found.iter().map(|f| format!("{}: {} | {:?}", f.rule, f.message, f.help)).collect();
                wrong.push(format!("{release} {statement} {rule} {words:?}\n    {}", have.join("\n    ")));
            }
        };
        // Columns that the release lacks, one of them in no release; a state that no task can be in.
        want("S1", "unknown-column", &["task_instance_id"]);
        want("S1", "unknown-column", &["task_name"]);
        want("S1", "unknown-column", &["update_time"]);
        if project {
            want("S1", "unknown-column", &["project_code", "3.2.0"]);
        }
        want("S1", "unknown-state", stopping);
        // Reads the runs that are being stopped.
        want("S2", "reads-other-state", &["4 READY_STOP", "1 RUNNING"]);
        want("S4", "unknown-column", &["update_time", "no known release", "start_time"]);
        want("S4", "unknown-state", stopping);
        // Runs that a user is stopping become failures; 8 is no killed task.
        want("S5", "missing-states", &["4 READY_STOP", "1 RUNNING_EXECUTION"]);
        want("S5", "reads-other-state", &["8 NEED_FAULT_TOLERANCE", "9 KILL"]);
        want("S6", "commands-deleted", &[]);
        if old {
            want("S7", "unknown-table", &["t_ds_task_group_queue", "3.0.0"]);
        } else {
            want("S7", "unknown-state", &["3 is not", "-1 WAIT_QUEUE", "2 RELEASE"]);
        }
        want("S8", "unknown-column", &["update_time"]);
        want("S8", "unknown-state", stopping);
        let damage = of(&linted, "S3").iter().any(|f| f.level == flowmend::lint::Level::Error);
        assert!(!damage, "the copies work: {release}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

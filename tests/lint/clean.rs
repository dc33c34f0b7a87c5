//! Scripts of careful people: nothing in them is an error.

use std::path::Path;

use flowmend::lint::{Level, told};
use flowmend::sql::{Client, split};

use super::{check, places};

#[test]
fn careful_scripts_have_no_errors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lint/clean");
    let (mut wrong, mut read) = (Vec::new(), 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let sql = std::fs::read_to_string(&path).unwrap();
        let told = told(&sql, &split(&sql, Client::Mysql));
        let linted = check(&sql, &told["scheduler"][0], &told["release"][0], &told["dialect"][0]);
        let errors = linted.findings.iter().filter(|f| f.level == Level::Error).count();
        let found = places(&sql, &linted);
        read += 1;
        if errors > 0 || linted.unread > 0 || linted.statements < 2 {
            wrong.push(format!("{}: {errors} errors, {} unread: {found:?}", path.display(), linted.unread));
        }
    }
    assert!(read >= 40, "{read} scripts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What makes the clean scripts clean is what their careless brothers lack.
#[test]
fn careless_scripts_have_errors() {
    for (sql, scheduler, release, rule) in [
        (
            "CREATE PROCEDURE p(IN run_id INT) BEGIN UPDATE t_ds_task_instance SET state = 6 WHERE process_instance = run_id; END",
            "dolphinscheduler",
            "3.1.9",
            "unknown-column",
        ),
        ("SELECT * FROM ops.t_ds_task_instances", "dolphinscheduler", "3.1.9", "unknown-table"),
        (
            "UPDATE QRTZ_TRIGGERS SET TRIGGER_STATE = CASE TRIGGER_STATE WHEN 'PAUSED' THEN 'WAITING' END WHERE SCHED_NAME = 's' AND TRIGGER_GROUP = 'g' AND TRIGGER_STATE = 'PAUSED'",
            "quartz",
            "2.3.2",
            "incomplete-unpause",
        ),
        (
            "UPDATE QRTZ_TRIGGERS T SET TRIGGER_STATE = 'WAITING' WHERE SCHED_NAME = 's' AND TRIGGER_STATE = 'BLOCKED' AND EXISTS (SELECT 1 FROM QRTZ_JOB_DETAILS J WHERE J.JOB_NAME = T.JOB_NAME)",
            "quartz",
            "2.3.2",
            "blocked-comes-back",
        ),
        (
            "DELETE FROM xxl_job_log WHERE trigger_time < '2025-01-01' AND (handle_code <> 0 OR trigger_code <> 0)",
            "xxl-job",
            "3.1.0",
            "deletes-unfinished",
        ),
        (
            "UPDATE task_instance SET state = 'failed' WHERE dag_id = 'd' AND state IS NOT NULL",
            "airflow",
            "2.10.5",
            "finished-row-overwritten",
        ),
    ] {
        let linted = check(sql, scheduler, release, "mysql");
        let found = linted.findings.iter().find(|f| f.rule == rule);
        assert!(found.is_some_and(|f| f.level == Level::Error), "{rule}: {:?}", places(sql, &linted));
    }
}

//! What findings say: ways out that are right for the statement, and reasons that are true of it.

use flowmend::lint::Level;

use super::check;

/// All that is said of a script, a line for each sentence: `level[rule] sentence`.
fn said(sql: &str, scheduler: &str, release: &str, dialect: &str) -> Vec<String> {
    let linted = check(sql, scheduler, release, dialect);
    let one = |f: &flowmend::lint::Finding| {
        let head = format!("{}[{}] ", if f.level == Level::Error { "error" } else { "other" }, f.rule);
        let sentences = std::iter::once(&f.message).chain(&f.why).chain(&f.help);
        sentences.map(|text| format!("{head}{text}")).collect::<Vec<_>>()
    };
    linted.findings.iter().flat_map(one).collect()
}

/// Whether some line holds all the words, and none holds any of the others.
fn holds(lines: &[String], wanted: &[&str], unwanted: &[&str]) {
    for words in wanted {
        assert!(lines.iter().any(|l| l.contains(words)), "`{words}` is missing:\n{}", lines.join("\n"));
    }
    for words in unwanted {
        assert!(!lines.iter().any(|l| l.contains(words)), "`{words}` is said:\n{}", lines.join("\n"));
    }
}

/// Where a state hangs on two columns, the way out names both, and no code twice.
#[test]
fn the_old_state_is_named_by_both_its_columns() {
    let xxl = |sql: &str| said(sql, "xxl-job", "2.4.2", "mysql");
    let both = "AND trigger_code = 200 AND handle_code = 0";
    let close =
        "UPDATE xxl_job_log SET handle_code = 500, alarm_status = 1, handle_time = '2026-01-31 10:00:00' WHERE id = 5";
    holds(&xxl(close), &[both], &["IN (0, 0)"]);
    holds(&xxl(&format!("{close} AND handle_code = 0")), &[both, "REFUSED"], &[]);
    // The pair is a run that runs: it is not over, and nothing is left to add.
    holds(&xxl(&format!("{close} {both}")), &[], &["finished-row-overwritten"]);
    holds(&xxl(&format!("{close} AND trigger_code IN (0, 200) AND handle_code = 0")), &[], &["REFUSED"]);
    holds(&xxl(&format!("{close} AND trigger_code IN (200, 500) AND handle_code = 0")), &["REFUSED"], &[]);
    holds(&xxl(&format!("{close} AND trigger_code <> 200 AND handle_code = 0")), &["REFUSED"], &[]);
}

/// The state that is written is no example of the old one, nor is one that somebody holds just now.
#[test]
fn the_example_is_neither_the_new_state_nor_a_held_row() {
    let back = said("UPDATE xxl_job_log SET trigger_code = 0 WHERE id = 5", "xxl-job", "2.4.2", "mysql");
    holds(&back, &["a row that is over stays as it is"], &["trigger_code IN (0)", "trigger_code = 0"]);
}

#[test]
fn rows_that_cascade_do_not_stay_behind_and_more_may_refer_to_them() {
    let sql = "DELETE FROM task_instance WHERE dag_id = 'd' AND state IN ('failed', 'success')";
    let lines = said(sql, "airflow", "2.10.5", "postgresql");
    holds(&lines, &["task_reschedule along", "whatever else refers to these rows"], &["stay behind"]);
    // A scheduler whose tables are all described has no others.
    let sql = "DELETE FROM QRTZ_TRIGGERS WHERE SCHED_NAME = 's' AND TRIGGER_NAME = 't' AND TRIGGER_GROUP = 'g'";
    holds(&said(sql, "quartz", "2.3.2", "mysql"), &["the delete fails"], &["whatever else"]);
}

#[test]
fn a_table_that_is_not_described_is_not_said_to_be_none() {
    let lines = said("DELETE FROM session WHERE id = 1", "airflow", "2.11.2", "postgresql");
    holds(&lines, &["session is not described by flowmend"], &["is no table of", "error["]);
    // Records may go, to make room; what the scheduler is told may not.
    for table in ["xcom", "log"] {
        let lines = said(&format!("DELETE FROM {table} WHERE dag_id = 'd'"), "airflow", "2.11.2", "postgresql");
        holds(&lines, &[&format!("rows of {table} are deleted")], &["is no table of", "is not described", "error["]);
    }
    for change in [
        "UPDATE connection SET host = 'x' WHERE id = 1",
        "DELETE FROM variable WHERE id = 1",
        "UPDATE xcom SET value = NULL WHERE dag_id = 'd'",
    ] {
        holds(&said(change, "airflow", "2.11.2", "postgresql"), &["error[forbidden-table]"], &[]);
    }
    let lines = said("SELECT result FROM xcom", "airflow", "2.11.2", "postgresql");
    holds(&lines, &["error[unknown-column]"], &[]);
}

#[test]
fn rows_that_are_named_by_their_state_are_closed_not_deleted() {
    let lines = said(
        "DELETE FROM job WHERE state = 'running' AND latest_heartbeat < '2026-01-31 09:00:00+00'",
        "airflow",
        "2.10.5",
        "postgresql",
    );
    let unwanted = ["add a condition on the state", "add job_type"];
    holds(&lines, &["close the row instead", "close these rows first"], &unwanted);
    let lines = said("DELETE FROM job WHERE id = 7", "airflow", "2.10.5", "postgresql");
    holds(&lines, &["add a condition on the state"], &[]);
}

#[test]
fn reasons_are_true_of_the_statement() {
    for (sql, scheduler, release) in [
        (
            "UPDATE QRTZ_TRIGGERS SET NEXT_FIRE_TIME = 1769853600000 WHERE SCHED_NAME = 's' AND TRIGGER_NAME = 't' AND TRIGGER_GROUP = 'g'",
            "quartz",
            "2.3.2",
        ),
        ("UPDATE xxl_job_info SET trigger_status = 0, trigger_next_time = 0 WHERE id = 9", "xxl-job", "2.4.2"),
    ] {
        holds(&said(sql, scheduler, release, "mysql"), &["when it is due"], &["it says who ran the row", "at once"]);
    }
    let lines = said("DELETE FROM xxl_job_log WHERE handle_code = 0", "xxl-job", "2.4.2", "mysql");
    holds(&lines, &["runs on living executors are taken"], &["are closed, too"]);
}

/// psql's variables stand for what the script itself sets them to.
#[test]
fn variables_of_psql_are_known_in_quotes_and_without() {
    let lint = |sql: &str| said(sql, "airflow", "2.10.5", "postgresql");
    let update = "UPDATE task_instance SET state = :'to' WHERE dag_id = :'dag' AND state = 'running';";
    let set = |to: &str| lint(&format!("\\set to {to}\n\\set dag d\n{update}"));
    holds(&set("success"), &["success says that the work was done"], &["unknown-value"]);
    holds(&set("'failed'"), &[], &["unknown-value", "unknown-state", "hides-failure"]);
    holds(&set("finished"), &["unknown-state"], &["unknown-value"]);
    holds(&lint(update), &["unknown-value"], &[]);
    holds(&lint(&format!("\\set to failed\n\\unset to\n{update}")), &["unknown-value"], &[]);
}

/// Without quotes psql puts the variable's text itself in the statement.
#[test]
fn variables_of_psql_without_quotes_are_what_their_text_is() {
    let set = |value: &str, condition: &str| {
        let update = "UPDATE task_instance SET state = 'failed' WHERE dag_id = 'd'";
        said(&format!("\\set x {value}\n{update} AND {condition};"), "airflow", "2.10.5", "postgresql")
    };
    let all = ["finished-row-overwritten"];
    let none = ["unknown-column", "finished-row-overwritten", "unknown-state"];
    holds(&set("'''running'''", "state = :x"), &[], &none);
    holds(&set("'''run' 'ning'''", "state = :x"), &[], &none);
    holds(&set("running", "state = :x"), &["unknown-column"], &[]);
    holds(&set("null", "state = :x"), &["nothing equals NULL"], &["unknown-state"]);
    holds(&set("'state = ''running'''", ":x"), &[], &all);
    holds(&set("'state <> ''running'''", ":x"), &all, &[]);
    // What a command gives is not known, nor what a text is that is no expression.
    holds(&set("`date`", "state = :x"), &[], &["unknown-column"]);
    holds(&set("'a; b'", "state = :x"), &[], &["unknown-column"]);
}

/// What a CASE without ELSE leaves over becomes NULL.
#[test]
fn a_case_without_else_writes_null() {
    let lint = |case: &str| {
        let sql =
            format!("UPDATE t_ds_task_instance SET state = {case}, end_time = '2026-01-31 10:00:00' WHERE host = 'h'");
        said(&sql, "dolphinscheduler", "3.1.9", "mysql")
    };
    holds(&lint("CASE WHEN state = 1 THEN 6 END"), &["null-written"], &[]);
    holds(&lint("CASE WHEN state = 1 THEN 6 ELSE state END"), &[], &["null-written", "finished-row-overwritten"]);
}

/// PostgreSQL takes what stands in double quotes for a name.
#[test]
fn texts_in_double_quotes_are_called_so() {
    let sql = "UPDATE dag_run SET state = 'failed', end_date = now() WHERE dag_id = 'd' AND run_id = 'r' AND state = \"running\"";
    let lines = said(sql, "airflow", "2.10.5", "postgresql");
    holds(&lines, &["a text is written 'running'"], &["null-join"]);
}

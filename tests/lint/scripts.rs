//! Whole scripts, as people paste them.

use super::{check, places};

#[test]
fn everything_is_forced_green_and_a_semicolon_is_missing() {
    let sql =
        "-- stuck again\nUPDATE t_ds_task_instance SET state = '7'\nUPDATE t_ds_process_instance SET state = '7'\n";
    let linted = check(sql, "dolphinscheduler", "3.1.6", "mysql");
    let found = places(sql, &linted);
    for wanted in [
        "2:missing-where",
        "3:missing-where",
        "2:unterminated-statement",
        "2:finished-row-overwritten",
        "3:finished-row-overwritten",
        "2:hides-failure",
        "2:missing-end-time",
        "2:quoted-state",
    ] {
        assert!(found.contains(&wanted.to_owned()), "{wanted} is missing: {found:?}");
    }
    assert_eq!((linted.statements, linted.unread), (2, 0));
}

/// One code, five releases, five answers.
#[test]
fn a_state_means_what_its_release_says() {
    let sql = "UPDATE t_ds_task_instance SET state = 5, end_time = '2026-01-31 10:00:00' WHERE id = 42 AND state = 1;";
    for (release, unknown) in
        [("3.0.6", false), ("3.1.0", true), ("3.1.6", true), ("3.1.9", false), ("3.2.2", false), ("3.3.0", true)]
    {
        let found = places(sql, &check(sql, "dolphinscheduler", release, "mysql"));
        assert_eq!(found.contains(&"1:unknown-state".to_owned()), unknown, "{release}: {found:?}");
    }
}

#[test]
fn a_sweeper_that_was_right_in_the_release_before() {
    let sql = "UPDATE task_instance ti SET state = 'failed', end_date = '2026-01-31 10:00:00+00'\n  FROM job j\n WHERE j.id = ti.job_id AND ti.state = 'running';\nUPDATE dag_run SET state = 'failed', end_date = '2026-01-31 10:00:00+00'\n WHERE state IN ('running','queued') AND coalesce(start_date, queued_at, execution_date) < '2026-01-31 04:00:00+00';\n";
    let before = places(sql, &check(sql, "airflow", "2.10.5", "postgresql"));
    assert!(!before.iter().any(|f| f.contains("unknown-")), "{before:?}");
    for wanted in ["1:null-join", "1:retry-ignored", "2:missing-states"] {
        assert!(
            before.iter().any(|f| f.split_once(':').unwrap().1 == wanted.split_once(':').unwrap().1),
            "{wanted}: {before:?}"
        );
    }
    for release in ["3.0.6", "3.1.5"] {
        let linted = check(sql, "airflow", release, "postgresql");
        let found = places(sql, &linted);
        for wanted in ["3:unknown-column", "5:unknown-column"] {
            assert!(found.contains(&wanted.to_owned()), "{release}: {wanted}: {found:?}");
        }
    }
}

#[test]
fn names_belong_to_their_releases() {
    let sql = "UPDATE xxl_job_info SET job_cron = '0 0 5 * * ?' WHERE id = 9;\nDELETE FROM XXL_JOB_QRTZ_TRIGGER_LOG WHERE id = 1;\n";
    for (release, wanted) in [
        ("2.0.1", vec!["1:unknown-table"]),
        ("2.1.0", vec!["2:unknown-table"]),
        ("2.3.1", vec!["1:unknown-column", "2:unknown-table"]),
        ("2.4.2", vec!["1:unknown-column", "2:unknown-table"]),
    ] {
        let linted = check(sql, "xxl-job", release, "mysql");
        let names: Vec<String> = places(sql, &linted).into_iter().filter(|f| f.contains("unknown-")).collect();
        assert_eq!(names, wanted, "{release}");
    }
}

#[test]
fn all_triggers_of_all_schedulers() {
    let sql = "UPDATE QRTZ_TRIGGERS SET TRIGGER_STATE = 'WAITING' WHERE TRIGGER_STATE = 'ERROR';\nDELETE FROM QRTZ_PAUSED_TRIGGER_GRPS;\nUPDATE QRTZ_TRIGGERS SET TRIGGER_STATE = 'WAITING' WHERE TRIGGER_STATE = 'PAUSED';\n";
    let found = places(sql, &check(sql, "quartz", "2.3.2", "mysql"));
    for wanted in [
        "1:scheduler-not-named",
        "1:ignores-paused-group",
        "1:error-comes-back",
        "2:scheduler-not-named",
        "2:missing-where",
        "2:pause-marker",
        "3:incomplete-unpause",
        "3:burst-of-misfires",
    ] {
        assert!(found.contains(&wanted.to_owned()), "{wanted} is missing: {found:?}");
    }
}

#[test]
fn a_trigger_is_one_statement_and_what_stands_in_it_is_checked() {
    let sql = "DELIMITER //\nCREATE TRIGGER trg BEFORE UPDATE ON t_ds_process_instance FOR EACH ROW\nBEGIN\n  IF OLD.state IN (4,5) THEN\n    SET NEW.state = 6;\n    UPDATE t_ds_task_instance SET state = 6 WHERE process_instance_id = NEW.id;\n  END IF;\nEND //\nDELIMITER ;\n";
    let linted = check(sql, "dolphinscheduler", "3.1.9", "mysql");
    let found = places(sql, &linted);
    assert_eq!(linted.statements, 1);
    for wanted in ["2:scheduler-table-defined", "6:finished-row-overwritten"] {
        assert!(found.contains(&wanted.to_owned()), "{wanted} is missing: {found:?}");
    }
}

/// What a manifest allows of a forbidden table is that, and nothing beside it.
#[test]
fn a_forbidden_table_has_one_right_write() {
    use flowmend::lint::Level::{Error, Warning};
    for (release, sql, wanted) in [
        ("2.1.2", "INSERT INTO xxl_job_lock (lock_name) VALUES ('schedule_lock')", None),
        ("2.1.2", "INSERT IGNORE INTO xxl_job_lock (lock_name) VALUES ('schedule_lock')", None),
        ("3.4.2", "INSERT INTO XXL_JOB_LOCK (LOCK_NAME) VALUES ('schedule_lock')", None),
        ("2.1.2", "INSERT INTO xxl_job_lock (lock_name) VALUES ('other_lock')", Some(Error)),
        ("2.1.2", "INSERT INTO xxl_job_lock (lock_name) VALUES ('schedule_lock'), ('other_lock')", Some(Error)),
        ("2.1.2", "INSERT INTO xxl_job_lock (lock_name) SELECT name FROM my_names", Some(Error)),
        ("2.1.2", "REPLACE INTO xxl_job_lock (lock_name) VALUES ('schedule_lock')", Some(Error)),
        ("2.1.2", "UPDATE xxl_job_lock SET lock_name = 'schedule_lock' WHERE lock_name = 'x'", Some(Error)),
        ("2.1.2", "DELETE FROM xxl_job_lock WHERE lock_name = 'x'", Some(Error)),
        ("2.1.2", "DELETE FROM xxl_job_registry WHERE id = 7 AND update_time < '2026-01-31 10:00:00'", None),
        ("2.1.2", "DELETE FROM xxl_job_registry WHERE NOW() - INTERVAL 10 MINUTE >= update_time", None),
        ("2.4.2", "DELETE FROM xxl_job_registry WHERE update_time < DATE_SUB(NOW(), INTERVAL 9 MINUTE)", Some(Warning)),
        ("2.1.2", "DELETE FROM xxl_job_registry WHERE update_time < NOW()", Some(Error)),
        ("2.1.2", "DELETE FROM xxl_job_registry WHERE update_time < DATE_ADD(NOW(), INTERVAL 9 MINUTE)", Some(Error)),
        ("2.1.2", "DELETE FROM xxl_job_registry WHERE update_time > '2026-01-31 10:00:00'", Some(Error)),
        ("2.1.2", "DELETE FROM xxl_job_registry WHERE id = 7", Some(Error)),
        ("2.1.2", "DELETE FROM xxl_job_registry WHERE id = 7 OR update_time < '2026-01-31 10:00:00'", Some(Error)),
        ("2.1.2", "DELETE FROM xxl_job_group WHERE update_time < '2026-01-31 10:00:00'", Some(Error)),
    ] {
        let linted = check(sql, "xxl-job", release, "mysql");
        let found = linted.findings.iter().find(|f| f.rule == "forbidden-table").map(|f| f.level);
        assert_eq!((found, linted.unread), (wanted, 0), "{release}: {sql}");
    }
}

/// What a script builds and runs is checked where it is run; what it cannot know it says.
#[test]
fn prepared_statements_are_read() {
    let sql = "SET @what = CONCAT('UPDATE t_ds_task_instance SET state = ', 7);\nSELECT 1;\nPREPARE s FROM @what;\nEXECUTE s;\nDEALLOCATE PREPARE s;\nSELECT CONCAT('DROP TABLE ', table_name) INTO @what FROM information_schema.tables LIMIT 1;\nPREPARE s FROM @what;\nEXECUTE s;\n";
    let linted = check(sql, "dolphinscheduler", "3.1.9", "mysql");
    let found = places(sql, &linted);
    for wanted in ["4:missing-where", "4:finished-row-overwritten", "7:unread-statement"] {
        assert!(found.contains(&wanted.to_owned()), "{wanted} is missing: {found:?}");
    }
    assert_eq!((linted.statements, linted.unread), (8, 1), "{found:?}");
    let why = &linted.findings.iter().find(|f| f.rule == "missing-where").unwrap().why;
    assert!(why.iter().any(|w| w.contains("what is run: UPDATE t_ds_task_instance SET state = 7")), "{why:?}");
}

/// A COMMIT that a script prepares is one.
#[test]
fn a_prepared_commit_ends_the_transaction() {
    let head = "START TRANSACTION;\nUPDATE t_ds_task_instance SET state = 6, end_time = '2026-01-31 10:00:00' WHERE id = 7 AND state = 1;\n";
    let prepared = "SET @end = IF(ROW_COUNT() = 1, 'COMMIT', 'ROLLBACK');\nPREPARE e FROM @end;\nEXECUTE e;\n";
    let tail = "CREATE TABLE mine (id INT);\n";
    for (sql, wanted) in [(format!("{head}{tail}"), true), (format!("{head}{prepared}{tail}"), false)] {
        let linted = check(&sql, "dolphinscheduler", "3.1.9", "mysql");
        let found = places(&sql, &linted);
        assert_eq!(found.iter().any(|f| f.ends_with(":implicit-commit")), wanted, "{found:?}");
        assert_eq!(linted.unread, 0, "{found:?}");
    }
}

/// What stands in PostgreSQL's dollars is read at its own lines; what cannot be read is said.
#[test]
fn bodies_of_postgresql_are_read() {
    let sql = "CREATE OR REPLACE FUNCTION heal(run bigint) RETURNS void AS $fn$
DECLARE
  old_state int;
BEGIN
  -- then update
  UPDATE t_ds_task_instance SET state = 6, end_time = now() WHERE id = run AND state = old_state;
  FOR r IN SELECT id FROM t_ds_command FOR UPDATE LOOP
    DELETE FROM t_ds_command WHERE idd = run;
  END LOOP;
  EXECUTE format('DELETE FROM %I', 'x');
END
$fn$ LANGUAGE plpgsql;
CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$
  UPDATE t_ds_task_instance SET state = 7;
$$;
DO $$
BEGIN
  UPDATE t_ds_process_instance SET statee = 6 WHERE id = 1;
END $$;
CREATE FUNCTION g() RETURNS void LANGUAGE sql AS 'UPDATE t_ds_task_instance SET state = 7';
";
    let linted = check(sql, "dolphinscheduler", "3.1.9", "postgresql");
    let found = places(sql, &linted);
    let wanted =
        ["8:unknown-column", "10:unread-statement", "14:missing-where", "18:unknown-column", "20:unread-statement"];
    for wanted in wanted {
        assert!(found.contains(&wanted.to_owned()), "{wanted} is missing: {found:?}");
    }
    assert!(!found.iter().any(|f| f == "6:unknown-column" || f == "7:unread-statement"), "{found:?}");
    assert_eq!((linted.statements, linted.unread), (4, 2), "{found:?}");
}

/// The same of MySQL, whose bodies stand in no quotes.
#[test]
fn bodies_of_mysql_are_read() {
    let sql = "DELIMITER //
CREATE PROCEDURE p(IN a INT)
BEGIN
  DECLARE b, c INT DEFAULT 0;
  IF a = 1 THEN
    DELETE FROM t_ds_command WHERE idd = b;
  ELSEIF a = 2 THEN UPDATE t_ds_task_instance SET state = 7;
  END IF;
  SET @x = 'DELETE FROM t_ds_command'; PREPARE s FROM @x;
  EXECUTE s;
END //
CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO
  UPDATE t_ds_task_instance SET state = 7 //
CREATE TRIGGER t BEFORE UPDATE ON my_own FOR EACH ROW SET NEW.state = 7 //
";
    let linted = check(sql, "dolphinscheduler", "3.1.9", "mysql");
    let found = places(sql, &linted);
    for wanted in ["6:unknown-column", "7:missing-where", "10:unread-statement", "13:missing-where"] {
        assert!(found.contains(&wanted.to_owned()), "{wanted} is missing: {found:?}");
    }
    assert_eq!((linted.statements, linted.unread), (3, 1), "{found:?}");
}

//! Scripts of a code base: what was right and is so no longer.

use super::{check, findings};

fn subjects(run: &crate::support::program::Run, code: &str) -> Vec<String> {
    let all = findings(run);
    let of = all.iter().filter(|f| f["code"] == code && f["about"] == "scripts");
    // FILE:LINE of FILE:LINE:COLUMN.
    let file_and_line = |subject: &str| {
        let name = subject.rsplit('/').next().unwrap();
        name.rsplit_once(':').map_or(name, |(line, _)| line).to_owned()
    };
    of.map(|f| file_and_line(f["subject"].as_str().unwrap())).collect()
}

#[test]
fn only_what_the_upgrade_breaks() {
    let dir = tempfile::tempdir().unwrap();
    let below = dir.path().join("reports");
    std::fs::create_dir(&below).unwrap();
    // Wrong at both releases: lint is for that.
    std::fs::write(dir.path().join("old.sql"), "UPDATE t_ds_task_instance SET no_such = 1 WHERE id = 1;\n").unwrap();
    std::fs::write(dir.path().join("notes.txt"), "UPDATE t_ds_process_instance SET state = 9;\n").unwrap();
    let script = "-- a report\n\nSELECT 1;\nUPDATE t_ds_task_instance SET state = 5, end_time = '2026-01-01' WHERE id = 1 AND state = 1;\n";
    std::fs::write(below.join("stop.sql"), script).unwrap();
    let path = dir.path().display().to_string();
    let args = ["--sql", &path, "--dialect", "mysql", "--format", "json"];
    let run = check("dolphinscheduler", "3.0.6", "3.1.0", &args).expect(1);
    assert_eq!(subjects(&run, "unknown-state"), ["stop.sql:4"], "{}", run.out);
    assert_eq!(subjects(&run, "unknown-column"), Vec::<String>::new());
    // The code is back at 3.1.9, where a task that holds it does not count as finished.
    let run = check("dolphinscheduler", "3.0.6", "3.1.9", &args).expect(1);
    assert_eq!(subjects(&run, "unknown-state"), Vec::<String>::new());
    // The tables have other names.
    let run = check("dolphinscheduler", "3.2.2", "3.3.0", &args).expect(1);
    assert!(!subjects(&run, "unknown-state").is_empty(), "{}", run.out);
}

/// Tables of which nothing but the name is known: where they go, and where they get another name.
#[test]
fn tables_by_name_alone() {
    let dir = tempfile::tempdir().unwrap();
    let sql = "SELECT dag_id FROM sla_miss;\nSELECT uri FROM dataset;\nSELECT key FROM xcom;\n";
    std::fs::write(dir.path().join("reports.sql"), sql).unwrap();
    let path = dir.path().display().to_string();
    let args = ["--sql", &path, "--dialect", "postgresql", "--format", "json"];
    let run = check("airflow", "2.11.2", "3.0.6", &args).expect(1);
    assert_eq!(subjects(&run, "unknown-table"), ["reports.sql:1", "reports.sql:2"], "{}", run.out);
    assert!(run.out.contains("here the table is asset"), "{}", run.out);
    // Both names are right before, and neither table is made before 2.4.
    let run = check("airflow", "2.10.5", "2.11.2", &args).expect(0);
    assert_eq!(subjects(&run, "unknown-table"), Vec::<String>::new(), "{}", run.out);
    let run = check("airflow", "2.11.2", "2.3.4", &args).expect(1);
    assert_eq!(subjects(&run, "unknown-table"), ["reports.sql:2"], "{}", run.out);
}

#[test]
fn which_scripts_in_which_dialect() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().display().to_string();
    let run = check("dolphinscheduler", "3.0.6", "3.1.0", &["--sql", &path]).expect(2);
    assert!(run.err.contains("--dialect"), "{}", run.err);
    let run = check("dolphinscheduler", "3.0.6", "3.1.0", &["--sql", &path, "--dialect", "mysql"]).expect(2);
    assert!(run.err.contains("no .sql file is below it"), "{}", run.err);
}

/// Links lead back; a file in another encoding is named and passed over.
#[cfg(unix)]
#[test]
fn folders_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let script = "UPDATE t_ds_task_instance SET state = 5 WHERE id = 1;\n";
    std::fs::write(dir.path().join("a.sql"), script).unwrap();
    std::fs::write(dir.path().join("b.sql"), b"SELECT '\xff';\n").unwrap();
    for link in ["one", "two"] {
        std::os::unix::fs::symlink(dir.path(), dir.path().join(link)).unwrap();
    }
    let path = dir.path().display().to_string();
    let args = ["--sql", &path, "--dialect", "mysql", "--format", "json"];
    let run = check("dolphinscheduler", "3.0.6", "3.1.0", &args).expect(1);
    assert_eq!(subjects(&run, "unknown-state"), ["a.sql:1"], "{}", run.out);
    assert_eq!(subjects(&run, "unread-script"), ["b.sql"]);
}

/// A comment that allows something was written for the release of today.
#[test]
fn what_comments_allow_today_breaks_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let sql = "-- flowmend: allow unknown-table we know\nSELECT user_id FROM t_ds_relation_user_alertgroup WHERE id = 1;\n-- flowmend: allow unknown-table not there yet\nSELECT id FROM t_ds_environment WHERE id = 1;\n";
    let file = dir.path().join("a.sql");
    std::fs::write(&file, sql).unwrap();
    let args = ["--sql", &file.display().to_string(), "--dialect", "mysql", "--format", "json"];
    let run = check("dolphinscheduler", "1.3.9", "2.0.0", &args).expect(1);
    assert_eq!(subjects(&run, "unknown-table"), ["a.sql:2"], "{}", run.out);
    assert_eq!(subjects(&run, "unused-allow"), Vec::<String>::new(), "{}", run.out);
    let missing = dir.path().join("none").display().to_string();
    let run = check("dolphinscheduler", "1.3.9", "2.0.0", &["--sql", &missing, "--dialect", "mysql"]).expect(2);
    assert!(run.err.contains("there is no"), "{}", run.err);
}

/// A column that becomes needed breaks INSERTs that do not name it.
#[test]
fn inserts_that_lack_a_new_column() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.sql");
    std::fs::write(&file, "INSERT INTO dag_run (dag_id, execution_date, run_id, state) VALUES ('d', '2026-01-31 00:00:00+00', 'r', 'running');\n").unwrap();
    let args = ["--sql", &file.display().to_string(), "--dialect", "postgresql", "--format", "json"];
    let run = check("airflow", "1.10.15", "2.0.0", &args).expect(1);
    assert_eq!(subjects(&run, "insert-lacks-column"), ["a.sql:1"], "{}", run.out);
    let run = check("airflow", "2.0.0", "2.1.0", &args);
    assert_eq!(subjects(&run, "insert-lacks-column"), Vec::<String>::new(), "{}", run.out);
}

/// The exit code speaks of the scripts: what is said of the upgrade at large is for a run without them.
#[test]
fn scripts_alone_decide() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.sql");
    std::fs::write(&file, "SELECT id FROM t_ds_user;\n").unwrap();
    let args = ["--sql", &file.display().to_string(), "--dialect", "mysql", "--format", "json"];
    let run = check("dolphinscheduler", "3.0.6", "3.1.0", &args).expect(0);
    // No name shows that a script counts on a key: it is said, and breaks nothing by itself.
    let keys = ["unique-dropped", "foreign-key-dropped"];
    assert!(
        keys.iter().all(|code| findings(&run).iter().any(|f| f["code"] == *code && f["level"] == "info")),
        "{}",
        run.out
    );
}

//! New unique keys, and what a delete does: foreseen, and counted on databases.

use super::{check, counted, findings, of_code};
use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest;
use flowmend::manifest::ddl;

fn foreseen(scheduler: &str, from: &str, to: &str, code: &str) -> Vec<String> {
    let run = check(scheduler, from, to, &["--format", "json"]);
    of_code(&findings(&run), code).into_iter().map(|(subject, _, _)| subject).collect()
}

fn holds(list: &[String], wanted: &[&str]) {
    wanted.iter().for_each(|w| assert!(list.iter().any(|l| l == w), "{w} is not in {list:?}"));
}

#[test]
fn unique_keys_are_foreseen() {
    let registry = "xxl_job_registry(registry_group, registry_key, registry_value)";
    assert_eq!(foreseen("xxl-job", "2.4.2", "2.5.0", "unique-added"), [registry]);
    holds(&foreseen("airflow", "1.10.15", "2.0.0", "unique-added"), &["connection(conn_id)"]);
    let three = ["t_ds_project(name)", "t_ds_tenant(tenant_code)", "t_ds_relation_project_user(user_id, project_id)"];
    holds(&foreseen("dolphinscheduler", "2.0.9", "3.0.0", "unique-added"), &three);
    // The old primary key told these apart; a column that is new cannot be shared yet.
    let tasks = foreseen("airflow", "2.11.2", "3.0.0", "unique-added");
    assert!(!tasks.iter().any(|s| s.starts_with("task_instance(") || s.starts_with("dag_code(")), "{tasks:?}");
    // What another key still holds apart is not free.
    holds(
        &foreseen("dolphinscheduler", "3.0.6", "3.1.0", "unique-dropped"),
        &["t_ds_process_definition_log(code, version)"],
    );
}

#[test]
fn foreign_keys_are_foreseen() {
    let version = "task_instance(dag_version_id)";
    assert_eq!(foreseen("airflow", "3.0.6", "3.1.0", "foreign-key-changed"), [version]);
    let task = "t_ds_task_instance(process_instance_id)";
    assert_eq!(foreseen("dolphinscheduler", "3.0.6", "3.1.0", "foreign-key-dropped"), [task]);
    // By one more column, to the same table, with the same effect.
    for code in ["foreign-key-added", "foreign-key-dropped", "foreign-key-changed"] {
        assert_eq!(foreseen("quartz", "1.8.6", "2.0.2", code), [""; 0], "{code}");
    }
    let tags = "dag_tag(dag_id)";
    assert_eq!(foreseen("airflow", "2.3.1", "2.3.2", "foreign-key-changed"), [tags]);
}

/// Projects by name: two of one, one of another, two without.
fn projects(server: Server, release: &str) -> TestDb {
    let m = manifest(release);
    let db = TestDb::new(server);
    db.exec_all(&ddl::create_all(&m, &server.dialect()));
    for (id, name) in [(1, "'a'"), (2, "'a'"), (3, "'b'"), (4, "NULL"), (5, "NULL")] {
        db.exec(&format!(
            "INSERT INTO t_ds_project (id, code, name, user_id, create_time) VALUES ({id}, {id}, {name}, 1, '2026-01-31 10:00:00')"
        ));
    }
    db
}

#[test]
fn rows_that_share_a_key_are_counted() {
    for server in Server::available("rows_that_share_a_key_are_counted") {
        let db = projects(server, "2.0.9");
        let before = db.dump();
        let args = ["--url", &db.url, "--format", "json"];
        let ask = || findings(&check("dolphinscheduler", "2.0.9", "3.0.0", &args));
        let shared = ask();
        assert_eq!(counted(&shared, "rows-not-unique"), [("t_ds_project(name)".to_owned(), 2)], "{server:?}");
        let one = shared.iter().find(|f| f["code"] == "rows-not-unique").unwrap();
        assert_eq!((one["sample"][0].as_str(), one["level"].as_str()), (Some("a"), Some("error")), "{one}");
        assert_eq!(db.dump(), before);
        db.exec("UPDATE t_ds_project SET name = 'c' WHERE id = 2");
        assert_eq!(counted(&ask(), "rows-not-unique"), [], "{server:?}");
    }
}

#[test]
fn a_key_that_the_upgrade_did_not_make() {
    for server in Server::available("a_key_that_the_upgrade_did_not_make") {
        let db = projects(server, "3.0.0");
        let args = ["--url", &db.url, "--after", "--format", "json"];
        let ask = || findings(&check("dolphinscheduler", "2.0.9", "3.0.0", &args).expect(1));
        let is_missing = |found: &[serde_json::Value]| {
            of_code(found, "key-missing").iter().any(|(subject, _, _)| subject == "t_ds_project(name)")
        };
        let found = ask();
        assert!(is_missing(&found), "{server:?}: {found:?}");
        assert_eq!(counted(&found, "rows-not-unique"), [("t_ds_project(name)".to_owned(), 2)], "{server:?}");
        db.exec("UPDATE t_ds_project SET name = 'c' WHERE id = 2");
        db.exec("CREATE UNIQUE INDEX own ON t_ds_project (name)");
        let found = ask();
        assert!(!is_missing(&found), "{server:?}: {found:?}");
        assert_eq!(counted(&found, "rows-not-unique"), [], "{server:?}");
    }
}

//! A million tasks: each table is read once.

use super::{check, counted, findings};
use crate::support::db::{Server, TestDb};
use crate::support::fixture::{Rows, manifest};
use crate::support::program::flowmend;

#[test]
fn each_table_is_read_once() {
    let m = manifest("3.0.6");
    let db = TestDb::with_schema(Server::Sqlite, &m);
    let mut rows = Rows::new(&m, Server::Sqlite.dialect());
    rows.add("task_instance", &[("id", Some("1")), ("run_id", Some("1")), ("state", Some("5"))]);
    db.exec_all(&rows.statements);
    let columns: Vec<String> = db.columns("t_ds_task_instance").into_iter().filter(|c| c != "id").collect();
    let columns = columns.join(", ");
    let number = "SELECT 2 UNION ALL SELECT n + 1 FROM more WHERE n < 1000000";
    db.exec(&format!(
        "INSERT INTO t_ds_task_instance (id, {columns}) WITH RECURSIVE more(n) AS ({number}) SELECT n, {columns} FROM more JOIN t_ds_task_instance WHERE id = 1"
    ));
    let run = check("dolphinscheduler", "3.0.6", "3.1.0", &["--url", &db.url, "--format", "json"]).expect(1);
    assert_eq!(counted(&findings(&run), "unreadable-state"), [("t_ds_task_instance.state 5".to_owned(), 1_000_000)]);
    let args =
        ["upgrade-check", "--scheduler", "dolphinscheduler", "--from", "3.0.6", "--to", "3.1.0", "--url", &db.url];
    let said = flowmend([&args[..], &["-vv", "--color", "never"]].concat());
    for table in ["t_ds_task_instance", "t_ds_process_instance", "t_ds_command"] {
        let reads = said.err.lines().filter(|l| l.contains("SELECT") && l.contains(&format!("FROM \"{table}\"")));
        assert_eq!(reads.count(), 1, "{table}: {}", said.err);
    }
}

//! One clear message, the right exit code, nothing changed.

use crate::live::round::zombies;
use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest;
use crate::support::program::{Run, flowmend};

#[track_caller]
fn fails(args: &[&str], code: i32, says: &[&str]) -> Run {
    let run = flowmend(args).expect(code);
    assert!(run.out.is_empty(), "{}", run.out);
    for words in says {
        assert!(run.err.contains(words), "`{words}` is not in:\n{}", run.err);
    }
    assert!(!run.err.contains("panicked"), "{}", run.err);
    run
}

#[test]
fn addresses() {
    fails(&["inspect"], 2, &["no database was named", "FLOWMEND_URL"]);
    fails(&["inspect", "--url", "oracle://u:secret@h/d"], 2, &["unknown scheme `oracle`"]);
    fails(&["inspect", "--url", "mysql://u@h"], 2, &["names no database"]);
    fails(&["inspect", "--url", "sqlite:/nowhere/x.db"], 2, &["/nowhere/x.db is not a file"]);
    fails(&["inspect", "--url", "mysql://u@127.0.0.1:1/d"], 6, &["cannot connect to mysql://u@127.0.0.1:1/d"]);
    fails(&["inspect", "--url", "postgres://u@127.0.0.1:1/d"], 6, &["cannot connect to postgres://u@127.0.0.1:1/d"]);
}

#[test]
fn databases() {
    let empty = TestDb::new(Server::Sqlite);
    fails(&["inspect", "--url", &empty.url], 4, &["holds no tables"]);
    let foreign = TestDb::new(Server::Sqlite);
    foreign.exec("CREATE TABLE customers (id INTEGER PRIMARY KEY)");
    fails(&["inspect", "--url", &foreign.url], 4, &["not the database of a scheduler", "customers"]);
    let half = TestDb::with_schema(Server::Sqlite, &manifest("3.1.9"));
    half.exec("ALTER TABLE t_ds_process_instance DROP COLUMN state_history");
    half.exec("ALTER TABLE t_ds_process_instance DROP COLUMN restart_time");
    fails(&["inspect", "--url", &half.url], 4, &["half upgraded", "restart_time", "state_history"]);
    let text = TestDb::new(Server::Sqlite);
    std::fs::write(
        text.sqlite_file(),
        "this is no database, only a text that is long enough to be looked at\n".repeat(20),
    )
    .unwrap();
    fails(&["inspect", "--url", &text.url], 6, &["not a database"]);
}

/// apache/dolphinscheduler#8935, #12999: an upgrade step was skipped, the row says otherwise.
#[test]
fn a_skipped_upgrade_step() {
    let db = TestDb::with_schema(Server::Sqlite, &manifest("2.0.1"));
    db.exec("INSERT INTO t_ds_version (id, version) VALUES (1, '2.0.5')");
    fails(&["inspect", "--url", &db.url], 4, &["the version row says 2.0.5", "restart_time is missing", "--release"]);
    fails(&["plan", "zombie-tasks", "--url", &db.url], 4, &["the version row says 2.0.5"]);
    fails(&["inspect", "--url", &db.url, "--release", "2.0.5"], 4, &["the schema is not that of 2.0.5"]);
    let told = flowmend(["inspect", "--url", &db.url, "--release", "2.0.1"]).expect(0);
    assert!(told.out.contains("the version row says 2.0.5, you say 2.0.1"), "{}", told.out);
}

#[test]
fn alike_schemas_need_a_release() {
    let db = TestDb::with_schema(Server::Sqlite, &manifest("3.1.9"));
    fails(&["plan", "zombie-tasks", "--url", &db.url], 4, &["fits several generations", "--release"]);
    // Nothing is in it, whichever of them it is.
    let told = flowmend(["inspect", "--url", &db.url]).expect(0);
    assert!(told.out.contains("3.1.0, 3.1.1 to 3.1.2") && told.out.contains("plan wants --release"), "{}", told.out);
    flowmend(["inspect", "--url", &db.url, "--release", "3.1.9"]).expect(0);
}

#[test]
fn arguments() {
    let db = zombies(Server::Sqlite, "3.1.9");
    let plan = |extra: &[&str], code: i32, says: &[&str]| {
        fails(&[&["plan", "zombie-tasks", "--url", &db.url], extra].concat(), code, says);
    };
    fails(&["plan", "make-coffee", "--url", &db.url], 2, &["no recipe `make-coffee`", "zombie-tasks"]);
    fails(
        &["inspect", "--url", &db.url, "--release", "9.9.9"],
        2,
        &["no manifest for dolphinscheduler 9.9.9", "3.4.1"],
    );
    fails(&["inspect", "--url", &db.url, "--scheduler", "cron"], 2, &["unknown scheduler `cron`"]);
    plan(&["--outcome", "succeeded"], 2, &["invalid value 'succeeded'", "failed, killed"]);
    plan(&["--older-than", "soon", "--zone", "UTC"], 2, &["`soon` is not a duration"]);
    plan(&["--older-than", "2h"], 2, &["time zone", "--zone"]);
    plan(&["--zone", "Mars/Base"], 2, &["`Mars/Base` is not a time zone"]);
    plan(&["--now", "yesterday"], 2, &["`yesterday` is not a moment"]);
    plan(&["--dead-owner", "h'; DROP TABLE x"], 2, &["--dead-owner"]);
    plan(&["--instance", "one"], 2, &["`one` is not a whole number"]);
    plan(
        &["--dead-owner", "10.0.0.9:5678", "--zone", "UTC"],
        2,
        &["--choose resume", "--choose finish", "take them over"],
    );
    plan(&["--work-schema", "other"], 2, &["SQLite has one schema"]);
    plan(&["--colour", "red"], 2, &["unexpected argument"]);
}

#[test]
fn owners_from_a_file() {
    let db = zombies(Server::Sqlite, "3.1.9");
    let file = db.path("dead.txt");
    std::fs::write(&file, "# looked at by hand\n\n10.0.0.9:5678\n").unwrap();
    let (owners, out) = (format!("@{}", file.display()), db.path("b").display().to_string());
    let args = [
        "plan",
        "zombie-tasks",
        "--url",
        &db.url,
        "--dead-owner",
        &owners,
        "--choose",
        "finish",
        "--zone",
        "UTC",
        "--out",
        &out,
    ];
    flowmend(args).expect(0);
    let ticket = std::fs::read_to_string(db.path("b").join("TICKET.md")).unwrap();
    assert!(ticket.contains("10.0.0.9:5678: said by tester"), "{ticket}");
    let again = flowmend(args).expect(2);
    assert!(again.err.contains("exists and is not empty"), "{}", again.err);
}

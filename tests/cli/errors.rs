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
    fails(&["inspect", "--url", "MYSQL://u@h"], 2, &["names no database"]);
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

/// What a flag cannot take is said of the flag and its value, not of the command line's form.
#[test]
fn values_with_a_minus() {
    let db = zombies(Server::Sqlite, "3.1.9");
    let told = |flag: &str, value: &str, says: &[&str]| {
        fails(&["plan", "zombie-tasks", "--url", &db.url, "--zone", "UTC", flag, value], 2, says);
    };
    told("--older-than", "-5m", &["--older-than: `-5m` is not a duration", "without a minus", "30m, 2h, 1d"]);
    told("--timeout", "-5m", &["--timeout: `-5m` is not a duration"]);
    told("--now", "-5m", &["--now: `-5m` is not a moment"]);
    told("--instance", "-7", &["--instance names nothing in this database: `-7`"]);
    for flag in ["--older-than", "--timeout", "--now", "--instance"] {
        told(flag, "--choose=finish", &[flag, "the value is missing"]);
    }
}

/// A list may come from any editor, and what it cannot hold is said with the way out.
#[test]
fn lists_of_owners() {
    let db = zombies(Server::Sqlite, "3.1.9");
    let file = db.path("dead.txt");
    let list = format!("@{}", file.display());
    let args = ["inspect", "--url", &db.url, "--zone", "UTC", "--release", "3.1.9", "--dead-owner", &list];
    for text in ["\u{feff}10.0.0.9:5678\r\n", "\u{feff}# seen by hand\r\nHTTP://10.0.0.9:5678/\r\n"] {
        std::fs::write(&file, text).unwrap();
        let run = flowmend(args).expect(1);
        assert!(run.out.contains("said or shown to be dead") && run.err.is_empty(), "{text}: {}{}", run.out, run.err);
    }
    std::fs::write(&file, "10.0.0.9:5678\n*\n").unwrap();
    fails(&args, 2, &["dead.txt, line 2: * stands for every owner", "on the command line"]);
    std::fs::write(&file, "host; rm\n").unwrap();
    fails(&args, 2, &["dead.txt, line 1: not an owner", "one owner a line"]);
}

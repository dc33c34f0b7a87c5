//! The same text, any client: what the stock client does by hand and what the
//! program does end in the same rows, times and ledger.

use std::collections::BTreeMap;

use super::round::zombies;
use crate::support::bundle::{going_on, runner};
use crate::support::db::{Server, TestDb, Watch, same};
use crate::support::program::{on_bundle, plan, plan_in_zone, sealed};

const DEAD: &[&str] = &["--dead-owner", "10.0.0.9:5678"];
/// How far clocks may be apart between two runs of a test.
const SECONDS: i64 = 120;

/// Two databases with the same rows and a plan for each: for the stock client, for the program.
fn twins(server: Server, release: &str) -> (TestDb, TestDb) {
    let make = || {
        let db = zombies(server, release);
        plan(&db, "b", DEAD).expect(0);
        db
    };
    (make(), make())
}

fn stock(db: &TestDb, what: &str) {
    let output = db.stock(&runner(db, "b", what));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{:?} {what}\n{}\n{}", db.server, text(&output.stdout), text(&output.stderr));
}

/// Rows with the moments of the run taken out, after they were seen to be near each other.
fn same_rows(a: &TestDb, b: &TestDb) {
    let (mut watch_a, mut watch_b) = (Watch::new(a), Watch::new(b));
    let (rows_a, rows_b) = (watch_a.rows(), watch_b.rows());
    assert_eq!(rows_a.keys().collect::<Vec<_>>(), rows_b.keys().collect::<Vec<_>>());
    for (table, rows) in &rows_a {
        let columns = watch_a.columns(table);
        assert_eq!(rows.len(), rows_b[table].len(), "{table}");
        for (left, right) in rows.iter().zip(&rows_b[table]) {
            for ((column, l), r) in columns.iter().zip(left).zip(right) {
                if column == "update_time" && l != r {
                    assert!(apart(l, r) <= SECONDS, "{:?} {table}.{column}: {l:?} {r:?}", a.server);
                } else {
                    assert_eq!(l, r, "{:?} {table}.{column} of {left:?}", a.server);
                }
            }
        }
    }
}

fn apart(a: &Option<String>, b: &Option<String>) -> i64 {
    let read = |t: &Option<String>| t.as_deref().unwrap().replace(' ', "T").parse::<jiff::civil::DateTime>().unwrap();
    read(a).duration_until(read(b)).as_secs().abs()
}

/// flowmend's own tables, by the part of the name that is the same in each bundle.
fn own_rows(db: &TestDb) -> BTreeMap<String, usize> {
    let sql = match db.server {
        Server::Sqlite => "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'flowmend_%'",
        Server::PostgreSql => {
            "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' AND tablename LIKE 'flowmend_%'"
        }
        Server::MariaDb | Server::MySql => {
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE 'flowmend_%'"
        }
    };
    let names = db.rows(sql).into_iter().filter_map(|r| r.into_iter().next().flatten());
    let count = |name: &str| {
        db.value(&format!("SELECT {} FROM {name}", db.server.dialect().as_text("COUNT(*)"))).unwrap().parse().unwrap()
    };
    names
        .map(|name| {
            (
                name.trim_start_matches("flowmend_").trim_start_matches(|c: char| c.is_ascii_hexdigit()).to_owned(),
                count(&name),
            )
        })
        .collect()
}

fn same_everything(a: &TestDb, b: &TestDb) {
    same_rows(a, b);
    assert_eq!(a.guards(), b.guards());
    assert_eq!(own_rows(a), own_rows(b));
}

fn stock_and_program(server: Server, release: &str) {
    let (by_hand, by_program) = twins(server, release);
    let before = by_hand.dump();
    stock(&by_hand, "apply");
    sealed("apply", &by_program, "b", &[]).expect(0);
    assert_ne!(by_hand.dump(), before);
    same_everything(&by_hand, &by_program);
    // Each accepts what the other did.
    on_bundle("verify", &by_hand, "b").expect(0);
    let again = sealed("apply", &by_hand, "b", &[]).expect(0);
    assert!(again.out.contains("already applied"), "{}", again.out);
    second_run(&by_hand, "apply");
    second_run(&by_program, "apply");
    // Crosswise: the program undoes what the client did, and the reverse.
    sealed("rollback", &by_hand, "b", &[]).expect(0);
    stock(&by_program, "rollback");
    for db in [&by_hand, &by_program] {
        same(&db.dump(), &before, "rolled back");
    }
    same_everything(&by_hand, &by_program);
    on_bundle("verify", &by_program, "b").expect(0);
    let again = sealed("rollback", &by_program, "b", &[]).expect(0);
    assert!(again.out.contains("already rolled back"), "{}", again.out);
    for what in ["apply", "rollback"] {
        second_run(&by_program, what);
    }
    // The ledger keeps its rows when the backup tables are gone.
    sealed("clean", &by_hand, "b", &[]).expect(0);
    for what in ["apply", "rollback"] {
        second_run(&by_hand, what);
    }
}

/// A stock client that runs a runner again stops, and nothing changes.
fn second_run(db: &TestDb, what: &str) {
    let (rows, ledger) = (db.dump(), db.ledger());
    let output = db.stock(&runner(db, "b", what));
    assert!(!output.status.success(), "{:?}: a second {what} must show", db.server);
    same(&db.dump(), &rows, &format!("{:?}: a second {what}", db.server));
    assert_eq!(db.ledger(), ledger);
    // Nor does it when the client goes on.
    let (text, flags) = going_on(db.server, &std::fs::read_to_string(runner(db, "b", what)).unwrap());
    std::fs::write(db.path("again"), text).unwrap();
    db.stock_with(&db.path("again"), flags);
    same(&db.dump(), &rows, &format!("{:?}: a second {what}, client that goes on", db.server));
    assert_eq!(db.ledger(), ledger);
}

#[test]
fn stock_client_and_program_do_the_same() {
    for server in Server::available("stock_client_and_program_do_the_same") {
        stock_and_program(server, "3.1.9");
    }
}

#[test]
fn stock_client_and_program_do_the_same_with_deletes() {
    for server in Server::available("stock_client_and_program_do_the_same_with_deletes") {
        stock_and_program(server, "3.4.0");
    }
}

/// Seconds between a moment that a run wrote and now, as the server counts.
fn age(db: &TestDb, expression: &str, kind: Clock) -> i64 {
    let sql = match (db.server, kind) {
        (Server::Sqlite, Clock::Wall(hours)) => {
            format!("SELECT CAST(strftime('%s', 'now', '{hours} hours') - strftime('%s', {expression}) AS TEXT)")
        }
        (Server::Sqlite, Clock::Instant) => {
            format!("SELECT CAST(strftime('%s', 'now') - strftime('%s', {expression}) AS TEXT)")
        }
        (Server::PostgreSql, Clock::Wall(hours)) => {
            format!(
                "SELECT EXTRACT(EPOCH FROM (now() AT TIME ZONE 'UTC') + INTERVAL '{hours} hours' - {expression})::bigint::text"
            )
        }
        (Server::PostgreSql, Clock::Instant) => {
            format!("SELECT EXTRACT(EPOCH FROM now() - {expression})::bigint::text")
        }
        (_, Clock::Wall(hours)) => {
            format!("SELECT CAST(TIMESTAMPDIFF(SECOND, {expression}, UTC_TIMESTAMP() + INTERVAL {hours} HOUR) AS CHAR)")
        }
        (_, Clock::Instant) => format!("SELECT CAST(UNIX_TIMESTAMP() - UNIX_TIMESTAMP({expression}) AS CHAR)"),
    };
    db.value(&sql).unwrap().parse().unwrap()
}

/// What a column holds: a wall clock so many hours east of UTC, or an instant.
#[derive(Clone, Copy)]
enum Clock {
    Wall(i64),
    Instant,
}

fn times(server: Server, by_hand: bool) {
    let db = zombies(server, "3.1.9");
    plan_in_zone(&db, "b", "+08:00", DEAD).expect(0);
    if by_hand {
        stock(&db, "apply");
    } else {
        sealed("apply", &db, "b", &[]).expect(0);
    }
    let wall = Clock::Wall(8);
    // TIMESTAMP on MySQL is an instant; elsewhere these columns hold the scheduler's wall clock.
    let moment = if matches!(server, Server::MariaDb | Server::MySql) { Clock::Instant } else { wall };
    let near = |expression: &str, clock: Clock| {
        let age = age(&db, &format!("(SELECT {expression})"), clock);
        assert!((0..SECONDS).contains(&age), "{server:?} by_hand={by_hand} {expression}: {age} seconds ago");
    };
    near("update_time FROM t_ds_process_instance WHERE id = 1", moment);
    near("update_time FROM t_ds_task_group WHERE id = 1", moment);
    near("update_time FROM t_ds_task_group_queue WHERE id = 1", moment);
    near("recorded_at FROM flowmend_ledger WHERE step = 'end'", Clock::Instant);
    // A planned time is written as it was planned, whatever the session's zone.
    let text = server.dialect().as_text("end_time");
    let end = |table: &str| db.value(&format!("SELECT {text} FROM {table} WHERE id = 1")).unwrap();
    assert_eq!(end("t_ds_task_instance"), "2026-11-28 10:05:00");
    assert_eq!(end("t_ds_process_instance"), "2026-11-28 10:05:00");
    // What the repair does not touch keeps its time.
    assert_eq!(
        db.value(&format!(
            "SELECT {} FROM t_ds_task_group_queue WHERE id = 2",
            server.dialect().as_text("update_time")
        ))
        .as_deref(),
        Some("2026-11-28 10:00:00")
    );
}

#[test]
fn times_do_not_hang_on_the_client() {
    for server in Server::available("times_do_not_hang_on_the_client") {
        for by_hand in [true, false] {
            times(server, by_hand);
        }
    }
}

/// A copy of the database, or a slip in its name: the stock client changes nothing there.
#[test]
fn another_database_is_refused_by_the_sql_itself() {
    for server in [Server::MariaDb, Server::PostgreSql, Server::MySql] {
        if !server.is_there("another_database_is_refused_by_the_sql_itself") {
            continue;
        }
        let (planned, other) = (zombies(server, "3.1.9"), zombies(server, "3.1.9"));
        plan(&planned, "b", DEAD).expect(0);
        let before = other.dump();
        let output = other.stock(&runner(&planned, "b", "apply"));
        assert!(!output.status.success(), "{server:?}");
        let now = other.dump();
        for (table, rows) in &before {
            assert_eq!(&now[table], rows, "{server:?} {table}");
        }
    }
}

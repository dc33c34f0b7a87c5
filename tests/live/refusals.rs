//! What apply refuses, and that a refusal changes nothing.

use std::path::Path;

use super::round::zombies;
use crate::support::bundle::{copy, reseal, run_sealed, runner};
use crate::support::db::{Server, TestDb, Watch, same};
use crate::support::fixture::{Rows, manifest_of};
use crate::support::program::{Run, flowmend, on_bundle, plan, seal, sealed};

const DEAD: &[&str] = &["--dead-owner", "10.0.0.9:5678"];

fn planned(server: Server) -> TestDb {
    let db = zombies(server, "3.1.9");
    plan(&db, "b", DEAD).expect(0);
    db
}

/// apply of a directory ends with a code, says why, and changes nothing.
#[track_caller]
fn refuses(db: &TestDb, dir: &Path, code: i32, why: &str) -> Run {
    let rows = db.dump();
    let run = run_sealed("apply", db, dir, &[]).expect(code);
    assert!(run.err.contains(why), "{:?}: not `{why}` in {}", db.server, run.err);
    same(&db.dump(), &rows, &format!("{:?} {why}", db.server));
    run
}

// ---- the files ----

/// A changed copy of the bundle, under its old seal or a new one.
fn changed(db: &TestDb, name: &str, change: impl FnOnce(&Path)) -> std::path::PathBuf {
    let dir = db.path(name);
    copy(&db.path("b"), &dir);
    change(&dir);
    dir
}

#[test]
fn changed_files() {
    let db = planned(Server::Sqlite);
    let edit = |file: &'static str| {
        move |dir: &Path| {
            let text = std::fs::read_to_string(dir.join(file)).unwrap();
            std::fs::write(dir.join(file), text + "-- one more line\n").unwrap();
        }
    };
    for file in ["apply.sqlite", "plan.toml", "TICKET.md", "03_task_instance.sql"] {
        let dir = changed(&db, &format!("edited-{file}"), edit(file));
        refuses(&db, &dir, 4, &format!("{file} was changed after it was sealed"));
    }
    let dir = changed(&db, "added", |dir| std::fs::write(dir.join("09_more.sql"), "SELECT 1;\n").unwrap());
    refuses(&db, &dir, 4, "09_more.sql is not covered by the seal");
    let dir = changed(&db, "lost", |dir| std::fs::remove_file(dir.join("clean.sql")).unwrap());
    refuses(&db, &dir, 4, "clean.sql");
    let dir = changed(&db, "half", |dir| std::fs::write(dir.join("apply.sqlite"), ".bail on\n").unwrap());
    refuses(&db, &dir, 4, "apply.sqlite was changed");
    // A new seal over an edited plan does not help: its id is that of its text.
    let dir = changed(&db, "resealed", |dir| {
        edit("plan.toml")(dir);
        reseal(dir);
    });
    refuses(&db, &dir, 4, "its id is not that of its text");
    // Nor over edited SQL: it is what the plan gives, and no other.
    for file in ["apply.sqlite", "rollback.sqlite", "03_task_instance.sql", "session.sql"] {
        let dir = changed(&db, &format!("resealed-{file}"), |dir| {
            edit(file)(dir);
            reseal(dir);
        });
        refuses(&db, &dir, 4, &format!("{file} is not what plan.toml gives"));
        let show = flowmend(["show", &dir.display().to_string()]).expect(4);
        assert!(show.err.contains("is not what plan.toml gives"), "{}", show.err);
    }
    let dir = changed(&db, "more", |dir| {
        std::fs::write(dir.join("09_more.sql"), "SELECT 1;\n").unwrap();
        reseal(dir);
    });
    refuses(&db, &dir, 4, "09_more.sql is not what plan.toml gives");
    let dir = changed(&db, "escape", |dir| {
        let sums = std::fs::read_to_string(dir.join("SHA256SUMS")).unwrap();
        std::fs::write(dir.join("SHA256SUMS"), sums.replace("  clean.sql", "  ../clean.sql")).unwrap();
    });
    refuses(&db, &dir, 4, "SHA256SUMS names ../clean.sql");
}

#[test]
fn no_bundle_at_all() {
    let db = planned(Server::Sqlite);
    let run = |dir: &Path| flowmend(["apply", &dir.display().to_string(), "--url", &db.url, "--seal", "000000000000"]);
    let empty = db.path("empty");
    std::fs::create_dir(&empty).unwrap();
    run(&empty).expect(4);
    run(&db.path("nowhere")).expect(2);
    // Half written: the seal is the last file.
    let dir = changed(&db, "unsealed", |dir| std::fs::remove_file(dir.join("SHA256SUMS")).unwrap());
    let half = run(&dir).expect(4);
    assert!(half.err.contains("not a whole bundle"), "{}", half.err);
}

#[test]
fn the_seal_is_asked_for() {
    let db = planned(Server::Sqlite);
    let rows = db.dump();
    let dir = db.path("b").display().to_string();
    let wrong = flowmend(["apply", &dir, "--url", &db.url, "--seal", "0123456789ab"]).expect(4);
    assert!(wrong.err.contains("the seal of this bundle is"), "{}", wrong.err);
    let short = seal(&db.path("b"))[..11].to_owned();
    flowmend(["apply", &dir, "--url", &db.url, "--seal", &short]).expect(4);
    // Nobody at a terminal can answer.
    let none = flowmend(["apply", &dir, "--url", &db.url]).expect(2);
    assert!(none.err.contains("--seal"), "{}", none.err);
    same(&db.dump(), &rows, "the seal was wrong");
}

// ---- the database ----

#[test]
fn another_database() {
    for server in Server::available("another_database") {
        let (db, other) = (planned(server), zombies(server, "3.1.9"));
        if server == Server::Sqlite {
            std::fs::copy(db.sqlite_file(), other.sqlite_file()).unwrap();
        }
        refuses(&other, &db.path("b"), 4, "the bundle is for another database");
    }
}

#[test]
fn another_product() {
    let db = planned(Server::Sqlite);
    for server in [Server::MariaDb, Server::PostgreSql, Server::MySql] {
        if server.is_there("another_product") {
            refuses(&zombies(server, "3.1.9"), &db.path("b"), 4, "the bundle is for another product");
        }
    }
}

#[test]
fn a_column_was_added() {
    for server in Server::available("a_column_was_added") {
        let db = planned(server);
        db.exec("ALTER TABLE t_ds_task_instance ADD COLUMN note varchar(20)");
        refuses(&db, &db.path("b"), 4, "the columns of the tables in the plan");
        // The stock client does not look at columns; its rows are still the planned ones.
        assert!(db.stock(&runner(&db, "b", "apply")).status.success(), "{server:?}");
    }
}

#[test]
fn a_table_became_a_view() {
    for server in Server::available("a_table_became_a_view") {
        let db = planned(server);
        db.exec_all(&[
            "ALTER TABLE t_ds_task_group RENAME TO hidden_group".to_owned(),
            "CREATE VIEW t_ds_task_group AS SELECT * FROM hidden_group".to_owned(),
        ]);
        refuses(&db, &db.path("b"), 4, "");
        let rows = db.dump();
        assert!(!db.stock(&runner(&db, "b", "apply")).status.success(), "{server:?}");
        same(&db.dump(), &rows, &format!("{server:?}: stock client on a view"));
    }
}

#[test]
fn a_table_that_cannot_roll_back() {
    for server in [Server::MariaDb, Server::MySql] {
        if !server.is_there("a_table_that_cannot_roll_back") {
            continue;
        }
        let db = planned(server);
        db.exec("ALTER TABLE t_ds_task_group ENGINE = MyISAM");
        refuses(&db, &db.path("b"), 4, "storage engine MyISAM");
        let rows = db.dump();
        for flags in [&[][..], &["--force"][..]] {
            db.stock_with(&runner(&db, "b", "apply"), flags);
            same(&db.dump(), &rows, &format!("{server:?} {flags:?}"));
        }
    }
}

#[test]
fn a_read_only_database() {
    if !Server::PostgreSql.is_there("a_read_only_database") {
        return;
    }
    let db = planned(Server::PostgreSql);
    db.exec(&format!("ALTER DATABASE {} SET default_transaction_read_only = on", db.name));
    let refused = refuses(&db, &db.path("b"), 4, "transaction_read_only is on");
    assert!(refused.err.contains("for which default_transaction_read_only is off"), "{}", refused.err);
    let looked = on_bundle("verify", &db, "b").expect(4);
    assert!(looked.err.contains("nothing to verify"), "{}", looked.err);
}

#[test]
fn a_read_only_file() {
    let db = planned(Server::Sqlite);
    let mut permissions = std::fs::metadata(db.sqlite_file()).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(db.sqlite_file(), permissions).unwrap();
    let refused = refuses(&db, &db.path("b"), 4, "the database file is read only");
    // The way out is that of a file: it has no primary.
    assert!(
        refused.err.contains("let this user write the file") && !refused.err.contains("primary"),
        "{}",
        refused.err
    );
}

// ---- triggers ----

/// A trigger that bends a stopped run to FAILURE and sets all its tasks to FAILURE,
/// as a widely copied page installs it.
pub fn bending_trigger(server: Server) -> Vec<String> {
    let say = |sql: &str| sql.to_owned();
    match server {
        Server::MariaDb | Server::MySql => {
            vec![say("CREATE TRIGGER trg_stop_to_fail BEFORE UPDATE ON t_ds_process_instance FOR EACH ROW \
             BEGIN IF OLD.state IN (4, 5) THEN SET NEW.state = 6; \
             UPDATE t_ds_task_instance SET state = 6 WHERE process_instance_id = NEW.id; END IF; END")]
        }
        Server::PostgreSql => vec![
            say(
                "CREATE FUNCTION bend() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF OLD.state IN (4, 5) THEN NEW.state := 6; \
                 UPDATE t_ds_task_instance SET state = 6 WHERE process_instance_id = NEW.id; END IF; RETURN NEW; END $$",
            ),
            say(
                "CREATE TRIGGER trg_stop_to_fail BEFORE UPDATE ON t_ds_process_instance FOR EACH ROW EXECUTE FUNCTION bend()",
            ),
        ],
        Server::Sqlite => {
            vec![say("CREATE TRIGGER trg_stop_to_fail AFTER UPDATE ON t_ds_process_instance WHEN OLD.state IN (4, 5) \
             BEGIN UPDATE t_ds_process_instance SET state = 6 WHERE id = NEW.id; \
             UPDATE t_ds_task_instance SET state = 6 WHERE process_instance_id = NEW.id; END")]
        }
    }
}

/// A run being stopped (READY_STOP) with a finished and an unfinished task.
fn stopping_run(server: Server) -> TestDb {
    let db = zombies(server, "3.1.9");
    db.exec_all(&[
        "UPDATE t_ds_process_instance SET state = 4 WHERE id = 1".to_owned(),
        "UPDATE t_ds_task_instance SET state = 1, end_time = NULL WHERE id = 2".to_owned(),
        "UPDATE t_ds_task_instance SET state = 7 WHERE id = 1".to_owned(),
    ]);
    db
}

#[test]
fn a_trigger_is_refused() {
    for server in Server::available("a_trigger_is_refused") {
        let db = stopping_run(server);
        plan(&db, "b", DEAD).expect(0);
        db.exec_all(&bending_trigger(server));
        refuses(&db, &db.path("b"), 4, "trigger-present t_ds_process_instance.trg_stop_to_fail");
        // Planned with the trigger there: a warning, and the same refusal.
        let warned = plan(&db, "b2", DEAD).expect(0);
        assert!(warned.err.contains("trigger-present"), "{}", warned.err);
        refuses(&db, &db.path("b2"), 4, "trigger-present");
        // The stock client meets the guard.
        let rows = db.dump();
        for bundle in ["b", "b2"] {
            assert!(!db.stock(&runner(&db, bundle, "apply")).status.success(), "{server:?}");
            same(&db.dump(), &rows, "stock client, trigger");
        }
    }
}

/// Row counts alone would not see it: each UPDATE reports the expected number.
#[test]
fn a_trigger_that_bends_rows_is_rolled_back() {
    for server in Server::available("a_trigger_that_bends_rows_is_rolled_back") {
        let db = stopping_run(server);
        db.exec_all(&bending_trigger(server));
        plan(&db, "b", &[DEAD, &["--allow-triggers"]].concat()).expect(0);
        let mut watch = Watch::new(&db);
        let rows = watch.rows();
        let run = sealed("apply", &db, "b", &[]);
        assert_eq!(run.code, 3, "{server:?} {}{}", run.out, run.err);
        same(&watch.rows(), &rows, &format!("{server:?}: the bending trigger"));
        assert_eq!(db.value("SELECT state FROM t_ds_task_instance WHERE id = 1").as_deref(), Some("7"));
        on_bundle("rehearse", &db, "b").expect(3);
        db.stock(&runner(&db, "b", "apply"));
        same(&watch.rows(), &rows, &format!("{server:?}: the bending trigger, stock client"));
    }
}

/// A trigger that changes no planned row lets an allowed bundle through.
#[test]
fn a_harmless_trigger_is_allowed_by_name() {
    for server in Server::available("a_harmless_trigger_is_allowed_by_name") {
        let db = zombies(server, "3.1.9");
        let harmless: Vec<String> = bending_trigger(server).iter().map(|sql| sql.replace("(4, 5)", "(99)")).collect();
        db.exec_all(&harmless);
        plan(&db, "b", &[DEAD, &["--allow-triggers"]].concat()).expect(0);
        on_bundle("rehearse", &db, "b").expect(0);
        sealed("apply", &db, "b", &[]).expect(0);
        sealed("rollback", &db, "b", &[]).expect(0);
    }
}

/// A rule rewrites statements as a trigger does.
#[test]
fn a_rule_is_refused_too() {
    if !Server::PostgreSql.is_there("a_rule_is_refused_too") {
        return;
    }
    let db = planned(Server::PostgreSql);
    db.exec("CREATE RULE keep AS ON UPDATE TO t_ds_task_group DO ALSO NOTIFY moved");
    refuses(&db, &db.path("b"), 4, "trigger-present t_ds_task_group.keep");
    let rows = db.dump();
    assert!(!db.stock(&runner(&db, "b", "apply")).status.success());
    same(&db.dump(), &rows, "stock client, rule");
}

/// What was done is done: a receipt that cannot be written changes no exit code.
#[test]
fn a_receipt_that_cannot_be_written_is_a_warning() {
    let db = zombies(Server::Sqlite, "3.1.9");
    plan(&db, "b", &["--dead-owner", "10.0.0.9:5678"]).expect(0);
    // A file where the folder should be stops root, too.
    std::fs::write(db.path("b").join("receipts"), "").unwrap();
    let run = sealed("apply", &db, "b", &[]).expect(0);
    assert!(run.err.contains("cannot write a receipt"), "{}", run.err);
    on_bundle("verify", &db, "b").expect(0);
}

/// A moment to come makes the living look dead: refused where something beats, else said.
#[test]
fn a_moment_to_come() {
    let later = |db: &TestDb, command: &[&str]| {
        let at = ["--url", &db.url, "--zone", "+00:00", "--now", "2099-01-01T00:00:00Z"];
        flowmend([command, &at].concat())
    };
    for server in Server::available("a_moment_to_come") {
        let db = zombies(server, "3.1.9");
        let run = later(&db, &["inspect"]);
        assert!(run.out.contains("is still to come"), "{server:?}: {} {}", run.out, run.err);
        let m = manifest_of("quartz", "2.3.2");
        let db = TestDb::with_schema(server, &m);
        let beat = jiff::Timestamp::now().as_millisecond().to_string();
        let mut rows = Rows::new(&m, server.dialect());
        let node = [("sched_name", "S"), ("node", "A"), ("checkin", &beat), ("checkin_interval", "7500")];
        rows.add("scheduler_state", &node.map(|(name, value)| (name, Some(value))));
        db.exec_all(&rows.statements);
        let run = later(&db, &["inspect", "--release", "2.3.2"]).expect(2);
        assert!(run.err.contains("is still to come") && run.err.contains("beats"), "{server:?}: {}", run.err);
    }
}

#[test]
fn an_age_of_nothing() {
    let db = zombies(Server::Sqlite, "3.1.9");
    let run = plan(&db, "b", &["--older-than", "0s"]).expect(2);
    assert!(run.err.contains("would take in everything that lives"), "{}", run.err);
}

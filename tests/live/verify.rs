//! Verify looks and reports whatever became of the tables, as long as it can look.

use super::crash::DEAD;
use super::refusals::bending_trigger;
use super::round::zombies;
use crate::support::db::{Server, TestDb};
use crate::support::program::{flowmend, on_bundle, plan, sealed};

fn applied(server: Server) -> TestDb {
    let db = zombies(server, "3.1.9");
    plan(&db, "b", DEAD).expect(0);
    sealed("apply", &db, "b", &[]).expect(0);
    db
}

/// A trigger that appeared after the repair, as a widely copied page installs it:
/// the next write of a run bends the run and all its tasks.
#[test]
fn a_trigger_that_changes_the_repair() {
    for server in Server::available("a_trigger_that_changes_the_repair") {
        let db = applied(server);
        // Run 1 is FAILURE now: the page's trigger, for that state, to STOP.
        let trigger = |sql: &String| {
            sql.replace("(4, 5)", "(6)").replace("state := 6", "state := 5").replace("state = 6", "state = 5")
        };
        db.exec_all(&bending_trigger(server).iter().map(trigger).collect::<Vec<_>>());
        let warned = on_bundle("verify", &db, "b").expect(0);
        let sign = "warning: trigger-present t_ds_process_instance.trg_stop_to_fail";
        assert!(warned.out.contains(sign), "{server:?} {}", warned.out);
        db.exec("UPDATE t_ds_process_instance SET name = name WHERE id = 1");
        let failed = on_bundle("verify", &db, "b").expect(1);
        assert!(failed.out.contains(sign) && failed.out.contains("FAIL: "), "{server:?} {}", failed.out);
        for row in ["t_ds_process_instance 1", "t_ds_task_instance 1"] {
            assert!(failed.out.contains(&format!("drifted-after-apply {row}\n")), "{server:?} {}", failed.out);
        }
        assert!(failed.out.contains("state: expected 6 FAILURE, found 5 STOP"), "{server:?} {}", failed.out);
        let json = flowmend(["verify", &db.path("b").display().to_string(), "--url", &db.url, "--format", "json"]);
        let json: serde_json::Value = serde_json::from_str(&json.expect(1).out).unwrap();
        assert!(json["warnings"][0].as_str().unwrap().starts_with("trigger-present"), "{json}");
        // What writes still refuses.
        sealed("rollback", &db, "b", &[]).expect(4);
    }
}

#[test]
fn columns_that_came_and_went() {
    for server in Server::available("columns_that_came_and_went") {
        let db = applied(server);
        db.exec("ALTER TABLE t_ds_task_instance ADD COLUMN note varchar(20)");
        let warned = on_bundle("verify", &db, "b").expect(0);
        assert!(warned.out.contains("warning: the columns of the tables"), "{server:?} {}", warned.out);
        db.exec("ALTER TABLE t_ds_task_instance DROP COLUMN note");
        assert!(!on_bundle("verify", &db, "b").expect(0).out.contains("warning"));
        db.exec("ALTER TABLE t_ds_task_instance DROP COLUMN log_path");
        let refused = on_bundle("verify", &db, "b").expect(4);
        assert!(refused.err.contains("t_ds_task_instance.log_path is gone"), "{server:?} {}", refused.err);
    }
}

/// Another flowmend knows the release by another manifest; the rows are the same.
#[test]
fn with_other_manifests() {
    let db = applied(Server::Sqlite);
    let enums = db.path("enums");
    std::fs::create_dir_all(enums.join("dolphinscheduler")).unwrap();
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("enums/dolphinscheduler");
    for entry in std::fs::read_dir(own).unwrap().map(|e| e.unwrap()) {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        std::fs::write(enums.join("dolphinscheduler").join(entry.file_name()), text + "\n# by us\n").unwrap();
    }
    let dir = db.path("b").display().to_string();
    let with = |command: &str| flowmend([command, &dir, "--url", &db.url, "--enums", &enums.display().to_string()]);
    with("verify").expect(0);
    let refused = with("rehearse").expect(4);
    assert!(refused.err.contains("is not the one the bundle was planned from"), "{}", refused.err);
}

#[test]
fn another_database_or_another_seal() {
    let (db, other) = (applied(Server::Sqlite), applied(Server::Sqlite));
    let dir = db.path("b");
    let refused = flowmend(["verify", &dir.display().to_string(), "--url", &other.url]).expect(4);
    assert!(refused.err.contains("the bundle is for another database"), "{}", refused.err);
    std::fs::write(dir.join("clean.sql"), "-- nothing\n").unwrap();
    let refused = on_bundle("verify", &db, "b").expect(4);
    assert!(refused.err.contains("was changed after it was sealed"), "{}", refused.err);
}

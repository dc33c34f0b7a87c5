//! Tables whose names begin with another prefix than upstream's.

use flowmend::manifest::{Manifests, ddl};

use crate::support::bundle::runner;
use crate::support::db::{Server, TestDb, same};
use crate::support::program::{Run, flowmend, flowmend_env, on_bundle, plan_recipe, sealed};
use crate::support::quartz::{self, RELEASE, fill, locks, manifest, plan, store};

fn with_prefix(server: Server, prefix: &str) -> TestDb {
    store(server, &manifest(RELEASE).with_prefix(prefix), &["S1"])
}

fn inspect(db: &TestDb, extra: &[&str]) -> Run {
    let args = ["inspect", "--url", &db.url, "--now", "2026-11-29T00:00:00Z", "--zone", "+00:00", "--release", RELEASE];
    flowmend([&args, extra].concat())
}

/// Plan, rehearse, apply, verify, undo and clean, by the program and by the stock client.
fn whole_road(db: &TestDb, extra: &[&str]) {
    let before = db.dump();
    plan(db, extra).expect(0);
    on_bundle("rehearse", db, "b").expect(0);
    same(&db.dump(), &before, "rehearsed");
    let show = flowmend(["show", &db.path("b").display().to_string()]).expect(0);
    assert!(show.out.contains("--table-prefix"), "{}", show.out);
    sealed("apply", db, "b", &[]).expect(0);
    assert_ne!(db.dump(), before);
    on_bundle("verify", db, "b").expect(0);
    sealed("rollback", db, "b", &[]).expect(0);
    same(&db.dump(), &before, "undone");
    sealed("clean", db, "b", &[]).expect(0);
    std::fs::remove_dir_all(db.path("b")).unwrap();
    // Another moment is another bundle.
    let out = db.path("b").display().to_string();
    let args = ["plan", "orphan-triggers", "--url", &db.url, "--out", &out, "--now", "2026-11-30T00:00:00Z"];
    flowmend([&args[..], &["--zone", "+00:00", "--release", RELEASE], extra].concat()).expect(0);
    for what in ["apply", "rollback"] {
        let output = db.stock(&runner(db, "b", what));
        assert!(output.status.success(), "{:?} {}", db.server, String::from_utf8_lossy(&output.stderr));
        on_bundle("verify", db, "b").expect(0);
    }
    same(&db.dump(), &before, "undone by the stock client");
}

/// Quartz inside a database of XXL-JOB, whose own tables have the same prefix.
#[test]
fn inside_xxl_job() {
    let m = Manifests::load(None).unwrap();
    let carrier = m.release("xxl-job", "2.0.2").unwrap();
    let own = manifest(RELEASE).with_prefix("XXL_JOB_QRTZ_");
    for server in [Server::MariaDb, Server::MySql] {
        if !server.is_there("inside_xxl_job") {
            continue;
        }
        let db = TestDb::new(server);
        db.exec_all(&ddl::create_all(carrier, &server.dialect()));
        fill(&db, &own, &["S1"]);
        locks(&db, &own, "S1");
        db.exec(
            "INSERT INTO XXL_JOB_QRTZ_TRIGGER_REGISTRY (registry_group, registry_key, registry_value) VALUES ('a', 'b', 'c')",
        );
        // Without a word it is XXL-JOB's database.
        let found = flowmend(["inspect", "--url", &db.url, "--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&found.out).unwrap();
        assert_eq!(found["scheduler"], "xxl-job");
        let refused = plan(&db, &["--scheduler", "quartz"]).expect(4);
        assert!(refused.err.contains("--table-prefix 'XXL_JOB_QRTZ_'"), "{}", refused.err);
        whole_road(&db, &["--table-prefix", "XXL_JOB_QRTZ_"]);
    }
}

#[test]
fn any_prefix_everywhere() {
    for server in Server::available("any_prefix_everywhere") {
        // The longest table of Quartz has 19 characters behind its prefix, and MySQL itself names
        // foreign keys after the table.
        let long = format!("{}_", "long".repeat(9));
        for prefix in ["qrtz_", "T_", "my jobs'\"`", &long] {
            let db = with_prefix(server, prefix);
            whole_road(&db, &["--table-prefix", prefix]);
            let all =
                ["--all", "--release", RELEASE, "--table-prefix", prefix, "--recovery", "drop", "--bursts", "leave"];
            let out = db.path("all").display().to_string();
            let args = ["plan", "--url", &db.url, "--out", &out, "--now", "2026-11-29T00:00:00Z", "--zone", "+00:00"];
            flowmend([&args[..], &all[..]].concat()).expect(0);
            on_bundle("rehearse", &db, "all").expect(0);
        }
    }
}

/// A store may have no prefix at all; the environment's empty value is none.
#[test]
fn no_prefix_at_all() {
    let db = with_prefix(Server::Sqlite, "");
    whole_road(&db, &["--table-prefix", ""]);
    let upstream = with_prefix(Server::Sqlite, "QRTZ_");
    let args = ["inspect", "--url", &upstream.url, "--zone", "+00:00", "--release", RELEASE];
    flowmend_env(args, &[("FLOWMEND_TABLE_PREFIX", "")]).expect(1);
}

#[test]
fn the_environment_says_it() {
    let db = with_prefix(Server::Sqlite, "T_");
    let args = ["inspect", "--url", &db.url, "--zone", "+00:00", "--release", RELEASE, "--format", "json"];
    let found = flowmend_env(args, &[("FLOWMEND_TABLE_PREFIX", "t_")]).expect(1);
    assert!(found.out.contains("with --table-prefix t_"), "{}", found.out);
}

/// The refusal names the prefix that is there.
#[test]
fn another_prefix_is_named() {
    for server in Server::available("another_prefix_is_named") {
        let db = with_prefix(server, "BATCH_QRTZ_");
        let refused = inspect(&db, &[]).expect(4);
        assert!(refused.err.contains("no tables of Quartz begin with `QRTZ_`"), "{server:?}: {}", refused.err);
        assert!(refused.err.contains("--table-prefix 'BATCH_QRTZ_'"), "{server:?}: {}", refused.err);
        inspect(&db, &["--table-prefix", "batch_qrtz_"]).expect(1);
    }
}

#[test]
fn several_prefixes_are_listed() {
    let db = with_prefix(Server::Sqlite, "A_");
    let other = manifest(RELEASE).with_prefix("B_");
    db.exec_all(&ddl::create_named(&other, &db.server.dialect()));
    let refused = inspect(&db, &[]).expect(4);
    assert!(refused.err.contains("`A_`, `B_`") && refused.err.contains("--table-prefix"), "{}", refused.err);
    db.exec_all(&ddl::create_named(&manifest(RELEASE), &db.server.dialect()));
    let refused = inspect(&db, &[]).expect(4);
    assert!(refused.err.contains("several sets of tables of Quartz"), "{}", refused.err);
    assert!(refused.err.contains("`A_`, `B_`, `QRTZ_`"), "{}", refused.err);
    let found = inspect(&db, &["--table-prefix", "A_"]).expect(1);
    assert!(found.out.contains("orphan-acquired"), "{}", found.out);
    // The other set is empty.
    inspect(&db, &["--table-prefix", "QRTZ_"]).expect(0);
}

#[test]
fn prefixes_that_are_not_there() {
    let db = with_prefix(Server::Sqlite, "T_");
    let long = "x".repeat(500);
    for (prefix, says) in [
        ("QRTZ_", "these prefixes are there: `T_`"),
        ("quartz.T_", "these prefixes are there: `T_`"),
        ("T_\n", "is no prefix of a table's name"),
        (long.as_str(), "no table of"),
        ("T'; DROP TABLE x; --", "no table of"),
    ] {
        let run = inspect(&db, &["--table-prefix", prefix]);
        assert!(matches!(run.code, 2 | 4), "{prefix}: {run:?}");
        assert!(run.err.contains("--table-prefix") && run.err.contains(says), "{prefix}: {}", run.err);
    }
    let run = inspect(&db, &["--table-prefix", "T_", "--scheduler", "dolphinscheduler"]).expect(2);
    assert!(run.err.contains("the table names of dolphinscheduler are always the same"), "{}", run.err);
    let empty = TestDb::with_schema(Server::Sqlite, &crate::support::fixture::manifest("3.1.9"));
    let run = inspect(&empty, &["--table-prefix", "jobs.QRTZ_"]).expect(4);
    assert!(run.err.contains("name it with --schema"), "{}", run.err);
}

/// Part of a set is there under the prefix that was said.
#[test]
fn half_a_set() {
    let db = with_prefix(Server::Sqlite, "T_");
    db.exec("DROP TABLE \"T_SIMPROP_TRIGGERS\"");
    let run = inspect(&db, &["--table-prefix", "T_"]).expect(4);
    assert!(run.err.contains("T_SIMPROP_TRIGGERS"), "{}", run.err);
}

/// A bundle keeps its prefix, whatever the environment says when it is applied.
#[test]
fn the_bundle_keeps_it() {
    let db = with_prefix(Server::Sqlite, "T_");
    plan(&db, &["--table-prefix", "T_"]).expect(0);
    let text = std::fs::read_to_string(db.path("b").join("plan.toml")).unwrap();
    assert!(text.contains("table_prefix = \"T_\""), "{text}");
    let dir = db.path("b").display().to_string();
    let seal = crate::support::program::seal(&db.path("b"));
    let args = ["apply", &dir, "--url", &db.url, "--seal", &seal];
    flowmend_env(args, &[("FLOWMEND_TABLE_PREFIX", "OTHER_")]).expect(0);
    // The set that upstream names is another one.
    let upstream = store(Server::Sqlite, &quartz::manifest(RELEASE), &["S1"]);
    plan_recipe(&upstream, "orphan-triggers", "b", &["--release", RELEASE]).expect(0);
    assert!(
        std::fs::read_to_string(upstream.path("b").join("plan.toml")).unwrap().contains("table_prefix = \"QRTZ_\"")
    );
}

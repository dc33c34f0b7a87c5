//! Golden bundles: the whole text of a bundle on each product, as snapshots,
//! and the finished bundle in `examples/`.
//!
//! `INSTA_UPDATE=always` writes the snapshots anew; `FLOWMEND_UPDATE_EXAMPLES=1`
//! writes the example.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flowmend::bundle::{self, Bundle};
use flowmend::data::Tree;
use flowmend::lint::{Level, faults_of};
use flowmend::plan::Plan;
use flowmend::render::files::render;

use crate::live::round::zombies;
use crate::property::drive::app;
use crate::support::db::Server;
use crate::support::program::plan;

/// The plan of the round-trip fixture, without what differs from machine to machine.
fn neutral_plan(server: Server) -> Plan {
    let db = zombies(server, "3.1.9");
    plan(&db, "b", &["--dead-owner", "10.0.0.9:5678", "--older-than", "2h", "--operator", "ann"]).expect(0);
    let mut plan = Bundle::read(&db.path("b")).unwrap().plan;
    plan.target.server = "db1.example:3306/1".to_owned();
    plan.target.server_version = "(version)".to_owned();
    plan.target.database = "dolphinscheduler".to_owned();
    plan.target.address = "db1.example:1234".to_owned();
    plan.from.manifest_sha256 = "(sha256)".to_owned();
    plan.from.recipe_sha256 = "(sha256)".to_owned();
    plan.flowmend = "(version)".to_owned();
    plan
}

fn files(plan: &Plan) -> BTreeMap<String, String> {
    render(plan, &Tree::templates(None).unwrap()).unwrap()
}

fn snapshot(server: Server, name: &str) {
    if !server.is_there("golden") {
        return;
    }
    let plan = neutral_plan(server);
    let rendered = files(&plan);
    let runner = format!("apply.{}", server.client());
    let app = app();
    let said = faults_of(&plan, &runner, &rendered[&runner], &app.manifests, &app.rules, Level::Warning).unwrap();
    let said: Vec<String> = said.iter().map(ToString::to_string).collect();
    assert!(said.is_empty(), "the linter on our own bundle: {said:?}");
    for part in [
        "session.sql",
        "tables.sql",
        "01_preflight.sql",
        "02_backup.sql",
        "03_task_instance.sql",
        "06_task_group.sql",
        "07_verify.sql",
        "rollback.sql",
    ] {
        assert!(
            part == "rollback.sql" || rendered[&runner].contains(rendered[part].trim_end()),
            "{part} is in {runner}, word for word"
        );
    }
    let text: String =
        rendered.iter().filter(|(n, _)| !n.starts_with("apply.")).map(|(n, t)| format!("==== {n}\n{t}\n")).collect();
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn bundle_on_mariadb() {
    snapshot(Server::MariaDb, "mariadb");
}

#[test]
fn bundle_on_mysql() {
    snapshot(Server::MySql, "mysql");
}

#[test]
fn bundle_on_postgresql() {
    snapshot(Server::PostgreSql, "postgresql");
}

#[test]
fn bundle_on_sqlite() {
    snapshot(Server::Sqlite, "sqlite");
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/zombie-tasks")
}

/// The finished bundle in `examples/` is what this flowmend writes for its plan.
#[test]
fn the_example_is_a_whole_bundle() {
    if std::env::var_os("FLOWMEND_UPDATE_EXAMPLES").is_some() {
        let mut plan = neutral_plan(Server::MariaDb);
        plan.target.server_version = "10.11.19-MariaDB".to_owned();
        plan.flowmend = env!("CARGO_PKG_VERSION").to_owned();
        let _ = std::fs::remove_dir_all(example());
        bundle::write(&example(), &files(&plan)).unwrap();
    }
    let found = Bundle::read(&example()).unwrap();
    let written = files(&found.plan);
    assert!(written.keys().eq(found.files.keys()), "{:?}", found.files.keys());
    // A whole bundle on the screen shows nothing.
    let other: Vec<&String> =
        written.iter().filter(|(name, text)| found.files[*name] != **text).map(|(n, _)| n).collect();
    assert!(other.is_empty(), "{other:?} differ; FLOWMEND_UPDATE_EXAMPLES=1 writes them anew");
}

/// The clock is an argument, and every query is ordered: two plans are the same bytes.
#[test]
fn the_same_arguments_give_the_same_bytes() {
    for server in Server::available("deterministic") {
        let db = zombies(server, "3.1.9");
        for name in ["a", "b"] {
            plan(&db, name, &["--dead-owner", "10.0.0.9:5678", "--older-than", "2h"]).expect(0);
        }
        let (a, b) = (Bundle::read(&db.path("a")).unwrap(), Bundle::read(&db.path("b")).unwrap());
        assert_eq!(a.files, b.files);
        assert_eq!(a.seal, b.seal);
    }
}

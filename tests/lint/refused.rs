//! Rules with mistakes are refused when they are loaded.

use flowmend::data::Tree;
use flowmend::lint::{DataRules, Knowledge};
use flowmend::manifest::{Engine, Manifests};

/// A rule that is right, but for what a test puts in.
fn load(from: &str, to: &str) -> Result<DataRules, String> {
    const RIGHT: &str = r#"level = "warning"
message = "{{ table }} rows become {{ to }}"
why = ["first", "{{ col.state }} of {{ release }}"]
help = ["{{ from }}"]
source = ["somewhere"]
on = ["task_instance"]
does = ["update"]
reads_none = ["command"]

[to]
state = ["finished"]
"#;
    assert!(RIGHT.contains(from));
    let text = RIGHT.replace(from, to);
    let tree = Tree::of([("dolphinscheduler/mine.toml", text.as_str())]);
    DataRules::from_tree(&tree, &Manifests::load(None).unwrap()).map_err(|e| format!("{e:#}"))
}

#[test]
fn a_rule_without_mistakes_is_loaded() {
    assert_eq!(load("first", "second").unwrap().iter().count(), 1);
}

#[test]
fn mistakes_are_named_with_file_and_key() {
    for (from, to, wanted) in [
        ("{{ table }}", "{{ table", "message"),
        ("{{ table }}", "{{ tabel }}", "message"),
        ("{{ col.state }}", "{{ col.stat }}", "why[1]"),
        ("{{ from }}", "{% if from %}", "help[0]"),
        ("{{ from }}", "{{ from | shout }}", "help[0]"),
        ("\"warning\"", "\"loud\"", "level"),
        ("\"command\"", "\"comand\"", "comand"),
        ("state =", "stat =", "stat"),
        ("does =", "dose =", "dose"),
        ("[to]", "[after]\nstat = [\"finished\"]\n\n[to]", "stat"),
        ("[to]", "[unless]\n\n[to]", "unless"),
        ("[to]", "[unless]\ndeletes = [\"comand\"]\n\n[to]", "comand"),
        ("[to]", "[unless]\ndeletes = [\"command\"]\nto.state = [\"finished\"]\n\n[to]", "one of them"),
    ] {
        let said = load(from, to).unwrap_err();
        assert!(said.contains("dolphinscheduler/mine.toml"), "{to}: {said}");
        assert!(said.contains(wanted), "{to}: {said}");
    }
}

/// A release is not checked against a database for which upstream has no schema.
#[test]
fn a_database_without_a_schema_is_named_with_those_that_have_one() {
    let manifests = Manifests::load(None).unwrap();
    let of = |engine| Knowledge::of(&manifests, "xxl-job", "2.4.2", engine);
    let refused = format!("{:#?}", of(Engine::PostgreSql).err().unwrap());
    assert!(refused.contains("has no schema for PostgreSQL") && refused.contains("--dialect mysql"), "{refused}");
    for engine in [Engine::MySql, Engine::Sqlite] {
        assert!(of(engine).is_ok(), "{engine:?}");
    }
}

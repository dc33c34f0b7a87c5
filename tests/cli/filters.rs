//! A filter that names nothing is an error, not a healthy database.

use std::collections::BTreeMap;

use flowmend::data::Tree;
use flowmend::manifest::{Manifest, Manifests};
use flowmend::recipe::{Names, Parameter, ParameterKind, Recipes};

use crate::support::db::{Server, TestDb};
use crate::support::demos::{Demo, demos};
use crate::support::nodes::Store;
use crate::support::program::flowmend;

/// Texts and numbers that name no row: what is said, and when something is to happen.
const NO_NAMES: [&str; 3] = ["note", "next-fire-time", "far-ahead-days"];

/// Every flag of a scheduler that may name rows.
fn filters(scheduler: &str) -> Vec<Parameter> {
    let recipes = Recipes::checked(&Tree::templates(None).unwrap(), &Manifests::load(None).unwrap()).unwrap();
    let names = |p: &&Parameter| matches!(p.kind, ParameterKind::Texts | ParameterKind::Numbers);
    let all = recipes.of(scheduler).flat_map(|r| &r.file.parameters).filter(names);
    let by_name: BTreeMap<_, _> = all.map(|p| (p.name.clone(), p.clone())).collect();
    by_name.into_values().filter(|p| !NO_NAMES.contains(&p.name.as_str())).collect()
}

/// What is said of a filter's values when one of them is known to name nothing.
fn idle(demo: &Demo, db: &TestDb, flag: &str, values: [&str; 2]) -> String {
    let flag = format!("--{flag}");
    let told = ["--release", &demo.release, "--now", &demo.now, "--zone", "UTC"];
    let args = [&["inspect", "--url", &db.url], &told[..], &[&flag, values[0], &flag, values[1]]].concat();
    let run = flowmend(args).expect(2);
    assert!(run.out.is_empty(), "{}", run.out);
    run.err
}

/// A name that some row has, from the first of the filter's places with any.
fn some_name(db: &TestDb, m: &Manifest, p: &Parameter) -> Option<String> {
    p.among.iter().find_map(|Names(names)| {
        let table = &m.roles.get(names[0].split('.').next().unwrap())?.table;
        let columns: Option<Vec<&str>> = names.iter().map(|name| m.column(name).ok()).collect();
        let d = db.server.dialect();
        let columns: Vec<String> = columns?.iter().map(|c| d.as_text(&d.ident(c))).collect();
        let sql = format!("SELECT {} FROM {} LIMIT 1", columns.join(", "), d.ident(table));
        let row = db.rows(&sql).into_iter().next()?;
        Some(row.into_iter().flatten().collect::<Vec<_>>().join("."))
    })
}

#[test]
fn every_filter_names_something_or_says_that_it_does_not() {
    let mut tried = 0;
    for server in Server::available("every_filter_names_something_or_says_that_it_does_not") {
        for demo in demos().iter().filter(|demo| demo.runs_on(server)) {
            let (db, m) = (demo.database(server), demo.manifest());
            for p in filters(&demo.name) {
                assert!(!p.among.is_empty(), "{}: --{} says not where its names are", demo.name, p.name);
                let there = some_name(&db, &m, &p).unwrap_or_else(|| panic!("{}: no row for --{}", demo.name, p.name));
                let says = idle(demo, &db, &p.name, [&there, "987654321"]);
                let first = format!("error: --{} names nothing in this database: `987654321`\n", p.name);
                assert!(says.starts_with(&first), "{there}: {says}");
                tried += 1;
            }
        }
    }
    assert!(tried >= filters("dolphinscheduler").len() + filters("airflow").len(), "{tried}");
}

#[test]
fn a_misspelt_name_is_met_with_those_that_are_there() {
    for server in Server::available("a_misspelt_name_is_met_with_those_that_are_there") {
        let store = Store::new(server);
        store.trigger("Billing", "nightly_invoices", "WAITING").trigger("Billing", "reminders", "WAITING");
        let refused = |args: &[&str], says: &[&str]| {
            let run = store.inspect(args).expect(2);
            for words in says {
                assert!(run.err.contains(words), "{args:?}: {}", run.err);
            }
        };
        refused(&["--sched-name", "Biling"], &["--sched-name names nothing", "`Biling`", "did you mean Billing?"]);
        // The scheduler compares names sign by sign, whatever the collation says.
        refused(&["--sched-name", "billing"], &["--sched-name names nothing", "did you mean Billing?"]);
        refused(&["--sched-name", "Billing "], &["--sched-name names nothing", "did you mean Billing?"]);
        refused(&["--sched-name", "Reports"], &["`Reports`", "there are Billing"]);
        // One of two.
        refused(
            &["--trigger", "reminders", "--trigger", "G.nightly_invoice"],
            &["`G.nightly_invoice`", "G.nightly_invoices"],
        );
        refused(&["--dag", "sales"], &["no recipe of Quartz has a parameter --dag", "--trigger-group"]);
        let plan = store.plan("error-triggers", "none", &["--trigger", "reminder"]).expect(2);
        assert!(plan.err.contains("did you mean reminders"), "{}", plan.err);
        assert!(!store.db.path("none").exists());
        store.inspect(&["--trigger", "reminders", "--trigger", "G.nightly_invoices"]).expect(0);
    }
}

/// Before 2.0 a set of tables held one scheduler: to narrow by its name would narrow nothing.
#[test]
fn a_filter_that_the_release_cannot_hold_is_refused() {
    let m = Manifests::load(None).unwrap().release("quartz", "1.8.6").unwrap().clone();
    let db = TestDb::with_schema(Server::Sqlite, &m);
    let run = flowmend(["inspect", "--url", &db.url, "--release", "1.8.6", "--sched-name", "Billing"]).expect(2);
    assert!(run.err.contains("--sched-name: Quartz 1.8.6") && run.err.contains("leave it out"), "{}", run.err);
}

/// The recipes of a scheduler that write and take no part in a filter.
fn beyond(scheduler: &str, flag: &str) -> Vec<String> {
    let recipes = Recipes::load(&Tree::templates(None).unwrap(), &Manifests::load(None).unwrap()).unwrap();
    let writes = recipes.of(scheduler).filter(|r| !r.file.steps.is_empty() && r.parameter(flag).is_none());
    writes.map(|r| r.file.name.clone()).collect()
}

/// A recipe that a filter cannot narrow plans nothing but what the others uncover, and that is said.
#[test]
fn all_together_stay_within_the_filter() {
    let mut left = 0;
    for demo in demos() {
        let (db, m) = (demo.database(Server::Sqlite), demo.manifest());
        let out = db.path("b").display().to_string();
        for p in filters(&demo.name).iter().filter(|p| p.narrows_all()) {
            let (flag, name) = (format!("--{}", p.name), some_name(&db, &m, p).unwrap());
            let mut args = vec!["plan", "--all", "--url", &db.url, "--now", &demo.now, "--zone", "UTC"];
            if !demo.said.contains(&"--release".to_owned()) {
                args.extend(["--release", &demo.release]);
            }
            args.extend(demo.said.iter().map(String::as_str));
            args.extend(["--out", &out, &flag, &name]);
            let run = flowmend(args);
            assert!([0, 4].contains(&run.code), "{} {flag} {name}: {}{}", demo.name, run.out, run.err);
            if db.path("b").is_dir() {
                let plan = flowmend::bundle::Bundle::read(&db.path("b")).unwrap().plan;
                let (beyond, uncovered) = (beyond(&demo.name, &p.name), plan.evidence.iter().any(|e| e.uncovered > 0));
                let own = plan.steps.iter().find(|s| beyond.contains(&s.recipe));
                assert!(own.is_none() || uncovered, "{} {flag}: {:?}", demo.name, own.map(|s| &s.title));
                std::fs::remove_dir_all(db.path("b")).unwrap();
            }
            let said = run.out.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ");
            if said.contains("(beyond-filter)") {
                assert!(said.contains(&format!("plan it apart, without {flag}: flowmend plan ")), "{said}");
                left += 1;
            }
        }
    }
    assert!(left > 1, "{left}");
}

/// What only one recipe takes is that recipe's own matter.
#[test]
fn filters_of_one_recipe_leave_the_others_alone() {
    for (scheduler, flag, shared) in [
        ("airflow", "dag", true),
        ("airflow", "job-type", false),
        ("xxl-job", "job", true),
        ("xxl-job", "ended", false),
    ] {
        let found = filters(scheduler).into_iter().find(|p| p.name == flag).unwrap();
        assert_eq!(found.narrows_all(), shared, "{scheduler} {flag}");
    }
}

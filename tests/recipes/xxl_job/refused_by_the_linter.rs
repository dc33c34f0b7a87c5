//! The linter refuses a bundle; the operator, who looked, has a way on, and everything says so.

use flowmend::bundle::Bundle;

use super::{OLD, Site, here_and_there};
use crate::support::program::{Run, flowmend, sealed};

/// The built-in recipe, without what it says to the linter.
fn recipe_that_says_nothing() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let recipe = include_str!("../../../templates/xxl-job/lost-runs/recipe.toml");
    let mute: String = recipe.lines().filter(|l| !l.starts_with("accepts.")).map(|l| format!("{l}\n")).collect();
    assert_ne!(mute, recipe);
    let folder = dir.path().join("xxl-job/lost-runs");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("recipe.toml"), mute).unwrap();
    dir
}

/// Plans what wakes a retry, with the recipe that does not say why.
fn plan_with(site: &Site, allows: &[&str]) -> Run {
    let dir = recipe_that_says_nothing();
    let templates = dir.path().display().to_string();
    let base = ["--dead-owner", "10.0.0.9:9999", "--alarm-and-retry", "--operator", "ann", "--templates", &templates];
    let allows: Vec<&str> = allows.iter().flat_map(|a| ["--allow", a]).collect();
    site.plan("lost-runs", "b", &[&base[..], &allows].concat())
}

fn site_with_a_lost_run(what: &str) -> Vec<Site> {
    let sites = here_and_there(what).into_iter().map(|(server, release)| Site::new(server, &release));
    let sites = sites.filter(|site| site.m.has("log.alarm_status"));
    sites.inspect(|site| site.log("101", ("200", "0"), &site.address("10.0.0.9"), OLD)).collect()
}

#[test]
fn the_refusal_names_rule_file_statement_and_way_out() {
    for site in site_with_a_lost_run("refused_by_the_linter") {
        for allows in [&[][..], &["forbidden-table=the owner agreed"]] {
            let said = plan_with(&site, allows).expect(4).err;
            for wanted in ["wakes-retry in 03_log.sql, line ", "UPDATE ", "--allow 'wakes-retry=REASON'"] {
                assert!(said.contains(wanted), "{}: {wanted} is missing: {said}", site.release);
            }
            assert!(!site.db.path("b").exists());
        }
    }
}

#[test]
fn an_allowance_names_a_rule_once_with_a_reason() {
    let site = site_with_a_lost_run("allowance_with_a_reason").remove(0);
    for (allows, wanted) in [
        (&["wakes-retry"][..], "needs a reason"),
        (&["wakes-retry= "], "needs a reason"),
        (&["wake-retry=x"], "did you mean wakes-retry?"),
        (&["wakes-retry=x", "wakes-retry=y"], "allowed twice"),
    ] {
        let said = plan_with(&site, allows).expect(2).err;
        assert!(said.contains(wanted), "{allows:?}: {said}");
    }
}

#[test]
fn an_allowed_error_is_in_plan_script_ticket_and_review() {
    for site in site_with_a_lost_run("allowed_by_the_operator") {
        let reason = "the owner wants the alarm, ticket 4711";
        let said = plan_with(&site, &[&format!("wakes-retry={reason}"), "missing-where=x"]).expect(0).err;
        assert!(said.contains(reason), "{said}");
        assert!(said.contains("--allow missing-where: nothing in this bundle needs it"), "{said}");

        let bundle = Bundle::read(&site.db.path("b")).unwrap();
        let [allowed] = &bundle.plan.allowed[..] else { panic!("{:?}", bundle.plan.allowed) };
        assert_eq!((allowed.rule.as_str(), allowed.said_by.as_str()), ("wakes-retry", "ann"));
        assert!(site.ticket("b").contains(&format!("- wakes-retry, allowed by ann: {reason}")), "{}", site.ticket("b"));
        let place = allowed.found[0].split(": ").next().unwrap();
        let (file, line) = place.trim_start_matches("wakes-retry in ").split_once(", line ").unwrap();
        let line = bundle.files[file].lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
        assert!(line.contains("SET "), "{place}: {line}");
        let script = &bundle.files[&format!("apply.{}", site.db.server.client())];
        assert!(script.contains(&format!("-- flowmend: allow-in-file wakes-retry {reason}\n")), "{}", site.release);

        let dir = site.db.path("b").display().to_string();
        let shown = flowmend(["show", &dir]).expect(0).out;
        assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(reason), "{shown}");
        let json: serde_json::Value = serde_json::from_str(&flowmend(["show", &dir, "--format", "json"]).out).unwrap();
        assert_eq!(json["allowed"][0]["reason"], reason);
        let linted = flowmend(["lint", &dir]).out;
        assert!(!linted.contains("[wakes-retry]") && !linted.contains("[unused-allow]"), "{linted}");
        sealed("apply", &site.db, "b", &[]).expect(0);
    }
}

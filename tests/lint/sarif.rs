//! SARIF 2.1.0: what its schema demands of the parts that are written.

use flowmend::lint::{Linted, Pages};
use flowmend::report::lint::{Checked, Form, render};
use serde_json::Value;

use super::check;

const SCRIPTS: [&str; 4] = [
    "\u{feff}UPDATE t_ds_task_instance SET state = '7'\r\nUPDATE t_ds_process_instance SET state = '7'",
    "UPDATE T_DS_TASK_INSTANCE SET state = 4;\nSELECT 'é\u{1f600}' FROM t_ds_comand WHERE a = NULL;\n",
    "SELECT 'open",
    "",
];

#[test]
fn every_part_has_its_form() {
    let linted: Vec<Linted> = SCRIPTS.iter().map(|sql| check(sql, "dolphinscheduler", "3.1.9", "mysql")).collect();
    let checked: Vec<Checked<'_>> = linted
        .into_iter()
        .zip(SCRIPTS)
        .map(|(linted, text)| Checked { name: "a b/ü.sql", text, against: String::new(), linted })
        .collect();
    let findings: usize = checked.iter().map(|c| c.linted.findings.len()).sum();
    let sarif: Value = serde_json::from_str(&render(&checked, Form::Sarif, &Pages::load()).unwrap()).unwrap();
    keys(&sarif, &["$schema", "version", "runs"]);
    assert_eq!(sarif["version"], "2.1.0");
    let [run] = sarif["runs"].as_array().unwrap().as_slice() else { panic!("{sarif}") };
    keys(run, &["tool", "columnKind", "results"]);
    assert!(["utf16CodeUnits", "unicodeCodePoints"].contains(&run["columnKind"].as_str().unwrap()));
    let driver = &run["tool"]["driver"];
    keys(driver, &["name", "semanticVersion", "rules"]);
    assert!(!driver["name"].as_str().unwrap().is_empty());
    let rules = driver["rules"].as_array().unwrap();
    for rule in rules {
        keys(rule, &["id", "shortDescription", "help"]);
        assert!(!rule["shortDescription"]["text"].as_str().unwrap().is_empty());
        assert!(!rule["help"]["text"].as_str().unwrap().is_empty());
    }
    let ids: std::collections::BTreeSet<&str> = rules.iter().map(|r| r["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len(), "rules are unique");
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), findings);
    let mut fixes = 0;
    for result in results {
        is_result(result, rules);
        fixes += result["fixes"].as_array().map_or(0, Vec::len);
    }
    assert!(fixes > 0, "nothing has a fix");
}

/// An object has no property but these, and no null.
fn keys(object: &Value, allowed: &[&str]) {
    for (key, value) in object.as_object().unwrap() {
        assert!(allowed.contains(&key.as_str()), "{key} in {object}");
        assert!(!value.is_null(), "{key} is null in {object}");
    }
}

fn is_result(result: &Value, rules: &[Value]) {
    keys(result, &["ruleId", "ruleIndex", "level", "message", "locations", "fixes"]);
    let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
    assert_eq!(rule["id"], result["ruleId"]);
    assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
    assert!(!result["message"]["text"].as_str().unwrap().is_empty());
    for location in result["locations"].as_array().unwrap() {
        keys(location, &["physicalLocation"]);
        let place = &location["physicalLocation"];
        is_uri(&place["artifactLocation"]);
        is_region(&place["region"]);
    }
    for fix in result["fixes"].as_array().into_iter().flatten() {
        keys(fix, &["description", "artifactChanges"]);
        assert!(!fix["description"]["text"].as_str().unwrap().is_empty());
        for change in fix["artifactChanges"].as_array().unwrap() {
            is_uri(&change["artifactLocation"]);
            let replacements = change["replacements"].as_array().unwrap();
            assert!(!replacements.is_empty());
            for replacement in replacements {
                is_region(&replacement["deletedRegion"]);
                assert!(replacement["insertedContent"]["text"].is_string());
            }
        }
    }
}

fn is_uri(artifact: &Value) {
    let uri = artifact["uri"].as_str().unwrap();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/%".contains(c);
    assert!(!uri.is_empty() && uri.chars().all(is_plain), "{uri}");
}

/// Lines and columns count from 1, and a region does not end before it begins.
fn is_region(region: &Value) {
    keys(region, &["startLine", "startColumn", "endLine", "endColumn"]);
    let at = |key: &str| region[key].as_u64().unwrap();
    let (from, to) = ((at("startLine"), at("startColumn")), (at("endLine"), at("endColumn")));
    assert!(from.0 >= 1 && from.1 >= 1 && from <= to, "{region}");
}

//! A run's state is trigger_code and handle_code together; both are open sets.

use std::collections::BTreeMap;

use super::{OLD, Site, everywhere};

/// Codes of trigger and result, and what the pair is called.
const PAIRS: &[(&str, &str, &str)] = &[
    ("0", "0", "UNANSWERED"),
    ("200", "0", "RUNNING"),
    ("500", "0", "REFUSED"),
    ("404", "0", "REFUSED"),
    ("0", "200", "SUCCESS"),
    ("200", "200", "SUCCESS"),
    ("500", "200", "SUCCESS"),
    ("0", "500", "FAIL"),
    ("200", "500", "FAIL"),
    ("200", "777", "OTHER_FAILURE"),
    ("500", "777", "OTHER_FAILURE"),
    ("200", "-1", "OTHER_FAILURE"),
];

#[test]
fn pairs_of_codes_mean_what_upstream_takes_them_for() {
    for (server, release) in everywhere("pairs_of_codes") {
        let site = Site::new(server, &release);
        for (id, (trigger, handle, _)) in PAIRS.iter().enumerate() {
            site.log(&(id + 1).to_string(), (trigger, handle), "10.0.0.9:9999", OLD);
        }
        let report = site.inspect(&[]);
        assert_eq!(report["anomalies"].as_array().unwrap().len(), 0, "{release}: {}", report["anomalies"]);

        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        let (mut active, mut failed) = (0, 0);
        let states = report["states"].as_array().unwrap();
        let of_result = states.iter().filter(|s| s["column"].as_str().unwrap().ends_with(".handle_code"));
        for state in of_result {
            let (name, rows) = (state["name"].as_str().unwrap(), state["rows"].as_u64().unwrap());
            *found.entry(name.to_owned()).or_default() += rows;
            active += if state["finished"] == false { rows } else { 0 };
            failed += if ["RUNNING", "UNANSWERED", "SUCCESS"].contains(&name) { 0 } else { rows };
        }
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        PAIRS.iter().for_each(|(_, _, name)| *expected.entry((*name).to_owned()).or_default() += 1);
        assert_eq!(found, expected, "{release}");

        // What the admin's report counts as running, and what its scan takes for a failure.
        let quote = |code: &str| if site.m.states["log.state"].text { format!("'{code}'") } else { code.to_owned() };
        let (zero, done) = (quote("0"), quote("200"));
        let running = format!("trigger_code IN ({zero}, {done}) AND handle_code = {zero}");
        let count = |what: &str| {
            let table = site.db.server.dialect().ident(&site.m.roles["log"].table);
            site.db.value(&format!("SELECT COUNT(*) FROM {table} WHERE {what}")).unwrap().parse::<u64>().unwrap()
        };
        assert_eq!(active, count(&running), "{release}");
        assert_eq!(failed, count(&format!("NOT (({running}) OR handle_code = {done})")), "{release}");
        assert_eq!(report["owners"][0]["rows"], count(&running), "{release}: {}", report["owners"]);

        // The other column speaks of the call, not of the run.
        let calls = states.iter().filter(|s| s["column"].as_str().unwrap().ends_with(".trigger_code"));
        assert!(calls.clone().count() == 4 && calls.clone().all(|s| s["finished"].is_null()), "{release}");
    }
}

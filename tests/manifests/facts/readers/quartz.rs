//! Quartz: nothing of it says that a trigger is finished, and no row says which release it is.

use std::path::Path;

use super::{Finished, Reader, json};
use crate::manifests::facts::{Codes, MYSQL, POSTGRESQL, Product, Upstream};

const PRODUCTS: &[Product] = &[MYSQL, POSTGRESQL];

pub const READER: Reader = Reader {
    scheduler: "quartz",
    at_least: 17,
    products: PRODUCTS,
    state_columns: &["trigger.state", "fired_trigger.state"],
    every_table: true,
    indexes: true,
    // The last release of its generation dropped what the primary key does already.
    other_indexes: &[("2.1.7", "mysql", "QRTZ_CRON_TRIGGERS"), ("2.1.7", "mysql", "QRTZ_SIMPLE_TRIGGERS")],
    finished: &[Finished {
        column: "trigger.state",
        state: "COMPLETE",
        first: "1.8.6",
        last: "2.5.2",
        finished: false,
        why: "a one-shot trigger is COMPLETE while its only run goes on; fired triggers say what runs",
    }],
    never_written: |table| table.ends_with("LOCKS") || table.ends_with("CALENDARS"),
    elsewhere: &[],
    read,
};

fn read(dir: &Path) -> Vec<Upstream> {
    json::unmarked(dir, PRODUCTS, legal)
}

/// Constants that the job store never writes into the column.
fn legal(json: &serde_json::Value, mut codes: Codes) -> Codes {
    let names = |key: &str| json::texts(&json[key]);
    if json["never_stored"].is_array() {
        codes.illegal.insert("trigger.state", names("never_stored").into_iter().collect());
    }
    if json["written_by_job_store"].is_array() {
        let written = names("written_by_job_store");
        let others = codes.values.iter().map(|(_, name)| name.clone()).filter(|name| !written.contains(name));
        codes.illegal.insert("fired_trigger.state", others.collect());
    }
    codes
}

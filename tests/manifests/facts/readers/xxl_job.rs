//! XXL-JOB: MySQL only; no row says which release it is.

use std::path::Path;

use super::{Reader, json};
use crate::manifests::facts::{Codes, MYSQL, Product, Upstream};

const PRODUCTS: &[Product] = &[MYSQL];

pub const READER: Reader = Reader {
    scheduler: "xxl-job",
    at_least: 29,
    products: PRODUCTS,
    state_columns: &["log.state", "log.trigger_state", "log.alarm_status", "job.state"],
    every_table: true,
    indexes: true,
    other_indexes: &[],
    finished: &[],
    never_written: |table| {
        let table = table.to_lowercase();
        ["_user", "_logglue", "_group", "_registry", "_lock", "qrtz_locks", "qrtz_scheduler_state"]
            .iter()
            .any(|end| table.ends_with(end))
    },
    elsewhere: &[],
    read,
};

fn read(dir: &Path) -> Vec<Upstream> {
    json::unmarked(dir, PRODUCTS, |_, codes| with_the_answer(codes))
}

/// Upstream has no name for "no result". What it means hangs on the answer to the trigger,
/// as the admin's queries tell: 200 runs, 0 was never answered, any other never began.
fn with_the_answer(mut codes: Codes) -> Codes {
    if let Some(at) = codes.values.iter().position(|(_, name)| name == "NOT_HANDLED") {
        let code = codes.values[at].0.clone();
        codes.values.splice(at..=at, ["RUNNING", "UNANSWERED", "REFUSED"].map(|name| (code.clone(), name.to_owned())));
        codes.finished.as_mut().unwrap().insert("REFUSED".to_owned());
    }
    codes
}

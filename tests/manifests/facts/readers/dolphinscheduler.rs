//! DolphinScheduler: one enum for runs and tasks until 3.0, then one for each.

use std::path::Path;

use flowmend::manifest::version_order;
use serde_json::Value;

use super::{Finished, Reader, json};
use crate::manifests::facts::{Codes, MYSQL, POSTGRESQL, Product, Upstream};

const PRODUCTS: &[Product] = &[MYSQL, POSTGRESQL];

pub const READER: Reader = Reader {
    scheduler: "dolphinscheduler",
    at_least: 54,
    products: PRODUCTS,
    state_columns: &[
        "task_instance.state",
        "workflow_instance.state",
        "command.type",
        "task_group_queue.status",
        "serial_command.state",
    ],
    every_table: true,
    indexes: true,
    other_indexes: &[],
    finished: &[
        Finished {
            column: "task_instance.state",
            state: "NEED_FAULT_TOLERANCE",
            first: "3.1.0",
            last: "3.1.0",
            finished: true,
            why: "3.1.0 forgot it in isFailure, 3.1.1 put it back; the task that has it was lost and runs nowhere",
        },
        Finished {
            column: "task_instance.state",
            state: "FORCED_SUCCESS",
            first: "3.1.0",
            last: "3.1.9",
            finished: true,
            why: "in no predicate of 3.1.x, final from 3.2.0; a user sets it by hand on a task that ended",
        },
        Finished {
            column: "task_instance.state",
            state: "STOP",
            first: "3.1.7",
            last: "3.1.9",
            finished: true,
            why: "in no predicate of 3.1.x, final from 3.2.0; nothing runs under it",
        },
    ],
    never_written: |table| {
        let table = table.to_lowercase();
        let words = ["definition", "task_relation", "schedules", "qrtz_", "registry", "session", "_version", "_user"];
        words.iter().any(|word| table.contains(word))
    },
    elsewhere: &[],
    read,
};

/// Codes of the enum that runs and tasks share, which tasks never have …
const NOT_OF_TASKS: [&str; 7] =
    ["READY_PAUSE", "READY_STOP", "WAITTING_THREAD", "WAITING_THREAD", "SERIAL_WAIT", "READY_BLOCK", "BLOCK"];

/// … and those that runs never have.
const NOT_OF_RUNS: [&str; 3] = ["NEED_FAULT_TOLERANCE", "FORCED_SUCCESS", "DISPATCH"];

/// Kinds of commands without a handler, from a release on.
const NOT_HANDLED: [(&str, &[&str]); 2] = [
    (
        "3.3.0",
        &["START_CURRENT_TASK_PROCESS", "PAUSE", "STOP", "RECOVER_SERIAL_WAIT", "EXECUTE_TASK", "DYNAMIC_GENERATION"],
    ),
    // A later release handles two of them again, and nobody read since when.
    ("3.4.0", &["START_CURRENT_TASK_PROCESS", "PAUSE", "STOP", "DYNAMIC_GENERATION"]),
];

fn read(dir: &Path) -> Vec<Upstream> {
    let releases = json::releases(dir).into_iter();
    releases
        .map(|(version, json)| Upstream {
            approximate: json["approximate"].as_bool().unwrap_or(false),
            mark: json["version_marks"]["t_ds_version_on_fresh_install"].as_str().map(ToOwned::to_owned),
            codes: json::codes(&json).map(|(json, codes)| legal(&version, json, codes)).collect(),
            tables: json::tables(&json, PRODUCTS, |_, _, column| json::spec(column)),
            version,
        })
        .collect()
}

fn legal(version: &str, json: &Value, mut codes: Codes) -> Codes {
    let columns = json::texts(&json["columns"]);
    let of = |table: &str| columns.iter().any(|c| c.ends_with(&format!("{table}.state")));
    let named = |names: &[&str]| -> std::collections::BTreeSet<String> {
        codes.values.iter().map(|(_, name)| name.clone()).filter(|name| names.contains(&name.as_str())).collect()
    };
    let mut illegal = Vec::new();
    if of("task_instance") && of("process_instance") {
        illegal.push(("task_instance.state", named(&NOT_OF_TASKS)));
        illegal.push(("workflow_instance.state", named(&NOT_OF_RUNS)));
    }
    if columns.iter().any(|c| c.ends_with("_command.command_type")) {
        let known = NOT_HANDLED.iter().rev().find(|(first, _)| version_order(first) <= version_order(version));
        illegal.push(("command.type", known.map(|(_, names)| named(names)).unwrap_or_default()));
    }
    codes.illegal.extend(illegal);
    codes
}

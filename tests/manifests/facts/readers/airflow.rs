//! Airflow: real databases of some releases, and the version marks of all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flowmend::manifest::{ColumnSpec, DefaultValue, Engine};
use serde_json::Value;

use super::{Finished, Reader, json};
use crate::manifests::facts::{Codes, Foreign, MARIADB, MYSQL, POSTGRESQL, Product, SQLITE, Shape, Upstream};

const PRODUCTS: &[Product] = &[MYSQL, MARIADB, POSTGRESQL, SQLITE];

pub const READER: Reader = Reader {
    scheduler: "airflow",
    at_least: 78,
    products: PRODUCTS,
    state_columns: &["task_instance.state", "dag_run.state", "job.state", "callback.state"],
    every_table: false,
    indexes: false,
    other_indexes: &[],
    finished: &[
        Finished {
            column: "task_instance.state",
            state: "REMOVED",
            first: "1.10.13",
            last: "2.3.2",
            finished: true,
            why: "the task is no longer in its DAG, and nothing runs under it; upstream counts it from 2.3.3 on",
        },
        Finished {
            column: "task_instance.state",
            state: "UPSTREAM_FAILED",
            first: "1.10.13",
            last: "1.10.15",
            finished: true,
            why: "it never ran and never will; upstream counts it from 2.0.0 on",
        },
    ],
    never_written: |table| {
        const NAMES: [&str; 11] = [
            "dag",
            "serialized_dag",
            "dag_code",
            "dag_version",
            "dag_bundle",
            "dag_warning",
            "import_error",
            "slot_pool",
            "connection",
            "variable",
            "log_template",
        ];
        const BEGIN: [&str; 6] = ["alembic_version", "team", "ab_", "deadline_alert", "session", "revoked_token"];
        NAMES.contains(&table) || BEGIN.iter().any(|begin| table.starts_with(begin))
    },
    elsewhere: &[],
    read,
};

/// The releases of one head share a schema, but this one has its successor's states: `shutdown`
/// left upstream's set of unfinished states and the states of jobs in 2.7.2.
const LIKE: [(&str, &str); 1] = [("2.7.2", "2.7.3")];

/// Where the facts of MySQL were derived from models and are known to be wrong: the migrations
/// of 2.3 name the columns of this key in the order that PostgreSQL has.
const KEYS_OF_MIGRATIONS: [(&str, &str); 1] = [("2.3.", "task_instance")];

fn read(dir: &Path) -> Vec<Upstream> {
    let files = json::releases(dir);
    let versions = json::file(&dir.join("versions.json"));
    let releases = versions["releases"].as_object().unwrap().iter();
    // Releases without facts are older than the first generation, or not out.
    let told = releases.filter_map(|(version, json)| Some((version, json, json["facts_file"].as_str()?)));
    told.map(|(version, json, file)| {
        let like = LIKE.iter().find(|(release, _)| release == version).map(|(_, like)| *like);
        let like = like.unwrap_or_else(|| file.strip_suffix(".json").unwrap());
        release(version, &json["heads"], &files[like])
    })
    .collect()
}

fn release(version: &str, heads: &Value, facts: &Value) -> Upstream {
    let mut tables = json::tables(facts, PRODUCTS, spec);
    let shown_by_mysql = keys_that_restrict(&tables["mysql"]);
    let types_of_mysql = tables["mysql"].clone();
    for (table, shape) in tables.get_mut("mariadb").into_iter().flatten() {
        if let Some(of_mysql) = types_of_mysql.get(table) {
            shape.columns.iter_mut().for_each(|column| collate(column, of_mysql));
        }
        shape.foreign =
            std::mem::take(&mut shape.foreign).into_iter().map(|k| restrict(table, k, &shown_by_mysql)).collect();
    }
    for (_, table) in KEYS_OF_MIGRATIONS.iter().filter(|(begin, _)| version.starts_with(begin)) {
        let real = tables["postgresql"][*table].primary_key.clone();
        let derived = tables.get_mut("mysql").unwrap().get_mut(*table).unwrap();
        assert_ne!(derived.primary_key, real, "{version} {table}: the facts are right now");
        derived.primary_key = real;
    }
    Upstream {
        version: version.to_owned(),
        approximate: false,
        mark: Some(json::texts(heads).join(" ")),
        codes: json::codes(facts).map(|(json, codes)| null(json, codes)).collect(),
        tables,
    }
}

/// MariaDB's facts leave the collations out.
fn collate((name, spec): &mut (String, ColumnSpec), of_mysql: &Shape) {
    let told = of_mysql.columns.iter().find(|(n, _)| n == name).map(|(_, told)| &told.type_sql);
    if let Some(told) =
        told.filter(|told| told.strip_prefix(&spec.type_sql).is_some_and(|c| c.starts_with(" collate ")))
    {
        spec.type_sql.clone_from(told);
    }
}

/// MariaDB shows no difference between RESTRICT and NO ACTION, and has none.
fn restrict(table: &str, key: Foreign, restrict: &BTreeSet<(String, Vec<String>)>) -> Foreign {
    let (columns, references, ref_columns, on_delete) = key;
    let same = on_delete == "NO ACTION" && restrict.contains(&(table.to_owned(), columns.clone()));
    (columns, references, ref_columns, if same { "RESTRICT".to_owned() } else { on_delete })
}

fn keys_that_restrict(tables: &BTreeMap<String, Shape>) -> BTreeSet<(String, Vec<String>)> {
    let keys = tables.iter().flat_map(|(table, shape)| shape.foreign.iter().map(move |key| (table, key)));
    keys.filter(|(_, key)| key.3 == "RESTRICT").map(|(table, key)| (table.clone(), key.0.clone())).collect()
}

/// NULL means something where the facts have a name for it.
fn null(json: &Value, codes: Codes) -> Codes {
    Codes { null: json["null_label"].is_string(), ..codes }
}

fn spec(product: &Product, table: &Value, column: &Value) -> ColumnSpec {
    let spec = json::lower_spec(column);
    let type_sql = match product.engine {
        Engine::MySql => mysql_type(&spec.type_sql, is_json(table, &json::text(&column["name"]))),
        _ => spec.type_sql,
    };
    let default = column["default"].as_str().and_then(default).map(|told| match told {
        // A boolean is a number there.
        DefaultValue::Keyword(word) if product.engine == Engine::MySql => {
            DefaultValue::Text(u8::from(word == "true").to_string())
        }
        other => other,
    });
    ColumnSpec { type_sql, default, ..spec }
}

/// One name for types that are the same: some facts hold what the models say, others what MariaDB answers.
fn mysql_type(told: &str, is_json: bool) -> String {
    match told {
        "integer" | "int(11)" => "int",
        "bigint(20)" => "bigint",
        "bool" => "tinyint(1)",
        // MariaDB's own JSON type.
        "longtext" if is_json => "json",
        // The models use it where they can, and MySQL lacks it.
        "uuid" => "char(32)",
        // The models give a length, and both databases keep none.
        text if text.starts_with("text(") => "text",
        other => other,
    }
    .to_owned()
}

/// MariaDB keeps JSON as text with a check.
fn is_json(table: &Value, column: &str) -> bool {
    json::texts(&table["checks"]).iter().any(|check| check.contains(&format!("json_valid(`{column}`)")))
}

/// `'0'::integer`, `'text'`, `0` or a keyword; a sequence is told by `auto_increment`.
fn default(told: &str) -> Option<DefaultValue> {
    let literal = told.split("::").next().unwrap();
    if literal == "NULL" || literal.starts_with("nextval(") {
        return None;
    }
    let plain = literal.trim_matches('\'');
    Some(match plain {
        "true" | "false" => DefaultValue::Keyword(plain.to_owned()),
        _ => DefaultValue::Text(plain.to_owned()),
    })
}

//! What the JSON of all schedulers has in common.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flowmend::manifest::{ColumnSpec, DefaultValue};
use serde_json::Value;

use crate::manifests::facts::tables::lower;
use crate::manifests::facts::{Codes, Foreign, Product, Shape, Upstream};

/// Every release's file, by version.
pub fn releases(dir: &Path) -> BTreeMap<String, Value> {
    let paths = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.filter(|p| p.extension().is_some_and(|e| e == "json"));
    let read = files.map(|path| file(&path)).filter(|json| json.get("tables").is_some());
    read.map(|json| (text(&json["version"]), json)).collect()
}

pub fn file(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a text")).to_owned()
}

pub fn texts(value: &Value) -> Vec<String> {
    value.as_array().map(|list| list.iter().map(text).collect()).unwrap_or_default()
}

/// All types that are stored in columns; a reader adds what only its scheduler says.
pub fn codes(json: &Value) -> impl Iterator<Item = (&Value, Codes)> {
    json["enums"].as_object().unwrap().values().map(|json| {
        let codes = Codes {
            columns: texts(&json["columns"]),
            text: json["stored_as"] == "string",
            values: json["values"].as_array().unwrap().iter().map(value).collect(),
            finished: json["finished"].is_array().then(|| texts(&json["finished"]).into_iter().collect()),
            illegal: BTreeMap::new(),
            null: false,
            open: json["open_set"] == true,
        };
        (json, codes)
    })
}

fn value(json: &Value) -> (String, String) {
    let code = json["code"].as_str().map_or_else(|| json["code"].to_string(), ToOwned::to_owned);
    (code, text(&json["name"]))
}

/// The tables of the products that are compared. `spec` reads a column of a table.
/// Releases that no row of their database names.
pub fn unmarked(dir: &Path, products: &'static [Product], codes_of: impl Fn(&Value, Codes) -> Codes) -> Vec<Upstream> {
    let upstream = |(version, json): (String, Value)| Upstream {
        approximate: false,
        mark: None,
        codes: codes(&json).map(|(json, codes)| codes_of(json, codes)).collect(),
        tables: tables(&json, products, |_, _, column| lower_spec(column)),
        version,
    };
    releases(dir).into_iter().map(upstream).collect()
}

pub fn tables(
    json: &Value,
    products: &'static [Product],
    spec: impl Fn(&Product, &Value, &Value) -> ColumnSpec,
) -> BTreeMap<&'static str, BTreeMap<String, Shape>> {
    let mut found = BTreeMap::new();
    for product in products {
        let Some(tables) = json["tables"][product.name].as_object() else { continue };
        let shapes = tables.iter().map(|(name, table)| (name.clone(), shape(product, table, &spec)));
        found.insert(product.name, shapes.collect());
    }
    found
}

fn shape(product: &Product, json: &Value, spec: impl Fn(&Product, &Value, &Value) -> ColumnSpec) -> Shape {
    let keys = |name: &str| -> BTreeSet<Vec<String>> {
        json[name].as_array().unwrap().iter().map(|key| lower(&texts(key))).collect()
    };
    let columns = json["columns"].as_array().unwrap();
    Shape {
        columns: columns.iter().map(|c| (text(&c["name"]), spec(product, json, c))).collect(),
        primary_key: lower(&texts(&json["primary_key"])),
        unique: keys("unique_keys"),
        indexes: keys("indexes"),
        foreign: json["foreign_keys"].as_array().unwrap().iter().map(foreign).collect(),
        optional: json.get("optional").is_some_and(|o| !o.is_null() && o != &Value::Bool(false)),
    }
}

fn foreign(json: &Value) -> Foreign {
    let on_delete = json["on_delete"].as_str().unwrap_or("NO ACTION").to_owned();
    (lower(&texts(&json["columns"])), text(&json["references"]), lower(&texts(&json["ref_columns"])), on_delete)
}

/// A column whose type and default stand in the JSON as a manifest writes them.
pub fn spec(json: &Value) -> ColumnSpec {
    ColumnSpec {
        type_sql: text(&json["type"]),
        nullable: json["nullable"].as_bool().unwrap(),
        default: json["default"].as_str().map(|text| match text {
            "CURRENT_TIMESTAMP" => DefaultValue::Keyword(text.to_owned()),
            _ => DefaultValue::Text(text.to_owned()),
        }),
        auto_increment: json["auto_increment"] == true,
        on_update: json["on_update"].as_str().map(ToOwned::to_owned),
    }
}

/// The same where types stand in upper case.
pub fn lower_spec(json: &Value) -> ColumnSpec {
    let spec = spec(json);
    ColumnSpec { type_sql: spec.type_sql.to_lowercase(), ..spec }
}

//! The file form of a manifest. One struct a table, unknown keys are errors.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::{VersionIs, Words};

/// What tells which file is needed for a release.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ManifestHead {
    pub generation: String,
    pub releases: Vec<String>,
    pub extends: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManifestFile {
    pub scheduler: Spanned<String>,
    pub title: String,
    pub generation: Spanned<String>,
    pub releases: Spanned<Vec<String>>,
    pub engines: Option<Vec<Spanned<String>>>,
    pub extends: Option<Spanned<String>>,
    pub table_prefix: Option<Spanned<String>>,
    #[serde(default)]
    pub approximate: Vec<String>,
    #[serde(default)]
    pub approximate_because: String,
    #[serde(default)]
    pub version_marks: BTreeMap<String, String>,
    pub version_is: Option<VersionIs>,
    #[serde(default)]
    pub sources: Vec<String>,
    #[serde(default)]
    pub other_tables: Vec<Spanned<String>>,
    #[serde(default)]
    pub dropped_tables: Vec<Spanned<String>>,
    #[serde(default)]
    pub dropped_roles: Vec<Spanned<String>>,
    pub fingerprint: FingerprintFile,
    #[serde(default)]
    pub behaviour: BTreeMap<String, toml::Value>,
    #[serde(default)]
    pub behaviour_of: BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, toml::Value>>,
    pub words: Option<Words>,
    pub carried_by: Option<Vec<String>>,
    #[serde(default)]
    pub states: Vec<StateSetFile>,
    #[serde(default)]
    pub roles: BTreeMap<String, RoleFile>,
    pub relations: Option<Vec<RelationFile>>,
    pub heartbeats: Option<Vec<HeartbeatFile>>,
    pub registries: Option<Vec<RegistryFile>>,
    pub locks: Option<Vec<LockFile>>,
    pub clock: Option<ClockFile>,
    pub never_null: Option<Vec<NeverNullFile>>,
    pub forbidden: Option<ForbiddenFile>,
    pub allowed_writes: Option<Vec<AllowedWriteFile>>,
    #[serde(default)]
    pub renamed: RenamedFile,
    #[serde(default)]
    pub converted: BTreeMap<Spanned<String>, String>,
    #[serde(default)]
    pub legacy: Vec<LegacyFile>,
    #[serde(default)]
    pub upgrade: Vec<UpgradeFile>,
    #[serde(default)]
    pub tables: Vec<TableFile>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RenamedFile {
    pub tables: BTreeMap<String, Spanned<String>>,
    pub columns: BTreeMap<Spanned<String>, Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LegacyFile {
    pub column: Spanned<String>,
    pub code: Spanned<toml::Value>,
    pub name: String,
    pub to: Spanned<String>,
    pub sure: bool,
    pub why: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UpgradeFile {
    pub says: Spanned<String>,
    pub source: String,
    #[serde(default)]
    pub empty: Vec<Spanned<String>>,
    #[serde(default)]
    pub drained: Vec<Spanned<String>>,
    #[serde(default)]
    pub without: BTreeMap<Spanned<String>, Vec<Spanned<toml::Value>>>,
    #[serde(default)]
    pub here_only: bool,
    pub from_before: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FingerprintFile {
    pub present: Vec<Spanned<String>>,
    #[serde(default)]
    pub absent: Vec<Spanned<String>>,
    /// Generations whose schema has the same names: only the version row or
    /// `--release` tells them apart. For readers; a test keeps it true.
    #[serde(default)]
    #[expect(dead_code, reason = "documentation that a test reads from the file")]
    pub same_schema_as: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StateSetFile {
    pub column: Spanned<String>,
    #[serde(rename = "type")]
    pub type_name: String,
    pub stored_as: Spanned<String>,
    pub with: Option<Spanned<String>>,
    pub values: Vec<StateFile>,
    pub null: Option<MeaningFile>,
    pub other: Option<MeaningFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeaningFile {
    pub name: Spanned<String>,
    pub phase: Spanned<String>,
    pub finished: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StateFile {
    pub code: Spanned<toml::Value>,
    #[serde(default)]
    pub when: Vec<Spanned<toml::Value>>,
    pub name: Spanned<String>,
    pub phase: Spanned<String>,
    pub finished: bool,
    pub upstream_finished: Option<Spanned<bool>>,
    #[serde(default = "yes")]
    pub legal: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoleFile {
    pub table: Spanned<String>,
    pub key: Vec<Spanned<String>>,
    #[serde(default)]
    pub witnesses: Vec<Spanned<String>>,
    pub columns: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub epoch_ms: Vec<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RelationFile {
    pub child: Spanned<String>,
    pub parent: Spanned<String>,
    pub kind: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HeartbeatFile {
    pub role: Spanned<String>,
    pub owner: String,
    pub called: Option<Spanned<String>>,
    #[serde(default)]
    pub path_prefix: String,
    pub address: String,
    pub beat: Option<String>,
    pub beat_role: Option<String>,
    pub beat_join: Option<String>,
    pub unit: Option<Spanned<String>>,
    #[serde(default)]
    pub only: BTreeMap<String, Vec<String>>,
    pub scope: Option<String>,
    pub interval: Option<String>,
    pub interval_ms: u64,
    pub expires_ms: Option<Spanned<u64>>,
    pub grace_ms: Option<u64>,
    pub absence_proves: Option<bool>,
    #[serde(default)]
    pub note: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RegistryFile {
    pub kind: Spanned<String>,
    pub namespace: Spanned<String>,
    pub path: Spanned<String>,
    #[serde(default)]
    pub numbered: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LockFile {
    pub role: Spanned<String>,
    pub key: Spanned<BTreeMap<String, String>>,
    pub scope: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClockFile {
    pub wall: Option<Spanned<String>>,
    pub instant: Option<Spanned<String>>,
    #[serde(default)]
    pub newest: Vec<Spanned<String>>,
    pub utc: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NeverNullFile {
    pub column: Spanned<String>,
    pub default: String,
    pub why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForbiddenFile {
    #[serde(default)]
    pub tables: Vec<String>,
    #[serde(default)]
    pub columns: Vec<Spanned<String>>,
    #[serde(default)]
    pub except: Vec<String>,
    #[serde(default)]
    pub cleaned: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AllowedWriteFile {
    pub role: Spanned<String>,
    pub inserts: Option<Spanned<BTreeMap<String, Vec<String>>>>,
    pub deletes_older: Option<Spanned<String>>,
    pub why: Spanned<String>,
    pub warns: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableFile {
    pub name: Spanned<String>,
    pub only: Option<Spanned<String>>,
    pub optional: Option<String>,
    pub primary_key: Spanned<Vec<String>>,
    pub primary_key_postgresql: Option<Vec<String>>,
    #[serde(default)]
    pub foreign_keys_mysql: Vec<ForeignKeyFile>,
    #[serde(default)]
    pub foreign_keys_postgresql: Vec<ForeignKeyFile>,
    #[serde(default)]
    pub unique_mysql: Vec<Vec<String>>,
    #[serde(default)]
    pub unique_postgresql: Vec<Vec<String>>,
    #[serde(default)]
    pub indexes_mysql: Vec<Vec<String>>,
    #[serde(default)]
    pub indexes_postgresql: Vec<Vec<String>>,
    pub columns: Vec<ColumnFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnFile {
    pub name: Spanned<String>,
    pub mysql: Option<Spanned<String>>,
    pub postgresql: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForeignKeyFile {
    pub columns: Vec<String>,
    pub references: String,
    pub ref_columns: Vec<String>,
    pub on_delete: String,
}

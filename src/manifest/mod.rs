//! Manifests: what one generation of releases calls its states, tables and columns.

mod allowed;
mod chain;
mod check;
pub mod compare;
pub mod ddl;
mod file;
mod load;
pub mod marks;
mod old;
mod prefix;
mod scheduler;
mod schema;
mod source;
mod states;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use allowed::{AllowedWrite, WriteKind};
pub use load::{Manifests, version_order};
pub use old::{Drain, Legacy, Renamed};
pub use prefix::begins_with;
pub use schema::{ColumnSpec, DefaultValue, Engine, ForeignKey, TableColumn, TableSpec, sqlite_type};
pub use states::{State, StateSet};

use crate::{Error, Result};

/// One generation, with everything it inherits from the one it extends.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The scheduler's short name, the folder's name.
    pub scheduler: String,
    /// The scheduler's full name, for people.
    pub title: String,
    /// The first release of the generation, the file's name.
    pub generation: String,
    /// Schedulers that keep this one's tables inside their own database.
    pub carried_by: Vec<String>,
    /// The databases that upstream has a schema for; empty: all.
    pub engines: Vec<Engine>,
    /// What every table's name begins with, where the scheduler lets people choose it.
    pub table_prefix: Option<String>,
    /// Every release of the generation, oldest first.
    pub releases: Vec<String>,
    /// Releases that were not read from a tagged source.
    pub approximate: Vec<String>,
    /// Why they are approximate.
    pub approximate_because: String,
    /// Release → what the version row of a fresh install says.
    pub version_marks: BTreeMap<String, String>,
    /// What the version row names.
    pub version_is: VersionIs,
    /// Where the facts were read: repository, tag and path.
    pub sources: Vec<String>,
    /// What tells this generation's schema from its neighbours'.
    pub fingerprint: Fingerprint,
    /// Named facts about what the scheduler does, for recipes.
    pub behaviour: BTreeMap<String, toml::Value>,
    /// Release → facts in which it differs from the others of the generation.
    pub behaviour_of: BTreeMap<String, BTreeMap<String, toml::Value>>,
    /// Sentences about its processes, for people.
    pub words: Words,
    /// Role column → its states.
    pub states: BTreeMap<String, StateSet>,
    /// Role → table and columns.
    pub roles: BTreeMap<String, Role>,
    /// Child and parent columns.
    pub relations: Vec<Relation>,
    /// Where owners show that they live.
    pub heartbeats: Vec<Heartbeat>,
    /// Registries outside the database in which owners are listed.
    pub registries: Vec<RegistryPath>,
    /// Rows that the scheduler locks before it writes, in its order.
    pub locks: Vec<Lock>,
    /// Which columns show the scheduler's clock, if any do.
    pub clock: Option<Clock>,
    /// Columns in which NULL breaks the scheduler although the schema allows it.
    pub never_null: Vec<NeverNull>,
    /// What no repair may write.
    pub forbidden: Forbidden,
    /// Writes to forbidden tables that a repair may do all the same.
    pub allowed_writes: Vec<AllowedWrite>,
    /// Names that changed, up to this generation, without a role that shows it.
    pub renamed: Renamed,
    /// Table and column → what the upgrade to this generation makes of its values, by itself.
    pub converted: BTreeMap<(String, String), String>,
    /// Codes of earlier generations, and what a row that still has one may become.
    pub legacy: Vec<Legacy>,
    /// What must be true before an upgrade to this generation.
    pub upgrade: Vec<Drain>,
    /// Table name → its shape.
    pub tables: BTreeMap<String, TableSpec>,
    /// Tables of which nothing but the name is known.
    pub other_tables: BTreeSet<String>,
    /// The file's name, for messages.
    pub origin: String,
    /// SHA-256 over the file and the files it extends.
    pub sha256: String,
}

/// Marks in the schema. Names (`table`, `table.column`) must fit; details (types,
/// keys and indexes) choose among generations whose names fit.
#[derive(Clone, Debug, Default)]
pub struct Fingerprint {
    /// Names that are all there.
    pub present: Vec<String>,
    /// Names of which none is there.
    pub absent: Vec<String>,
    /// Details that are all there.
    pub details: Vec<String>,
    /// Details of which none is there.
    pub without: Vec<String>,
}

/// What a version row names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionIs {
    /// The release; of several rows the newest counts.
    #[default]
    Release,
    /// A revision of the schema, which several releases may share; all rows count.
    Revision,
}

/// What people must know of a scheduler's processes around a repair. Each is one
/// or more whole sentences, or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Words {
    /// What to stop before a repair is applied, and why.
    pub before_apply: String,
    /// What to start afterwards, and in which order.
    pub after_apply: String,
    /// Who may write over a repair later.
    pub written_back: String,
    /// What the scheduler cannot do while a repair holds its lock rows.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub while_locked: String,
    /// How long a repair can be undone: "until …".
    pub undo_until: String,
    /// How an owner is named on the command line; empty: by its address.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// What `inspect` says of an owner that the heartbeat tables list; empty: a registry lists it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub listed: String,
    /// Roles whose rows the queries' `label` names in full, so that the key is not said beside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labelled: Vec<String>,
    /// What people call one row of a role, and several.
    pub nouns: BTreeMap<String, [String; 2]>,
}

impl Words {
    /// How `--dead-owner` names an owner.
    #[must_use]
    pub fn owner_form(&self) -> &str {
        if self.owner.is_empty() { "HOST[:PORT][@TIME]" } else { &self.owner }
    }

    /// What is known of an owner that the heartbeat tables list.
    #[must_use]
    pub fn listed_form(&self) -> &str {
        if self.listed.is_empty() { "listed in this database's registry" } else { &self.listed }
    }

    /// What the heartbeat tables say of an owner, in a sentence about it.
    #[must_use]
    pub fn is_listed(&self) -> String {
        if self.listed.is_empty() { format!("is {}", self.listed_form()) } else { self.listed.clone() }
    }

    /// That a claim may name a time instead.
    #[must_use]
    pub fn or_with_time(&self, flag: &str) -> String {
        let timed = self.owner_form().replace(['[', ']'], "");
        format!("or say when it was restarted: --{flag} {timed}")
    }

    /// What to do where nothing proves an owner dead.
    #[must_use]
    pub fn otherwise(&self) -> String {
        format!("say it with --dead-owner {}, or --dead-owner '*' when all are stopped", self.owner_form())
    }

    /// What to do about an owner that lives. `restate` says how the operator gives another claim.
    #[must_use]
    pub fn stop_it(&self, restate: &str) -> String {
        let form = self.owner_form();
        if !form.contains('@') {
            return "stop it".to_owned();
        }
        let timed = form.replace(['[', ']'], "");
        format!("stop it, or {restate} --dead-owner {timed} for what ran before its restart")
    }

    /// What people call some rows of a role, without their number.
    #[must_use]
    pub fn noun(&self, role: &str, n: usize) -> String {
        match (self.nouns.get(role), n) {
            (Some([one, _]), 1) => one.clone(),
            (Some([_, many]), _) => many.clone(),
            (None, 1) => format!("row of {role}"),
            (None, _) => format!("rows of {role}"),
        }
    }

    /// What people call some of what is undone together; `unit` is its role, or nothing for a run.
    #[must_use]
    pub fn unit(&self, unit: &str, n: usize) -> String {
        match (unit, n) {
            ("", 1) => "run".to_owned(),
            ("", _) => "runs".to_owned(),
            _ => self.noun(unit, n),
        }
    }

    /// What names one row for people: its key and its label, or the label alone where that names it in full.
    #[must_use]
    pub fn row_name<'t>(&self, role: &str, key: &'t str, label: &'t str) -> Vec<&'t str> {
        match (label.is_empty(), self.labelled.iter().any(|name| name == role)) {
            (true, _) => vec![key],
            (false, true) => vec![label],
            (false, false) => vec![key, label],
        }
    }

    /// `2 tasks`.
    #[must_use]
    pub fn count(&self, role: &str, n: usize) -> String {
        format!("{n} {}", self.noun(role, n))
    }

    /// `1 run, 2 tasks`.
    #[must_use]
    pub fn counts(&self, rows: &BTreeMap<String, usize>) -> String {
        rows.iter().rev().map(|(role, n)| self.count(role, *n)).collect::<Vec<_>>().join(", ")
    }
}

/// A table that plays a role.
#[derive(Clone, Debug)]
pub struct Role {
    /// The table's name.
    pub table: String,
    /// Role columns that make the primary key.
    pub key: Vec<String>,
    /// Role columns that show whether somebody took the row over.
    pub witnesses: Vec<String>,
    /// Role column → column.
    pub columns: BTreeMap<String, String>,
    /// Role columns that hold times as milliseconds since the epoch.
    pub epoch_ms: Vec<String>,
}

impl Role {
    /// The real columns of those that the release has.
    #[must_use]
    pub fn real(&self, names: &[String]) -> Vec<String> {
        names.iter().filter_map(|name| self.columns.get(name)).cloned().collect()
    }
}

/// `child` refers to `parent`, both role columns.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The referring role column.
    pub child: String,
    /// The role column referred to.
    pub parent: String,
    /// Whether the child is a part of the parent, so that a repair writes it first.
    pub part_of: bool,
}

/// How a heartbeat is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeatUnit {
    /// A date and time without zone, on the owner's clock.
    Datetime,
    /// Milliseconds since the epoch, on the owner's clock.
    EpochMs,
    /// The table lists owners without a readable beat.
    Listed,
}

/// A table in which owners show that they live.
#[derive(Clone, Debug)]
pub struct Heartbeat {
    /// The role of the table.
    pub role: String,
    /// What kind of owner: `master`, `worker` … All tables of one kind are read together.
    pub owner: String,
    /// What people call the table's entries.
    pub called: String,
    /// Role column with the address.
    pub address: String,
    /// What stands before the address in that column.
    pub path_prefix: String,
    /// Role column with the beat, if it is readable.
    pub beat: Option<String>,
    /// The role that holds the beat, when it is another table.
    pub beat_role: Option<String>,
    /// Role column of `role` that names the key of `beat_role`.
    pub beat_join: Option<String>,
    /// How the beat is stored.
    pub unit: BeatUnit,
    /// Role columns, and the texts that they must hold for a row to count.
    pub only: BTreeMap<String, Vec<String>>,
    /// Role column that tells owners of one address apart.
    pub scope: Option<String>,
    /// Role column with an owner's own interval, in milliseconds.
    pub interval: Option<String>,
    /// How often a living owner beats, in milliseconds, where its row does not say so.
    pub interval_ms: u64,
    /// How long an owner may be silent before the scheduler itself gives it up.
    pub expires: Expires,
    /// Whether every living owner is listed, so that whoever is not listed is dead.
    pub absence_proves: bool,
    /// What a reader must know about it.
    pub note: String,
}

/// How long an owner may be silent, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expires {
    /// So long, whatever its interval.
    After(u64),
    /// Its interval, and so much longer.
    BeyondInterval(u64),
}

impl Heartbeat {
    /// Whether an owner's beat can be read, and not only that it is listed.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.unit != BeatUnit::Listed && self.beat.is_some()
    }

    /// How long an owner that beats so often may be silent, in milliseconds.
    #[must_use]
    pub fn expires_ms(&self, interval_ms: u64) -> u64 {
        match self.expires {
            Expires::After(ms) => ms,
            Expires::BeyondInterval(grace) => interval_ms.saturating_add(grace),
        }
    }
}

/// What a registry outside the database speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistryKind {
    /// Apache ZooKeeper.
    ZooKeeper,
    /// etcd, version 3.
    Etcd,
}

impl RegistryKind {
    /// Its name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::ZooKeeper => "ZooKeeper",
            Self::Etcd => "etcd",
        }
    }
}

/// A place in a registry outside the database in which owners are listed while they live.
#[derive(Clone, Debug)]
pub struct RegistryPath {
    /// What the registry speaks.
    pub kind: RegistryKind,
    /// What stands before the path, unless the scheduler is configured otherwise.
    pub namespace: String,
    /// The path; an owner's entry is named by its address and stands directly below.
    pub path: String,
    /// Whether an entry is the address, `_` and a sequence number.
    pub numbered: bool,
}

/// A row that the scheduler locks before it writes.
#[derive(Clone, Debug)]
pub struct Lock {
    /// The role of the table.
    pub role: String,
    /// Role columns of the key, and the values that name the row.
    pub key: BTreeMap<String, String>,
    /// The role column of the key that says whose row it is; the rows that a plan
    /// writes have a column of the same name.
    pub scope: Option<String>,
}

/// Role columns that show how the scheduler's clock and zone differ from the database's.
#[derive(Clone, Debug)]
pub struct Clock {
    /// A column that the scheduler writes without zone, and one that the database
    /// fills with an instant in the same statement.
    pub pair: Option<(String, String)>,
    /// Columns whose newest value is recent while the scheduler works.
    pub newest: Vec<String>,
    /// Whether the scheduler writes every time in UTC, wherever it runs.
    pub utc: bool,
}

/// A column in which NULL breaks the scheduler.
#[derive(Clone, Debug)]
pub struct NeverNull {
    /// The role column.
    pub column: String,
    /// What upstream writes by default.
    pub default: String,
    /// Why NULL breaks it, with the source.
    pub why: String,
}

/// What no repair may write.
#[derive(Clone, Debug, Default)]
pub struct Forbidden {
    /// Table name patterns (`*` stands for anything).
    pub tables: Vec<String>,
    /// Role columns.
    pub columns: Vec<String>,
    /// Table names that a pattern names by accident.
    pub except: Vec<String>,
    /// Tables of records whose old rows may be deleted to make room, as the scheduler's own clean-up does.
    pub cleaned: Vec<String>,
}

impl Manifest {
    /// The release, if it is one of this generation; for a span of releases, the first of it.
    #[must_use]
    pub fn listed<'a>(&'a self, release: &'a str) -> &'a str {
        let first = release.split_whitespace().next().unwrap_or(release);
        let listed = self.releases.iter().any(|r| r == first);
        if listed { first } else { self.releases.first().map_or(release, String::as_str) }
    }

    /// With the facts of one of its releases; of a release that is not known exactly, its own.
    #[must_use]
    pub fn behaving_as(mut self, release: &str) -> Self {
        self.behaviour.extend(self.behaviour_of.get(release).cloned().unwrap_or_default());
        self
    }

    /// The role, or an error that names the generation.
    ///
    /// # Errors
    /// The generation has no such role.
    pub fn role(&self, role: &str) -> Result<&Role> {
        self.roles
            .get(role)
            .ok_or_else(|| Error::usage(format!("{} {} has no table in the role {role}", self.title, self.generation)))
    }

    /// Whether a role or a role column exists in this generation.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        match name.split_once('.') {
            Some((role, column)) => self.roles.get(role).is_some_and(|r| r.columns.contains_key(column)),
            None => self.roles.contains_key(name),
        }
    }

    /// Whether upstream has a schema for a database. SQLite takes MySQL's.
    #[must_use]
    pub fn runs_on(&self, engine: Engine) -> bool {
        let engine = if engine == Engine::Sqlite { Engine::MySql } else { engine };
        self.engines.is_empty() || self.engines.contains(&engine)
    }

    /// The real column of a role column `role.column`.
    ///
    /// # Errors
    /// The generation has no such role or column.
    pub fn column(&self, name: &str) -> Result<&str> {
        let (role, column) =
            name.split_once('.').ok_or_else(|| Error::usage(format!("`{name}` is not role.column")))?;
        self.role(role)?
            .columns
            .get(column)
            .map(String::as_str)
            .ok_or_else(|| Error::usage(format!("{} {} has no column in the role {name}", self.title, self.generation)))
    }

    /// The role column that tells owners of one address apart in the rows of a role,
    /// where heartbeats have such a column and the role has it, too.
    #[must_use]
    pub fn owner_scope(&self, role: &str) -> Option<&str> {
        let scopes = self.heartbeats.iter().filter_map(|h| h.scope.as_deref());
        scopes.into_iter().find(|scope| self.has(&format!("{role}.{scope}")))
    }

    /// Whether a role column `role.column` holds times as milliseconds since the epoch.
    #[must_use]
    pub fn is_epoch_ms(&self, name: &str) -> bool {
        let Some((role, column)) = name.split_once('.') else { return false };
        self.roles.get(role).is_some_and(|r| r.epoch_ms.iter().any(|c| c == column))
    }

    /// The states of a role column.
    ///
    /// # Errors
    /// The column holds no states that the manifest knows.
    pub fn states(&self, column: &str) -> Result<&StateSet> {
        self.states
            .get(column)
            .ok_or_else(|| Error::usage(format!("{} {} names no states for {column}", self.title, self.generation)))
    }

    /// The names of all tables, described or not.
    pub fn table_names(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().chain(&self.other_tables).map(String::as_str)
    }

    /// Whether the generation has a table, described or not.
    #[must_use]
    pub fn has_table(&self, name: &str) -> bool {
        self.tables.contains_key(name) || self.other_tables.contains(name)
    }

    /// The table of a name, however it is spelt.
    #[must_use]
    pub fn table_named(&self, name: &str) -> Option<&TableSpec> {
        self.tables.get(name).or_else(|| self.tables.values().find(|t| t.name.eq_ignore_ascii_case(name)))
    }

    /// Whether a table must never be written.
    #[must_use]
    pub fn is_forbidden_table(&self, table: &str) -> bool {
        let named = |pattern: &String| glob(&pattern.to_lowercase(), &table.to_lowercase());
        !self.forbidden.except.iter().any(|t| t.eq_ignore_ascii_case(table)) && self.forbidden.tables.iter().any(named)
    }

    /// How to name this generation: "3.1.7 to 3.1.9".
    #[must_use]
    pub fn release_range(&self) -> String {
        match (self.releases.first(), self.releases.last()) {
            (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
            (Some(only), _) => only.clone(),
            _ => self.generation.clone(),
        }
    }
}

/// Matches `*` against any run of characters.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn globs() {
        assert!(glob("qrtz_*", "qrtz_locks"));
        assert!(glob("*_alert*", "t_ds_alert_send_status"));
        assert!(glob("t_ds_user", "t_ds_user"));
        assert!(!glob("*_user", "t_ds_user_x"));
        assert!(!glob("t_ds_user", "t_ds_users"));
    }
}

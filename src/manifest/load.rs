//! Reads manifests: inherit, check.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::Spanned;

use super::file::{
    ClockFile, ColumnFile, FingerprintFile, HeartbeatFile, LockFile, ManifestFile, MeaningFile, RegistryFile,
    RelationFile, RoleFile, StateFile, StateSetFile, TableFile,
};
use super::scheduler::Scheduler;
use super::schema::TableColumn;
use super::source::Source;
use super::{
    BeatUnit, Clock, ColumnSpec, Engine, Expires, Fingerprint, Forbidden, ForeignKey, Heartbeat, Lock, Manifest,
    NeverNull, RegistryKind, RegistryPath, Relation, Renamed, Role, State, StateSet, TableSpec, VersionIs, Words,
    allowed, check, marks, old,
};
use crate::data::{DataFile, Tree};
use crate::{Error, Result};

/// Every manifest that is known, oldest generation first within a scheduler.
#[derive(Clone, Debug)]
pub struct Manifests {
    schedulers: Vec<Scheduler>,
}

impl Manifests {
    /// The embedded manifests with the files of `dir` laid over them.
    ///
    /// # Errors
    /// A manifest with a mistake; the message names file, line and key.
    pub fn load(dir: Option<&Path>) -> Result<Self> {
        Self::from_tree(&Tree::enums(dir)?)
    }

    /// The manifests of a tree of files `<scheduler>/<generation>.toml`.
    ///
    /// # Errors
    /// A manifest of somebody's own with a mistake; the message names file, line and key.
    pub fn from_tree(tree: &Tree) -> Result<Self> {
        let mut files: BTreeMap<&str, Vec<(&str, &DataFile)>> = BTreeMap::new();
        for (path, file) in tree.iter() {
            files.entry(path.split('/').next().unwrap_or(path)).or_default().push((path, file));
        }
        let schedulers = files.into_iter().map(|(name, files)| Scheduler::of(name, &files)).collect::<Result<_>>()?;
        Ok(Self { schedulers })
    }

    /// The schedulers whose tables' prefix can be chosen, with this one.
    ///
    /// # Errors
    /// A manifest with a mistake.
    pub fn with_prefix(&self, prefix: &str) -> Result<Self> {
        let mut schedulers = Vec::new();
        for scheduler in &self.schedulers {
            schedulers.extend(scheduler.with_prefix(prefix)?);
        }
        Ok(Self { schedulers })
    }

    /// The manifests as they are where a scheduler's tables' names begin with a prefix of somebody's own.
    ///
    /// # Errors
    /// As [`Manifests::takes_prefix`].
    pub fn prefixed(&self, scheduler: &str, prefix: Option<&str>) -> Result<Cow<'_, Self>> {
        let Some(prefix) = prefix else { return Ok(Cow::Borrowed(self)) };
        self.takes_prefix(scheduler)?;
        self.with_prefix(prefix).map(Cow::Owned)
    }

    /// Whether the tables' prefix can be chosen, for a scheduler that is known.
    ///
    /// # Errors
    /// It cannot, or a manifest has a mistake.
    pub fn takes_prefix(&self, scheduler: &str) -> Result<()> {
        if self.knows(scheduler) && self.of(scheduler)?.iter().all(|m| m.table_prefix.is_none()) {
            return Err(Error::usage(format!("--table-prefix: the table names of {scheduler} are always the same"))
                .hint("leave --table-prefix and FLOWMEND_TABLE_PREFIX out"));
        }
        Ok(())
    }

    /// All manifests of a scheduler, oldest generation first.
    ///
    /// # Errors
    /// No manifest knows the scheduler.
    pub fn of(&self, scheduler: &str) -> Result<Vec<&Manifest>> {
        self.scheduler(scheduler)?.all()
    }

    fn scheduler(&self, name: &str) -> Result<&Scheduler> {
        self.schedulers.iter().find(|s| s.name == name).ok_or_else(|| {
            let known = self.schedulers().join(", ");
            Error::usage(format!("unknown scheduler `{name}`")).hint(format!("known: {known}"))
        })
    }

    /// Whether some manifest speaks of a scheduler.
    #[must_use]
    pub fn knows(&self, scheduler: &str) -> bool {
        self.schedulers.iter().any(|s| s.name == scheduler)
    }

    /// Whether no manifest of a scheduler is somebody's own.
    #[must_use]
    pub fn is_built_in(&self, scheduler: &str) -> bool {
        self.schedulers.iter().filter(|s| s.name == scheduler).all(Scheduler::is_built_in)
    }

    /// The manifest of one release. What it does not extend is not read for it.
    ///
    /// # Errors
    /// No manifest lists the release.
    pub fn release(&self, scheduler: &str, release: &str) -> Result<&Manifest> {
        let found = self.scheduler(scheduler)?;
        found.release(release)?.ok_or_else(|| {
            Error::usage(format!("no manifest for {scheduler} {release}"))
                .hint(format!("known releases: {}", found.releases().join(", ")))
        })
    }

    /// The manifest of a generation.
    ///
    /// # Errors
    /// No such scheduler or generation.
    pub fn generation(&self, scheduler: &str, generation: &str) -> Result<&Manifest> {
        self.scheduler(scheduler)?
            .generation(generation)?
            .ok_or_else(|| Error::usage(format!("no manifest for the generation {generation} of {scheduler}")))
    }

    /// Short names of the schedulers.
    #[must_use]
    pub fn schedulers(&self) -> Vec<&str> {
        self.schedulers.iter().map(|s| s.name.as_str()).collect()
    }

    /// All manifests.
    ///
    /// # Errors
    /// A manifest with a mistake.
    pub fn all(&self) -> Result<Vec<&Manifest>> {
        let mut all = Vec::new();
        for scheduler in &self.schedulers {
            all.extend(scheduler.all()?);
        }
        Ok(all)
    }
}

/// Numbers of a version in order, so that 3.10 comes after 3.9.
#[must_use]
pub fn version_order(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

/// What a file says, laid over the generation that it extends.
pub(super) fn resolve(mut manifest: Manifest, source: Source<'_>, file: &ManifestFile) -> Result<Manifest> {
    manifest.generation.clone_from(file.generation.get_ref());
    manifest.origin.clone_from(&source.file.origin);
    manifest.sha256 = crate::digest::sha256(&[manifest.sha256.as_bytes(), source.file.text.as_bytes()]);
    manifest.title.clone_from(&file.title);
    if file.releases.get_ref().is_empty() {
        return Err(source.at(&file.releases, "releases: list at least one release"));
    }
    manifest.releases.clone_from(file.releases.get_ref());
    manifest.approximate.clone_from(&file.approximate);
    manifest.approximate_because.clone_from(&file.approximate_because);
    manifest.version_marks.clone_from(&file.version_marks);
    manifest.version_is = file.version_is.unwrap_or(manifest.version_is);
    manifest.sources.clone_from(&file.sources);
    manifest.fingerprint = fingerprint(&file.fingerprint);
    manifest.behaviour.extend(file.behaviour.clone());
    manifest.behaviour_of = behaviour_of(&manifest, source, file)?;
    if let Some(engines) = &file.engines {
        manifest.engines = engines.iter().map(|e| engine(source, e, "engines")).collect::<Result<_>>()?;
    }
    if let Some(carriers) = &file.carried_by {
        manifest.carried_by.clone_from(carriers);
    }
    if let Some(prefix) = &file.table_prefix {
        manifest.table_prefix = Some(prefix.get_ref().clone());
    }
    if let Some(words) = &file.words {
        manifest.words.clone_from(words);
    }
    for name in &file.dropped_tables {
        let described = manifest.tables.remove(name.get_ref()).is_some();
        let named = manifest.other_tables.remove(name.get_ref());
        // A table that comes again later was left out where it was described first.
        if !(named || described || source.file.built_in) {
            return Err(source.at(name, format!("dropped_tables: no table {} to drop", name.get_ref())));
        }
    }
    for name in &file.dropped_roles {
        if manifest.roles.remove(name.get_ref()).is_none() {
            return Err(source.at(name, format!("dropped_roles: no role {} to drop", name.get_ref())));
        }
    }
    for table in &file.tables {
        manifest.other_tables.remove(table.name.get_ref());
        manifest.tables.insert(table.name.get_ref().clone(), table_spec(source, table)?);
    }
    for name in &file.other_tables {
        if manifest.tables.contains_key(name.get_ref()) {
            return Err(source.at(name, format!("other_tables: {} is described under [[tables]]", name.get_ref())));
        }
        if !manifest.other_tables.insert(name.get_ref().clone()) {
            return Err(source.at(name, format!("other_tables: {} is listed twice", name.get_ref())));
        }
    }
    for (name, role) in &file.roles {
        manifest.roles.insert(name.clone(), role_of(role));
    }
    for set in &file.states {
        manifest.states.insert(set.column.get_ref().clone(), state_set(source, set)?);
    }
    manifest.states.retain(|column, _| column.split('.').next().is_some_and(|role| manifest.roles.contains_key(role)));
    overlay_lists(&mut manifest, source, file)?;
    // The tests have checked those that come with the program.
    if !source.file.built_in {
        check::manifest(&manifest, source, file)?;
    }
    Ok(manifest)
}

/// What single releases do otherwise than their generation.
fn behaviour_of(
    manifest: &Manifest,
    source: Source<'_>,
    file: &ManifestFile,
) -> Result<BTreeMap<String, BTreeMap<String, toml::Value>>> {
    let mut found = BTreeMap::new();
    for (release, facts) in &file.behaviour_of {
        if !manifest.releases.contains(release.get_ref()) {
            let message = format!("behaviour_of: {} is no release of this generation", release.get_ref());
            return Err(source.at(release, message));
        }
        if let Some(unknown) = facts.keys().find(|name| !manifest.behaviour.contains_key(name.get_ref())) {
            let message = format!("behaviour_of: the generation says nothing of {}", unknown.get_ref());
            return Err(source.at(unknown, message));
        }
        let facts = facts.iter().map(|(name, value)| (name.get_ref().clone(), value.clone()));
        found.insert(release.get_ref().clone(), facts.collect());
    }
    Ok(found)
}

fn fingerprint(file: &FingerprintFile) -> Fingerprint {
    let marks = |list: &[Spanned<String>], details: bool| {
        let kept = list.iter().map(Spanned::get_ref).filter(|mark| marks::is_detail(mark) == details);
        kept.map(|mark| if details { marks::normal(mark) } else { mark.clone() }).collect()
    };
    Fingerprint {
        present: marks(&file.present, false),
        absent: marks(&file.absent, false),
        details: marks(&file.present, true),
        without: marks(&file.absent, true),
    }
}

/// What a file that extends nothing is laid over.
pub(super) fn empty(scheduler: &str) -> Manifest {
    Manifest {
        scheduler: scheduler.to_owned(),
        title: String::new(),
        generation: String::new(),
        releases: Vec::new(),
        approximate: Vec::new(),
        approximate_because: String::new(),
        version_marks: BTreeMap::new(),
        version_is: VersionIs::default(),
        sources: Vec::new(),
        fingerprint: Fingerprint::default(),
        behaviour: BTreeMap::new(),
        behaviour_of: BTreeMap::new(),
        words: Words::default(),
        carried_by: Vec::new(),
        table_prefix: None,
        engines: Vec::new(),
        states: BTreeMap::new(),
        roles: BTreeMap::new(),
        relations: Vec::new(),
        heartbeats: Vec::new(),
        registries: Vec::new(),
        locks: Vec::new(),
        clock: None,
        never_null: Vec::new(),
        forbidden: Forbidden::default(),
        allowed_writes: Vec::new(),
        tables: BTreeMap::new(),
        other_tables: BTreeSet::new(),
        origin: String::new(),
        sha256: String::new(),
        renamed: Renamed::default(),
        converted: BTreeMap::new(),
        legacy: Vec::new(),
        upgrade: Vec::new(),
    }
}

fn overlay_lists(manifest: &mut Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    if let Some(relations) = &file.relations {
        manifest.relations = relations.iter().map(|r| relation(source, r)).collect::<Result<_>>()?;
    }
    if let Some(heartbeats) = &file.heartbeats {
        manifest.heartbeats = heartbeats.iter().map(|h| heartbeat(source, h)).collect::<Result<_>>()?;
    }
    if let Some(registries) = &file.registries {
        manifest.registries = registries.iter().map(|r| registry(source, r)).collect::<Result<_>>()?;
    }
    if let Some(locks) = &file.locks {
        manifest.locks = locks.iter().map(lock).collect();
    }
    if let Some(clock) = &file.clock {
        manifest.clock = Some(Clock {
            pair: clock_pair(source, clock)?,
            newest: clock.newest.iter().map(|c| c.get_ref().clone()).collect(),
            utc: clock.utc.unwrap_or(false),
        });
    }
    if let Some(columns) = &file.never_null {
        manifest.never_null = columns
            .iter()
            .map(|n| NeverNull { column: n.column.get_ref().clone(), default: n.default.clone(), why: n.why.clone() })
            .collect();
    }
    if let Some(forbidden) = &file.forbidden {
        manifest.forbidden = Forbidden {
            tables: forbidden.tables.clone(),
            columns: forbidden.columns.iter().map(|c| c.get_ref().clone()).collect(),
            except: forbidden.except.clone(),
            cleaned: forbidden.cleaned.clone(),
        };
    }
    if let Some(writes) = &file.allowed_writes {
        manifest.allowed_writes = writes.iter().map(|w| allowed::read(source, w)).collect::<Result<_>>()?;
    }
    old::read(manifest, source, file)?;
    Ok(())
}

fn lock(file: &LockFile) -> Lock {
    Lock {
        role: file.role.get_ref().clone(),
        key: file.key.get_ref().clone(),
        scope: file.scope.as_ref().map(|s| s.get_ref().clone()),
    }
}

/// The two columns of a clock's pair stand together.
fn clock_pair(source: Source<'_>, clock: &ClockFile) -> Result<Option<(String, String)>> {
    match (&clock.wall, &clock.instant) {
        (Some(wall), Some(instant)) => Ok(Some((wall.get_ref().clone(), instant.get_ref().clone()))),
        (None, None) => Ok(None),
        (Some(alone), None) => Err(source.at(alone, "clock.wall: give clock.instant too, or neither")),
        (None, Some(alone)) => Err(source.at(alone, "clock.instant: give clock.wall too, or neither")),
    }
}

fn relation(source: Source<'_>, file: &RelationFile) -> Result<Relation> {
    let part_of = match file.kind.get_ref().as_str() {
        "part_of" => true,
        "refers_to" => false,
        other => {
            return Err(source.at(&file.kind, format!("relations.kind: `{other}` is neither part_of nor refers_to")));
        }
    };
    Ok(Relation { child: file.child.get_ref().clone(), parent: file.parent.get_ref().clone(), part_of })
}

fn role_of(file: &RoleFile) -> Role {
    let texts = |list: &[Spanned<String>]| list.iter().map(|s| s.get_ref().clone()).collect();
    Role {
        table: file.table.get_ref().clone(),
        key: texts(&file.key),
        witnesses: texts(&file.witnesses),
        epoch_ms: texts(&file.epoch_ms),
        columns: file.columns.iter().map(|(role, column)| (role.clone(), column.get_ref().clone())).collect(),
    }
}

fn state_set(source: Source<'_>, file: &StateSetFile) -> Result<StateSet> {
    let text = match file.stored_as.get_ref().as_str() {
        "int" => false,
        "text" => true,
        other => return Err(source.at(&file.stored_as, format!("states.stored_as: `{other}` is neither int nor text"))),
    };
    let mut states: Vec<State> = Vec::new();
    for value in &file.values {
        let state = State {
            code: code(source, file.stored_as.get_ref(), &value.code, "states.values.code")?,
            when: value
                .when
                .iter()
                .map(|w| code(source, file.stored_as.get_ref(), w, "states.values.when"))
                .collect::<Result<_>>()?,
            name: value.name.get_ref().clone(),
            phase: value.phase.get_ref().clone(),
            finished: value.finished,
            upstream_finished: for_upstream(source, value)?,
            legal: value.legal,
        };
        told_apart(source, value, &states, &state)?;
        states.push(state);
    }
    let hanging = file.values.iter().zip(&states).find(|(_, s)| !s.when.is_empty());
    if let (Some((value, _)), None) = (hanging, &file.with) {
        return Err(source.at(&value.code, "states.values.when: name the other column in states.with"));
    }
    let rest = |state: &State| states.iter().any(|s| s.code == state.code && s.when.is_empty());
    if let Some((value, state)) = file.values.iter().zip(&states).find(|(_, s)| !rest(s)) {
        let message = format!("states.values.when: say what {} means otherwise, in a value without `when`", state.code);
        return Err(source.at(&value.code, message));
    }
    let meaning = |file: &Option<MeaningFile>| file.as_ref().map(meaning);
    Ok(StateSet {
        type_name: file.type_name.clone(),
        text,
        with: file.with.as_ref().map(|w| w.get_ref().clone()),
        states,
        null: meaning(&file.null),
        other: meaning(&file.other),
    })
}

/// Whether upstream counts a state as finished: as `finished` says, unless it is said to differ.
fn for_upstream(source: Source<'_>, value: &StateFile) -> Result<bool> {
    match &value.upstream_finished {
        Some(said) if *said.get_ref() == value.finished => {
            let message = "states.values.upstream_finished: it says what `finished` says; leave it out";
            Err(source.at(said, message))
        }
        Some(said) => Ok(*said.get_ref()),
        None => Ok(value.finished),
    }
}

/// A code of the kind that the column stores.
pub(super) fn code(source: Source<'_>, kind: &str, value: &Spanned<toml::Value>, key: &str) -> Result<String> {
    match (value.get_ref(), kind) {
        (toml::Value::Integer(code), "int") => Ok(code.to_string()),
        (toml::Value::String(code), "text") => Ok(code.clone()),
        (other, _) => Err(source.at(value, format!("{key}: `{other}` is not of the kind {kind}"))),
    }
}

/// No two states share a name, or a code beside the same code of the other column.
fn told_apart(source: Source<'_>, value: &StateFile, earlier: &[State], state: &State) -> Result<()> {
    let beside = |twin: &State| match (twin.when.is_empty(), state.when.is_empty()) {
        (true, true) => true,
        (false, false) => twin.when.iter().any(|w| state.when.contains(w)),
        _ => false,
    };
    if let Some(twin) = earlier.iter().find(|s| s.code == state.code && beside(s)) {
        let message = format!("states.values.code: {} is given to both {} and {}", state.code, twin.name, state.name);
        return Err(source.at(&value.code, message));
    }
    if earlier.iter().any(|s| s.name == state.name) {
        return Err(source.at(&value.name, format!("states.values.name: {} is listed twice", state.name)));
    }
    Ok(())
}

/// A state without a code of its own.
fn meaning(file: &MeaningFile) -> State {
    State {
        code: String::new(),
        when: Vec::new(),
        name: file.name.get_ref().clone(),
        phase: file.phase.get_ref().clone(),
        finished: file.finished,
        upstream_finished: file.finished,
        legal: true,
    }
}

fn heartbeat(source: Source<'_>, file: &HeartbeatFile) -> Result<Heartbeat> {
    let unit = match &file.unit {
        None => BeatUnit::Listed,
        Some(unit) => match unit.get_ref().as_str() {
            "datetime" => BeatUnit::Datetime,
            "epoch_ms" => BeatUnit::EpochMs,
            other => {
                return Err(source.at(unit, format!("heartbeats.unit: `{other}` is neither datetime nor epoch_ms")));
            }
        },
    };
    let expires = match (&file.expires_ms, file.grace_ms) {
        (Some(both), Some(_)) => {
            return Err(source.at(both, "heartbeats.expires_ms: give it, or grace_ms beyond the interval, not both"));
        }
        (Some(ms), None) => Expires::After(*ms.get_ref()),
        (None, Some(grace)) => Expires::BeyondInterval(grace),
        // Most registries give up after three beats.
        (None, None) => Expires::After(file.interval_ms * 3),
    };
    if let Some(called) = file.called.as_ref().filter(|called| called.get_ref().trim().is_empty()) {
        return Err(source.at(called, "heartbeats.called: it is empty; leave it out where the table is a registry"));
    }
    Ok(Heartbeat {
        role: file.role.get_ref().clone(),
        owner: file.owner.clone(),
        called: file.called.as_ref().map_or_else(|| "the registry".to_owned(), |called| called.get_ref().clone()),
        address: file.address.clone(),
        path_prefix: file.path_prefix.clone(),
        beat: file.beat.clone(),
        beat_role: file.beat_role.clone(),
        beat_join: file.beat_join.clone(),
        unit,
        only: file.only.clone(),
        scope: file.scope.clone(),
        interval: file.interval.clone(),
        interval_ms: file.interval_ms,
        expires,
        absence_proves: file.absence_proves.unwrap_or(true),
        note: file.note.clone(),
    })
}

fn registry(source: Source<'_>, file: &RegistryFile) -> Result<RegistryPath> {
    let kind = match file.kind.get_ref().as_str() {
        "zookeeper" => RegistryKind::ZooKeeper,
        "etcd" => RegistryKind::Etcd,
        other => return Err(source.at(&file.kind, format!("registries.kind: `{other}` is neither zookeeper nor etcd"))),
    };
    let (namespace, path) = (file.namespace.get_ref(), file.path.get_ref());
    if namespace.is_empty() || namespace.ends_with('/') {
        return Err(source.at(&file.namespace, "registries.namespace: write it without a slash at its end"));
    }
    if !path.starts_with('/') || path.ends_with('/') {
        return Err(source.at(&file.path, "registries.path: write it with a slash before it and none behind"));
    }
    Ok(RegistryPath { kind, namespace: namespace.clone(), path: path.clone(), numbered: file.numbered })
}

fn engine(source: Source<'_>, name: &Spanned<String>, key: &str) -> Result<Engine> {
    match name.get_ref().as_str() {
        "mysql" => Ok(Engine::MySql),
        "postgresql" => Ok(Engine::PostgreSql),
        other => Err(source.at(name, format!("{key}: `{other}` is neither mysql nor postgresql"))),
    }
}

fn table_spec(source: Source<'_>, file: &TableFile) -> Result<TableSpec> {
    let only = file.only.as_ref().map(|only| engine(source, only, "tables.only")).transpose()?;
    let table = file.name.get_ref();
    let spec = |column: &ColumnFile, engine: &str, text: &Option<Spanned<String>>| match text {
        None => Ok(None),
        Some(text) => ColumnSpec::parse(text.get_ref())
            .map(Some)
            .map_err(|e| source.at(text, format!("tables.{table}.{}.{engine}: {e}", column.name.get_ref()))),
    };
    let mut columns: Vec<TableColumn> = Vec::new();
    for column in &file.columns {
        let name = column.name.get_ref();
        if columns.iter().any(|c| &c.name == name) {
            return Err(source.at(&column.name, format!("tables.{table}.columns: {name} is listed twice")));
        }
        columns.push(TableColumn {
            name: name.clone(),
            mysql: spec(column, "mysql", &column.mysql)?,
            postgresql: spec(column, "postgresql", &column.postgresql)?,
        });
    }
    let primary_key = file.primary_key.get_ref().clone();
    if let Some(missing) = primary_key.iter().find(|k| !columns.iter().any(|c| &c.name == *k)) {
        return Err(source.at(&file.primary_key, format!("tables.{table}.primary_key: no column {missing}")));
    }
    let keys = |list: &[super::file::ForeignKeyFile]| {
        list.iter()
            .map(|f| ForeignKey {
                columns: f.columns.clone(),
                references: f.references.clone(),
                ref_columns: f.ref_columns.clone(),
                on_delete: f.on_delete.clone(),
            })
            .collect()
    };
    Ok(TableSpec {
        name: table.clone(),
        only,
        optional: file.optional.clone(),
        primary_key_postgresql: file.primary_key_postgresql.clone().unwrap_or_else(|| primary_key.clone()),
        primary_key,
        columns,
        foreign_keys_mysql: keys(&file.foreign_keys_mysql),
        foreign_keys_postgresql: keys(&file.foreign_keys_postgresql),
        unique_mysql: file.unique_mysql.clone(),
        unique_postgresql: file.unique_postgresql.clone(),
        indexes_mysql: file.indexes_mysql.clone(),
        indexes_postgresql: file.indexes_postgresql.clone(),
    })
}

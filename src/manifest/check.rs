//! What must hold between the parts of a manifest.

use std::collections::BTreeMap;

use toml::Spanned;

use super::file::{HeartbeatFile, ManifestFile};
use super::source::Source;
use super::{Engine, Manifest, begins_with, marks};
use crate::Result;

/// Phases a state may have: the words of DESIGN, and the queue's own.
const PHASES: &[&str] = &[
    "pending",
    "dispatched",
    "delayed",
    "running",
    "restarting",
    "deferred",
    "retrying",
    "rescheduled",
    "pausing",
    "paused",
    "stopping",
    "stopped",
    "waiting",
    "serial_waiting",
    "blocking",
    "blocked",
    "handed_over",
    "needs_recovery",
    "succeeded",
    "forced_success",
    "failed",
    "upstream_failed",
    "error",
    "killed",
    "skipped",
    "removed",
    "acquired",
    "released",
    "command",
];

/// Checks one resolved manifest against its own file.
pub(super) fn manifest(m: &Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    roles(m, source, file)?;
    inherited_roles(m, source, file)?;
    states(m, source, file)?;
    fingerprint(m, source, file)?;
    for relation in file.relations.iter().flatten() {
        role_column(m, source, &relation.child, "relations.child")?;
        role_column(m, source, &relation.parent, "relations.parent")?;
    }
    for column in file.clock.iter().flat_map(|c| c.wall.iter().chain(&c.instant).chain(&c.newest)) {
        role_column(m, source, column, "clock")?;
    }
    for column in file.never_null.iter().flatten() {
        role_column(m, source, &column.column, "never_null.column")?;
    }
    for column in file.forbidden.iter().flat_map(|f| &f.columns) {
        role_column(m, source, column, "forbidden.columns")?;
    }
    for beat in file.heartbeats.iter().flatten() {
        heartbeat(m, source, beat)?;
    }
    if let Some(release) = file.version_marks.keys().chain(&file.approximate).find(|r| !m.releases.contains(*r)) {
        return Err(
            source.at(&file.releases, format!("releases: {release} is named further down, but not listed here"))
        );
    }
    locks(m, source, file)?;
    super::allowed::check(m, source, file)?;
    prefix(m, source, file)?;
    inherited_lists(m, source, file)
}

/// Marks that are said to be present are in the tables of the generation, and those
/// that are said to be absent are not.
fn fingerprint(m: &Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    let own =
        |mark: &Spanned<String>| [Engine::MySql, Engine::PostgreSql].iter().any(|e| m.has_mark(*e, mark.get_ref()));
    for mark in
        file.fingerprint.present.iter().chain(&file.fingerprint.absent).filter(|m| marks::is_detail(m.get_ref()))
    {
        let text = mark.get_ref();
        let typed = text.split_once(':').is_some_and(|(column, kind)| column.contains('.') && !kind.trim().is_empty());
        let keyed = text
            .split_once('(')
            .is_some_and(|(_, rest)| ["", "unique"].contains(&rest.rsplit(')').next().unwrap_or_default().trim()));
        if !(typed || keyed && text.contains(')')) {
            let message = format!(
                "fingerprint: `{text}` is none of table, table.column, table.column:type, table(columns), table(columns) unique"
            );
            return Err(source.at(mark, message));
        }
    }
    if let Some(mark) = file.fingerprint.present.iter().find(|mark| !own(mark)) {
        return Err(source.at(mark, format!("fingerprint.present: {} is not in this generation", mark.get_ref())));
    }
    if let Some(mark) = file.fingerprint.absent.iter().find(|mark| own(mark)) {
        return Err(source.at(mark, format!("fingerprint.absent: {} is in this generation", mark.get_ref())));
    }
    Ok(())
}

/// What is inherited must still name role columns that are there.
fn inherited_lists(m: &Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    let clock = m.clock.iter().flat_map(|c| c.pair.iter().flat_map(|(wall, instant)| [wall, instant]).chain(&c.newest));
    if let Some(gone) = m.states.values().filter_map(|set| set.with.as_ref()).find(|column| !m.has(column)) {
        return Err(source.at(&file.generation, format!("states.with: {gone} is gone; write these states anew")));
    }
    let of_beat = |h: &super::Heartbeat| {
        let names = [Some(&h.address), h.scope.as_ref(), h.interval.as_ref()];
        names.into_iter().flatten().map(|name| format!("{}.{name}", h.role)).collect::<Vec<_>>()
    };
    let beats: Vec<String> = m.heartbeats.iter().flat_map(of_beat).collect();
    if let Some(gone) = clock.chain(&beats).find(|column| !m.has(column)) {
        return Err(source.at(&file.generation, format!("clock, heartbeats: {gone} is gone; write these tables anew")));
    }
    Ok(())
}

fn roles(m: &Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    for (name, role) in &file.roles {
        let Some(table) = m.tables.get(role.table.get_ref()) else {
            return Err(source
                .at(&role.table, format!("roles.{name}.table: no table {} in this generation", role.table.get_ref())));
        };
        for (role_column, column) in &role.columns {
            if !table.columns.iter().any(|c| &c.name == column.get_ref()) {
                let what = format!("roles.{name}.columns.{role_column}");
                return Err(
                    source.at(column, format!("{what}: table {} has no column {}", table.name, column.get_ref()))
                );
            }
        }
        for (key, list) in [("key", &role.key), ("witnesses", &role.witnesses), ("epoch_ms", &role.epoch_ms)] {
            if let Some(listed) = list.iter().find(|c| !role.columns.contains_key(c.get_ref())) {
                return Err(source.at(listed, format!("roles.{name}.{key}: unknown role column {}", listed.get_ref())));
            }
        }
    }
    Ok(())
}

fn heartbeat(m: &Manifest, source: Source<'_>, file: &HeartbeatFile) -> Result<()> {
    let role = file.role.get_ref();
    let holder = file.beat_role.as_ref().unwrap_or(role);
    let columns = [
        (role, Some(&file.address), "address"),
        (holder, file.beat.as_ref(), "beat"),
        (role, file.beat_join.as_ref(), "beat_join"),
        (role, file.scope.as_ref(), "scope"),
        (role, file.interval.as_ref(), "interval"),
    ];
    let only = file.only.keys().map(|column| (role, Some(column), "only"));
    for (role, column, key) in columns.into_iter().chain(only) {
        if let Some(column) = column.filter(|column| !m.has(&format!("{role}.{column}"))) {
            return Err(source.at(&file.role, format!("heartbeats.{key}: unknown role column {role}.{column}")));
        }
    }
    if file.beat.is_some() && file.unit.is_none() {
        return Err(source.at(&file.role, "heartbeats.unit: a beat needs its unit, datetime or epoch_ms"));
    }
    Ok(())
}

/// Every table that the manifest gives begins with the prefix, so that another can take its place.
fn prefix(m: &Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    let Some(prefix) = &m.table_prefix else { return Ok(()) };
    let place = file.table_prefix.as_ref().unwrap_or(&file.generation);
    if prefix.is_empty() {
        return Err(source.at(place, "table_prefix: it is empty; leave it out where names have no prefix"));
    }
    match m.tables.keys().find(|name| !begins_with(name, prefix)) {
        Some(name) => Err(source.at(place, format!("table_prefix: the table {name} does not begin with {prefix}"))),
        None => Ok(()),
    }
}

/// A lock names one row for each scope, of a table that no repair writes.
fn locks(m: &Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    for (index, lock) in m.locks.iter().enumerate() {
        let place = file.locks.as_ref().and_then(|l| l.get(index)).map_or(&file.generation, |l| &l.role);
        let Some(role) = m.roles.get(&lock.role) else {
            return Err(source.at(place, format!("locks.role: no role {} in this generation", lock.role)));
        };
        let mut named: Vec<&String> = lock.key.keys().chain(&lock.scope).collect();
        let mut key: Vec<&String> = role.key.iter().collect();
        named.sort();
        key.sort();
        if named != key {
            let wanted = role.key.join(", ");
            return Err(source
                .at(place, format!("locks.key: key and scope together must be the key of {} ({wanted})", lock.role)));
        }
        if !m.is_forbidden_table(&role.table) {
            let message = format!("locks.role: {} is locked and never written", role.table);
            return Err(source.at(place, message).hint("list the table under forbidden.tables"));
        }
    }
    Ok(())
}

/// A role that is inherited must still fit the tables of this generation.
fn inherited_roles(m: &Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    for (name, role) in &m.roles {
        let Some(table) = m.tables.get(&role.table) else {
            let message = format!(
                "roles.{name}: its table {} is gone; list the role in dropped_roles or give it a table",
                role.table
            );
            return Err(source.at(&file.generation, message));
        };
        if let Some(gone) = role.columns.values().find(|c| !table.columns.iter().any(|x| &x.name == *c)) {
            return Err(source
                .at(&file.generation, format!("roles.{name}: table {} has no column {gone} any more", table.name)));
        }
    }
    Ok(())
}

fn states(m: &Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    for set in &file.states {
        role_column(m, source, &set.column, "states.column")?;
        if let Some(with) = &set.with {
            role_column(m, source, with, "states.with")?;
            let role = |name: &Spanned<String>| name.get_ref().split('.').next().map(str::to_owned);
            if role(with) != role(&set.column) {
                let message = format!("states.with: {} is not in the row of {}", with.get_ref(), set.column.get_ref());
                return Err(source.at(with, message));
            }
        }
        let meanings = set.null.iter().chain(&set.other).map(|m| &m.phase);
        for phase in set.values.iter().map(|v| &v.phase).chain(meanings) {
            if !PHASES.contains(&phase.get_ref().as_str()) {
                let known = PHASES.join(", ");
                return Err(source.at(phase, format!("states.values.phase: `{}` is none of {known}", phase.get_ref())));
            }
        }
    }
    Ok(())
}

fn role_column(m: &Manifest, source: Source<'_>, name: &Spanned<String>, key: &str) -> Result<()> {
    if m.has(name.get_ref()) && name.get_ref().contains('.') {
        return Ok(());
    }
    Err(source.at(name, format!("{key}: unknown role column {}", name.get_ref())))
}

/// No release belongs to two generations.
pub(super) fn unique_releases(files: &[(Source<'_>, ManifestFile)]) -> Result<()> {
    let mut seen: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for (source, file) in files {
        for release in file.releases.get_ref() {
            if let Some(other) = seen.insert((file.scheduler.get_ref(), release), source.origin()) {
                let message = format!("releases: {release} is also listed by {other}");
                return Err(source.at(&file.releases, message).hint("a release belongs to one generation"));
            }
        }
    }
    Ok(())
}

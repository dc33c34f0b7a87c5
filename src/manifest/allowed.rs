//! Writes to forbidden tables that a repair may do all the same: `[[allowed_writes]]`.

use std::collections::BTreeMap;

use toml::Spanned;

use super::Manifest;
use super::file::{AllowedWriteFile, ManifestFile};
use super::source::Source;
use crate::Result;

/// A write to a forbidden table that a repair may do all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedWrite {
    /// The role of the table.
    pub role: String,
    /// Exactly what.
    pub kind: WriteKind,
    /// Why it may.
    pub why: String,
    /// What it sets off, if a script that does it should be warned.
    pub warns: Option<String>,
}

/// Exactly what may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// A row that is missing: role column of the key → the values that it may have.
    Insert(BTreeMap<String, Vec<String>>),
    /// Rows that are gone with an older time than some limit in this role column.
    DeleteOlder(String),
}

/// Reads one.
///
/// # Errors
/// It does not say exactly one kind of write, or not why.
pub(super) fn read(source: Source<'_>, file: &AllowedWriteFile) -> Result<AllowedWrite> {
    let kind = match (&file.inserts, &file.deletes_older) {
        (Some(values), None) => WriteKind::Insert(values.get_ref().clone()),
        (None, Some(column)) => WriteKind::DeleteOlder(column.get_ref().clone()),
        _ => return Err(source.at(&file.role, "allowed_writes: say either `inserts` or `deletes_older`")),
    };
    if file.why.get_ref().trim().is_empty() {
        return Err(source.at(&file.why, "allowed_writes.why: say why"));
    }
    let (role, why, warns) = (file.role.get_ref().clone(), file.why.get_ref().clone(), file.warns.clone());
    Ok(AllowedWrite { role, kind, why, warns })
}

/// Every one must be of a forbidden table, and name what that table's role has.
///
/// # Errors
/// One is not.
pub(super) fn check(m: &Manifest, source: Source<'_>, file: &ManifestFile) -> Result<()> {
    for write in file.allowed_writes.iter().flatten() {
        let name = write.role.get_ref();
        let Some(role) = m.roles.get(name) else {
            return Err(source.at(&write.role, format!("allowed_writes.role: no role {name} in this generation")));
        };
        if !m.is_forbidden_table(&role.table) {
            let message = format!("allowed_writes.role: {} is not forbidden, so nothing is to be allowed", role.table);
            return Err(source.at(&write.role, message));
        }
        if let Some(values) = &write.inserts {
            let mut key: Vec<&String> = role.key.iter().collect();
            key.sort();
            if !values.get_ref().keys().eq(key) || values.get_ref().values().any(Vec::is_empty) {
                let wanted = role.key.join(", ");
                let message =
                    format!("allowed_writes.inserts: give values for the key of {name} ({wanted}), all of it");
                return Err(source.at(values, message));
            }
        }
        let of_role = |column: &&Spanned<String>| !role.columns.contains_key(column.get_ref());
        if let Some(column) = write.deletes_older.as_ref().filter(of_role) {
            let message = format!("allowed_writes.deletes_older: {name} has no column {}", column.get_ref());
            return Err(source.at(column, message));
        }
    }
    let gone = m.allowed_writes.iter().find(|write| !is_there(m, write));
    gone.map_or(Ok(()), |write| {
        let message = format!("allowed_writes: a column of {} is gone; write these tables anew", write.role);
        Err(source.at(&file.generation, message))
    })
}

/// Whether what is inherited still fits.
fn is_there(m: &Manifest, write: &AllowedWrite) -> bool {
    m.roles.get(&write.role).is_some_and(|role| match &write.kind {
        WriteKind::Insert(values) => values.keys().all(|c| role.columns.contains_key(c)),
        WriteKind::DeleteOlder(column) => role.columns.contains_key(column),
    })
}

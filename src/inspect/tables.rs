//! Which tables are meant, where a schema holds several sets: other prefixes, other letter case.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Catalog;
use crate::db::Database;
use crate::manifest::{Engine, Manifest, Manifests, begins_with};
use crate::ui::safe;
use crate::{Error, Result};

/// How many names a message lists.
const NAMED: usize = 8;

/// Whether the marks of a generation are in a schema.
pub(super) fn fits(m: &Manifest, live: &BTreeSet<String>) -> bool {
    fits_with(m, live, &ToOwned::to_owned)
}

fn fits_with(m: &Manifest, live: &BTreeSet<String>, rename: &impl Fn(&str) -> String) -> bool {
    let there = |mark: &String| live.contains(&rename(mark).to_lowercase());
    m.fingerprint.present.iter().all(there) && !m.fingerprint.absent.iter().any(there)
}

/// The manifests with the prefix that the operator says.
///
/// # Errors
/// The scheduler has no such thing, or no table begins with it.
pub(super) fn with_prefix(
    db: &Database,
    catalog: &Catalog,
    manifests: &Manifests,
    scheduler: Option<&str>,
    prefix: &str,
) -> Result<Manifests> {
    scheduler.map_or(Ok(()), |name| manifests.takes_prefix(name))?;
    let chosen = manifests.with_prefix(prefix)?;
    if catalog.iter().any(|t| begins_with(&t.name, prefix)) {
        return Ok(chosen);
    }
    let error =
        Error::refused(format!("--table-prefix: no table of {} begins with `{}`", db.address, safe(prefix, 80)));
    let known = manifests.all()?;
    let there = prefixes(&known, catalog, &catalog.marks());
    Err(if !there.is_empty() {
        error.hint(format!("these prefixes are there: {}", listed(there.values())))
    } else if prefix.contains('.') {
        error.hint("what stands before the dot is a schema: name it with --schema")
    } else {
        error.hint("check the scheduler's configuration, the database's name in --url, and --schema")
    })
}

/// Prefixes under which a whole set of a scheduler's tables is there, by their
/// lower case, as the database writes them.
fn prefixes(known: &[&Manifest], catalog: &Catalog, live: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for m in known {
        let Some(mark) = m.fingerprint.present.first().and_then(|mark| mark.split('.').next()) else { continue };
        for prefix in catalog.iter().filter_map(|t| m.prefix_of(mark, &t.name)) {
            if fits_with(m, live, &|name| m.renamed(name, prefix)) {
                found.entry(prefix.to_lowercase()).or_insert_with(|| prefix.to_owned());
            }
        }
    }
    found
}

fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let quoted: Vec<String> = names.take(NAMED).map(|name| format!("`{}`", safe(name, 80))).collect();
    quoted.join(", ")
}

/// The refusal where the tables of a scheduler are there, but under another prefix.
pub(super) fn other_prefix(known: &[&Manifest], catalog: &Catalog, live: &BTreeSet<String>) -> Option<Error> {
    let there = prefixes(known, catalog, live);
    let first = there.values().next()?;
    let title = &known.iter().find(|m| m.table_prefix.is_some())?.title;
    let own = known.iter().find_map(|m| m.table_prefix.as_deref()).unwrap_or_default();
    let error = Error::refused(format!(
        "no tables of {title} begin with `{own}`, but such tables are there with the prefix {}",
        listed(there.values())
    ));
    Some(match there.len() {
        1 => error.hint(format!("if these are meant: --table-prefix '{}'", safe(first, 80))),
        _ => error.hint("say with --table-prefix which are meant"),
    })
}

/// Refuses to choose among several sets of tables of one scheduler.
///
/// # Errors
/// Another prefix is there beside the manifest's.
pub(super) fn one_set(matching: &[&Manifest], catalog: &Catalog, live: &BTreeSet<String>) -> Result<()> {
    let there = prefixes(matching, catalog, live);
    let Some(m) = matching.iter().find(|m| m.table_prefix.is_some()).filter(|_| there.len() > 1) else {
        return Ok(());
    };
    Err(Error::refused(format!(
        "several sets of tables of {} are there, told apart by the prefix of their names: {}",
        m.title,
        listed(there.values())
    ))
    .hint("say with --table-prefix which are meant"))
}

/// Refuses a schema in which a table of the release is there twice, in other letter case:
/// one of the two is a stray, and only people know which.
///
/// # Errors
/// There are such tables, or what the server said.
pub async fn no_twins(db: &mut Database, m: &Manifest, catalog: &Catalog) -> Result<()> {
    let tables: BTreeSet<&String> = m.roles.values().map(|role| &role.table).collect();
    let twins: Vec<String> = tables
        .into_iter()
        .map(|name| catalog.named(name))
        .filter(|named| named.len() > 1)
        .map(|named| named.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(" and "))
        .collect();
    if twins.is_empty() {
        return Ok(());
    }
    let server = match db.dialect.engine {
        Engine::MySql => {
            let value = db.value("SELECT CAST(@@lower_case_table_names AS CHAR)").await?.unwrap_or_default();
            format!(" (lower_case_table_names is {value})")
        }
        Engine::PostgreSql | Engine::Sqlite => String::new(),
    };
    let rest = if twins.len() > NAMED { format!(" … and {} more", twins.len() - NAMED) } else { String::new() };
    Err(Error::refused(format!(
        "two sets of tables of {} are there, which differ in the case of their letters only{server}: {}{rest}",
        m.title,
        twins.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ")
    ))
    .hint("one of the two is a stray: find out which one the scheduler reads and writes, and rename or drop the other"))
}

//! Owners in a registry outside the database: a listed one lives, or did until its session ends.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::sightings::Sightings;
use crate::db::Database;
use crate::manifest::{Manifest, RegistryPath, Words};
use crate::plan::{OwnerClaim, OwnerName, Proof, said_dead_now};
use crate::registry::{self, Address};
use crate::{Error, Result, ui};

/// Between two looks a server that had lost the registry for a moment can come back.
const BETWEEN_LOOKS: Duration = Duration::from_secs(3);

/// The registry that the operator named, and where the release lists its owners in it.
pub struct Registered<'a> {
    address: &'a Address,
    path: &'a RegistryPath,
    words: &'a Words,
}

impl<'a> Registered<'a> {
    /// Finds the place for a release.
    ///
    /// # Errors
    /// The release keeps no registry of this kind.
    pub fn of(address: &'a Address, m: &'a Manifest, release: &str) -> Result<Self> {
        let path = m.registries.iter().find(|r| r.kind == address.kind).ok_or_else(|| {
            let known: Vec<&str> = m.registries.iter().map(|r| r.kind.title()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Error::usage(format!(
                "{} {} keeps no registry in {}; flowmend knows of: {known}",
                m.title,
                release,
                address.kind.title()
            ))
            .hint(m.words.otherwise())
        })?;
        Ok(Self { address, path, words: &m.words })
    }

    /// Where the owners are listed, for people and without secrets.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}/{}{}", self.address, self.namespace().trim_start_matches('/'), self.path.path)
    }

    fn namespace(&self) -> &str {
        self.address.namespace.as_deref().unwrap_or(&self.path.namespace)
    }

    /// The addresses that are listed now.
    ///
    /// # Errors
    /// The registry does not answer, or has no such place.
    pub async fn names(&self) -> Result<BTreeSet<String>> {
        let names = registry::children(self.address, self.namespace(), &self.path.path).await?;
        // Where entries are numbered, the address stands before the last `_`.
        let address = |name: String| match name.rsplit_once('_') {
            Some((address, number)) if self.path.numbered && number.bytes().all(|b| b.is_ascii_digit()) => {
                address.to_owned()
            }
            _ => name,
        };
        Ok(names.into_iter().map(address).collect())
    }

    /// The addresses that were listed at the last look, which is now if there was none.
    ///
    /// # Errors
    /// As [`Self::names`].
    pub async fn names_seen(&self, seen: &mut Sightings) -> Result<BTreeSet<String>> {
        Ok(self.looks(1, seen).await?.pop().unwrap_or_default())
    }

    /// Who was listed, look by look, so many times at least.
    async fn looks(&self, times: usize, seen: &mut Sightings) -> Result<Vec<BTreeSet<String>>> {
        let looks = seen.listed.entry(self.place()).or_default();
        while looks.len() < times {
            if !looks.is_empty() {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
            looks.push(self.names().await?);
        }
        Ok(looks.clone())
    }

    /// Owners among `owners` that are missing at two looks, each with the proof.
    /// `column` is the role column with the owner.
    ///
    /// # Errors
    /// The registry lists nobody, or nobody who is known here: it is given up, or
    /// another cluster's, which would show everybody dead. Or what registry and server said.
    pub async fn shown_dead(
        &self,
        db: &mut Database,
        m: &Manifest,
        column: Option<&str>,
        owners: &[OwnerName],
        seen: &mut Sightings,
    ) -> Result<BTreeMap<OwnerName, Proof>> {
        let mut listed = self.looks(1, seen).await?.swap_remove(0);
        if let Some(column) = column.filter(|_| !listed.is_empty()) {
            self.must_be_known(db, m, column, &listed).await?;
        }
        let now = self.looks(2, seen).await?.pop().unwrap_or_default();
        if now.is_empty() {
            return Err(Error::refused(format!(
                "nobody is listed at {}: all servers are stopped, or the registry is kept elsewhere",
                self.place()
            ))
            .hint(self.words.otherwise()));
        }
        let proof = Proof {
            said_by: format!(
                "the registry {}: at two looks it was not among those listed there ({})",
                self.place(),
                joined(&now)
            ),
            registry: Some(self.place()),
        };
        listed.extend(now);
        let missing = owners.iter().filter(|o| !listed.contains(&o.address));
        Ok(missing.map(|o| (o.clone(), proof.clone())).collect())
    }

    /// Somebody who is listed must own a row here, whatever its state.
    async fn must_be_known(
        &self,
        db: &mut Database,
        m: &Manifest,
        column: &str,
        listed: &BTreeSet<String>,
    ) -> Result<()> {
        let role = m.role(column.split('.').next().unwrap_or_default())?;
        let d = &db.dialect;
        let names: Vec<String> = listed.iter().map(|n| d.text_literal(n)).collect();
        let (owner, table) = (d.ident(m.column(column)?), d.table(db.schema.as_deref(), &role.table));
        let sql = format!("SELECT {} FROM {table} WHERE {owner} IN ({}) LIMIT 1", d.as_text(&owner), names.join(", "));
        if db.value(&sql).await?.is_some() {
            return Ok(());
        }
        Err(Error::refused(format!(
            "none of those listed at {} ({}) ever owned a row of this database: it may be another cluster's",
            self.place(),
            joined(listed)
        ))
        .hint(self.words.otherwise()))
    }

    /// Refuses claims that the registry contradicts.
    ///
    /// # Errors
    /// An owner said to be dead is listed, or as [`Self::names`].
    pub async fn refuse_listed(&self, claims: &[OwnerClaim], restate: &str) -> Result<()> {
        let names = self.names().await?;
        if names.is_empty() {
            ui::warn(format!(
                "nobody is listed at {}: the registry neither proves nor contradicts anything",
                self.place()
            ));
        }
        let owner = |name: &String| OwnerName { scope: None, address: name.clone() };
        let alive: Vec<&str> =
            names.iter().filter(|name| said_dead_now(claims, &owner(name))).map(String::as_str).collect();
        if alive.is_empty() {
            return Ok(());
        }
        Err(Error::refused(format!("an owner said to be dead is listed at {}: {}", self.place(), alive.join(", ")))
            .hint(format!(
                "a killed server stays listed until its session ends, up to some minutes: wait and try again; \
or {}",
                self.words.stop_it(restate)
            )))
    }
}

fn joined(names: &BTreeSet<String>) -> String {
    names.iter().cloned().collect::<Vec<_>>().join(", ")
}

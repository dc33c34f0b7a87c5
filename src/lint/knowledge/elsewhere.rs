//! What other generations have, for names that this release lacks.

use super::Knowledge;
use crate::manifest::{Manifest, Manifests, Role, TableSpec};
use crate::near::near;

/// The generations of a scheduler, read when a script asks for more than its release has.
#[derive(Clone, Copy)]
pub(super) struct Neighbours<'a> {
    pub manifests: &'a Manifests,
    pub here: &'a Manifest,
}

impl<'a> Neighbours<'a> {
    /// All generations in their order.
    fn all(self) -> Vec<&'a Manifest> {
        // One with a mistake has been refused when the manifests were loaded.
        self.manifests.of(&self.here.scheduler).unwrap_or_default()
    }

    /// The other generations, the nearest first.
    fn others(self) -> impl Iterator<Item = &'a Manifest> {
        let all = self.all();
        let is_here = |m: &Manifest| m.generation == self.here.generation;
        let at = all.iter().position(|m| is_here(m)).unwrap_or_default();
        let mut others: Vec<(usize, &Manifest)> = all.into_iter().enumerate().filter(|(_, m)| !is_here(m)).collect();
        others.sort_by_key(|(n, _)| n.abs_diff(at));
        others.into_iter().map(|(_, m)| m)
    }
}

impl<'a> Knowledge<'a> {
    /// The nearest other generation in which a role column legally holds a code.
    #[must_use]
    pub fn others_with_state(&self, role_column: &str, code: &str) -> Option<&'a Manifest> {
        let holds = |m: &&Manifest| {
            m.states.get(role_column).and_then(|set| set.by_code(code)).is_some_and(|state| state.legal)
        };
        self.neighbours.others().find(holds)
    }

    /// Whether a name looks like one of the scheduler's tables.
    #[must_use]
    pub fn looks_ours(&self, name: &str) -> bool {
        let lower = name.to_lowercase();
        self.prefix.as_ref().is_some_and(|p| lower.starts_with(p)) || self.elsewhere(&lower).is_some()
    }

    /// The nearest other generation that has a table.
    #[must_use]
    pub fn elsewhere(&self, table: &str) -> Option<&'a Manifest> {
        self.neighbours.others().find(|m| names(m, table))
    }

    /// The releases around a generation that have a table as it has it: `2.4.0 to 2.11.2`.
    fn releases_with(&self, table: &str, near: &Manifest) -> String {
        let all = self.neighbours.all();
        let mut runs = all.split(|m| !names(m, table));
        let run = runs.find(|run| run.iter().any(|m| m.generation == near.generation)).unwrap_or_default();
        let first = run.first().and_then(|m| m.releases.first());
        let last = run.last().and_then(|m| m.releases.last());
        match (first, last) {
            (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
            _ => near.release_range(),
        }
    }

    /// What to use instead of a table that this release lacks, and where the name is right.
    #[must_use]
    pub fn instead_of_table(&self, name: &str) -> Vec<String> {
        let mut ways = Vec::new();
        if let Some(m) = self.elsewhere(name) {
            ways.push(format!("{} has it in {}", m.title, self.releases_with(name, m)));
            let role = role_in(m, name).and_then(|(role, _)| self.manifest.roles.get(role));
            let now = role.map(|role| role.table.as_str()).or_else(|| self.manifest.new_name(&name.to_lowercase()));
            if let Some(now) = now {
                ways.push(format!("here the table is {now}"));
            }
        }
        if ways.len() < 2
            && let [near, ..] = near(name, &self.table_names().collect::<Vec<_>>(), 1).as_slice()
        {
            ways.push(format!("did you mean {near}?"));
        }
        ways
    }

    /// What to use instead of a column that this release lacks.
    #[must_use]
    pub fn instead_of_column(&self, table: &TableSpec, column: &str) -> Vec<String> {
        let mut ways = Vec::new();
        let has = |t: &&TableSpec| self.has_column(t, column);
        let there = self.neighbours.others().find_map(|m| Some((m, tables_of(m, table, self.manifest).find(has)?)));
        if let Some((m, there)) = there {
            ways.push(format!("{}.{column} is there in {} {}", there.name, m.title, m.release_range()));
            let now = role_column_in(m, &there.name, column).and_then(|name| self.manifest.column(&name).ok());
            if let Some(now) = now.filter(|now| !now.eq_ignore_ascii_case(column)) {
                ways.push(format!("here the column is {}.{now}", table.name));
            }
        }
        if ways.len() < 2 {
            let names: Vec<&str> = table.columns_on(self.engine).map(|c| c.name.as_str()).collect();
            if let [near, ..] = near(column, &names, 1).as_slice() {
                ways.push(format!("did you mean {near}?"));
            }
        }
        ways
    }
}

/// Whether a generation has a table of that name, however it is spelt.
fn names(m: &Manifest, table: &str) -> bool {
    m.table_names().any(|t| t.eq_ignore_ascii_case(table))
}

/// The tables of another generation that play the role of this one's table, or bear its name.
fn tables_of<'m>(
    m: &'m Manifest,
    table: &'m TableSpec,
    here: &'m Manifest,
) -> impl Iterator<Item = &'m TableSpec> + use<'m> {
    let role = role_in(here, &table.name).map(|(role, _)| role);
    let played = role.and_then(|role| m.roles.get(role)).map(|role| role.table.as_str());
    m.tables.values().filter(move |t| {
        t.name.eq_ignore_ascii_case(&table.name) || played.is_some_and(|p| t.name.eq_ignore_ascii_case(p))
    })
}

fn role_in<'m>(m: &'m Manifest, table: &str) -> Option<(&'m str, &'m Role)> {
    m.roles.iter().find(|(_, role)| role.table.eq_ignore_ascii_case(table)).map(|(name, role)| (name.as_str(), role))
}

fn role_column_in(m: &Manifest, table: &str, column: &str) -> Option<String> {
    let roles = m.roles.iter().filter(|(_, role)| role.table.eq_ignore_ascii_case(table));
    let mut found = roles.flat_map(|(name, role)| {
        let columns = role.columns.iter().filter(|(_, real)| real.eq_ignore_ascii_case(column));
        columns.map(move |(alias, _)| format!("{name}.{alias}"))
    });
    found.next()
}

//! Table names that begin with another prefix than upstream's.

use super::Manifest;

/// Whether a table's name begins with a prefix, whatever its case.
#[must_use]
pub fn begins_with(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

impl Manifest {
    /// A table's name, or a mark or pattern that begins with one, with another prefix.
    /// What does not begin with the prefix is not the scheduler's own and stays.
    #[must_use]
    pub fn renamed(&self, name: &str, prefix: &str) -> String {
        match &self.table_prefix {
            Some(own) if begins_with(name, own) => format!("{prefix}{}", &name[own.len()..]),
            _ => name.to_owned(),
        }
    }

    /// The same release with tables whose names begin with another prefix.
    #[must_use]
    pub fn with_prefix(&self, prefix: &str) -> Self {
        let mut m = self.clone();
        let rename = |names: &mut Vec<String>| names.iter_mut().for_each(|name| *name = self.renamed(name, prefix));
        rename(&mut m.fingerprint.present);
        rename(&mut m.fingerprint.absent);
        // Details are in lower case, as marks of types and indexes are compared.
        let details = m.fingerprint.details.iter_mut().chain(&mut m.fingerprint.without);
        details.for_each(|name| *name = self.renamed(name, prefix).to_lowercase());
        rename(&mut m.forbidden.tables);
        rename(&mut m.forbidden.except);
        rename(&mut m.forbidden.cleaned);
        m.roles.values_mut().for_each(|role| role.table = self.renamed(&role.table, prefix));
        let specs = std::mem::take(&mut m.tables).into_values().map(|mut spec| {
            spec.name = self.renamed(&spec.name, prefix);
            let keys = spec.foreign_keys_mysql.iter_mut().chain(&mut spec.foreign_keys_postgresql);
            keys.for_each(|key| key.references = self.renamed(&key.references, prefix));
            (spec.name.clone(), spec)
        });
        m.tables = specs.collect();
        m.other_tables = m.other_tables.iter().map(|name| self.renamed(name, prefix)).collect();
        m.table_prefix = self.table_prefix.as_ref().map(|_| prefix.to_owned());
        m
    }

    /// The prefix under which a table has the scheduler's own name, whatever its case.
    #[must_use]
    pub fn prefix_of<'n>(&self, own: &str, live: &'n str) -> Option<&'n str> {
        let suffix = own.get(self.table_prefix.as_ref()?.len()..)?;
        let (head, tail) = live.split_at_checked(live.len().checked_sub(suffix.len())?)?;
        tail.eq_ignore_ascii_case(suffix).then_some(head)
    }
}

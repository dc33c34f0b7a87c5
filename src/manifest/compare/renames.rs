//! What older names are called now.

use std::collections::BTreeMap;

use crate::manifest::{Manifest, sqlite_type};

/// The kind of a column's type, if the table has the column.
fn family(m: &Manifest, table: &str, column: &str) -> Option<&'static str> {
    let found = m.tables.get(table)?.columns.iter().find(|c| c.name.eq_ignore_ascii_case(column))?;
    found.mysql.as_ref().or(found.postgresql.as_ref()).map(|spec| sqlite_type(&spec.type_sql))
}

/// Names that changed while the role stayed the same. Without a role nothing proves that a
/// table or column lives on under another name.
pub(super) struct Renames {
    tables: BTreeMap<String, String>,
    columns: BTreeMap<(String, String), String>,
}

impl Renames {
    pub(super) fn of(from: &Manifest, to: &Manifest) -> Self {
        let mut renames = Self { tables: BTreeMap::new(), columns: BTreeMap::new() };
        for (name, old) in &from.roles {
            let Some(new) = to.roles.get(name) else { continue };
            let stays = to.tables.contains_key(&old.table) || from.tables.contains_key(&new.table);
            if old.table != new.table && stays {
                // Another table plays the role now.
                continue;
            }
            if old.table != new.table {
                renames.tables.insert(old.table.clone(), new.table.clone());
            }
            let has = |m: &Manifest, table: &str, column: &str| family(m, table, column).is_some();
            for (column, was) in &old.columns {
                let Some(is) = new.columns.get(column).filter(|is| !is.eq_ignore_ascii_case(was)) else { continue };
                // A number that became a text is another value, not another name.
                let alike = family(from, &old.table, was) == family(to, &new.table, is);
                if alike && !has(to, &new.table, was) && !has(from, &old.table, is) {
                    renames.columns.insert((old.table.clone(), was.to_lowercase()), is.clone());
                }
            }
        }
        renames.add_told(from, to);
        renames
    }

    /// What the manifests say of names without a role. A name may have changed more than once.
    fn add_told(&mut self, from: &Manifest, to: &Manifest) {
        for table in from.table_names().filter(|t| !to.has_table(t)) {
            if self.tables.contains_key(table) {
                continue;
            }
            if let Some(name) = to.new_name(table).filter(|name| !from.has_table(name)) {
                self.tables.insert(table.to_owned(), name.to_owned());
            }
        }
        for table in from.tables.values() {
            let Some(new) = to.tables.get(self.table(&table.name)) else { continue };
            let mut found = Vec::new();
            for column in &table.columns {
                let name = Self::told(to, &table.name, &column.name);
                if name != column.name
                    && !new.has_column(&column.name)
                    && new.has_column(&name)
                    && !table.has_column(&name)
                {
                    found.push(((table.name.clone(), column.name.to_lowercase()), name));
                }
            }
            for (key, name) in found {
                self.columns.entry(key).or_insert(name);
            }
        }
    }

    /// The last of the names that a column got, under any name of its table.
    fn told(to: &Manifest, table: &str, column: &str) -> String {
        let tables: Vec<&str> = to.names_after(table).collect();
        let new = |name: &str| {
            let of = |t: &str| to.renamed.columns.get(&(t.to_owned(), name.to_owned()));
            of(table).or_else(|| tables.iter().find_map(|t| of(t)))
        };
        let mut name = column;
        // As many names as there are entries at most: entries may run in a ring.
        for _ in 0..to.renamed.columns.len() {
            name = new(name).map_or(name, String::as_str);
        }
        name.to_owned()
    }

    pub(super) fn table<'a>(&'a self, name: &'a str) -> &'a str {
        self.tables.get(name).map_or(name, String::as_str)
    }

    pub(super) fn column<'a>(&'a self, table: &str, name: &'a str) -> &'a str {
        self.columns.get(&(table.to_owned(), name.to_lowercase())).map_or(name, String::as_str)
    }
}

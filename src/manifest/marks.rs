//! Marks by which a schema is recognised. Names of tables and columns are what a
//! release cannot do without; types, keys and indexes are details, which an upgrade
//! may have skipped and a DBA may have changed.

use std::collections::BTreeSet;

use super::{Engine, Manifest, TableColumn, TableSpec};

/// A mark in the form in which marks are compared: lower case, blanks only before `unique`.
#[must_use]
pub fn normal(mark: &str) -> String {
    let (body, unique) = mark.trim().strip_suffix("unique").map_or((mark, false), |body| (body, true));
    let plain: String = body.chars().filter(|c| !c.is_whitespace()).collect();
    format!("{}{}", plain.to_lowercase(), if unique { " unique" } else { "" })
}

/// Whether a mark is a detail: `table.column:type`, `table(columns)`, `table(columns) unique`.
#[must_use]
pub fn is_detail(mark: &str) -> bool {
    mark.contains([':', '('])
}

/// The marks of a column's type: as it is, and without its length.
pub fn of_type(table: &str, column: &str, type_sql: &str) -> [String; 2] {
    let lower = type_sql.to_lowercase();
    let bare = lower.split(" character set").next().unwrap_or_default();
    let short = bare.split('(').next().unwrap_or_default();
    // How wide a whole number is shown says nothing, and newer servers forget it.
    let full = if short.ends_with("int") || short == "integer" { short } else { bare };
    [full, short].map(|t| normal(&format!("{table}.{column}:{t}")))
}

/// The marks of a key or an index; a unique one is an index, too.
pub fn of_index(table: &str, columns: &[String], unique: bool) -> Vec<String> {
    let index = normal(&format!("{table}({})", columns.join(",")));
    let unique = unique.then(|| format!("{index} unique"));
    unique.into_iter().chain([index]).collect()
}

impl TableSpec {
    /// The table and its `table.column` marks on an engine, in lower case.
    fn marks(&self, engine: Engine) -> impl Iterator<Item = String> {
        let columns = self.columns_on(engine).map(|c| format!("{}.{}", self.name, c.name).to_lowercase());
        std::iter::once(self.name.to_lowercase()).chain(columns)
    }

    /// The marks of its types, keys and indexes on an engine.
    fn details(&self, engine: Engine) -> impl Iterator<Item = String> {
        let typed = move |c: &TableColumn| c.on(engine).map(|s| of_type(&self.name, &c.name, &s.type_sql));
        let types = self.columns_on(engine).filter_map(typed).flatten();
        let index = move |columns: &Vec<String>, unique| of_index(&self.name, columns, unique);
        let unique = self.unique_on(engine).iter().flat_map(move |columns| index(columns, true));
        types.chain(unique).chain(self.indexes_on(engine).iter().flat_map(move |columns| index(columns, false)))
    }
}

impl Manifest {
    /// Tables and `table.column` marks of this generation on an engine.
    #[must_use]
    pub fn marks(&self, engine: Engine) -> BTreeSet<String> {
        self.tables.values().filter(|t| t.on(engine)).flat_map(|t| t.marks(engine)).collect()
    }

    /// Marks of types, keys and indexes of this generation on an engine. On SQLite,
    /// for which upstream has no schema, they say nothing.
    #[must_use]
    pub fn details(&self, engine: Engine) -> BTreeSet<String> {
        let tables = self.tables.values().filter(|t| engine != Engine::Sqlite && t.on(engine));
        tables.flat_map(|t| t.details(engine)).collect()
    }

    /// Whether a mark of either kind is one of this generation on an engine. Only the
    /// mark's own table is looked at: every manifest is checked at every start.
    #[must_use]
    pub fn has_mark(&self, engine: Engine, mark: &str) -> bool {
        let mark = normal(mark);
        let table = mark.split(['.', ':', '(']).next().unwrap_or_default();
        let mut tables = self.tables.values().filter(|t| t.on(engine) && t.name.eq_ignore_ascii_case(table));
        tables.any(|t| t.marks(engine).chain(t.details(engine)).any(|own| own == mark))
    }

    /// What in the details of a schema speaks against this generation.
    #[must_use]
    pub fn details_against(&self, live: &BTreeSet<String>) -> Vec<String> {
        let missing = self.fingerprint.details.iter().filter(|mark| !live.contains(*mark));
        let extra = self.fingerprint.without.iter().filter(|mark| live.contains(*mark));
        missing.map(|mark| format!("{mark} is missing")).chain(extra.map(|mark| format!("{mark} is there"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        assert_eq!(normal("Reg(Kind, App)  unique"), "reg(kind,app) unique");
        assert_eq!(normal("Reg.ID:BigInt"), "reg.id:bigint");
        assert!(is_detail("t(a)") && is_detail("t.a:int") && !is_detail("t.a") && !is_detail("t"));
        assert_eq!(of_type("T", "a", "bigint(20) unsigned"), ["t.a:bigint", "t.a:bigint"]);
        assert_eq!(
            of_type("T", "a", "varchar(190) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"),
            ["t.a:varchar(190)", "t.a:varchar"]
        );
        assert_eq!(of_index("T", &["a".into(), "b".into()], true), ["t(a,b) unique", "t(a,b)"]);
        assert_eq!(of_index("T", &["a".into()], false), ["t(a)"]);
    }
}

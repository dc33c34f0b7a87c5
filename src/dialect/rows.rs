//! Literal rows as a table, expressions with the type of a column, members of JSON texts. Pure.

use super::{Dialect, TypeClass};
use crate::manifest::Engine;

impl Dialect {
    /// A member of a JSON object in a text, as JSON text; NULL where there is none.
    /// `name` is a plain word.
    #[must_use]
    pub fn json_member(&self, expression: &str, name: &str) -> String {
        match self.engine {
            Engine::MySql => {
                format!("CASE WHEN JSON_VALID({expression}) THEN JSON_EXTRACT({expression}, '$.{name}') END")
            }
            // A cast would fail on a text that is no JSON, and the whole query with it.
            Engine::PostgreSql => {
                format!(r#"substring({expression} from '"{name}"\s*:\s*("(?:[^"\\]|\\.)*"|\{{[^{{}}]*\}})')"#)
            }
            Engine::Sqlite => {
                format!("CASE WHEN json_valid({expression}) THEN ({expression}) -> '$.{name}' END")
            }
        }
    }

    /// A text member of the last object of a JSON list in a text, unquoted; NULL
    /// where there is none. `name` is a plain word.
    #[must_use]
    pub fn json_last(&self, expression: &str, name: &str) -> String {
        match self.engine {
            Engine::MySql => format!(
                "CASE WHEN JSON_VALID({expression}) THEN CASE WHEN JSON_LENGTH({expression}) > 0 THEN \
                 JSON_UNQUOTE(JSON_EXTRACT({expression}, CONCAT('$[', JSON_LENGTH({expression}) - 1, '].{name}'))) END END"
            ),
            // Greedy to the last one. A cast would fail on a text that is no JSON.
            Engine::PostgreSql => format!(r#"substring({expression} from '.*"{name}"\s*:\s*"([^"]*)"')"#),
            Engine::Sqlite => {
                format!("CASE WHEN json_valid({expression}) THEN json_extract({expression}, '$[#-1].{name}') END")
            }
        }
    }

    /// How many seconds lie between two times, with six decimals; NULL where one is not known.
    #[must_use]
    pub fn seconds_between(&self, from: &str, to: &str) -> String {
        match self.engine {
            Engine::MySql => format!("(TIMESTAMPDIFF(MICROSECOND, {from}, {to}) / 1e6)"),
            Engine::PostgreSql => format!("EXTRACT(EPOCH FROM ({to}) - ({from}))"),
            // A Julian day is too coarse for microseconds: whole seconds and fractions are read apart.
            Engine::Sqlite => {
                let fraction = |time: &str| format!("CAST('0' || substr({time}, 20) AS REAL)");
                let (first, last) = (fraction(from), fraction(to));
                format!("ROUND(strftime('%s', {to}) - strftime('%s', {from}) + {last} - {first}, 6)")
            }
        }
    }

    /// Rows of literals as a table in FROM; an alias must follow. There is at least one row.
    #[must_use]
    pub fn rows_as_table(&self, names: &[String], rows: &[Vec<String>]) -> String {
        match self.engine {
            // VALUES as a table is written in two ways by MySQL and MariaDB, and older servers lack it.
            Engine::MySql => {
                let named = |row: &Vec<String>| {
                    let named = row.iter().zip(names).map(|(v, n)| format!("{v} AS {n}"));
                    named.collect::<Vec<_>>().join(", ")
                };
                let lines = rows.iter().enumerate().map(|(i, r)| if i == 0 { named(r) } else { r.join(", ") });
                format!("(SELECT {})", lines.collect::<Vec<_>>().join(" UNION ALL SELECT "))
            }
            Engine::PostgreSql | Engine::Sqlite => {
                let lines: Vec<String> = rows.iter().map(|r| format!("({})", r.join(", "))).collect();
                let columns = names.iter().enumerate().map(|(i, n)| format!("column{} AS {n}", i + 1));
                format!("(SELECT {} FROM (VALUES {}) v)", columns.collect::<Vec<_>>().join(", "), lines.join(", "))
            }
        }
    }

    /// An expression with the type of a column, so that it can stand where the column stood.
    #[must_use]
    pub fn cast(&self, expression: &str, class: TypeClass, type_sql: &str) -> String {
        match (self.engine, class) {
            (Engine::PostgreSql, _) => format!("CAST({expression} AS {type_sql})"),
            // A text without the column's collation cannot be compared with the column's texts.
            (Engine::MySql, TypeClass::Text) => {
                let word = |name: &str| {
                    let mut words = type_sql.split_whitespace();
                    words.by_ref().find(|w| w.eq_ignore_ascii_case(name))?;
                    words.next()
                };
                let set = type_sql.to_uppercase().contains("CHARACTER SET ").then(|| word("SET")).flatten();
                match (set, word("COLLATE")) {
                    (Some(set), Some(collation)) => {
                        format!("CONVERT({expression} USING {set}) COLLATE {collation}")
                    }
                    _ => expression.to_owned(),
                }
            }
            (Engine::MySql, TypeClass::Time) if !type_sql.to_lowercase().starts_with("time(") => {
                let digits = type_sql.split(['(', ')']).nth(1).and_then(|d| d.parse::<u8>().ok()).unwrap_or(0);
                format!("CAST({expression} AS DATETIME({digits}))")
            }
            (Engine::MySql | Engine::Sqlite, _) => expression.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_keeps_the_columns_collation() {
        let d = Dialect::load("mysql").unwrap();
        let cast = d.cast("'a'", TypeClass::Text, "varchar(64) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin");
        assert_eq!(cast, "CONVERT('a' USING utf8mb3) COLLATE utf8mb3_bin");
        assert_eq!(d.cast("NULL", TypeClass::Time, "datetime(3)"), "CAST(NULL AS DATETIME(3))");
        assert_eq!(d.cast("1", TypeClass::Int, "int"), "1");
    }

    #[test]
    fn rows() {
        let (names, rows) = (["k0".to_owned(), "n0".to_owned()], [["1", "2"], ["3", "NULL"]]);
        let rows: Vec<Vec<String>> = rows.iter().map(|r| r.iter().map(ToString::to_string).collect()).collect();
        let write = |dialect: &str| Dialect::load(dialect).unwrap().rows_as_table(&names, &rows);
        assert_eq!(write("mariadb"), "(SELECT 1 AS k0, 2 AS n0 UNION ALL SELECT 3, NULL)");
        assert_eq!(write("sqlite"), "(SELECT column1 AS k0, column2 AS n0 FROM (VALUES (1, 2), (3, NULL)) v)");
    }
}

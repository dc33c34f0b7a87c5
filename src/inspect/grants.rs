//! What a login may not see: MySQL and MariaDB do not show tables that it has no right to.

use crate::db::Database;
use crate::manifest::Engine;
use crate::{Error, Result};

/// Adds to a refusal that tables may be there which this login does not see.
pub async fn or_hidden(db: &mut Database, error: Error) -> Error {
    match unseen(db).await {
        Ok(Some(hint)) => error.hint(hint),
        Ok(None) | Err(_) => error,
    }
}

/// Refuses a look at what is missing where tables may be there that this login does not see.
///
/// # Errors
/// There may be such tables, or what the server said.
pub async fn nothing_unseen(db: &mut Database) -> Result<()> {
    match unseen(db).await? {
        None => Ok(()),
        Some(hint) => {
            let message = format!(
                "this login does not see every table of {}: what it does not see looks as if it were missing",
                db.address
            );
            Err(Error::refused(message).hint(hint))
        }
    }
}

/// The GRANT that is missing, if tables may be there that the login does not see.
async fn unseen(db: &mut Database) -> Result<Option<String>> {
    if db.dialect.engine != Engine::MySql {
        return Ok(None);
    }
    let grants: Vec<String> =
        db.rows("SHOW GRANTS").await?.into_iter().filter_map(|row| row.into_iter().next()?).collect();
    let database = db.value("SELECT DATABASE()").await?.unwrap_or_default();
    if grants.iter().any(|grant| may_hold_all(grant, &database)) {
        return Ok(None);
    }
    let name = db.dialect.ident(&database);
    Ok(Some(format!(
        "tables that a login has no right to are not shown to it: GRANT SELECT ON {name}.* TO this login, or use another"
    )))
}

/// Whether a line of SHOW GRANTS may give the right to read every table of a database. A role
/// may give anything.
fn may_hold_all(grant: &str, database: &str) -> bool {
    let Some((rights, rest)) = grant.split_once(" ON ") else { return true };
    let Some((place, _)) = rest.split_once(" TO ") else { return true };
    let reads = rights.contains("SELECT") || rights.contains("ALL PRIVILEGES");
    let covers = match place.strip_suffix(".*") {
        Some("*") => true,
        // A pattern: `_` and `%` stand for anything, unless a backslash is before them.
        Some(name) => fits(name.trim_matches('`'), &database.to_lowercase()),
        None => false,
    };
    reads && covers
}

/// Whether a database's name fits a pattern of GRANT.
fn fits(pattern: &str, name: &str) -> bool {
    let mut signs = pattern.chars();
    let rest = |name: &str| name.chars().next().map_or(0, char::len_utf8);
    match signs.next() {
        None => name.is_empty(),
        Some('%') => fits(signs.as_str(), name) || !name.is_empty() && fits(pattern, &name[rest(name)..]),
        Some('_') => !name.is_empty() && fits(signs.as_str(), &name[rest(name)..]),
        Some(sign) => {
            let sign = if sign == '\\' { signs.next().unwrap_or(sign) } else { sign };
            name.starts_with(sign.to_ascii_lowercase()) && fits(signs.as_str(), &name[rest(name)..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::may_hold_all;

    #[test]
    fn grants() {
        for (grant, holds) in [
            ("GRANT USAGE ON *.* TO `u`@`%`", false),
            ("GRANT SELECT, INSERT ON *.* TO `u`@`%`", true),
            ("GRANT ALL PRIVILEGES ON `ds`.* TO `u`@`%`", true),
            ("GRANT ALL PRIVILEGES ON `other`.* TO `u`@`%`", false),
            ("GRANT SELECT ON `d%`.* TO `u`@`%`", true),
            // What MariaDB gives to everybody.
            ("GRANT ALL PRIVILEGES ON `test\\_%`.* TO PUBLIC", false),
            ("GRANT ALL PRIVILEGES ON `_s`.* TO `u`@`%`", true),
            ("GRANT ALL PRIVILEGES ON `\\_s`.* TO `u`@`%`", false),
            ("GRANT SELECT ON `ds`.`t_ds_command` TO `u`@`%`", false),
            ("GRANT INSERT ON `ds`.* TO `u`@`%`", false),
            ("GRANT `reader` TO `u`@`%`", true),
        ] {
            assert_eq!(may_hold_all(grant, "ds"), holds, "{grant}");
        }
        assert!(may_hold_all("GRANT SELECT ON `my\\_ds`.* TO `u`@`%`", "my_ds"));
    }
}

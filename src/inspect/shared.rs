//! Rows that share values by which the new release tells rows apart.

use crate::Result;
use crate::catalog::{Catalog, LiveTable};
use crate::db::Database;
use crate::upgrade::{Shared, UniqueKey};

/// Counts the rows that share the values of some keys. A key that the database has is not
/// counted; one whose table or columns it lacks is left out.
///
/// # Errors
/// What the server said.
pub async fn shared(db: &mut Database, catalog: &Catalog, keys: Vec<UniqueKey>) -> Result<Vec<Shared>> {
    let mut found = Vec::new();
    for key in keys {
        let Some(table) = catalog.get(&key.table) else { continue };
        let Some(columns): Option<Vec<String>> =
            key.columns.iter().map(|c| table.column(c).map(|c| c.name.clone())).collect()
        else {
            continue;
        };
        let (rows, sample) = match has_key(table, &columns) {
            true => (0, None),
            false => count(db, table, &columns).await?,
        };
        let is_there = has_key(table, &columns);
        found.push(Shared { key, is_there, rows, sample: sample.into_iter().collect() });
    }
    Ok(found)
}

/// Whether the database holds these columns apart.
fn has_key(table: &LiveTable, columns: &[String]) -> bool {
    let is_within = |key: &[String]| !key.is_empty() && key.iter().all(|c| columns.contains(c));
    is_within(&table.key) || table.indexes.iter().any(|i| i.unique && is_within(&i.columns))
}

/// How many rows share their values, and the values of some. NULL is shared with nothing.
async fn count(db: &mut Database, table: &LiveTable, columns: &[String]) -> Result<(u64, Option<String>)> {
    let d = &db.dialect;
    let names: Vec<String> = columns.iter().map(|c| d.ident(c)).collect();
    let texts: Vec<String> = names.iter().flat_map(|c| [d.text_literal(", "), d.as_text(c)]).skip(1).collect();
    let filled: Vec<String> = names.iter().map(|c| format!("{c} IS NOT NULL")).collect();
    let sample = if texts.len() == 1 { texts[0].clone() } else { d.concat(&texts) };
    let (names, filled, from) = (names.join(", "), filled.join(" AND "), d.table(db.schema.as_deref(), &table.name));
    let sql = format!(
        "SELECT {}, MIN(shown) FROM (SELECT {sample} AS shown, COUNT(*) AS n FROM {from} WHERE {filled} GROUP BY {names} HAVING COUNT(*) > 1) AS sharing",
        d.as_text("COALESCE(SUM(n), 0)"),
    );
    let rows = db.rows(&sql).await?;
    let cell = |at: usize| rows.first().and_then(|row| row.get(at)).cloned().flatten();
    let text = cell(0).unwrap_or_default();
    let number = text.split('.').next().and_then(|whole| whole.parse().ok()).unwrap_or(0);
    Ok((number, cell(1)))
}

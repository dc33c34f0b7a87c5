//! What codes a database holds: each table is read once, whatever is asked of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Catalog;
use crate::db::Database;
use crate::manifest::Manifest;
use crate::upgrade::CodeRows;
use crate::{Error, Result};

/// What one table holds.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// All its rows.
    pub rows: u64,
    /// How many rows hold each code of each column with states.
    pub codes: Vec<CodeRows>,
    /// Column → how many rows hold NULL, of the columns that were asked for.
    pub nulls: BTreeMap<String, u64>,
}

/// What is asked of one table.
struct Question<'a> {
    /// Role columns with states, and those on which their meaning hangs; each with its real column.
    states: Vec<(&'a str, String)>,
    /// Real columns of the key.
    key: Vec<String>,
    nulls: Vec<String>,
}

/// Counts codes, rows and NULLs. `nulls` names columns by table; `roles` are counted even
/// without states. Tables and columns that the database lacks are left out.
///
/// # Errors
/// What the server said.
pub async fn stored(
    db: &mut Database,
    catalog: &Catalog,
    m: &Manifest,
    nulls: &BTreeMap<String, Vec<String>>,
    roles: &BTreeSet<String>,
) -> Result<BTreeMap<String, Stored>> {
    let mut found = BTreeMap::new();
    for (table, question) in questions(catalog, m, nulls, roles) {
        let stored = ask(db, m, &table, &question).await?;
        found.insert(table, stored);
    }
    Ok(found)
}

fn questions<'a>(
    catalog: &Catalog,
    m: &'a Manifest,
    nulls: &BTreeMap<String, Vec<String>>,
    roles: &BTreeSet<String>,
) -> BTreeMap<String, Question<'a>> {
    let mut all: BTreeMap<String, Question<'a>> = BTreeMap::new();
    for (name, role) in &m.roles {
        let Some(live) = catalog.get(&role.table) else { continue };
        let there = |column: &String| live.column(column).map(|c| c.name.clone());
        let of_role = m.states.iter().filter(|(column, _)| column.split('.').next() == Some(name));
        let columns = of_role.flat_map(|(column, set)| std::iter::once(column).chain(&set.with));
        let mut states: Vec<(&str, String)> = Vec::new();
        for column in columns {
            let real = m.column(column).ok().and_then(|real| there(&real.to_owned()));
            if let Some(real) = real.filter(|real| !states.iter().any(|(_, known)| known == real)) {
                states.push((column, real));
            }
        }
        if states.is_empty() && !roles.contains(name) {
            continue;
        }
        let key = role.real(&role.key).iter().filter_map(there).collect();
        let empty = || Question { states: Vec::new(), key, nulls: Vec::new() };
        let question = all.entry(live.name.clone()).or_insert_with(empty);
        let new = states.into_iter().filter(|(_, real)| !question.states.iter().any(|(_, known)| known == real));
        let new: Vec<_> = new.collect();
        question.states.extend(new);
    }
    for (table, columns) in nulls {
        let Some(live) = catalog.get(table) else { continue };
        let columns = columns.iter().filter_map(|c| live.column(c)).map(|c| c.name.clone());
        let empty = || Question { states: Vec::new(), key: Vec::new(), nulls: Vec::new() };
        all.entry(live.name.clone()).or_insert_with(empty).nulls.extend(columns);
    }
    all
}

async fn ask(db: &mut Database, m: &Manifest, table: &str, question: &Question<'_>) -> Result<Stored> {
    let d = &db.dialect;
    let states: Vec<String> = question.states.iter().map(|(_, real)| d.ident(real)).collect();
    let sample = match question.key.as_slice() {
        [] => "NULL".to_owned(),
        [one] => d.as_text(&format!("MIN({})", d.ident(one))),
        key => {
            let parts: Vec<String> = key.iter().flat_map(|k| [d.as_text(&d.ident(k)), d.text_literal("/")]).collect();
            format!("MIN({})", d.concat(&parts[..parts.len() - 1]))
        }
    };
    let mut fields = vec![d.as_text("COUNT(*)"), sample];
    fields.extend(question.nulls.iter().map(|c| {
        let sum = format!("COALESCE(SUM(CASE WHEN {} IS NULL THEN 1 ELSE 0 END), 0)", d.ident(c));
        d.as_text(&sum)
    }));
    fields.extend(states.iter().map(|c| d.as_text(c)));
    let group = if states.is_empty() { String::new() } else { format!(" GROUP BY {}", states.join(", ")) };
    let sql = format!("SELECT {} FROM {}{group}", fields.join(", "), d.table(db.schema.as_deref(), table));
    let mut found = Stored::default();
    for row in db.rows(&sql).await? {
        add(&mut found, m, question, &row)?;
    }
    Ok(found)
}

/// Adds one group of rows.
fn add(found: &mut Stored, m: &Manifest, question: &Question<'_>, row: &[Option<String>]) -> Result<()> {
    let number = |cell: &Option<String>| -> Result<u64> {
        let text = cell.as_deref().unwrap_or("0");
        // A sum is a decimal on some servers.
        let whole = text.split('.').next().unwrap_or(text);
        whole.parse().map_err(|_| Error::internal(format!("`{text}` is no count")))
    };
    let (Some(count), Some(sample)) = (row.first(), row.get(1)) else {
        return Err(Error::internal("a count without columns"));
    };
    let rows = number(count)?;
    found.rows += rows;
    for (column, cell) in question.nulls.iter().zip(&row[2..]) {
        *found.nulls.entry(column.clone()).or_default() += number(cell)?;
    }
    let codes = &row[2 + question.nulls.len()..];
    let code_of = |real: &str| {
        let at = question.states.iter().position(|(_, known)| known == real)?;
        codes.get(at).cloned().flatten()
    };
    for ((column, real), code) in question.states.iter().zip(codes) {
        let Some(set) = m.states.get(*column) else { continue };
        let with = set.with.as_ref().and_then(|w| m.column(w).ok()).and_then(code_of);
        let _ = real;
        // The same meaning counts together: the second column may hold anything.
        let beside = set.of(code.as_deref(), with.as_deref()).and_then(|s| s.when.first().cloned());
        let same = |c: &&mut CodeRows| c.column == *column && c.code == *code && c.with == beside;
        match found.codes.iter_mut().find(same) {
            Some(known) => {
                known.rows += rows;
                known.sample.extend(sample.clone());
                known.sample.truncate(SAMPLE);
            }
            None => found.codes.push(CodeRows {
                column: (*column).to_owned(),
                code: code.clone(),
                with: beside,
                rows,
                sample: sample.iter().cloned().collect(),
            }),
        }
    }
    Ok(())
}

/// How many keys are shown.
const SAMPLE: usize = 3;

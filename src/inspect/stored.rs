//! What codes a database holds: each table is read once, whatever is asked of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Catalog;
use crate::db::Database;
use crate::manifest::{Engine, Manifest};
use crate::upgrade::{CodeRows, Doubt};
use crate::{Error, Result};

/// What one table holds.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// All its rows.
    pub rows: u64,
    /// How many rows hold each code of each column with states.
    pub codes: Vec<CodeRows>,
    /// How many rows hold each value that was asked for.
    pub doubts: BTreeMap<Doubt, u64>,
}

/// What is asked of one table.
struct Question<'a> {
    /// Role columns with states, and those on which their meaning hangs; each with its real column.
    states: Vec<(&'a str, String)>,
    /// Real columns of the key.
    key: Vec<String>,
    doubts: Vec<Doubt>,
}

/// Counts codes, rows and doubtful values. `doubts` are named by table; `roles` are counted even
/// without states. Tables and columns that the database lacks are left out.
///
/// # Errors
/// What the server said.
pub async fn stored(
    db: &mut Database,
    catalog: &Catalog,
    m: &Manifest,
    doubts: &BTreeMap<String, Vec<Doubt>>,
    roles: &BTreeSet<String>,
) -> Result<BTreeMap<String, Stored>> {
    let mut found = BTreeMap::new();
    for (table, question) in questions(catalog, m, doubts, roles) {
        let stored = ask(db, m, &table, &question).await?;
        found.insert(table, stored);
    }
    Ok(found)
}

fn questions<'a>(
    catalog: &Catalog,
    m: &'a Manifest,
    doubts: &BTreeMap<String, Vec<Doubt>>,
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
        let empty = || Question { states: Vec::new(), key, doubts: Vec::new() };
        let question = all.entry(live.name.clone()).or_insert_with(empty);
        let new = states.into_iter().filter(|(_, real)| !question.states.iter().any(|(_, known)| known == real));
        let new: Vec<_> = new.collect();
        question.states.extend(new);
    }
    for (table, asked) in doubts {
        let Some(live) = catalog.get(table) else { continue };
        let named = |doubt: &Doubt| Some(Doubt { column: live.column(&doubt.column)?.name.clone(), ..*doubt });
        let there = asked.iter().filter_map(named);
        let empty = || Question { states: Vec::new(), key: Vec::new(), doubts: Vec::new() };
        all.entry(live.name.clone()).or_insert_with(empty).doubts.extend(there);
    }
    all
}

async fn ask(db: &mut Database, m: &Manifest, table: &str, question: &Question<'_>) -> Result<Stored> {
    let d = &db.dialect;
    let states: Vec<String> = question.states.iter().map(|(_, real)| d.ident(real)).collect();
    let sample = match question.key.as_slice() {
        [] => "NULL".to_owned(),
        // As text: not every type has a smallest value.
        [one] => format!("MIN({})", d.as_text(&d.ident(one))),
        key => {
            let parts: Vec<String> = key.iter().flat_map(|k| [d.as_text(&d.ident(k)), d.text_literal("/")]).collect();
            format!("MIN({})", d.concat(&parts[..parts.len() - 1]))
        }
    };
    let mut fields = vec![d.as_text("COUNT(*)"), sample];
    fields.extend(question.doubts.iter().map(|doubt| {
        let column = d.ident(&doubt.column);
        let holds = match (doubt.longer_than, d.engine) {
            (None, _) => format!("{column} IS NULL"),
            (Some(n), Engine::Sqlite) => format!("LENGTH({column}) > {n}"),
            (Some(n), _) => format!("CHAR_LENGTH({column}) > {n}"),
        };
        d.as_text(&format!("COALESCE(SUM(CASE WHEN {holds} THEN 1 ELSE 0 END), 0)"))
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
    for (doubt, cell) in question.doubts.iter().zip(&row[2..]) {
        *found.doubts.entry(doubt.clone()).or_default() += number(cell)?;
    }
    let codes = &row[2 + question.doubts.len()..];
    let code_of = |real: &str| {
        let at = question.states.iter().position(|(_, known)| known == real)?;
        codes.get(at).cloned().flatten()
    };
    for ((column, _), code) in question.states.iter().zip(codes) {
        let Some(set) = m.states.get(*column) else { continue };
        let with = set.with.as_ref().and_then(|w| m.column(w).ok()).and_then(code_of);
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

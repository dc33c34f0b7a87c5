//! What a manifest says, as tables.

use serde::Serialize;
use serde_json::{Value, json};

use super::sections::Section;
use crate::manifest::compare::{Change, ChangeKind};
use crate::manifest::{Engine, Manifest, State, StateSet, TableSpec};
use crate::recipe::Recipes;

/// A generation's states, tables and repairs.
#[must_use]
pub fn show(m: &Manifest, recipes: &Recipes) -> Vec<Section> {
    let mut sections: Vec<Section> = m.states.iter().map(|(column, set)| states(m, column, set)).collect();
    let roles = m.roles.iter().map(|(name, role)| {
        vec![name.clone(), role.table.clone(), role.real(&role.key).join(", "), role.columns.len().to_string()]
    });
    sections.push(Section::table("roles", &["role", "table", "key", "columns named"], roles.collect()));
    sections.push(tables(m));
    let usable = recipes.of(&m.scheduler).filter(|r| r.applies_to(m));
    let usable = usable.map(|r| vec![r.file.name.clone(), r.file.title.clone()]).collect();
    sections.push(Section::table("repairs", &["recipe", "what it does"], usable));
    sections.push(sources(m));
    sections
}

fn states(m: &Manifest, column: &str, set: &StateSet) -> Section {
    let title = format!("{} ({}, {})", m.real_name(column), set.type_name, if set.text { "text" } else { "number" });
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let finished = |s: &State| if s.finished == s.upstream_finished { yes(s.finished) } else { s.ending().to_owned() };
    let row =
        |(code, s): (String, &State)| vec![code, s.name.clone(), s.phase.replace('_', " "), finished(s), yes(s.legal)];
    let rows = listed(set).into_iter().map(row).collect();
    Section::table(title, &["code", "name", "meaning", "finished", "legal here"], rows)
}

fn tables(m: &Manifest) -> Section {
    let only = |t: &TableSpec| t.only.map_or("", Engine::title).to_owned();
    let forbidden = |t: &TableSpec| if m.is_forbidden_table(&t.name) { "never written" } else { "" }.to_owned();
    let row = |t: &TableSpec| {
        vec![t.name.clone(), t.primary_key.join(", "), t.columns.len().to_string(), only(t), forbidden(t)]
    };
    Section::table("tables", &["table", "key", "columns", "only on", "repairs"], m.tables.values().map(row).collect())
        .note("Tables that flowmend describes; the release may have more.")
}

fn sources(m: &Manifest) -> Section {
    let rows = m.sources.iter().map(|s| vec![s.clone()]).collect();
    Section::table("read from", &["source"], rows)
}

/// A generation for programs.
#[must_use]
pub fn show_json(m: &Manifest, recipes: &Recipes) -> Value {
    let state = |s: &State| json!({ "code": s.code, "beside": s.when, "name": s.name, "phase": s.phase, "finished": s.finished, "upstream_finished": s.upstream_finished, "legal": s.legal });
    let set = |(column, set): (&String, &StateSet)| {
        json!({
            "role_column": column,
            "column": m.real_name(column),
            "type": set.type_name,
            "stored_as": if set.text { "text" } else { "int" },
            "states": set.states.iter().map(state).collect::<Vec<_>>(),
            "null": set.null.as_ref().map(state),
            "other": set.other.as_ref().map(state),
        })
    };
    let table = |t: &TableSpec| {
        let form = |e: Engine| {
            let columns = t.columns_on(e).filter_map(|c| Some((c.name.clone(), Value::from(c.on(e)?.to_string()))));
            Value::Object(columns.collect())
        };
        json!({
            "name": t.name,
            "primary_key": t.primary_key,
            "only": t.only,
            "never_written": m.is_forbidden_table(&t.name),
            "mysql": form(Engine::MySql),
            "postgresql": form(Engine::PostgreSql),
        })
    };
    let usable = recipes.of(&m.scheduler).filter(|r| r.applies_to(m)).map(|r| r.file.name.clone());
    json!({
        "format": 1,
        "scheduler": m.scheduler,
        "title": m.title,
        "generation": m.generation,
        "releases": m.releases,
        "approximate": m.approximate,
        "states": m.states.iter().map(set).collect::<Vec<_>>(),
        "roles": m.roles.iter().map(|(name, r)| json!({ "role": name, "table": r.table, "key": r.real(&r.key), "columns": r.columns })).collect::<Vec<_>>(),
        "tables": m.tables.values().map(table).collect::<Vec<_>>(),
        "recipes": usable.collect::<Vec<_>>(),
        "sources": m.sources,
    })
}

/// One step of a way between generations, for programs.
#[derive(Serialize)]
pub struct ShownStep {
    /// The generation that is reached.
    pub to: String,
    /// Its releases.
    pub releases: Vec<String>,
    /// What it changes.
    pub changes: Vec<Change>,
}

impl ShownStep {
    /// Whether anything changes.
    #[must_use]
    pub fn differs(&self) -> bool {
        !self.changes.is_empty()
    }
}

/// Changes under headings.
#[must_use]
pub fn changes(title: &str, changes: &[Change]) -> Vec<Section> {
    let groups: [(&str, &dyn Fn(ChangeKind) -> bool); 4] = [
        ("states", &|kind| kind < ChangeKind::TableAdded),
        ("tables and columns", &|kind| kind >= ChangeKind::TableAdded && kind < ChangeKind::BehaviourChanged),
        ("behaviour", &|kind| kind == ChangeKind::BehaviourChanged),
        ("repairs", &|kind| kind >= ChangeKind::RecipeStarts),
    ];
    let mut sections = Vec::new();
    for (name, belongs) in groups {
        let lines: Vec<String> = changes.iter().filter(|c| belongs(c.kind)).map(Change::sentence).collect();
        if !lines.is_empty() {
            let heading = if title.is_empty() { name.to_owned() } else { format!("{title}: {name}") };
            sections.push(Section { title: heading, notes: lines, ..Section::default() });
        }
    }
    sections
}

/// Each state of each column in each generation of a scheduler.
#[must_use]
pub fn matrix(all: &[&Manifest]) -> Vec<Section> {
    let mut columns: Vec<&String> = all.iter().flat_map(|m| m.states.keys()).collect();
    columns.sort();
    columns.dedup();
    columns.into_iter().map(|column| of_column(all, column)).collect()
}

fn of_column(all: &[&Manifest], column: &str) -> Section {
    let groups = alike(all, column);
    let mut codes: Vec<(String, String)> = Vec::new();
    for (m, _) in &groups {
        for (code, state) in m.states.get(column).map(listed).unwrap_or_default() {
            if !codes.iter().any(|(c, name)| *c == code && *name == state.name) {
                codes.push((code, state.name.clone()));
            }
        }
    }
    codes.sort_by_key(|(code, name)| (code.parse::<i64>().unwrap_or(i64::MAX), code.clone(), name.clone()));
    let head: Vec<&str> = ["code", "name"].into_iter().chain(groups.iter().map(|(_, range)| range.as_str())).collect();
    let row = |(code, name): &(String, String)| {
        let cell = |m: &Manifest| {
            let states = m.states.get(column).map(listed).unwrap_or_default();
            let found = states.into_iter().find(|(c, s)| c == code && s.name == *name);
            found.map_or_else(|| ABSENT.to_owned(), |(_, s)| mark(s))
        };
        [code.clone(), name.clone()].into_iter().chain(groups.iter().map(|(m, _)| cell(m))).collect()
    };
    let rows = codes.iter().map(row).collect();
    let mut names: Vec<String> =
        all.iter().filter(|m| m.states.contains_key(column)).map(|m| m.real_name(column)).collect();
    names.dedup();
    Section::table(format!("{column} ({})", names.join(" → ")), &head, rows)
}

/// What the words in a matrix mean.
pub const LEGEND: &str = "active: something may still run under a row; finished: nothing does; over: nothing does, but the release does not count it as finished; not here: the release knows the code and never writes it into this column";

/// The same for a terminal, where a column for each generation has no room: the releases in
/// which a state is active, finished, or not for this column.
#[must_use]
pub fn spans(all: &[&Manifest]) -> Vec<Section> {
    let narrow = |section: Section| {
        let rows = section.rows.iter().map(|row| {
            let [code, name, cells @ ..] = row.as_slice() else { return row.clone() };
            vec![code.clone(), name.clone(), joined(&section.head[2..], cells)]
        });
        Section { rows: rows.collect(), head: ["code", "name", "releases"].map(ToOwned::to_owned).to_vec(), ..section }
    };
    matrix(all).into_iter().map(narrow).collect()
}

/// Neighbouring columns with the same mark as one span.
fn joined(heads: &[String], cells: &[String]) -> String {
    let mut spans: Vec<(&str, &str, &str)> = Vec::new();
    for (head, cell) in heads.iter().zip(cells) {
        let (from, to) = head.split_once(RANGE).unwrap_or((head, head));
        match spans.last_mut() {
            Some((mark, _, last)) if *mark == cell => *last = to,
            _ => spans.push((cell, from, to)),
        }
    }
    let shown = spans.iter().filter(|(mark, ..)| *mark != ABSENT);
    let text = |(mark, from, to): &(&str, &str, &str)| {
        if from == to { format!("{mark} {from}") } else { format!("{mark} {from}{RANGE}{to}") }
    };
    shown.map(text).collect::<Vec<_>>().join("; ")
}

/// What stands in the matrix where a generation has no such state.
const ABSENT: &str = "·";
/// What stands between the first and the last release of a span.
const RANGE: &str = " – ";

fn listed(set: &StateSet) -> Vec<(String, &State)> {
    set.listed("any other")
}

/// What a cell of the matrix says.
fn mark(state: &State) -> String {
    match (state.legal, state.finished) {
        (false, _) => "not here",
        (true, true) if !state.upstream_finished => "over",
        (true, true) => "finished",
        (true, false) => "active",
    }
    .to_owned()
}

/// Neighbouring generations in which a column holds the same states, with their releases.
fn alike<'m>(all: &[&'m Manifest], column: &str) -> Vec<(&'m Manifest, String)> {
    let same = |a: &Manifest, b: &Manifest| {
        let cells = |m: &Manifest| -> Option<Vec<(String, String, String)>> {
            let states = m.states.get(column).map(listed)?;
            Some(states.into_iter().map(|(code, s)| (code, s.name.clone(), mark(s))).collect())
        };
        cells(a) == cells(b)
    };
    let mut groups: Vec<(&Manifest, &Manifest)> = Vec::new();
    for m in all {
        match groups.last_mut() {
            Some((first, last)) if same(first, m) => *last = m,
            _ => groups.push((m, m)),
        }
    }
    let range = |first: &Manifest, last: &Manifest| match (first.releases.first(), last.releases.last()) {
        (Some(from), Some(to)) if from != to => format!("{from}{RANGE}{to}"),
        (Some(only), _) => only.clone(),
        _ => first.generation.clone(),
    };
    groups.into_iter().filter(|(m, _)| m.states.contains_key(column)).map(|(a, b)| (a, range(a, b))).collect()
}

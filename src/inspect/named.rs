//! Filters that name nothing: a misspelt name must not look like a healthy database.

use std::collections::BTreeSet;

use super::Given;
use crate::catalog::Catalog;
use crate::db::Database;
use crate::dialect::TypeClass;
use crate::manifest::Manifest;
use crate::near::near;
use crate::plan::{OwnerName, numbers, writes_scope};
use crate::recipe::{Names, Parameter, ParameterKind, Recipes};
use crate::ui::safe;
use crate::{Error, Result};

/// How many names of a column are read to find one that was meant.
const KNOWN: usize = 2_000;
/// How many of them are offered.
const OFFERED: usize = 3;
/// Where there are no more names than these, all are shown.
const FEW: usize = 6;
/// How many are shown of those that a plan must choose from.
const LISTED: usize = 20;
/// How much of a name is shown.
const SHOWN: usize = 80;

/// Refuses a filter that narrows nothing, because the scheduler has none such or
/// because no row holds its value.
///
/// # Errors
/// There is such a filter, or what the server said.
pub async fn refuse_idle_filters(
    db: &mut Database,
    catalog: &Catalog,
    m: &Manifest,
    recipes: &Recipes,
    given: &Given,
) -> Result<()> {
    for (name, texts) in given {
        let mut known = recipes.of(&m.scheduler).filter_map(|r| r.parameter(name)).peekable();
        if known.peek().is_none() {
            let flags: BTreeSet<&str> =
                recipes.of(&m.scheduler).flat_map(|r| &r.file.parameters).map(|p| p.name.as_str()).collect();
            let flags: Vec<String> = flags.into_iter().map(|flag| format!("--{flag}")).collect();
            return Err(Error::usage(format!("no recipe of {} has a parameter --{name}", m.title))
                .hint(format!("they have {}", flags.join(", "))));
        }
        if let Some(parameter) = known.find(|p| !p.among.is_empty()) {
            let places = places(db, catalog, m, parameter);
            if places.is_empty() {
                let message = format!("--{name}: {} {} has nothing that it could name", m.title, m.release_range());
                return Err(Error::usage(message).hint("leave it out: these tables know no such thing"));
            }
            each_names_something(db, parameter, texts, &places).await?;
        }
    }
    Ok(())
}

/// Where the rows are that a filter names.
struct Place {
    /// The table, quoted.
    table: String,
    /// What holds the name.
    expression: String,
    /// Whether it holds the name somewhere in a longer text.
    within: bool,
    /// `table.column`, for people.
    shown: String,
}

/// Those of a filter's places that the release and the database have.
fn places(db: &Database, catalog: &Catalog, m: &Manifest, parameter: &Parameter) -> Vec<Place> {
    let whole = parameter.among.iter().filter_map(|Names(names)| place(db, catalog, m, names, parameter.kind));
    let within = parameter.within.iter().filter_map(|name| {
        let text = place(db, catalog, m, std::slice::from_ref(name), ParameterKind::Texts)?;
        Some(Place { within: true, ..text })
    });
    whole.chain(within).collect()
}

fn place(db: &Database, catalog: &Catalog, m: &Manifest, names: &[String], kind: ParameterKind) -> Option<Place> {
    let d = &db.dialect;
    let table = catalog.get(&m.role(names.first()?.split('.').next()?).ok()?.table)?;
    let real: Vec<&str> = names.iter().map(|name| m.column(name).ok()).collect::<Option<_>>()?;
    let part = |name: &&str| {
        let class = table.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name))?.class;
        // As the queries of recipes compare them: by an index, where there is one.
        let plain = class == TypeClass::Text || kind == ParameterKind::Numbers;
        Some(if plain { d.ident(name) } else { d.as_text(&d.ident(name)) })
    };
    let parts: Vec<String> = real.iter().map(part).collect::<Option<_>>()?;
    let joined = parts.into_iter().reduce(|name, next| d.concat(&[name, d.text_literal("."), next]))?;
    Some(Place {
        table: d.table(db.schema.as_deref(), &table.name),
        expression: joined,
        within: false,
        shown: format!("{}.{}", table.name, real.join(".")),
    })
}

/// Each value is held by a row somewhere.
async fn each_names_something(db: &mut Database, p: &Parameter, texts: &[String], places: &[Place]) -> Result<()> {
    let values: Vec<String> = match p.kind {
        ParameterKind::Numbers => numbers(&p.name, texts)?.iter().map(ToString::to_string).collect(),
        // Who reads the parameters says that it is empty.
        _ => texts.iter().filter(|text| !text.trim().is_empty()).cloned().collect(),
    };
    let mut idle: Vec<&str> = Vec::new();
    for value in &values {
        if !is_there(db, value, p.kind, places).await? {
            idle.push(value);
        }
    }
    let [first, ..] = idle.as_slice() else { return Ok(()) };
    let shown: Vec<String> = idle.iter().map(|value| format!("`{}`", safe(value, SHOWN))).collect();
    let looked: Vec<&str> = places.iter().map(|p| p.shown.as_str()).collect();
    let error = Error::usage(format!("--{} names nothing in this database: {}", p.name, shown.join(", ")));
    let error = match meant(db, first, places, p.kind).await? {
        Some(hint) => error.hint(hint),
        None => error,
    };
    Err(error.hint(format!("looked for in {}", looked.join(", "))))
}

async fn is_there(db: &mut Database, value: &str, kind: ParameterKind, places: &[Place]) -> Result<bool> {
    let one = db.dialect.as_text("1");
    for Place { table, expression, within, .. } in places {
        let condition = match (within, kind) {
            (true, _) => format!("{expression} LIKE {}", db.dialect.text_literal(&format!("%{value}%"))),
            (false, ParameterKind::Numbers) => format!("{expression} = {value}"),
            // A collation may call another name equal; the scheduler does not. By an index first.
            (false, _) => {
                let literal = db.dialect.text_literal(value);
                format!("{expression} = {literal} AND {}", db.dialect.same(expression, &literal, TypeClass::Text))
            }
        };
        if db.value(&format!("SELECT {one} FROM {table} WHERE {condition} LIMIT 1")).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Refuses a plan that leaves open which of several is meant, where what is said of one need
/// not be true of another: one set of tables may hold several schedulers.
///
/// # Errors
/// It is left open, or what the server said.
pub async fn refuse_open_which(
    db: &mut Database,
    catalog: &Catalog,
    m: &Manifest,
    recipes: &Recipes,
    given: &Given,
) -> Result<()> {
    let parameters = || recipes.of(&m.scheduler).flat_map(|r| &r.file.parameters);
    let Some(which) = parameters().find(|p| p.which) else { return Ok(()) };
    let owners = parameters().filter(|p| p.kind.owner_form().is_some()).map(|p| &p.name).collect::<BTreeSet<_>>();
    let claims = owners.iter().filter_map(|name| given.get(*name)).flatten();
    // Who names an owner with its scope has said which.
    if given.contains_key(&which.name) || claims.clone().any(|claim| writes_scope(claim)) {
        return Ok(());
    }
    let names = known_names(db, &places(db, catalog, m, which)).await?;
    if names.len() < 2 {
        return Ok(());
    }
    let shown: Vec<String> = names.iter().take(LISTED).map(|n| safe(n, SHOWN)).collect();
    let more = if names.len() > LISTED { format!(" … and {} more", names.len() - LISTED) } else { String::new() };
    let (name, first) = (&which.name, &shown[0]);
    let error = Error::usage(format!(
        "--{name} is needed: these tables hold {} that it tells apart, and what you say of one need not be true of another: {}{more}",
        names.len(),
        shown.join(", ")
    ))
    .hint(format!("choose one, for example --{name} {first}"));
    Err(match owners.first() {
        Some(owner) if claims.count() > 0 => {
            let scope = Some(first.clone());
            let one = OwnerName { scope, address: "NAME".to_owned() }.to_string();
            let all = one.replace("/'NAME'", "/*");
            error.hint(format!(
                "or name the owner with it, double quotes and all: --{owner} \"{one}\"; \"{all}\" for all of its owners"
            ))
        }
        _ => error,
    })
}

/// The names that some row holds whole.
async fn known_names(db: &mut Database, places: &[Place]) -> Result<BTreeSet<String>> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for Place { table, expression, .. } in places.iter().filter(|p| !p.within) {
        let name = db.dialect.as_text(expression);
        let sql = format!("SELECT DISTINCT {name} FROM {table} WHERE {expression} IS NOT NULL LIMIT {KNOWN}");
        known.extend(db.rows(&sql).await?.into_iter().flatten().flatten());
    }
    Ok(known)
}

/// The names that may be meant. Numbers are like each other and mean nothing.
async fn meant(db: &mut Database, value: &str, places: &[Place], kind: ParameterKind) -> Result<Option<String>> {
    if kind == ParameterKind::Numbers {
        return Ok(None);
    }
    let known = known_names(db, places).await?;
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let shown = |names: &[&str]| names.iter().map(|n| safe(n, SHOWN)).collect::<Vec<_>>().join(", ");
    Ok(match near(value, &known, OFFERED).as_slice() {
        [] if known.is_empty() || known.len() > FEW => None,
        [] => Some(format!("there are {}", shown(&known))),
        near => Some(format!("did you mean {}?", shown(near))),
    })
}

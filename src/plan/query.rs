//! A recipe's step in the live database: its columns, and the query of its rows. Pure.

use std::collections::BTreeMap;

use jiff::Timestamp;
use minijinja::Value;

use super::overlay::Overlay;
use super::{Column, Params, Related, SetColumn, Zone, params};
use crate::catalog::{Catalog, LiveColumn, LiveTable, Row};
use crate::dialect::{Dialect, TypeClass};
use crate::manifest::{Manifest, Role, StateSet};
use crate::recipe::{EffectFile, Names, Op, Recipe, ReportFile, SetKind, StepFile};
use crate::render::{Query, RecipeEnv, RecipeScope};
use crate::{Error, Result};

/// The file beside a scheduler's recipes that names runs.
const RUN_NAMES: &str = "run_names.sql.j2";

/// A database with a release of a scheduler in it, at a moment.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The release's names.
    pub manifest: &'a Manifest,
    /// The database's language.
    pub dialect: &'a Dialect,
    /// The live tables.
    pub catalog: &'a Catalog,
    /// The schema of the tables, where it must be named.
    pub schema: Option<&'a str>,
    /// The scheduler's zone, if it is known.
    pub zone: Option<&'a Zone>,
    /// The moment.
    pub now: Timestamp,
}

/// A recipe at work on a database.
pub struct Inputs<'a> {
    /// The database.
    pub site: Site<'a>,
    /// The recipe.
    pub recipe: &'a Recipe,
    /// What the operator said.
    pub params: &'a Params,
    /// The recipe, ready to render for the database as it is.
    env: RecipeEnv,
    /// The same for the database as it will be, once something is planned.
    look_env: Option<RecipeEnv>,
}

impl<'a> Inputs<'a> {
    /// The recipe, for the database as it is.
    ///
    /// # Errors
    /// A template that does not parse.
    pub fn new(site: Site<'a>, recipe: &'a Recipe, params: &'a Params) -> Result<Self> {
        let env = env(&site, recipe, params, &Overlay::default())?;
        Ok(Self { site, recipe, params, env, look_env: None })
    }

    /// From now on its queries look at the database as it will be after what is planned.
    ///
    /// # Errors
    /// As [`Inputs::new`].
    pub fn look_through(&mut self, overlay: &Overlay) -> Result<()> {
        if overlay.is_empty() {
            return Ok(());
        }
        self.look_env = Some(env(&self.site, self.recipe, self.params, overlay)?);
        Ok(())
    }

    /// The recipe, ready to render for the database as it is.
    #[must_use]
    pub fn env(&self) -> &RecipeEnv {
        &self.env
    }

    pub(super) fn look_env(&self) -> &RecipeEnv {
        self.look_env.as_ref().unwrap_or(&self.env)
    }
}

fn env(site: &Site<'_>, recipe: &Recipe, params: &Params, overlay: &Overlay) -> Result<RecipeEnv> {
    let moment = site.zone.map(|zone| params::wall_clock(site.now, zone.offset_minutes));
    // The tables of the release that planned steps change, as they will be.
    let changed = site.manifest.roles.values().filter_map(|role| {
        let live = site.catalog.get(&role.table)?;
        Some((role.table.clone(), overlay.table(site.dialect, site.schema, live)?))
    });
    let scope = RecipeScope {
        manifest: site.manifest,
        dialect: site.dialect,
        schema: site.schema,
        params,
        zone: site.zone,
        moment: moment.as_deref(),
        moment_ms: site.now.as_millisecond(),
        tables: changed.collect(),
    };
    RecipeEnv::new(recipe, &scope)
}

/// What a step's query returned, or why the step is not needed.
pub enum StepRows {
    /// The rows of [`step_query`].
    Rows(Vec<Row>),
    /// The release does not need the step.
    NotNeeded(String),
}

/// A step with its columns resolved in the live database.
pub(super) struct Shape<'a> {
    pub(super) file: &'a StepFile,
    pub(super) table: &'a LiveTable,
    pub(super) key: Vec<Column>,
    pub(super) set: Vec<(String, SetColumn)>,
    pub(super) pins: Vec<Column>,
    pub(super) related: Option<Related>,
}

/// Verdict, finding, instance and label stand before the key.
const BEFORE_KEY: usize = 4;

/// The query of a step: the recipe's query, joined to the rows it names for
/// their old values, everything read as text, ordered by key.
///
/// # Errors
/// The recipe's template does not render, or names what the database lacks.
pub fn step_query(inputs: &Inputs<'_>, file: &StepFile) -> Result<String> {
    let shape = shape(inputs, file)?;
    let d = inputs.site.dialect;
    let Query { with, body: query } = inputs.look_env().query(&file.query)?;
    let mut fields =
        vec!["q.verdict".to_owned(), "q.finding".to_owned(), d.as_text("q.instance"), d.as_text("q.label")];
    if file.op == Op::Insert {
        // There is no row to join yet; `step` puts these in order.
        fields.extend(shape.set.iter().map(|(name, column)| new_value(d, name, column)));
        fields.extend(file.gives.iter().map(|name| d.as_text(&format!("q.{name}"))));
        return Ok(format!("{with}SELECT {}\nFROM (\n{query}\n) q", fields.join(", ")));
    }
    fields.extend(shape.key.iter().map(|c| d.as_text(&format!("t.{}", d.ident(&c.name)))));
    let exact = |c: &Column, alias: &str| d.as_exact_text(&format!("{alias}.{}", d.ident(&c.name)), &c.type_sql);
    fields.extend(shape.pins.iter().map(|c| exact(c, "t")));
    fields.extend(shape.set.iter().map(|(name, column)| new_value(d, name, column)));
    let mut joins = String::new();
    if let Some(related) = &shape.related {
        fields.extend(related.pins.iter().map(|c| exact(c, "r")));
        let table = d.table(inputs.site.schema, &related.table);
        joins = format!("\n  JOIN {table} r ON {}", related.on(d));
    }
    fields.extend(file.gives.iter().map(|name| d.as_text(&format!("q.{name}"))));
    let role = inputs.site.manifest.role(&file.role)?;
    let on: Vec<String> = role
        .key
        .iter()
        .zip(&shape.key)
        .map(|(role_column, column)| format!("t.{} = q.{role_column}", d.ident(&column.name)))
        .collect();
    let order: Vec<String> =
        shape.key.iter().map(|c| d.key_order(&format!("t.{}", d.ident(&c.name)), c.class)).collect();
    Ok(format!(
        "{with}SELECT {}\nFROM (\n{query}\n) q\n  JOIN {} t ON {}{joins}\nORDER BY {}",
        fields.join(", "),
        d.table(inputs.site.schema, &shape.table.name),
        on.join(" AND "),
        order.join(", "),
    ))
}

/// Where in the rows of [`step_query`] a column of the step's role stands, if it is a key or a pin.
///
/// # Errors
/// The database lacks what the step names.
pub fn place_in_step(inputs: &Inputs<'_>, file: &StepFile, role_column: &str) -> Result<Option<usize>> {
    let shape = shape(inputs, file)?;
    let Some(real) = inputs.site.manifest.role(&file.role)?.columns.get(role_column) else { return Ok(None) };
    let columns = shape.key.iter().chain(&shape.pins);
    Ok(columns.map(|c| &c.name).position(|name| name.eq_ignore_ascii_case(real)).map(|place| BEFORE_KEY + place))
}

/// The query of a report, everything read as text, ordered by key.
///
/// # Errors
/// The recipe's template does not render, or names what the database lacks.
pub fn report_query(inputs: &Inputs<'_>, file: &ReportFile) -> Result<String> {
    let d = inputs.site.dialect;
    let role = inputs.site.manifest.role(&file.role)?;
    let table = table_of(&inputs.site, role)?;
    let Query { with, body: query } = inputs.look_env().query(&file.query)?;
    let mut fields = vec!["q.verdict".to_owned(), "q.finding".to_owned()];
    let texts = ["instance", "label"].into_iter().chain(role.key.iter().chain(&file.gives).map(String::as_str));
    fields.extend(texts.map(|name| d.as_text(&format!("q.{name}"))));
    let mut order = Vec::new();
    for name in &role.key {
        order.push(d.key_order(&format!("q.{name}"), role_column(inputs, role, table, name)?.class));
    }
    Ok(format!("{with}SELECT {}\nFROM (\n{query}\n) q\nORDER BY {}", fields.join(", "), order.join(", ")))
}

/// The query of an effect, everything read as text, ordered by the first column.
///
/// # Errors
/// The recipe's template does not render.
pub fn effect_query(inputs: &Inputs<'_>, file: &EffectFile) -> Result<String> {
    let Query { with, body: query } = inputs.look_env().query(&file.query)?;
    let fields: Vec<String> = file.gives.iter().map(|name| inputs.site.dialect.as_text(&format!("q.{name}"))).collect();
    let first = file.gives.first().map_or("1", String::as_str);
    Ok(format!("{with}SELECT {}\nFROM (\n{query}\n) q\nORDER BY q.{first}", fields.join(", ")))
}

/// The query of the names of some runs (`id`, `name`, `workflow`, `project`), where
/// the scheduler's recipes share one.
///
/// # Errors
/// As [`effect_query`].
pub fn names_query(inputs: &Inputs<'_>, runs: &[&str]) -> Result<Option<String>> {
    let d = inputs.site.dialect;
    let literal = |run: &&str| if run.parse::<i64>().is_ok() { (*run).to_owned() } else { d.text_literal(run) };
    let runs: Vec<String> = runs.iter().map(literal).collect();
    let query = inputs.env().shared_query(RUN_NAMES, BTreeMap::from([("runs", Value::from(runs))]))?;
    let fields = ["id", "name", "workflow", "project"].map(|name| d.as_text(&format!("q.{name}")));
    Ok(query.map(|query| format!("SELECT {}\nFROM (\n{query}\n) q\nORDER BY q.id", fields.join(", "))))
}

fn new_value(d: &Dialect, role_column: &str, column: &SetColumn) -> String {
    match column.kind {
        SetKind::Now => "NULL".to_owned(),
        SetKind::Row | SetKind::Recount => d.as_exact_text(&format!("q.new_{role_column}"), &column.column.type_sql),
    }
}

pub(super) fn shape<'a>(inputs: &Inputs<'a>, file: &'a StepFile) -> Result<Shape<'a>> {
    let role = inputs.site.manifest.role(&file.role)?;
    let table = table_of(&inputs.site, role)?;
    let named = |role_columns: &[String]| -> Result<Vec<Column>> {
        role_columns.iter().map(|c| role_column(inputs, role, table, c)).collect()
    };
    let key = named(&role.key)?;
    let same_key = key.iter().all(|c| table.key.iter().any(|k| k.eq_ignore_ascii_case(&c.name)));
    if !same_key || key.len() != table.key.len() {
        let message =
            format!("the primary key of {} is ({}), not ({})", table.name, table.key.join(", "), role.key.join(", "));
        return Err(Error::refused(message)
            .hint("flowmend pins rows by the primary key; restore the scheduler's own key first"));
    }
    let mut set = Vec::new();
    for (name, from) in file.set.iter().filter(|(name, _)| role.columns.contains_key(*name)) {
        let column = role_column(inputs, role, table, name)?;
        let sql = match from.kind {
            // The clock is asked for only when there is a row to write.
            SetKind::Row | SetKind::Now => None,
            SetKind::Recount => {
                Some(inputs.env().text(&format!("steps.{}.set.{name}", file.role), &from.sql, BTreeMap::new())?)
            }
        };
        set.push((name.clone(), SetColumn { column, kind: from.kind, sql }));
    }
    // States first, and of these what makes the row's own state: it is what a reviewer looks for.
    set.sort_by_key(|(name, _)| place_of(inputs.site.manifest, &format!("{}.{name}", file.role)));
    let mut pins: Vec<Column> = Vec::new();
    // A row that is to come has no old values.
    if file.op != Op::Insert {
        pins.extend(set.iter().map(|(_, s)| s.column.clone()));
        for witness in named(&role.witnesses)? {
            if !pins.contains(&witness) {
                pins.push(witness);
            }
        }
    }
    let related = file.related.as_ref().map(|r| related(inputs, role, table, r)).transpose()?;
    Ok(Shape { file, table, key, set, pins, related })
}

/// The row's own state comes first, in one column or two, then other states, then the rest.
fn place_of(manifest: &Manifest, column: &str) -> u8 {
    let in_two = |set: &StateSet| set.with.is_some();
    let is_other_half = || manifest.states.values().any(|set| set.with.as_deref() == Some(column));
    match manifest.states.get(column) {
        Some(set) if in_two(set) => 0,
        Some(_) if is_other_half() => 1,
        Some(_) => 2,
        None => 3,
    }
}

pub(super) fn now_expression(inputs: &Inputs<'_>, column: &Column) -> Result<String> {
    let offset = match inputs.site.zone {
        Some(zone) => zone.offset_minutes,
        None if inputs.site.dialect.is_instant(&column.type_sql) => 0,
        None => {
            return Err(params::zone_needed(&format!("{} is written on the scheduler's clock", column.name)));
        }
    };
    Ok(inputs.site.dialect.now(&column.type_sql, offset))
}

fn related(inputs: &Inputs<'_>, role: &Role, table: &LiveTable, file: &crate::recipe::RelatedFile) -> Result<Related> {
    let other_role = inputs.site.manifest.role(&file.role)?;
    let other = table_of(&inputs.site, other_role)?;
    let pins: Result<Vec<Column>> =
        other_role.witnesses.iter().map(|w| role_column(inputs, other_role, other, w)).collect();
    let (mut from, mut to) = (Vec::new(), Vec::new());
    let both = |(a, b): &(&String, &String)| role.columns.contains_key(*a) && other_role.columns.contains_key(*b);
    for (own, others) in file.pairs().filter(both) {
        from.push(role_column(inputs, role, table, own)?.name);
        to.push(role_column(inputs, other_role, other, others)?.name);
    }
    if from.is_empty() {
        let message = format!("no columns of {} and {} belong together in this release", table.name, other.name);
        return Err(Error::usage(message).hint("name them in the recipe's `related`"));
    }
    let is_state = |name: &&String| inputs.site.manifest.states.contains_key(&format!("{}.{name}", file.role));
    let states = other_role.witnesses.iter().filter(is_state).filter_map(|name| other_role.columns.get(name));
    let holds = states.cloned().collect();
    Ok(Related { table: other.name.clone(), from: Names(from), to: Names(to), pins: pins?, holds })
}

/// The live table of a role.
pub(super) fn table_of<'a>(site: &Site<'a>, role: &Role) -> Result<&'a LiveTable> {
    site.catalog.get(&role.table).ok_or_else(|| Error::refused(format!("the database has no table {}", role.table)))
}

/// A role column of a live table. SQLite keeps times as text, so the manifest
/// says what the column means.
fn role_column(inputs: &Inputs<'_>, role: &Role, table: &LiveTable, name: &str) -> Result<Column> {
    let found = role.columns.get(name).and_then(|c| table.column(c));
    let Some(found) = found else {
        let real = role.columns.get(name).map_or(name, String::as_str);
        return Err(Error::refused(format!("the table {} has no column {real}", table.name)));
    };
    let mut column = plan_column(found);
    if column.class == TypeClass::Text && meant_as_time(inputs.site.manifest, role, &column.name) {
        column.class = TypeClass::Time;
    }
    Ok(column)
}

fn meant_as_time(manifest: &Manifest, role: &Role, column: &str) -> bool {
    let spec =
        manifest.tables.get(&role.table).and_then(|t| t.columns.iter().find(|c| c.name.eq_ignore_ascii_case(column)));
    let upstream = spec.and_then(|c| c.mysql.as_ref().or(c.postgresql.as_ref()));
    upstream.is_some_and(|c| TypeClass::of(&c.type_sql) == TypeClass::Time)
}

pub(super) fn plan_column(column: &LiveColumn) -> Column {
    Column {
        name: column.name.clone(),
        type_sql: column.type_sql.clone(),
        class: column.class,
        on_update: column.on_update,
    }
}

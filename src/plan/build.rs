//! Builds a plan from what the step queries returned.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;

use super::{
    Column, Evidence, HostRows, LeftOut, NotNeeded, Params, Plan, PlanCheck, PlanCondition, Related, RowChange,
    SetColumn, Step, Target, Zone, params,
};
use crate::catalog::{Catalog, LiveColumn, LiveTable, Row};
use crate::dialect::{Dialect, TypeClass};
use crate::manifest::{Manifest, Role};
use crate::recipe::{Op, Recipe, ReportFile, SetKind, StepFile};
use crate::render::{RecipeEnv, ser};
use crate::{Error, Result};

/// How many keys of left-out rows a plan shows.
const SAMPLE: usize = 5;

/// Everything a plan is built from.
pub struct Inputs<'a> {
    /// The recipe.
    pub recipe: &'a Recipe,
    /// The release's names.
    pub manifest: &'a Manifest,
    /// The database's language.
    pub dialect: &'a Dialect,
    /// The live tables.
    pub catalog: &'a Catalog,
    /// The schema of the tables, where it must be named.
    pub schema: Option<&'a str>,
    /// The recipe, ready to render.
    pub env: &'a RecipeEnv,
    /// What the operator said.
    pub params: &'a Params,
    /// The scheduler's zone, if it is known.
    pub zone: Option<&'a Zone>,
}

/// What a step's query returned, or why the step is not needed.
pub enum StepRows {
    /// The rows of [`step_query`].
    Rows(Vec<Row>),
    /// The release does not need the step.
    NotNeeded(String),
}

/// A step with its columns resolved in the live database.
struct Shape<'a> {
    file: &'a StepFile,
    table: &'a LiveTable,
    key: Vec<Column>,
    set: Vec<(String, SetColumn)>,
    pins: Vec<Column>,
    related: Option<Related>,
}

/// The query of a step: the recipe's query, joined to the rows it names for
/// their old values, everything read as text, ordered by key.
///
/// # Errors
/// The recipe's template does not render, or names what the database lacks.
pub fn step_query(inputs: &Inputs<'_>, file: &StepFile) -> Result<String> {
    let shape = shape(inputs, file)?;
    let d = inputs.dialect;
    let query = inputs.env.file(&file.query, BTreeMap::new())?;
    let mut fields =
        vec!["q.verdict".to_owned(), "q.finding".to_owned(), d.as_text("q.instance"), d.as_text("q.label")];
    if file.op == Op::Insert {
        // There is no row to join yet; `step` puts these in order.
        fields.extend(shape.set.iter().map(|(name, column)| new_value(d, name, column)));
        fields.extend(file.gives.iter().map(|name| d.as_text(&format!("q.{name}"))));
        return Ok(format!("SELECT {}\nFROM (\n{query}\n) q", fields.join(", ")));
    }
    fields.extend(shape.key.iter().map(|c| d.as_text(&format!("t.{}", d.ident(&c.name)))));
    fields.extend(shape.pins.iter().map(|c| d.as_text(&format!("t.{}", d.ident(&c.name)))));
    fields.extend(shape.set.iter().map(|(name, column)| new_value(d, name, column)));
    let mut joins = String::new();
    if let Some(related) = &shape.related {
        fields.extend(related.pins.iter().map(|c| d.as_text(&format!("r.{}", d.ident(&c.name)))));
        let table = d.table(inputs.schema, &related.table);
        joins = format!("\n  JOIN {table} r ON r.{} = t.{}", d.ident(&related.to), d.ident(&related.from));
    }
    fields.extend(file.gives.iter().map(|name| d.as_text(&format!("q.{name}"))));
    let role = inputs.manifest.role(&file.role)?;
    let on: Vec<String> = role
        .key
        .iter()
        .zip(&shape.key)
        .map(|(role_column, column)| format!("t.{} = q.{role_column}", d.ident(&column.name)))
        .collect();
    let order: Vec<String> =
        shape.key.iter().map(|c| d.key_order(&format!("t.{}", d.ident(&c.name)), c.class)).collect();
    Ok(format!(
        "SELECT {}\nFROM (\n{query}\n) q\n  JOIN {} t ON {}{joins}\nORDER BY {}",
        fields.join(", "),
        d.table(inputs.schema, &shape.table.name),
        on.join(" AND "),
        order.join(", "),
    ))
}

/// The query of a report, everything read as text, ordered by key.
///
/// # Errors
/// The recipe's template does not render, or names what the database lacks.
pub fn report_query(inputs: &Inputs<'_>, file: &ReportFile) -> Result<String> {
    let d = inputs.dialect;
    let role = inputs.manifest.role(&file.role)?;
    let table = live_table(inputs, role)?;
    let query = inputs.env.file(&file.query, BTreeMap::new())?;
    let mut fields = vec!["q.verdict".to_owned(), "q.finding".to_owned()];
    let texts = ["instance", "label"].into_iter().chain(role.key.iter().chain(&file.gives).map(String::as_str));
    fields.extend(texts.map(|name| d.as_text(&format!("q.{name}"))));
    let mut order = Vec::new();
    for name in &role.key {
        order.push(d.key_order(&format!("q.{name}"), role_column(inputs, role, table, name)?.class));
    }
    Ok(format!("SELECT {}\nFROM (\n{query}\n) q\nORDER BY {}", fields.join(", "), order.join(", ")))
}

fn new_value(d: &Dialect, role_column: &str, column: &SetColumn) -> String {
    match column.kind {
        SetKind::Now => "NULL".to_owned(),
        SetKind::Row | SetKind::Recount => d.as_text(&format!("q.new_{role_column}")),
    }
}

/// Builds the plan. `rows` is in the order of the recipe's steps.
///
/// # Errors
/// A choice is open, a new value is missing, or the database lacks a column.
pub fn build(inputs: &Inputs<'_>, from: super::From, target: Target, rows: Vec<StepRows>) -> Result<Plan> {
    let mut steps = Vec::new();
    let mut not_needed = Vec::new();
    let mut tally = Tally::default();
    for (file, rows) in inputs.recipe.file.steps.iter().zip(rows) {
        match rows {
            StepRows::NotNeeded(why) => not_needed.push(NotNeeded { title: file.title.clone(), why }),
            StepRows::Rows(rows) => {
                if let Some(step) = step(inputs, file, rows, &mut tally)? {
                    steps.push(step);
                }
            }
        }
    }
    ask_for_the_choice(inputs, &from, &tally)?;
    let checks = checks(inputs, &steps)?;
    let prose = prose(inputs, &from, &steps)?;
    Ok(Plan {
        format: super::FORMAT,
        flowmend: env!("CARGO_PKG_VERSION").to_owned(),
        args: inputs.params.given.clone(),
        owners: inputs.params.owners(),
        evidence: tally.evidence(inputs.recipe),
        hosts: hosts(inputs.manifest, &steps),
        left_out: tally.left_out(inputs.recipe),
        not_needed,
        checks,
        prose,
        steps,
        from,
        target,
    })
}

fn shape<'a>(inputs: &Inputs<'a>, file: &'a StepFile) -> Result<Shape<'a>> {
    let role = inputs.manifest.role(&file.role)?;
    let table = live_table(inputs, role)?;
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
                Some(inputs.env.text(&format!("steps.{}.set.{name}", file.role), &from.sql, BTreeMap::new())?)
            }
        };
        set.push((name.clone(), SetColumn { column, kind: from.kind, sql }));
    }
    // States first: they are what a reviewer looks for.
    set.sort_by_key(|(name, _)| !inputs.manifest.states.contains_key(&format!("{}.{name}", file.role)));
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

fn now_expression(inputs: &Inputs<'_>, column: &Column) -> Result<String> {
    let offset = match inputs.zone {
        Some(zone) => zone.offset_minutes,
        None if inputs.dialect.is_instant(&column.type_sql) => 0,
        None => {
            return Err(params::zone_needed(&format!("{} is written on the scheduler's clock", column.name)));
        }
    };
    Ok(inputs.dialect.now(&column.type_sql, offset))
}

fn related(inputs: &Inputs<'_>, role: &Role, table: &LiveTable, file: &crate::recipe::RelatedFile) -> Result<Related> {
    let other_role = inputs.manifest.role(&file.role)?;
    let other = live_table(inputs, other_role)?;
    let pins: Result<Vec<Column>> =
        other_role.witnesses.iter().map(|w| role_column(inputs, other_role, other, w)).collect();
    Ok(Related {
        table: other.name.clone(),
        from: role_column(inputs, role, table, &file.from)?.name,
        to: role_column(inputs, other_role, other, &file.to)?.name,
        pins: pins?,
    })
}

fn live_table<'a>(inputs: &Inputs<'a>, role: &Role) -> Result<&'a LiveTable> {
    inputs.catalog.get(&role.table).ok_or_else(|| Error::refused(format!("the database has no table {}", role.table)))
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
    if column.class == TypeClass::Text && meant_as_time(inputs.manifest, role, &column.name) {
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

fn plan_column(column: &LiveColumn) -> Column {
    Column {
        name: column.name.clone(),
        type_sql: column.type_sql.clone(),
        class: column.class,
        on_update: column.on_update,
    }
}

fn step(inputs: &Inputs<'_>, file: &StepFile, mut rows: Vec<Row>, tally: &mut Tally) -> Result<Option<Step>> {
    let shape = shape(inputs, file)?;
    if file.op == Op::Insert {
        rows.sort();
    }
    let mut planned = Vec::new();
    for row in rows {
        let change = read_row(&shape, row, planned.len() + 1, tally)?;
        if let Some(change) = change {
            check_new_values(&shape, &change)?;
            planned.push(change);
        }
    }
    if planned.is_empty() {
        return Ok(None);
    }
    let mut set = Vec::new();
    for (_, mut column) in shape.set {
        if column.kind == SetKind::Now {
            column.sql = Some(now_expression(inputs, &column.column)?);
        }
        set.push(column);
    }
    Ok(Some(Step {
        role: file.role.clone(),
        title: file.title.clone(),
        op: file.op,
        table: shape.table.name.clone(),
        columns: shape.table.stored_columns().map(plan_column).collect(),
        conditions: conditions(inputs, file)?,
        states: state_names(inputs.manifest, &file.role),
        key: shape.key,
        set,
        pins: shape.pins,
        related: shape.related,
        rows: planned,
    }))
}

/// Splits a row of [`step_query`]; a row that is left out is only counted. A row
/// that is inserted has no key yet, so its number stands for it.
fn read_row(shape: &Shape<'_>, row: Row, number: usize, tally: &mut Tally) -> Result<Option<RowChange>> {
    let mut cells = row.into_iter();
    let mut next = || cells.next().flatten();
    let verdict = next().unwrap_or_default();
    let finding = next().unwrap_or_default();
    let instance = next();
    let label = next().unwrap_or_default();
    let mut take = |n: usize| -> Vec<Option<String>> { cells.by_ref().take(n).collect() };
    let change = RowChange {
        key: match shape.file.op {
            Op::Insert => vec![Some(number.to_string())],
            Op::Update | Op::Delete => take(shape.key.len()),
        },
        old: take(shape.pins.len()),
        new: take(shape.set.len()),
        related: take(shape.related.as_ref().map_or(0, |r| r.pins.len())),
        instance,
        label,
    };
    let planned = tally.count(&shape.file.role, &verdict, &finding, &change)?;
    Ok(planned.then_some(change))
}

/// A new value that the query could not give: only a time on an unknown clock.
fn check_new_values(shape: &Shape<'_>, change: &RowChange) -> Result<()> {
    if shape.file.op == Op::Insert {
        // A new row may hold NULL.
        return Ok(());
    }
    for ((_, column), value) in shape.set.iter().zip(&change.new) {
        if value.is_some() || column.kind == SetKind::Now {
            continue;
        }
        let key = change.key.iter().map(|k| k.as_deref().unwrap_or("NULL")).collect::<Vec<_>>().join(", ");
        let what = format!("{} {key} has no known {}", shape.table.name, column.column.name);
        return Err(match column.column.class {
            TypeClass::Time => params::zone_needed(&what),
            _ => Error::internal(format!("the recipe gives no new value: {what}")),
        });
    }
    Ok(())
}

/// Hosts in the rows' own `host` column, if their role has one.
fn hosts(manifest: &Manifest, steps: &[Step]) -> Vec<HostRows> {
    let mut found: Vec<HostRows> = Vec::new();
    for step in steps {
        let column = manifest.roles.get(&step.role).and_then(|r| r.columns.get("host"));
        let Some(index) = column.and_then(|c| step.pin_index(c)) else { continue };
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for host in step.rows.iter().filter_map(|r| r.old[index].as_deref()).filter(|h| !h.is_empty()) {
            *counts.entry(host).or_default() += 1;
        }
        let of_step = |(host, rows): (&str, usize)| HostRows { host: host.to_owned(), role: step.role.clone(), rows };
        found.extend(counts.into_iter().map(of_step));
    }
    found
}

fn conditions(inputs: &Inputs<'_>, file: &StepFile) -> Result<Vec<PlanCondition>> {
    let mut found = Vec::new();
    for condition in &file.conditions {
        let what = format!("steps.{}.conditions.{}", file.role, condition.name);
        if !condition.when.is_empty() && inputs.env.text(&what, &condition.when, BTreeMap::new())? != "yes" {
            continue;
        }
        found.push(PlanCondition {
            name: condition.name.clone(),
            title: condition.title.clone(),
            at: condition.at,
            sql: inputs.env.text(&what, &condition.sql, BTreeMap::new())?,
        });
    }
    Ok(found)
}

/// Real column → code → name, for every state column of a role.
fn state_names(manifest: &Manifest, role: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let prefix = format!("{role}.");
    let of_role = manifest.states.iter().filter_map(|(name, set)| {
        name.strip_prefix(&prefix)?;
        let column = manifest.column(name).ok()?;
        let names = set.states.iter().map(|s| (s.code.clone(), s.name.clone())).collect();
        Some((column.to_owned(), names))
    });
    of_role.collect()
}

fn checks(inputs: &Inputs<'_>, steps: &[Step]) -> Result<Vec<PlanCheck>> {
    let mut found = Vec::new();
    for check in &inputs.recipe.file.checks {
        if !steps.iter().any(|s| s.role == check.step) {
            continue;
        }
        let extra = BTreeMap::from([("work", Value::from("{work}"))]);
        let sql = inputs.env.text(&format!("checks.{}", check.name), &check.sql, extra)?;
        found.push(PlanCheck { name: check.name.clone(), title: check.title.clone(), step: check.step.clone(), sql });
    }
    Ok(found)
}

fn prose(inputs: &Inputs<'_>, from: &super::From, steps: &[Step]) -> Result<String> {
    let counts: BTreeMap<&str, usize> = inputs
        .recipe
        .file
        .steps
        .iter()
        .map(|f| (f.role.as_str(), steps.iter().filter(|s| s.role == f.role).map(|s| s.rows.len()).sum()))
        .collect();
    let extra = BTreeMap::from([
        ("counts", ser(&counts)),
        ("release", Value::from(from.release.clone())),
        ("written", ser(written_phases(inputs.manifest, steps))),
    ]);
    inputs.env.file(&inputs.recipe.file.prose, extra)
}

/// Role → phases of the states that a plan writes, so that the prose speaks of these alone.
fn written_phases(manifest: &Manifest, steps: &[Step]) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, set) in &manifest.states {
        let Some((role, column)) = name.split_once('.') else { continue };
        let phases = found.entry(role.to_owned()).or_default();
        let Some(real) = manifest.roles.get(role).and_then(|r| r.columns.get(column)) else { continue };
        for step in steps.iter().filter(|s| s.role == role) {
            let Some((index, _)) = step.set_column(real) else { continue };
            let codes = step.rows.iter().filter_map(|r| r.new[index].as_deref());
            phases.extend(codes.filter_map(|c| set.by_code(c)).map(|s| s.phase.clone()));
        }
    }
    found
}

fn ask_for_the_choice(inputs: &Inputs<'_>, from: &super::From, tally: &Tally) -> Result<()> {
    let Some(choice) = &inputs.recipe.file.choice else {
        return Ok(());
    };
    let Some(waiting) = tally.waiting.get(&choice.verdict) else {
        return Ok(());
    };
    let extra = BTreeMap::from([
        ("count", Value::from(waiting.len())),
        ("findings", ser(tally.kinds.get(&choice.verdict))),
        ("release", Value::from(format!("{} {}", from.title, from.release))),
    ]);
    let screen = inputs.env.file(&choice.screen, extra)?;
    Err(Error::usage(format!("a choice is needed: --{}\n\n{screen}\n", choice.parameter)))
}

/// What the queries said, counted.
#[derive(Default)]
struct Tally {
    findings: Vec<(String, usize)>,
    /// Verdict → the runs it was given to, each once however many rows hang on it.
    waiting: BTreeMap<String, BTreeSet<String>>,
    /// Verdict → the findings of these runs.
    kinds: BTreeMap<String, BTreeSet<String>>,
    left: Vec<(String, String, Verdict)>,
}

#[derive(Default, Clone)]
struct Verdict {
    count: usize,
    sample: Vec<String>,
}

impl Verdict {
    fn add(&mut self, key: String) {
        self.count += 1;
        if self.sample.len() < SAMPLE {
            self.sample.push(key);
        }
    }
}

impl Tally {
    /// Counts a row; says whether it is planned.
    fn count(&mut self, role: &str, verdict: &str, finding: &str, change: &RowChange) -> Result<bool> {
        if verdict.is_empty() {
            return Err(Error::internal(format!("the recipe's query for {role} gives no verdict")));
        }
        let key = change.key.iter().map(|k| k.as_deref().unwrap_or("NULL")).collect::<Vec<_>>().join("/");
        if verdict == "plan" {
            match self.findings.iter_mut().find(|(code, _)| code == finding) {
                Some((_, count)) => *count += 1,
                None => self.findings.push((finding.to_owned(), 1)),
            }
            return Ok(true);
        }
        let run = change.instance.clone().unwrap_or_else(|| key.clone());
        self.waiting.entry(verdict.to_owned()).or_default().insert(run);
        self.kinds.entry(verdict.to_owned()).or_default().insert(finding.to_owned());
        match self.left.iter_mut().find(|(v, r, _)| v == verdict && r == role) {
            Some((_, _, tally)) => tally.add(key),
            None => {
                let mut tally = Verdict::default();
                tally.add(key);
                self.left.push((verdict.to_owned(), role.to_owned(), tally));
            }
        }
        Ok(false)
    }

    fn evidence(&self, recipe: &Recipe) -> Vec<Evidence> {
        let mut found = Vec::new();
        for finding in &recipe.file.findings {
            if let Some((_, count)) = self.findings.iter().find(|(code, _)| *code == finding.code) {
                found.push(Evidence { finding: finding.code.clone(), title: finding.title.clone(), count: *count });
            }
        }
        found
    }

    fn left_out(&self, recipe: &Recipe) -> Vec<LeftOut> {
        let mut found: Vec<LeftOut> = self
            .left
            .iter()
            .map(|(code, role, tally)| {
                let reason = recipe.reason(code);
                LeftOut {
                    reason: code.clone(),
                    role: role.clone(),
                    count: tally.count,
                    why: reason.map_or_else(String::new, |r| r.why.clone()),
                    way_out: reason.map_or_else(String::new, |r| r.way_out.clone()),
                    sample: tally.sample.clone(),
                }
            })
            .collect();
        found.sort_by(|a, b| (&a.reason, &a.role).cmp(&(&b.reason, &b.role)));
        found
    }
}

//! TICKET.md: what a change ticket needs, from the plan alone. Pure.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{Environment, UndefinedBehavior, Value};

use crate::data::Tree;
use crate::dialect::{Dialect, TypeClass};
use crate::manifest::Engine;
use crate::plan::{Evidence, OwnerClaim, Plan, PlanLock, RowChange, RunName, Shown, Starts, Step, step_name};
use crate::recipe::{Op, SetKind};
use crate::render::ser;
use crate::ui::{quiet as quiet_to, rows_of, safe};
use crate::{Error, Result};

/// The ticket's shape, inside the template tree.
const TEMPLATE: &str = "bundle/TICKET.md.j2";
/// How many kinds of change a step shows before it sums up.
const KINDS: usize = 12;
/// How many characters a line of a change may have.
const LINE: usize = 500;
/// How many characters a key or a label may have in a list of rows.
const NAME: usize = 100;
/// How many rows a step shows.
const SAMPLE: usize = 5;

/// Renders the ticket.
///
/// # Errors
/// The template does not render.
pub fn render(plan: &Plan, id: &str, d: &Dialect, templates: &Tree) -> Result<String> {
    let file = templates.get(TEMPLATE).ok_or_else(|| Error::internal(format!("no template {TEMPLATE}")))?;
    let mut env = Environment::new();
    // Optional parts of a plan are not there at all; asking for them is fine, using them is not.
    env.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    env.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    let syntax = minijinja::syntax::SyntaxConfig::builder().trim_blocks(true).build();
    env.set_syntax(syntax.map_err(|e| Error::internal(e.to_string()))?);
    env.add_template_owned("TICKET.md", file.text.clone())?;
    let mut x: BTreeMap<&str, Value> = BTreeMap::new();
    x.insert("id", id.into());
    x.insert("plan", ser(header(plan)));
    x.insert("steps", plan.steps.iter().enumerate().map(|(i, s)| step_map(plan, s, i)).collect::<Vec<_>>().into());
    x.insert("rows", plan.row_count().into());
    x.insert("summary", summary(plan).into());
    x.insert("starts", plan.starts.iter().map(starts).collect::<Vec<_>>().into());
    x.insert("undo_ends", plan.undo_ends().unwrap_or_default().into());
    x.insert("inserts", plan.inserts().into());
    x.insert("runs", runs(plan).into());
    x.insert("named", (!plan.runs.is_empty()).into());
    x.insert("run_counts", run_counts(plan).into());
    x.insert("unit", plan.unit_nouns(1).into());
    x.insert("units", plan.unit_nouns(2).into());
    x.insert("workflows", names(plan, |r| &r.workflow).into());
    x.insert("projects", names(plan, |r| &r.project).into());
    x.insert("evidence", plan.evidence.iter().map(|e| evidence(plan, e)).collect::<Vec<_>>().into());
    x.insert("nouns", left_nouns(plan).into());
    x.insert("shown", plan.shown.iter().map(|s| shown(plan, s)).collect::<Vec<_>>().into());
    x.insert("left_sums", sums(plan, plan.left_out.iter().map(|l| (&l.role, l.count))).into());
    x.insert("shown_sums", sums(plan, plan.shown.iter().map(|s| (&s.role, s.count))).into());
    x.insert("ledger", d.table(plan.target.own_schema(), super::book::LEDGER).into());
    x.insert("zone", plan.from.zone.as_ref().map_or(Value::from(""), |z| utc_offset(z.offset_minutes).into()));
    x.insert("lock_seconds", super::book::LOCK_SECONDS.into());
    x.insert("statement_seconds", super::book::STATEMENT_SECONDS.into());
    let hosts = plan.hosts.iter().map(|h| format!("{}: {}", quiet(&h.host), plan.from.words.count(&h.role, h.rows)));
    x.insert("owners", plan.owners.iter().map(claimed).collect::<Vec<_>>().into());
    x.insert("hosts", hosts.collect::<Vec<_>>().into());
    x.insert("dialect_has_schemas", (d.engine != Engine::Sqlite).into());
    x.insert("drops_all", (d.engine == Engine::MySql).into());
    x.insert("locks", plan.locks.iter().map(lock).collect::<Vec<_>>().into());
    x.insert("grants", grants(plan, d).into());
    x.insert("client", d.client.as_str().into());
    x.insert("client_command", d.command.as_str().into());
    x.insert("reads_file", (d.client == "psql").into());
    x.insert("guard_fails", d.guard_fails.as_str().into());
    x.insert("dialect", d.title.as_str().into());
    let text = env.get_template("TICKET.md")?.render(x)?;
    Ok(without_gaps(&text))
}

/// One empty line at most between two lines, whatever the parts of a plan leave empty.
fn without_gaps(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        if !(line.is_empty() && kept.last().is_none_or(|last| last.is_empty())) {
            kept.push(line);
        }
    }
    kept.join("\n").trim_end().to_owned() + "\n"
}

/// Who is said to be dead.
fn claimed(claim: &OwnerClaim) -> String {
    match (claim.is_any(), &claim.scope) {
        (true, None) => "every owner (all are stopped)".to_owned(),
        (true, Some(scope)) => format!("every owner of {} (all are stopped)", quiet(scope)),
        (false, _) => quiet_to(&claim.for_people(), 400),
    }
}

/// Minutes east of UTC as people write them: `UTC+08:00`.
#[must_use]
pub fn utc_offset(minutes: i64) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("UTC{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

/// The plan without its rows. Keys and hosts are somebody else's text.
fn header(plan: &Plan) -> Plan {
    let mut header = plan.clone();
    header.hosts.iter_mut().for_each(|h| h.host = quiet(&h.host));
    header.from.skew.iter_mut().for_each(|text| *text = quiet_to(text, 600));
    header.effects.iter_mut().chain(&mut header.dangers).for_each(|text| *text = sentence(text));
    for allowed in &mut header.allowed {
        allowed.said_by = quiet_to(&allowed.said_by, 200);
        allowed.reason = quiet_to(&allowed.reason, 600);
        allowed.found.iter_mut().for_each(|text| *text = quiet_to(text, 600));
    }
    header.left_out.iter_mut().flat_map(|l| &mut l.sample).for_each(|key| *key = quiet(key));
    for step in &mut header.steps {
        step.rows.clear();
    }
    header
}

/// A sentence with names from the database, in a line of its own.
fn sentence(text: &str) -> String {
    safe(text, 600).replace('|', "/").replace('`', "'")
}

/// Text from the database, as short as a cell of a table may be.
fn quiet(text: &str) -> String {
    quiet_to(text, 60)
}

fn step_map(plan: &Plan, step: &Step, index: usize) -> BTreeMap<&'static str, Value> {
    let label = |row: &RowChange| step.row_name(&plan.from.words, row, |text| quiet_to(text, NAME)).join(" ");
    BTreeMap::from([
        ("name", Value::from(step_name(index, &step.role))),
        ("title", Value::from(step.full_title())),
        ("recipe", Value::from(step.recipe.clone())),
        ("table", Value::from(step.table.clone())),
        (
            "verb",
            Value::from(match step.op {
                Op::Update => "UPDATE",
                Op::Delete => "DELETE",
                Op::Insert => "INSERT",
            }),
        ),
        ("rows", Value::from(step.rows.len())),
        ("changes", Value::from(transitions(step).iter().map(|line| quiet_to(line, LINE)).collect::<Vec<_>>())),
        ("exceptions", Value::from(step.exceptions.clone())),
        ("conditions", Value::from(step.conditions.iter().map(|c| c.title.clone()).collect::<Vec<_>>())),
        ("sample", Value::from(step.rows.iter().take(SAMPLE).map(label).collect::<Vec<_>>())),
        ("more", Value::from(step.rows.len().saturating_sub(SAMPLE))),
    ])
}

/// What a manager approves, a line for each kind of change: how many of what,
/// what happens to them, and the states that they end in.
fn summary(plan: &Plan) -> Vec<String> {
    let mut lines: Vec<(&String, &Step, usize, Ends)> = Vec::new();
    for step in &plan.steps {
        let title = &step.title;
        let place = lines.iter().position(|(t, s, ..)| *t == title && s.role == step.role && s.op == step.op);
        let place = place.unwrap_or_else(|| {
            lines.push((title, step, 0, Ends::new()));
            lines.len() - 1
        });
        lines[place].2 += step.rows.len();
        add_ends(&mut lines[place].3, step);
    }
    let line = |(title, step, rows, ends): (&String, &Step, usize, Ends)| {
        format!("**{}**: {title}{}", plan.from.words.count(&step.role, rows), ends_text(&ends))
    };
    lines.into_iter().map(line).collect()
}

/// A lock row for people.
fn lock(lock: &PlanLock) -> BTreeMap<&'static str, Value> {
    let values = lock.key.iter().zip(&lock.row).map(|(c, value)| format!("{} {}", c.name, quiet(value)));
    BTreeMap::from([
        ("table", Value::from(lock.table.clone())),
        ("row", values.collect::<Vec<_>>().join(", ").into()),
        ("there", lock.there.into()),
    ])
}

/// Each written state column with the states that rows change to, by name, and how many do.
type Ends = Vec<(String, BTreeMap<String, usize>)>;

/// The state columns that a step writes, the row's own state first.
fn written_states(step: &Step) -> impl Iterator<Item = (usize, &str)> {
    let columns = step.set.iter().enumerate().map(|(index, set)| (index, set.column.name.as_str()));
    columns.filter(|(_, name)| step.op == Op::Update && step.states.contains_key(*name))
}

fn add_ends(ends: &mut Ends, step: &Step) {
    for (index, column) in written_states(step) {
        let place = ends.iter().position(|(known, _)| known == column).unwrap_or_else(|| {
            ends.push((column.to_owned(), BTreeMap::new()));
            ends.len() - 1
        });
        for row in &step.rows {
            let new = row.new[index].as_deref();
            let old = step.pin_index(column).map(|p| row.old[p].as_deref());
            if old != Some(new) {
                *ends[place].1.entry(step.show_value(column, new)).or_default() += 1;
            }
        }
    }
}

/// ` (2 rows → 6 FAILURE)`; where several columns make the state, each under its name.
fn ends_text(ends: &Ends) -> String {
    let changed: Vec<_> = ends.iter().filter(|(_, states)| !states.is_empty()).collect();
    let becomes = |(state, n): (&String, &usize)| format!("{} → {state}", rows_of(*n));
    let column = |(name, states): &&(String, BTreeMap<String, usize>)| {
        let states = states.iter().map(becomes).collect::<Vec<_>>().join(", ");
        if changed.len() > 1 { format!("{name}: {states}") } else { states }
    };
    if changed.is_empty() {
        return String::new();
    }
    format!(" ({})", changed.iter().map(column).collect::<Vec<_>>().join("; "))
}

/// `3 runs and 1 job`: what the plan writes rows of.
fn run_counts(plan: &Plan) -> String {
    let count = |(unit, of): (&str, BTreeSet<&str>)| format!("{} {}", of.len(), plan.from.words.unit(unit, of.len()));
    plan.units().into_iter().map(count).collect::<Vec<_>>().join(" and ")
}

/// Every run, or what else the recipes name, that the plan writes a row of: its name,
/// and what becomes of its rows.
fn runs(plan: &Plan) -> Vec<BTreeMap<&'static str, Value>> {
    let names: BTreeMap<&str, &RunName> = plan.runs.iter().map(|r| (r.id.as_str(), r)).collect();
    let mut changes: BTreeMap<(&str, usize, &str), Vec<String>> = BTreeMap::new();
    for step in &plan.steps {
        let mut rows: BTreeMap<&str, Vec<&RowChange>> = BTreeMap::new();
        for row in &step.rows {
            if let Some(run) = row.instance.as_deref() {
                rows.entry(run).or_default().push(row);
            }
        }
        for (run, rows) in rows {
            changes.entry((&step.unit, run.len(), run)).or_default().push(change(plan, step, &rows));
        }
    }
    let line = |((_, _, run), changes): ((&str, usize, &str), Vec<String>)| {
        let name = |f: fn(&RunName) -> &String| names.get(run).map_or_else(String::new, |r| quiet(f(r)));
        BTreeMap::from([
            ("id", Value::from(quiet(run))),
            ("name", name(|r| &r.name).into()),
            ("workflow", name(|r| &r.workflow).into()),
            ("project", name(|r| &r.project).into()),
            ("changes", changes.join("; ").into()),
        ])
    };
    changes.into_iter().map(line).collect()
}

/// What a step does to the rows of one run: `task 7: 1 RUNNING → 6 FAILURE`.
fn change(plan: &Plan, step: &Step, rows: &[&RowChange]) -> String {
    let noun = plan.from.words.noun(&step.role, rows.len());
    let states: Vec<(usize, &str)> = written_states(step).collect();
    let handle = |r: &&RowChange| step.row_name(&plan.from.words, r, quiet).remove(0);
    let keys: Vec<String> = rows.iter().map(handle).collect();
    let kinds = |(index, column): (usize, &str)| {
        let old = |r: &RowChange| step.pin_index(column).map(|p| step.show_value(column, r.old[p].as_deref()));
        let kind = |r: &&RowChange| {
            let new = step.show_value(column, r.new[index].as_deref());
            match old(r).filter(|old| *old != new) {
                Some(old) => format!("{old} → {new}"),
                None => new,
            }
        };
        rows.iter().map(kind).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    };
    match (step.op, states.as_slice()) {
        (Op::Insert, _) => format!("{} new {noun}", rows.len()),
        (Op::Delete, _) => format!("{noun} {} deleted", keys.join(", ")),
        (Op::Update, []) => format!("{noun} {}", keys.join(", ")),
        (Op::Update, [one]) => format!("{noun} {}: {}", keys.join(", "), kinds(*one)),
        (Op::Update, several) => {
            let columns: Vec<String> = several.iter().map(|s| format!("{} {}", s.1, kinds(*s))).collect();
            format!("{noun} {}: {}", keys.join(", "), columns.join(", "))
        }
    }
}

/// The distinct names of something of the runs; none where the recipes do not say.
fn names(plan: &Plan, name: fn(&RunName) -> &String) -> Vec<String> {
    let names: BTreeSet<String> = plan.runs.iter().map(|r| quiet(name(r))).filter(|n| !n.is_empty()).collect();
    names.into_iter().collect()
}

fn evidence(plan: &Plan, e: &Evidence) -> BTreeMap<&'static str, Value> {
    let uncovered = if e.uncovered == 0 { String::new() } else { format!(" ({} uncovered by this plan)", e.uncovered) };
    BTreeMap::from([
        ("title", Value::from(e.title.clone())),
        ("rows", format!("{}{uncovered}", plan.from.words.counts(&e.rows)).into()),
    ])
}

/// What begins to run at commit, with the names of somebody else.
fn starts(s: &Starts) -> String {
    Starts { sample: s.sample.iter().map(|text| quiet_to(text, 160)).collect(), ..s.clone() }.says()
}

/// Rows that are shown and not written.
fn shown(plan: &Plan, s: &Shown) -> BTreeMap<&'static str, Value> {
    BTreeMap::from([
        ("what", Value::from(plan.from.words.count(&s.role, s.count))),
        ("title", s.title.clone().into()),
        ("finding", s.finding.clone().into()),
        ("recipe", s.recipe.clone().into()),
        ("sample", s.sample.iter().map(|key| quiet(key)).collect::<Vec<_>>().into()),
        ("more", (s.count - s.sample.len()).into()),
    ])
}

/// How many rows of each role, whatever the reasons: `3 tasks, 1 run`.
fn sums<'p>(plan: &Plan, rows: impl Iterator<Item = (&'p String, usize)>) -> String {
    let mut sums: BTreeMap<String, usize> = BTreeMap::new();
    rows.for_each(|(role, n)| *sums.entry(role.clone()).or_default() += n);
    plan.from.words.counts(&sums)
}

/// What people call the rows of each line of what is left out.
fn left_nouns(plan: &Plan) -> Vec<String> {
    plan.left_out.iter().map(|l| plan.from.words.count(&l.role, l.count)).collect()
}

/// What a step does to its rows, a line for each kind of change:
/// `state: 1 RUNNING_EXECUTION → 6 FAILURE (2 rows)`.
#[must_use]
pub fn transitions(step: &Step) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, set) in step.set.iter().enumerate() {
        let name = &set.column.name;
        if set.kind == SetKind::Now {
            lines.push(format!("{name}: the moment of apply"));
            continue;
        }
        let pin = step.pin_index(name);
        let mut kinds: BTreeMap<(String, String), usize> = BTreeMap::new();
        for row in &step.rows {
            if pin.is_some_and(|p| row.old[p] == row.new[index]) {
                continue;
            }
            let old = pin.map_or("(new)".to_owned(), |p| step.show_value(name, row.old[p].as_deref()));
            let new = step.show_value(name, row.new[index].as_deref());
            *kinds.entry((old, new)).or_default() += 1;
        }
        let changed: usize = kinds.values().sum();
        if changed > 0 && set.column.class == TypeClass::Time {
            lines.push(format!("{name}: set for {}, each to its own time", rows_of(changed)));
            continue;
        }
        if kinds.len() > KINDS {
            lines.push(format!("{name}: a value of its own for each of {}", rows_of(changed)));
            continue;
        }
        let recount = if set.kind == SetKind::Recount { ", recounted when it is written" } else { "" };
        lines.extend(
            kinds.into_iter().map(|((old, new), n)| format!("{name}: {old} → {new} ({}{recount})", rows_of(n))),
        );
    }
    lines
}

/// The privileges that apply, verify, rollback and clean need, as statements.
#[must_use]
pub fn grants(plan: &Plan, d: &Dialect) -> Vec<String> {
    let target = &plan.target;
    match d.engine {
        Engine::Sqlite => vec!["write access to the database file and its directory".to_owned()],
        Engine::MySql => {
            let db = d.ident(&target.database);
            let work = d.ident(target.work_schema.as_deref().unwrap_or(&target.database));
            let mut lines = vec![
                format!(
                    "GRANT SELECT, TRIGGER ON {db}.* TO OPERATOR;  -- TRIGGER only to see whether there are triggers"
                ),
                format!("GRANT SELECT, INSERT, CREATE, DROP ON {work}.* TO OPERATOR;  -- work tables and ledger"),
            ];
            let grant = |(table, verbs): (&str, _)| format!("GRANT {verbs} ON {db}.{} TO OPERATOR;", d.ident(table));
            lines.extend(written(plan).into_iter().map(grant));
            let locked = locked(plan)
                .into_iter()
                .map(|t| format!("GRANT UPDATE ON {db}.{} TO OPERATOR;  -- to lock its rows", d.ident(t)));
            lines.extend(locked);
            lines
        }
        Engine::PostgreSql => postgres_grants(plan, d),
    }
}

fn postgres_grants(plan: &Plan, d: &Dialect) -> Vec<String> {
    let schema = plan.target.schema.as_deref().unwrap_or("public");
    let work = plan.target.work_schema.as_deref().unwrap_or(schema);
    let (schema_q, work_q) = (d.ident(schema), d.ident(work));
    let mut lines = Vec::new();
    if work != schema {
        lines.push(format!("GRANT USAGE ON SCHEMA {schema_q} TO OPERATOR;"));
    }
    lines.push(format!("GRANT USAGE, CREATE ON SCHEMA {work_q} TO OPERATOR;  -- work tables and ledger"));
    lines.push(format!("GRANT SELECT ON ALL TABLES IN SCHEMA {schema_q} TO OPERATOR;"));
    let table = |name: &str| d.table(Some(schema), name);
    let written = written(plan);
    lines.extend(written.iter().map(|(name, verbs)| format!("GRANT {verbs} ON {} TO OPERATOR;", table(name))));
    let related = plan.steps.iter().filter_map(|s| s.related.as_ref()).map(|r| r.table.as_str());
    let related = related.filter(|t| written.iter().all(|(name, _)| name != t));
    let held: BTreeSet<&str> = related.chain(locked(plan)).collect();
    lines.extend(held.iter().map(|t| format!("GRANT UPDATE ON {} TO OPERATOR;  -- to lock its rows", table(t))));
    if plan.steps.iter().any(|s| s.op == Op::Insert) {
        lines.push(format!("GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema_q} TO OPERATOR;  -- keys of inserted rows"));
    }
    let ledger = d.table(Some(work), super::book::LEDGER);
    lines.push(format!("-- if another login made the ledger: GRANT SELECT, INSERT ON {ledger} TO OPERATOR;"));
    lines.push(format!(
        "-- for verify alone: GRANT USAGE ON SCHEMA {work_q} and SELECT ON ALL TABLES IN SCHEMA {work_q}"
    ));
    lines
}

/// The tables of the lock rows, each once.
fn locked(plan: &Plan) -> BTreeSet<&str> {
    plan.locks.iter().map(|l| l.table.as_str()).collect()
}

/// Each table that is written, in the order of the steps, with what is done to its rows.
fn written(plan: &Plan) -> Vec<(&str, &'static str)> {
    let mut tables: Vec<&str> = Vec::new();
    for step in &plan.steps {
        if !tables.contains(&step.table.as_str()) {
            tables.push(&step.table);
        }
    }
    // The rollback puts deleted rows back, and takes new ones away.
    let comes_or_goes = |table: &str| plan.steps.iter().any(|s| s.table == table && s.op != Op::Update);
    let verbs = |table| if comes_or_goes(table) { "SELECT, DELETE, INSERT, UPDATE" } else { "SELECT, UPDATE" };
    tables.into_iter().map(|table| (table, verbs(table))).collect()
}

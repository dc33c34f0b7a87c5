//! Reports for people, in 80 columns.

use comfy_table::{ContentArrangement, Table, presets};

use crate::apply::{BundleState, VerifyReport};
use crate::bundle::Bundle;
use crate::dialect::TypeClass;
use crate::inspect::{InspectReport, OwnerState};
use crate::plan::{Column, LeftOut, Plan, RowChange, Step, step_name};
use crate::recipe::{Op, SetKind};
use crate::render::ticket::{transitions, utc_offset};
use crate::ui::{BAD, DIM, GOOD, HEAD, WARN, out, paint, safe};

/// How wide a report may be.
const WIDTH: u16 = 80;

/// A plain table.
#[must_use]
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    table.set_header(head.to_vec());
    for row in rows {
        table.add_row(row.iter().map(|c| safe(c, 400)).collect::<Vec<_>>());
    }
    table.lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn head(text: &str) {
    out(paint(HEAD, text));
}

/// Prints text in lines of at most 80 columns, the following ones indented.
fn wrapped(first: &str, indent: usize, text: &str) {
    let mut line = first.to_owned();
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        if line.chars().count() + word.chars().count() + 1 > usize::from(WIDTH) && !line.trim().is_empty() {
            out(line.trim_end());
            line = " ".repeat(indent);
        }
        line.push_str(word);
        line.push(' ');
    }
    out(line.trim_end());
}

/// The report of inspect.
pub fn inspect(r: &InspectReport, explain: bool) {
    head(&format!("{} {} in {}", r.scheduler, r.release, r.database));
    out(format!("  {}, identified by {}", r.server, r.identified_by));
    match &r.zone {
        Some(zone) => {
            wrapped("  scheduler's clock: ", 4, &format!("{} ({})", utc_offset(zone.offset_minutes), zone.known_by))
        }
        None => out("  scheduler's clock: zone not known (--zone)"),
    }
    for warning in &r.warnings {
        wrapped(&format!("  {} ", paint(WARN, "warning:")), 4, warning);
    }
    out("");
    states(r);
    anomalies(r);
    owners(r);
    findings(r, explain);
}

fn states(r: &InspectReport) {
    let row = |s: &crate::inspect::StateCount| {
        let name = match (&s.code, &s.name) {
            (None, _) => "NULL".to_owned(),
            (Some(code), Some(name)) => format!("{code} {name}"),
            (Some(code), None) => format!("{code} (unknown to this release)"),
        };
        let active = if s.finished == Some(false) { "active" } else { "" };
        vec![s.column.clone(), name, s.rows.to_string(), active.to_owned()]
    };
    let rows: Vec<_> = r.states.iter().map(row).collect();
    out(if rows.is_empty() { "  no rows".to_owned() } else { table(&["column", "state", "rows", ""], &rows) });
    out("");
}

fn anomalies(r: &InspectReport) {
    if r.anomalies.is_empty() {
        return;
    }
    head("Values that break something");
    for a in &r.anomalies {
        let value = a.value.as_deref().map_or_else(|| "IS NULL".to_owned(), |v| format!("= {v}"));
        out(format!("  {} {} {}: {}", paint(BAD, &a.kind), a.column, safe(&value, 40), rows_of(a.rows)));
        out(format!("    rows {}", safe(&a.sample.join(", "), 70)));
        wrapped("    ", 4, &a.note);
    }
    out("");
}

fn owners(r: &InspectReport) {
    if r.owners.is_empty() {
        return;
    }
    head("Owners of unfinished runs");
    let row = |o: &crate::inspect::Owners| {
        let known = match o.state {
            OwnerState::Unknown => "nothing known of its life",
            OwnerState::Listed => "listed in this database's registry",
            OwnerState::Registered => "listed in the registry",
            OwnerState::NotRegistered => "not in the registry",
        };
        let address = o.address.clone().map_or_else(
            || "(SQL NULL)".to_owned(),
            |a| {
                if a.is_empty() { "(empty)".to_owned() } else { a }
            },
        );
        vec![address, o.rows.to_string(), o.oldest.clone().unwrap_or_default(), known.to_owned()]
    };
    let rows: Vec<_> = r.owners.iter().map(row).collect();
    out(table(&["owner", "runs", "oldest start", "life"], &rows));
    out("");
}

fn findings(r: &InspectReport, explain: bool) {
    head("Findings");
    if r.findings.is_empty() {
        out(format!("  {}", paint(GOOD, "nothing to repair is proved")));
    }
    for f in &r.findings {
        out(format!("  {} ({}, {})", paint(WARN, &f.code), f.recipe, rows_of(f.rows)));
        wrapped("    ", 4, &f.title);
        out(format!("    {}", paint(DIM, &safe(&f.sample.join(", "), 74))));
        if f.report_only {
            wrapped("    ", 4, "Shown only: flowmend does not write such rows.");
        }
        let shown = if explain { f.explained.len() } else { 1 };
        for e in f.explained.iter().take(shown) {
            wrapped("    ", 4, &format!("{}: {}", safe(&e.key, 40), safe(&e.text, 2000)));
        }
        if f.explained.len() > shown {
            out(format!("    {}", paint(DIM, "(--explain: the others, too)")));
        }
    }
    out("");
    if !r.left_out.is_empty() {
        head("Looked at and left out");
    }
    for l in &r.left_out {
        out(format!("  {} {} ({})", l.rows, l.role, paint(WARN, &l.reason)));
        wrapped("    ", 4, &format!("{}.", l.why));
        wrapped("    → ", 6, &l.way_out);
        out(format!("    {}", paint(DIM, &safe(&l.sample.join(", "), 74))));
    }
}

fn rows_of<N: std::fmt::Display + PartialEq + From<u8>>(n: N) -> String {
    let noun = if n == N::from(1) { "row" } else { "rows" };
    format!("{n} {noun}")
}

/// A bundle for review, with at most `rows` rows of each step.
pub fn bundle(b: &Bundle, rows: usize) {
    bundle_head(b);
    for (index, step) in b.plan.steps.iter().enumerate() {
        show_step(index, step, rows);
    }
    for n in &b.plan.not_needed {
        wrapped(&format!("  {} ", paint(DIM, "not needed:")), 4, &format!("{}: {}", n.title, n.why));
    }
    left_out(&b.plan.left_out);
    seal(b);
    out(format!("  next: flowmend rehearse {} --url URL", b.dir.display()));
    out(format!("        flowmend apply {} --url URL --seal {}", b.dir.display(), b.seal.short()));
}

/// A bundle that was just planned, in short.
pub fn planned(b: &Bundle) {
    bundle_head(b);
    let step = |(index, s): (usize, &Step)| {
        vec![step_name(index, &s.role), s.rows.len().to_string(), s.table.clone(), s.title.clone()]
    };
    let rows: Vec<_> = b.plan.steps.iter().enumerate().map(step).collect();
    out(table(&["step", "rows", "table", ""], &rows));
    left_out(&b.plan.left_out);
    seal(b);
    out(format!("  next: flowmend show {}, then rehearse and apply it", b.dir.display()));
}

fn bundle_head(b: &Bundle) {
    let plan = &b.plan;
    head(&format!("Bundle {} · {} · {}", b.id, plan.from.recipe, rows_of(plan.row_count())));
    out(format!("  {} {}, identified by {}", plan.from.title, plan.from.release, plan.from.identified_by));
    let place =
        format!("{} on {} {}", safe(&plan.target.database, 200), plan.target.dialect, plan.target.server_version);
    wrapped("  ", 4, &place);
    out(format!("  planned {}, in {}", plan.from.now, b.dir.display()));
    for owner in &plan.owners {
        let port = owner.port.map(|p| format!(":{p}")).unwrap_or_default();
        let before = owner.before.as_ref().map(|t| format!(" before {t}")).unwrap_or_default();
        out(format!("  dead owner {}{port}{before}, said by {}", owner.host, safe(&owner.said_by, 40)));
    }
    if let Some(why) = &plan.from.approximate {
        wrapped(&format!("  {} ", paint(WARN, "approximate facts:")), 4, why);
    }
    out("");
}

fn seal(b: &Bundle) {
    out("");
    out(format!("{} {}", paint(HEAD, "Seal"), b.seal.full()));
}

fn show_step(index: usize, step: &Step, rows: usize) {
    let name = step_name(index, &step.role);
    out(format!("{}  {} {}", paint(HEAD, &name), rows_of(step.rows.len()), paint(DIM, &step.table)));
    wrapped("  ", 4, &format!("{}.", step.title));
    for line in transitions(step) {
        out(format!("    {line}"));
    }
    for row in step.rows.iter().take(rows) {
        wrapped("    · ", 8, &show_row(step, row));
    }
    if step.rows.len() > rows {
        out(format!("    … and {} more (--rows all)", step.rows.len() - rows));
    }
}

/// One row: key, name and the written columns as old → new; of a row that goes,
/// what it is known by.
pub(super) fn show_row(step: &Step, row: &RowChange) -> String {
    let mut parts = vec![safe(&row.key_text(), 60)];
    if !row.label.is_empty() {
        parts.push(safe(&row.label, 40));
    }
    for (index, set) in step.set.iter().enumerate().filter(|(_, s)| s.kind != SetKind::Now) {
        let name = &set.column.name;
        let new = step.show_value(name, row.new[index].as_deref());
        match step.pin_index(name).map(|i| row.old[i].as_deref()) {
            None => parts.push(format!("{name} {}", safe(&new, 60))),
            Some(old) if old == row.new[index].as_deref() => {}
            Some(_) if set.column.class == TypeClass::Time => parts.push(format!("{name} {new}")),
            Some(old) => parts.push(format!("{} → {new}", step.show_value(name, old))),
        }
    }
    if step.op == Op::Delete {
        let pin = |(c, v): (&Column, &Option<String>)| {
            format!("{} {}", c.name, safe(&step.show_value(&c.name, v.as_deref()), 60))
        };
        parts.extend(step.pins.iter().zip(&row.old).map(pin));
    }
    parts.join(", ")
}

fn left_out(left: &[LeftOut]) {
    if left.is_empty() {
        return;
    }
    out("");
    head("Left out");
    for l in left {
        out(format!("  {} {} ({}): {}", l.count, l.role, paint(WARN, &l.reason), safe(&l.sample.join(", "), 40)));
        wrapped("    ", 4, &format!("{}.", l.why));
        wrapped("    → ", 6, &l.way_out);
    }
}

/// A plan that changes nothing.
pub fn nothing(plan: &Plan) {
    out(format!("Nothing to repair with {} on {} {}.", plan.from.recipe, plan.from.title, plan.from.release));
    left_out(&plan.left_out);
}

/// The end of a rehearsal.
pub fn rehearsed(b: &Bundle, stays: &str) {
    out(format!(
        "{} {} of bundle {} were repaired and restored",
        paint(GOOD, "rehearsed:"),
        rows_of(b.plan.row_count()),
        b.id
    ));
    wrapped("  ", 2, &format!("every row equal to its backup in every column; rolled back; {stays}"));
}

/// The end of an apply or rollback. `left` is what a partial rollback left alone.
pub fn done(b: &Bundle, what: &str, left: Option<usize>) {
    // A no-break space keeps a number with its word.
    let count = |s: &Step| format!("{}\u{a0}{}", s.rows.len(), s.role);
    let counts: Vec<String> = b.plan.steps.iter().map(count).collect();
    let Some(left) = left.filter(|n| *n > 0) else {
        let line = format!("bundle {}: {}", b.id, counts.join(", "));
        return wrapped(&format!("{} ", paint(GOOD, &format!("{what}:"))), 2, &line);
    };
    let line = format!(
        "bundle {}: {} restored or recounted, {left} left as they are. What was left cannot be rolled back by this bundle any more.",
        b.id,
        rows_of(b.plan.row_count() - left)
    );
    wrapped(&format!("{} ", paint(WARN, &format!("{what} in part:"))), 2, &line);
}

/// Inserted rows that the scheduler took.
fn consumed(r: &VerifyReport) {
    if r.consumed == 0 {
        return;
    }
    let line = format!("consumed: the scheduler took {} that this bundle inserted, as it should.", rows_of(r.consumed));
    wrapped("  ", 4, &format!("{line} The bundle can no longer be rolled back."));
}

/// The report of verify.
pub fn verified(b: &Bundle, r: &VerifyReport) {
    let undone = r.state == BundleState::RolledBack;
    for warning in &r.warnings {
        wrapped(&format!("{} ", paint(WARN, "warning:")), 2, warning);
    }
    if r.is_good() {
        let rows = rows_of(r.rows - r.left_alone - r.consumed);
        let line = if undone {
            format!("bundle {} was rolled back: {rows} are as they were before the repair", b.id)
        } else {
            format!("{rows} of bundle {} stand as written", b.id)
        };
        wrapped(&format!("{} ", paint(GOOD, "ok:")), 2, &line);
        if r.left_alone > 0 {
            out(format!("  left alone by the partial rollback: {}", rows_of(r.left_alone)));
        }
        return consumed(r);
    }
    let since = if undone { " since the rollback" } else { "" };
    match r.drifted {
        0 => out(format!("{} the rows stand as written, but something around them changed", paint(BAD, "FAIL:"))),
        n => out(format!("{} {n} of {} moved{since}", paint(BAD, "FAIL:"), rows_of(r.rows))),
    }
    for d in &r.drift {
        out(format!("  {} {} {}", paint(BAD, &d.kind), d.table, d.key.join("/")));
        for (column, expected, found) in &d.columns {
            out(format!("    {column}: expected {}, found {}", safe(expected, 40), safe(found, 40)));
        }
    }
    consumed(r);
    for check in &r.failed_checks {
        wrapped(&format!("  {} ", paint(BAD, "check")), 4, check);
    }
    let cause = match r.drifted {
        0 => "A row that the repair hangs on came, went or changed after it.",
        _ if undone => "Somebody wrote these rows after the rollback.",
        _ => "Somebody wrote these rows after the repair: a living master writes its memory back.",
    };
    wrapped("  ", 2, &format!("{cause} verify changed nothing."));
}

/// The end of a clean.
pub fn cleaned(b: &Bundle, dropped: usize, state: BundleState) {
    let tables = if dropped == 1 { "1 table" } else { &format!("{dropped} tables") };
    out(match (dropped, state) {
        (0, _) => format!("the tables of bundle {} are gone already: nothing was changed", b.id),
        (_, BundleState::NotApplied) => {
            format!("{tables} that a run cut off had left empty are gone; bundle {} was not applied", b.id)
        }
        _ => format!("{tables} of bundle {} are gone; the ledger keeps its rows", b.id),
    });
}

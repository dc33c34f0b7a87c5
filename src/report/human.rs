//! Reports for people, in 80 columns.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

use crate::apply::{BundleState, VerifyReport};
use crate::bundle::Bundle;
use crate::dialect::TypeClass;
use crate::inspect::{ALL, Explained, FindingReport, InspectReport, OwnerState, Owners, length};
use crate::manifest::Words;
use crate::plan::{Column, LeftOut, Plan, RowChange, Starts, Step, step_name};
use crate::recipe::{Op, SetKind};
use crate::render::ticket::{transitions, utc_offset};
use crate::ui::{BAD, DIM, GOOD, HEAD, WARN, WIDTH, out, paint, rows_of, safe, wrap};

/// A plain table.
#[must_use]
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    lines_of(&plain(head, rows))
}

/// A table's lines, without blanks at their ends.
pub(super) fn lines_of(table: &Table) -> String {
    table.lines().map(|l| l.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn plain(head: &[&str], rows: &[Vec<String>]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(WIDTH).unwrap_or(u16::MAX));
    table.set_header(head.to_vec());
    for row in rows {
        table.add_row(row.iter().map(|c| safe(c, 400)).collect::<Vec<_>>());
    }
    keep_words(&mut table, rows);
    table
}

/// What lies between two columns.
const GAP: usize = 2;

/// Makes columns as wide as their longest word, where there is room for all: names are not broken.
fn keep_words(table: &mut Table, rows: &[Vec<String>]) {
    let longest = |text: &String| text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(longest).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).map(width).collect();
    if widths.iter().map(|w| w + GAP).sum::<usize>() > WIDTH {
        return;
    }
    for (column, width) in table.column_iter_mut().zip(widths) {
        let width = Width::Fixed(u16::try_from(width + GAP).unwrap_or(u16::MAX));
        column.set_constraint(ColumnConstraint::LowerBoundary(width));
    }
}

/// How wide the first column may be, so that the others have room beside it.
const NAME_WIDTH: usize = 36;

/// A table whose first column holds names that people type: none of them is broken. Where one
/// is long, each stands on a line of its own.
fn named_table(head: &[&str], rows: &[Vec<String>]) -> String {
    let names: Vec<String> = rows.iter().map(|row| safe(&row[0], 400)).collect();
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    if widest > NAME_WIDTH {
        let rest: Vec<Vec<String>> = rows.iter().map(|row| [&[String::new()][..], &row[1..]].concat()).collect();
        let mut table = plain(head, &rest);
        // No cell in two lines: each line is a row.
        table.set_width(u16::MAX);
        let rest = lines_of(&table);
        let mut lines = rest.lines();
        let first = lines.next().unwrap_or_default().to_owned();
        let beside = names.iter().zip(lines).flat_map(|(name, line)| [format!(" {name}"), line.to_owned()]);
        return std::iter::once(first).chain(beside).collect::<Vec<_>>().join("\n");
    }
    let mut table = plain(head, rows);
    if let Some(column) = table.column_mut(0) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    lines_of(&table)
}

fn head(text: &str) {
    out(paint(HEAD, text));
}

/// Prints text in lines of at most 80 columns, the following ones indented.
fn wrapped(first: &str, indent: usize, text: &str) {
    // No-break spaces have kept words together; who reads the text by program wants blanks.
    wrap(first, indent, text).iter().for_each(|line| out(line.replace('\u{a0}', " ")));
}

/// The report of inspect.
pub fn inspect(r: &InspectReport, explain: bool) {
    head(&format!("{} {} in {}", r.scheduler, r.release, r.database));
    wrapped("  ", 4, &format!("{}, identified by {}", r.server, r.identified_by));
    match &r.zone {
        Some(zone) => {
            wrapped("  scheduler's clock: ", 4, &format!("{} ({})", utc_offset(zone.offset_minutes), zone.known_by))
        }
        None => out("  scheduler's clock: zone not known (--zone)"),
    }
    if let Some(skew) = &r.skew {
        wrapped("  by its heartbeats: ", 4, &safe(&skew.says(), 400));
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
        if let Some(way_out) = &a.way_out {
            wrapped("    → ", 6, way_out);
        }
    }
    out("");
}

fn owners(r: &InspectReport) {
    if r.owners.is_empty() {
        return;
    }
    let clock = if r.zone.is_some() { " (times on the scheduler's clock)" } else { "" };
    head(&format!("Owners of unfinished {}{clock}", r.owned));
    let row = |o: &Owners| {
        // As --dead-owner takes it.
        let address = match (o.name(), &o.address) {
            (Some(name), _) => name.to_string(),
            (None, None) => "(SQL NULL)".to_owned(),
            (None, Some(a)) if a.trim().is_empty() => "(empty)".to_owned(),
            (None, Some(a)) => format!("(the word {a}: nobody)"),
        };
        vec![address, o.rows.to_string(), o.oldest.clone().unwrap_or_default(), life(&r.words, o)]
    };
    let rows: Vec<_> = r.owners.iter().map(row).collect();
    out(named_table(&["owner", &r.owned, "oldest start", "life"], &rows));
    let names = r.owners.iter().filter_map(Owners::name);
    for odd in names.filter(|name| name.to_string() != name.for_people()) {
        wrapped("  ", 4, &safe(&odd.for_people(), 400));
    }
    out("");
}

/// What is known of an owner's life: when it beat last says more than that it is listed.
fn life(words: &Words, o: &Owners) -> String {
    let beat = o.last_beat.as_ref().map(|at| match o.silent_ms {
        Some(ms) => format!("last heartbeat {at} ({} ago)", length(ms)),
        None => format!("last heartbeat {at}"),
    });
    match (o.state, beat) {
        (OwnerState::Unknown | OwnerState::Listed, Some(beat)) => beat,
        (OwnerState::Unknown, None) if o.missing => "not listed, and others are".to_owned(),
        (OwnerState::Unknown, None) => "nothing known of its life".to_owned(),
        (OwnerState::Listed, None) => words.listed_form().to_owned(),
        (OwnerState::Registered, _) => "listed in the registry".to_owned(),
        (OwnerState::NotRegistered, _) => "not in the registry".to_owned(),
        (OwnerState::Dead, beat) => {
            let beat = beat.map(|beat| format!("; {beat}")).unwrap_or_default();
            format!("said or shown to be dead{beat}")
        }
    }
}

/// Owners that are silent for too long, or missing, while rows hang on them: no proof, and no health either.
fn silent(r: &InspectReport) {
    let names: Vec<String> =
        r.silent().map(|o| o.name().map_or_else(String::new, |n| safe(&n.for_people(), 200))).collect();
    let rows: usize = r.silent().map(|o| o.unproved).sum();
    if names.is_empty() {
        return;
    }
    out(format!("  {}: {} for a proof of death", paint(BAD, "silent owners"), wait(rows)));
    let more = names.len().saturating_sub(SILENT);
    let names = sampled(&names[..names.len().min(SILENT)], more);
    let text = format!(
        "{names}: not listed where others are, or silent for longer than the scheduler itself waits for an owner, unless a clock is behind. Nothing is proved, and that is no sign of health. Find out whether the processes live; if they do not, {}.",
        r.words.otherwise()
    );
    wrapped("    ", 4, &text);
}

fn wait(rows: usize) -> String {
    if rows == 1 { "1 row waits".to_owned() } else { format!("{rows} rows wait") }
}

/// How many characters the name of a row may have.
const NAME: usize = 100;
/// How many silent owners are named.
const SILENT: usize = 5;

fn findings(r: &InspectReport, explain: bool) {
    head("Findings");
    if !r.has_findings() {
        out(format!("  {}", paint(GOOD, "nothing to repair is proved")));
    }
    silent(r);
    for f in &r.findings {
        finding(f, explain);
    }
    let left = r.left_out.iter().map(|l| Left {
        reason: &l.reason,
        what: r.words.count(&l.role, l.rows),
        sample: &l.sample,
        rows: l.rows,
        why: &l.why,
        way_out: &l.way_out,
    });
    left_out("Looked at and left out", left.collect());
}

fn finding(f: &FindingReport, explain: bool) {
    let counts: Vec<&str> = f.of.iter().map(|o| o.what.as_str()).collect();
    let (colour, urgent) = if f.urgent { (BAD, "urgent: ") } else { (WARN, "") };
    out(format!("  {} ({}): {}", paint(colour, &format!("{urgent}{}", f.code)), f.recipe, counts.join(", ")));
    wrapped("    ", 4, &f.title);
    for of in &f.of {
        let noun = of.what.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let keys: Vec<String> = of.sample.iter().map(|name| safe(name, NAME)).collect();
        wrapped(&format!("    {}: ", paint(DIM, noun)), 6, &sampled(&keys, of.more));
    }
    if f.listed_above > 0 {
        wrapped("    ", 4, &format!("{} listed under a finding above, too.", rows_are(f.listed_above)));
    }
    if f.report_only && !f.urgent {
        wrapped("    ", 4, "Shown only: flowmend does not write such rows.");
    }
    if !f.not_narrowed_by.is_empty() {
        let filters = f.not_narrowed_by.iter().map(|name| format!("--{name}")).collect::<Vec<_>>().join(" and ");
        let alone = if f.report_only { "" } else { "; plan --all leaves such rows alone then" };
        wrapped("    ", 4, &format!("Not narrowed: {filters} says nothing of this recipe's rows{alone}."));
    }
    let shown = if explain { f.explained.len() } else { 1 };
    let mut reason = "";
    for e in f.explained.iter().take(shown) {
        let (of_row, rest) = own_sentence(e);
        // What is said of every row alike is said once.
        let text = if rest == reason { of_row } else { &e.text };
        reason = rest;
        // A sentence that begins with the row's name needs no other head.
        let head = if text.starts_with(&e.handle) { String::new() } else { format!("{}: ", safe(&e.handle, NAME)) };
        wrapped("    ", 4, &format!("{head}{}", safe(text, 2000)));
    }
    if f.explained.len() > shown {
        out(format!("    {}", paint(DIM, "(--explain: the others, too)")));
    }
}

/// The first sentence of a paragraph, which is about its row, and the rest.
fn own_sentence(e: &Explained) -> (&str, &str) {
    match e.text.find(". ") {
        Some(end) => (&e.text[..=end], e.text[end + 1..].trim_start()),
        None => (&e.text, ""),
    }
}

/// Keys, and how many more there are.
fn sampled(keys: &[String], more: usize) -> String {
    let more = if more == 0 { String::new() } else { format!(" … and {more} more") };
    format!("{}{more}", keys.join(", "))
}

fn rows_are(n: usize) -> String {
    if n == 1 { "1 row is".to_owned() } else { format!("{n} rows are") }
}

/// A bundle for review, with at most `rows` rows of each step.
pub fn bundle(b: &Bundle, rows: usize) {
    bundle_head(b);
    for (index, step) in b.plan.steps.iter().enumerate() {
        show_step(&b.plan.from.words, index, step, rows);
    }
    for n in &b.plan.not_needed {
        wrapped(&format!("  {} ", paint(DIM, "not needed:")), 4, &format!("{}: {}", n.title, n.why));
    }
    left_of_plan(&b.plan);
    felt(&b.plan);
    seal(b);
    out(format!("  next: flowmend rehearse {} --url URL", b.dir.display()));
    out(format!("        flowmend apply {} --url URL --seal {}", b.dir.display(), b.seal.short()));
}

/// A bundle that was just planned, in short.
pub fn planned(b: &Bundle) {
    bundle_head(b);
    let step = |(index, s): (usize, &Step)| {
        vec![step_name(index, &s.role), s.rows.len().to_string(), s.table.clone(), s.full_title()]
    };
    let rows: Vec<_> = b.plan.steps.iter().enumerate().map(step).collect();
    out(table(&["step", "rows", "table", ""], &rows));
    left_of_plan(&b.plan);
    felt(&b.plan);
    seal(b);
    out(format!("  next: flowmend show {}, then rehearse and apply it", b.dir.display()));
}

fn bundle_head(b: &Bundle) {
    let plan = &b.plan;
    head(&format!("Bundle {} · {} · {}", b.id, plan.from.recipe, rows_of(plan.row_count())));
    wrapped("  ", 4, &format!("{} {}, identified by {}", plan.from.title, plan.from.release, plan.from.identified_by));
    let place =
        format!("{} on {} {}", safe(&plan.target.database, 200), plan.target.dialect, plan.target.server_version);
    wrapped("  ", 4, &place);
    out(format!("  planned {}, in {}", plan.from.now, b.dir.display()));
    for owner in &plan.owners {
        let before = owner.before.as_ref().map(|t| format!(" before {t}")).unwrap_or_default();
        let line =
            format!("dead owner {}{before}, said by {}", safe(&owner.for_people(), 400), safe(&owner.said_by, 200));
        wrapped("  ", 4, &line);
    }
    if let Some(why) = &plan.from.approximate {
        wrapped(&format!("  {} ", paint(WARN, "approximate facts:")), 4, why);
    }
    for a in &plan.allowed {
        let line = format!("{} ({}), said by {}", a.rule, safe(&a.reason, 600), safe(&a.said_by, 200));
        wrapped(&format!("  {} ", paint(WARN, "the linter's errors allowed:")), 4, &line);
        for text in &a.found {
            wrapped("    · ", 8, &safe(text, 600));
        }
    }
    out("");
}

fn seal(b: &Bundle) {
    out("");
    out(format!("{} {}", paint(HEAD, "Seal"), b.seal.full()));
}

fn show_step(words: &Words, index: usize, step: &Step, rows: usize) {
    let name = step_name(index, &step.role);
    out(format!("{}  {} {}", paint(HEAD, &name), rows_of(step.rows.len()), paint(DIM, &step.table)));
    wrapped("  ", 4, &format!("{}.", step.full_title()));
    for line in transitions(step) {
        wrapped("    ", 8, &line);
    }
    for row in step.rows.iter().take(rows) {
        wrapped("    · ", 8, &show_row(words, step, row));
    }
    if step.rows.len() > rows {
        out(format!("    … and {} more (--rows all)", step.rows.len() - rows));
    }
}

/// One row: key, name and the written columns as old → new; of a row that goes,
/// what it is known by.
pub(super) fn show_row(words: &Words, step: &Step, row: &RowChange) -> String {
    let mut parts = step.row_name(words, row, |text| safe(text, NAME));
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

/// Rows of one role that are left out for one reason.
struct Left<'a> {
    reason: &'a str,
    what: String,
    sample: &'a [String],
    rows: usize,
    why: &'a str,
    way_out: &'a str,
}

/// Each reason once, with the rows of every role.
fn left_out(title: &str, left: Vec<Left<'_>>) {
    if left.is_empty() {
        return;
    }
    out("");
    head(title);
    for (index, first) in left.iter().enumerate() {
        let same = |l: &&Left<'_>| (l.reason, l.why, l.way_out) == (first.reason, first.why, first.way_out);
        if left[..index].iter().any(|l| same(&l)) {
            continue;
        }
        for l in left.iter().filter(same) {
            let keys: Vec<String> = l.sample.iter().map(|key| safe(key, 60)).collect();
            let keys = sampled(&keys, l.rows.saturating_sub(l.sample.len()));
            wrapped(&format!("  {} ({}): ", l.what, paint(WARN, l.reason)), 6, &keys);
        }
        wrapped("    ", 4, &format!("{}.", first.why));
        wrapped("    → ", 6, first.way_out);
    }
}

fn left_of_plan(plan: &Plan) {
    left_out("Left out", plan.left_out.iter().map(|l| left_of(&plan.from.words, l)).collect());
    for_people(plan);
}

/// What the recipes show and do not write.
fn for_people(plan: &Plan) {
    if plan.shown.is_empty() {
        return;
    }
    out("");
    head("Found, and for people to decide (flowmend inspect --explain)");
    for s in &plan.shown {
        let keys: Vec<String> = s.sample.iter().map(|key| safe(key, 60)).collect();
        let what = plan.from.words.count(&s.role, s.count);
        wrapped(&format!("  {what} ({}): ", paint(WARN, &s.finding)), 6, &sampled(&keys, s.count - s.sample.len()));
        wrapped("    ", 4, &format!("{}.", s.title));
    }
}

fn left_of<'a>(words: &Words, l: &'a LeftOut) -> Left<'a> {
    Left {
        reason: &l.reason,
        what: words.count(&l.role, l.count),
        sample: &l.sample,
        rows: l.count,
        why: &l.why,
        way_out: &l.way_out,
    }
}

/// What the repair does beyond the rows that it writes, and what ends its undo.
fn felt(plan: &Plan) {
    let starts: Vec<String> = plan.starts.iter().map(Starts::says).collect();
    sentences("Starts by itself, as soon as the repair is committed", &starts);
    sentences("Danger", &plan.dangers);
    sentences("Felt by others", &plan.effects);
    if let Some(text) = plan.undo_ends() {
        out("");
        wrapped(&format!("{} ", paint(WARN, "undo:")), 2, &text);
    }
}

/// Sentences under a title, if there are any.
fn sentences(title: &str, texts: &[String]) {
    if !texts.is_empty() {
        out("");
        head(title);
    }
    texts.iter().for_each(|text| wrapped("  ", 4, &safe(text, 2000)));
}

/// A plan that changes nothing.
pub fn nothing(plan: &Plan) {
    let with = if plan.from.recipe == ALL { "any recipe" } else { &plan.from.recipe };
    out(format!("Nothing to repair with {with} on {} {}.", plan.from.title, plan.from.release));
    left_of_plan(plan);
}

/// The end of a rehearsal.
pub fn rehearsed(b: &Bundle, stays: &str) {
    out(format!(
        "{} {} of bundle {} were repaired and restored",
        paint(GOOD, "rehearsed:"),
        rows_of(b.plan.row_count()),
        b.id
    ));
    let receipt = "a receipt is in the bundle's folder receipts/";
    wrapped(
        "  ",
        2,
        &format!("every row equal to its backup in every column; rolled back; in the database {stays}; {receipt}"),
    );
}

/// What was done with a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It was applied.
    Applied,
    /// It was rolled back.
    RolledBack,
}

impl Done {
    /// In words.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::RolledBack => "rolled back",
        }
    }

    /// What became of rows that the repair changed so.
    fn of(self, op: Op) -> &'static str {
        match (self, op) {
            (Self::Applied, Op::Update) => "updated",
            (Self::Applied, Op::Delete) => "deleted",
            (Self::Applied, Op::Insert) => "inserted",
            (Self::RolledBack, Op::Update) => "restored",
            (Self::RolledBack, Op::Delete) => "put back",
            (Self::RolledBack, Op::Insert) => "taken out again",
        }
    }
}

/// The end of an apply or rollback. `left` is what a partial rollback left alone.
pub fn done(b: &Bundle, done: Done, left: Option<usize>) {
    let (what, counts) = (done.says(), changes(&b.plan, done));
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

/// How many rows of each role became what.
fn changes(plan: &Plan, done: Done) -> Vec<String> {
    let mut kinds: Vec<(&str, Op, usize)> = Vec::new();
    for step in &plan.steps {
        match kinds.iter_mut().find(|(role, op, _)| *role == step.role && *op == step.op) {
            Some((_, _, rows)) => *rows += step.rows.len(),
            None => kinds.push((&step.role, step.op, step.rows.len())),
        }
    }
    // No-break spaces keep a number with its words.
    let words = &plan.from.words;
    kinds
        .iter()
        .map(|(role, op, n)| format!("{} {}", words.count(role, *n), done.of(*op)).replace(' ', "\u{a0}"))
        .collect()
}

/// Rows that went on as they are there for, and what that means for the undo.
fn moved_on(r: &VerifyReport) {
    if r.moved_on > 0 {
        let (it, them) = if r.moved_on == 1 { ("it", "It") } else { ("them", "They") };
        let line = format!(
            "moved on: {} of this bundle went on since, as the scheduler moves {it} on once it takes {it} up again, which is what the repair is for; a hand that wrote the same looks the same. {them} cannot be rolled back any more.",
            rows_of(r.moved_on)
        );
        wrapped("  ", 4, &line);
    }
    if r.tied > 0 {
        let line = format!(
            "tied: what {} of this bundle belong to has another state since (a run that ended, for example): under it they would be nobody's, so no rollback brings them back.",
            rows_of(r.tied)
        );
        wrapped("  ", 4, &line);
    }
    if let Some(given_up) = &r.given_up {
        wrapped("  ", 4, &format!("undo: all rows together can be rolled back no more; {}.", given_up.says()));
    }
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
        let rows = rows_of(r.rows - r.left_alone - r.consumed - r.moved_on);
        let line = if undone {
            format!("bundle {} was rolled back: {rows} are as they were before the repair", b.id)
        } else {
            format!("{rows} of bundle {} stand as written", b.id)
        };
        wrapped(&format!("{} ", paint(GOOD, "ok:")), 2, &line);
        if r.left_alone > 0 {
            out(format!("  left alone by the partial rollback: {}", rows_of(r.left_alone)));
        }
        consumed(r);
        return moved_on(r);
    }
    let since = if undone { " since the rollback" } else { "" };
    match r.drifted {
        0 => out(format!("{} the rows stand as written, but something around them changed", paint(BAD, "FAIL:"))),
        n => out(format!("{} {n} of {} moved{since}", paint(BAD, "FAIL:"), rows_of(r.rows))),
    }
    for d in &r.drift {
        out(format!("  {} {} {}", paint(BAD, &d.kind), d.table, safe(&d.key.join("/"), NAME)));
        for (column, expected, found) in &d.columns {
            out(format!("    {column}: expected {}, found {}", safe(expected, 40), safe(found, 40)));
        }
    }
    consumed(r);
    moved_on(r);
    for check in &r.failed_checks {
        wrapped(&format!("  {} ", paint(BAD, "check")), 4, check);
    }
    let written_back = &b.plan.from.words.written_back;
    let cause = match r.drifted {
        0 => "A row that the repair hangs on came, went or changed after it.".to_owned(),
        _ if undone => "Somebody wrote these rows after the rollback.".to_owned(),
        _ if written_back.is_empty() => "Somebody wrote these rows after the repair.".to_owned(),
        _ => format!(
            "Somebody wrote these rows after the repair: a user (a rerun, a recovery), the scheduler, or another script. One possible cause: {written_back}"
        ),
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

//! Two bundles side by side: what they would do to which rows.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::bundle::Bundle;
use crate::plan::{Plan, RowChange, Step};
use crate::ui::{BAD, GOOD, HEAD, out, paint, rows_of, safe, wrap};

/// How many rows of one kind a report for people names.
const SAMPLE: usize = 10;

/// What differs between two bundles.
#[derive(Debug, Serialize)]
pub struct BundleDiff {
    /// The version of this form.
    pub format: u32,
    /// Whether they are the same, byte by byte.
    pub same: bool,
    /// The two bundles' ids.
    pub bundles: [String; 2],
    /// Facts that differ: name, first value, second value.
    pub facts: Vec<[String; 3]>,
    /// The steps that differ.
    pub steps: Vec<StepDiff>,
    /// Files that differ.
    pub files: Vec<String>,
}

/// What differs in one step.
#[derive(Debug, Default, Serialize)]
pub struct StepDiff {
    /// The role of the step.
    pub step: String,
    /// Keys that only the first changes.
    pub only_in_first: Vec<String>,
    /// Keys that only the second changes.
    pub only_in_second: Vec<String>,
    /// Keys that both change, in different ways.
    pub changed: Vec<String>,
}

/// Compares two bundles.
#[must_use]
pub fn compare(a: &Bundle, b: &Bundle) -> BundleDiff {
    let names: BTreeSet<&String> = a.files.keys().chain(b.files.keys()).collect();
    let differs = |name: &&&String| a.files.get(**name) != b.files.get(**name);
    BundleDiff {
        format: 1,
        same: a.seal == b.seal,
        bundles: [a.id.clone(), b.id.clone()],
        facts: facts(a, b),
        steps: steps(a, b),
        files: names.iter().filter(differs).map(ToString::to_string).collect(),
    }
}

/// What a plan was made from, as texts.
fn described(bundle: &Bundle) -> BTreeMap<String, String> {
    let (from, target) = (&bundle.plan.from, &bundle.plan.target);
    let mut facts = BTreeMap::from([
        ("recipe".to_owned(), from.recipe.clone()),
        ("release".to_owned(), from.release.clone()),
        ("planned".to_owned(), from.now.clone()),
        ("cut-off".to_owned(), from.cutoff.clone().unwrap_or_default()),
        ("server".to_owned(), target.server.clone()),
        ("database".to_owned(), target.database.clone()),
        ("schema".to_owned(), target.schema.clone().unwrap_or_default()),
        ("work schema".to_owned(), target.work_schema.clone().unwrap_or_default()),
        ("manifest".to_owned(), from.manifest_sha256.clone()),
        ("recipe files".to_owned(), from.recipe_sha256.clone()),
    ]);
    facts.extend(bundle.plan.args.iter().map(|(name, value)| (format!("--{name}"), value.clone())));
    facts
}

fn facts(a: &Bundle, b: &Bundle) -> Vec<[String; 3]> {
    let (first, second) = (described(a), described(b));
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let value = |facts: &BTreeMap<String, String>, name: &String| facts.get(name).cloned().unwrap_or_default();
    let all = names.into_iter().map(|n| [n.clone(), value(&first, n), value(&second, n)]);
    all.filter(|[_, x, y]| x != y).collect()
}

fn steps(a: &Bundle, b: &Bundle) -> Vec<StepDiff> {
    let roles: BTreeSet<&String> = a.plan.steps.iter().chain(&b.plan.steps).map(|s| &s.role).collect();
    let diff = |role: &String| {
        let (first, second) = (rows(&a.plan, role), rows(&b.plan, role));
        let only = |x: &Rows<'_>, y: &Rows<'_>| x.keys().filter(|k| !y.contains_key(*k)).cloned().collect();
        let changed = first.iter().filter(|(k, row)| second.get(*k).is_some_and(|other| other.0 != row.0));
        StepDiff {
            step: role.clone(),
            only_in_first: only(&first, &second),
            only_in_second: only(&second, &first),
            changed: changed.map(|(k, _)| k.clone()).collect(),
        }
    };
    let same = |d: &StepDiff| d.only_in_first.is_empty() && d.only_in_second.is_empty() && d.changed.is_empty();
    roles.into_iter().map(diff).filter(|d| !same(d)).collect()
}

/// Key → the row's change and its step.
type Rows<'a> = BTreeMap<String, (&'a RowChange, &'a Step)>;

fn rows<'a>(plan: &'a Plan, role: &'a str) -> Rows<'a> {
    let of_step = |s: &'a Step| s.rows.iter().map(move |r| (r.key_text(), (r, s)));
    plan.steps_of(role).flat_map(of_step).collect()
}

/// Prints a comparison for people.
pub fn print(diff: &BundleDiff, a: &Bundle, b: &Bundle) {
    if diff.same {
        return out(format!("the bundles are the same, byte by byte (seal {})", a.seal.short()));
    }
    let line = format!("{} ({}) and {} ({})", a.id, a.dir.display(), b.id, b.dir.display());
    wrap(&format!("{} ", paint(HEAD, "Bundles")), 2, &line).iter().for_each(out);
    for [name, first, second] in &diff.facts {
        let line = format!("{name}: {} | {}", safe(first, 60), safe(second, 60));
        wrap("  ", 4, &line).iter().for_each(out);
    }
    for step in &diff.steps {
        out(paint(HEAD, &step.step));
        for (what, keys) in [
            ("only in the first", &step.only_in_first),
            ("only in the second", &step.only_in_second),
            ("changed otherwise", &step.changed),
        ] {
            if !keys.is_empty() {
                let more = keys.len().saturating_sub(SAMPLE);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let named: Vec<String> = keys.iter().take(SAMPLE).map(|k| safe(k, 30)).collect();
                let line = format!("{what}, {}: {}{more}", rows_of(keys.len()), named.join(", "));
                wrap("  ", 4, &line).iter().for_each(out);
            }
        }
        changed_rows(step, a, b);
    }
    wrap(&format!("{} ", paint(HEAD, "Files that differ:")), 2, &diff.files.join(", ")).iter().for_each(out);
}

/// The first rows that both change, line against line.
fn changed_rows(step: &StepDiff, a: &Bundle, b: &Bundle) {
    let (first, second) = (rows(&a.plan, &step.step), rows(&b.plan, &step.step));
    for key in step.changed.iter().take(SAMPLE) {
        let line = |rows: &Rows<'_>, plan: &Plan| {
            let shown = |(row, step): &(&RowChange, &Step)| super::human::show_row(&plan.from.words, step, row) + "\n";
            rows.get(key).map_or_else(String::new, shown)
        };
        let (x, y) = (line(&first, &a.plan), line(&second, &b.plan));
        for change in TextDiff::from_lines(&x, &y).iter_all_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ('-', BAD),
                ChangeTag::Insert => ('+', GOOD),
                ChangeTag::Equal => continue,
            };
            out(paint(style, &format!("  {sign} {}", change.value().trim_end())));
        }
    }
}

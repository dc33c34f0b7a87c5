//! A draft becomes the plan: in order, with checks, prose, evidence and what is left out. Pure.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;

use super::draft::{Draft, DraftStep};
use super::query::Inputs;
use super::tally::{LeftRow, Marks, SHOWN};
use super::{
    Evidence, From, HostRows, LeftOut, NotNeeded, OwnerClaim, Plan, PlanCheck, RecipeRef, RowChange, SAMPLE, Step,
    Target, names_an_owner, step_name,
};
use crate::Result;
use crate::manifest::Manifest;
use crate::recipe::{Check, ConditionTime, Op};
use crate::render::ser;
use crate::ui::quiet;

impl DraftStep {
    /// The checks that look at the step, each with the recipe that it is of.
    pub(super) fn checks<'a>(&'a self, parts: &'a [Inputs<'_>]) -> impl Iterator<Item = (&'a Inputs<'a>, &'a Check)> {
        parts.iter().enumerate().flat_map(move |(part, inputs)| {
            let looks = move |c: &&Check| c.step == self.step.role && (c.every || part == self.part);
            inputs.recipe.file.checks.iter().filter(looks).map(move |check| (inputs, check))
        })
    }
}

impl Draft {
    /// The plan. `parts` are the recipes in the order of their numbers; the first
    /// is the one that was asked for.
    ///
    /// # Errors
    /// The prose or a check does not render.
    pub fn finish(mut self, parts: &[Inputs<'_>], mut from: From, target: Target) -> Result<Plan> {
        self.steps.retain(|s| !s.step.rows.is_empty());
        self.steps.iter_mut().filter(|s| s.step.op == Op::Update).for_each(|s| s.step.leave_kept_columns());
        self.steps.sort_by_key(|s| s.rank);
        self.tell_apart();
        let mut args = BTreeMap::new();
        let mut owners: Vec<OwnerClaim> = Vec::new();
        for part in parts {
            args.extend(part.params.given.clone());
            let new: Vec<_> = part.params.owners().into_iter().filter(|o| !owners.contains(o)).collect();
            owners.extend(new);
        }
        let used: BTreeSet<usize> = self.steps.iter().map(|s| s.part).collect();
        let recipes = parts.iter().enumerate().filter(|(n, _)| used.contains(n)).map(|(_, p)| RecipeRef {
            name: p.recipe.file.name.clone(),
            title: p.recipe.file.title.clone(),
            sha256: p.recipe.sha256(),
        });
        from.recipes = recipes.collect();
        self.forgive_inserts(parts);
        let checks = self.checks(parts)?;
        let prose = self.prose(parts, &from)?;
        let evidence = self.evidence(parts);
        let mut left_out = self.left_out(parts);
        left_out.append(&mut self.passed_over);
        let mut not_needed: Vec<NotNeeded> = Vec::new();
        let speaks = |n: &usize| *n == 0 || used.contains(n);
        for note in self.notes.into_iter().filter(|(n, _)| speaks(n)).flat_map(|(_, n)| n.not_needed) {
            if !not_needed.contains(&note) {
                not_needed.push(note);
            }
        }
        let steps: Vec<Step> = self.steps.into_iter().map(|s| s.step).collect();
        Ok(Plan {
            format: super::FORMAT,
            flowmend: env!("CARGO_PKG_VERSION").to_owned(),
            args,
            owners,
            evidence,
            runs: Vec::new(),
            effects: Vec::new(),
            starts: Vec::new(),
            dangers: Vec::new(),
            hosts: parts.first().map_or_else(Vec::new, |p| hosts(p.site.manifest, &steps)),
            left_out,
            shown: Vec::new(),
            not_needed,
            checks,
            allowed: Vec::new(),
            locks: Vec::new(),
            prose,
            steps,
            from,
            target,
        })
    }

    /// Steps of one title say which recipe they are of, and which round: a later
    /// round has the rows that the earlier ones uncovered.
    fn tell_apart(&mut self) {
        let names: Vec<(String, String)> =
            self.steps.iter().map(|s| (s.step.title.clone(), s.step.recipe.clone())).collect();
        for (index, draft) in self.steps.iter_mut().enumerate() {
            let (title, recipe) = &names[index];
            let shared = names.iter().any(|(t, r)| t == title && r != recipe);
            let rounds = names.iter().filter(|n| **n == names[index]).count();
            let round = names[..=index].iter().filter(|n| **n == names[index]).count();
            let words: Vec<String> = [shared.then(|| recipe.clone()), (rounds > 1).then(|| format!("round {round}"))]
                .into_iter()
                .flatten()
                .collect();
            draft.step.apart = words.join(", ");
        }
    }

    /// A condition that the plan's own inserts make untrue holds only until then.
    fn forgive_inserts(&mut self, parts: &[Inputs<'_>]) {
        let inserts = self.steps.iter().filter(|s| s.step.op == Op::Insert);
        let inserted: BTreeSet<String> = inserts.map(|s| s.step.role.clone()).collect();
        for draft in self.steps.iter_mut().filter(|s| s.step.op != Op::Insert) {
            let Some(inputs) = parts.get(draft.part) else { continue };
            let conditions = inputs.recipe.file.steps.iter().flat_map(|s| &s.conditions);
            let until_then: BTreeSet<&String> = conditions
                .filter(|c| c.until.as_ref().is_some_and(|role| inserted.contains(role)))
                .map(|c| &c.name)
                .collect();
            draft.step.conditions.retain(|c| !(until_then.contains(&c.name) && c.at == ConditionTime::End));
            let both = draft.step.conditions.iter_mut().filter(|c| until_then.contains(&c.name));
            both.for_each(|c| c.at = ConditionTime::Start);
        }
    }

    fn checks(&self, parts: &[Inputs<'_>]) -> Result<Vec<PlanCheck>> {
        let mut found = Vec::new();
        for (index, draft) in self.steps.iter().enumerate() {
            for (inputs, check) in draft.checks(parts) {
                let extra = BTreeMap::from([("work", Value::from("{work}"))]);
                let sql = inputs.env().text(&format!("checks.{}", check.name), &check.sql, extra)?;
                let step = step_name(index, &draft.step.role);
                let (name, title) = (check.name.clone(), check.title.clone());
                found.push(PlanCheck { name, title, step, sql, once: check.once });
            }
        }
        // Checks of one name tell their steps apart.
        let names: Vec<String> = found.iter().map(|c| c.name.clone()).collect();
        for check in &mut found {
            if names.iter().filter(|n| **n == check.name).count() > 1 {
                check.name = format!("{}.{}", check.step, check.name);
            }
        }
        Ok(found)
    }

    fn prose(&self, parts: &[Inputs<'_>], from: &From) -> Result<String> {
        let mut texts = Vec::new();
        let deleted = parts.first().map(|p| self.deleted_units(p.site.manifest)).unwrap_or_default();
        for (n, inputs) in parts.iter().enumerate() {
            let drafts: Vec<&DraftStep> = self.steps.iter().filter(|s| s.part == n).collect();
            let mut text = Vec::new();
            if !drafts.is_empty() || (n == 0 && self.steps.is_empty()) {
                text.push(prose(inputs, from, &drafts, &deleted)?);
            }
            text.extend(self.left_to_itself(n, inputs, from)?);
            if !text.is_empty() {
                texts.push((inputs.recipe.file.name.clone(), text.join("\n\n")));
            }
        }
        Ok(match texts.len() {
            0 | 1 => texts.into_iter().map(|(_, text)| text).collect(),
            _ => {
                let deeper = |text: &str| text.replace("### ", "#### ");
                let parts = texts.iter().map(|(name, text)| format!("### {name}\n\n{}", deeper(text)));
                parts.collect::<Vec<_>>().join("\n\n")
            }
        })
    }

    /// Role → what the rows are of that the plan deletes, whichever recipe does.
    fn deleted_units(&self, manifest: &Manifest) -> BTreeMap<String, BTreeSet<String>> {
        let mut found: BTreeMap<String, BTreeSet<String>> =
            manifest.roles.keys().map(|role| (role.clone(), BTreeSet::new())).collect();
        for step in self.steps.iter().map(|s| &s.step).filter(|s| s.op == Op::Delete) {
            let units = step.rows.iter().filter_map(|row| row.instance.as_ref().map(|unit| quiet(unit, SHOWN)));
            found.entry(step.role.clone()).or_default().extend(units);
        }
        found
    }

    /// What becomes of the rows that the operator's choice leaves to the scheduler.
    fn left_to_itself(&self, part: usize, inputs: &Inputs<'_>, from: &From) -> Result<Option<String>> {
        let template = inputs.recipe.file.choice.as_ref().and_then(|c| c.left.as_ref());
        let (Some(template), Some(notes)) = (template, self.notes.get(&part)) else { return Ok(None) };
        let extra = BTreeMap::from([("left", ser(&notes.tally.kinds)), ("release", Value::from(from.release.clone()))]);
        let text = inputs.env().file(template, extra)?;
        Ok((!text.is_empty()).then_some(text))
    }

    fn evidence(&self, parts: &[Inputs<'_>]) -> Vec<Evidence> {
        let mut found: Vec<Evidence> = Vec::new();
        for (n, inputs) in parts.iter().enumerate() {
            for finding in &inputs.recipe.file.findings {
                for draft in self.steps.iter().filter(|s| s.part == n) {
                    let count = draft.found.iter().filter(|f| f.finding == finding.code).count();
                    if count == 0 {
                        continue;
                    }
                    let place = found.iter().position(|e| e.finding == finding.code).unwrap_or_else(|| {
                        let (finding, title) = (finding.code.clone(), finding.title.clone());
                        found.push(Evidence { finding, title, count: 0, rows: BTreeMap::new(), uncovered: 0 });
                        found.len() - 1
                    });
                    let evidence = &mut found[place];
                    evidence.count += count;
                    *evidence.rows.entry(draft.step.role.clone()).or_default() += count;
                    evidence.uncovered += if draft.uncovered { count } else { 0 };
                }
            }
        }
        found
    }

    /// What the last look of each recipe left out, without what another recipe plans.
    fn left_out(&self, parts: &[Inputs<'_>]) -> Vec<LeftOut> {
        let inserted: BTreeSet<&String> = self
            .steps
            .iter()
            .filter(|s| s.step.op == Op::Insert)
            .flat_map(|s| s.step.rows.iter().filter_map(|r| r.instance.as_ref()))
            .collect();
        let of_step = |s: &'_ DraftStep| -> Vec<(String, String)> {
            s.step.rows.iter().map(|r| (s.step.role.clone(), r.name(s.step.op))).collect()
        };
        let planned: BTreeSet<(String, String)> = self.steps.iter().flat_map(of_step).collect();
        let mut keys: BTreeMap<(&str, &str), Vec<&LeftRow>> = BTreeMap::new();
        let mut known = BTreeSet::new();
        for ((verdict, role), left) in self.notes.values().flat_map(|n| &n.tally.left) {
            // What waits for a command waits for the one that this very plan queues.
            let served = |run: &Option<String>| run.as_ref().is_some_and(|r| inserted.contains(r));
            let rest = left.iter().filter(|row| !served(&row.run));
            for row in rest.filter(|row| !planned.contains(&(role.clone(), row.key.clone()))) {
                if known.insert((verdict, role, &row.key)) {
                    keys.entry((verdict, role)).or_default().push(row);
                }
            }
        }
        let reason = |code: &str| parts.iter().find_map(|p| p.recipe.reason(code));
        let left = keys.into_iter().filter(|(_, keys)| !keys.is_empty()).map(|((code, role), keys)| LeftOut {
            reason: code.to_owned(),
            role: role.to_owned(),
            count: keys.len(),
            why: reason(code).map_or_else(String::new, |r| r.why.clone()),
            way_out: reason(code).map_or_else(String::new, |r| r.way_out.clone()),
            sample: keys.into_iter().take(SAMPLE).map(|row| row.handle.clone()).collect(),
        });
        left.collect()
    }
}

/// Whether the plan knows that nothing runs any more under a row.
fn has_ended(manifest: &Manifest, step: &Step, row: &RowChange) -> bool {
    let name = format!("{}.state", step.role);
    let (Some(set), Ok(column)) = (manifest.states.get(&name), manifest.column(&name)) else { return false };
    let with = set.with.as_ref().and_then(|w| manifest.column(w).ok());
    let state = set.of(step.value_before(row, column), with.and_then(|w| step.value_before(row, w)));
    step.pin_index(column).is_some() && state.is_some_and(|s| s.finished)
}

/// Hosts in the own `host` column of rows that have not ended, if their role has one: each once for a role.
fn hosts(manifest: &Manifest, steps: &[Step]) -> Vec<HostRows> {
    let mut found: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for step in steps {
        let column = manifest.roles.get(&step.role).and_then(|r| r.columns.get("host"));
        let Some(index) = column.and_then(|c| step.pin_index(c)) else { continue };
        let open = step.rows.iter().filter(|row| !has_ended(manifest, step, row));
        for host in open.filter_map(|r| r.old[index].as_deref()).filter(|h| names_an_owner(h)) {
            *found.entry((&step.role, host)).or_default() += 1;
        }
    }
    let line =
        |((role, host), rows): ((&str, &str), usize)| HostRows { host: host.to_owned(), role: role.to_owned(), rows };
    found.into_iter().map(line).collect()
}

fn prose(
    inputs: &Inputs<'_>,
    from: &From,
    drafts: &[&DraftStep],
    deleted: &BTreeMap<String, BTreeSet<String>>,
) -> Result<String> {
    let steps: Vec<&Step> = drafts.iter().map(|s| &s.step).collect();
    let findings: BTreeSet<&String> = drafts.iter().flat_map(|s| &s.found).map(|f| &f.finding).collect();
    let counts: BTreeMap<&str, usize> = inputs
        .recipe
        .file
        .steps
        .iter()
        .map(|f| (f.role.as_str(), steps.iter().filter(|s| s.role == f.role).map(|s| s.rows.len()).sum()))
        .collect();
    let marks = marks(inputs, drafts);
    let extra = BTreeMap::from([
        ("counts", ser(&counts)),
        ("release", Value::from(from.release.clone())),
        ("written", ser(written_phases(inputs.site.manifest, &steps))),
        ("findings", ser(&findings)),
        ("deleted_units", ser(deleted)),
        ("marked", ser(&marks.keys)),
        ("marked_units", ser(&marks.units)),
    ]);
    inputs.env().file(&inputs.recipe.file.prose, extra)
}

/// The planned rows that the queries mark.
fn marks(inputs: &Inputs<'_>, drafts: &[&DraftStep]) -> Marks {
    let mut marks = Marks::of(inputs.recipe.given_names());
    for (row, found) in drafts.iter().flat_map(|s| s.step.rows.iter().zip(&s.found)) {
        marks.add(&found.marks, &row.key_text(), row);
    }
    marks
}

/// Role → phases of the states that a plan writes, so that the prose speaks of these alone.
fn written_phases(manifest: &Manifest, steps: &[&Step]) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, set) in &manifest.states {
        let Some((role, column)) = name.split_once('.') else { continue };
        let phases = found.entry(role.to_owned()).or_default();
        let Some(real) = manifest.roles.get(role).and_then(|r| r.columns.get(column)) else { continue };
        for step in steps.iter().filter(|s| s.role == role) {
            let Some((index, _)) = step.set_column(real) else { continue };
            let with = set.with.as_ref().and_then(|w| manifest.column(w).ok());
            let state = |r: &RowChange| set.of(r.new[index].as_deref(), with.and_then(|w| step.value_after(r, w)));
            let states = step.rows.iter().filter_map(state);
            phases.extend(states.map(|s| s.phase.clone()));
        }
    }
    found
}

//! The linter on the bundle that `plan` is about to write, and the way round it.

use std::collections::BTreeMap;

use clap::ArgMatches;

use super::App;
use crate::lint::{Allow, DataRules, Level, OwnFault, Pages, faults_of};
use crate::plan::{AllowedRule, Plan};
use crate::render::files;
use crate::{Error, Result, ui};

/// How many faults a refusal lists.
const LISTED: usize = 5;

/// What `--allow` allows.
///
/// # Errors
/// There is no such rule, it is named twice, or no reason is given.
pub(super) fn allows(m: &ArgMatches) -> Result<Vec<Allow>> {
    let pages = Pages::load();
    let mut found: Vec<Allow> = Vec::new();
    for text in m.get_many::<String>("allow").into_iter().flatten() {
        let allow = Allow::parse(text, &pages).map_err(|e| e.context("--allow"))?;
        if found.iter().any(|a| a.rule == allow.rule) {
            return Err(Error::usage(format!("--allow: {} is allowed twice; give one reason", allow.rule)));
        }
        found.push(allow);
    }
    Ok(found)
}

/// The files of a plan. What the linter would not let a person run, flowmend does not
/// write, unless the operator allows it; then the plan, its script and its ticket say so.
///
/// # Errors
/// The linter finds an error that nobody allowed.
pub(super) fn self_checked(
    app: &App,
    plan: &mut Plan,
    allows: &[Allow],
    said_by: &str,
) -> Result<BTreeMap<String, String>> {
    let rendered = files::render(plan, &app.templates)?;
    let faults = faults(app, plan, &rendered)?;
    let is_allowed = |f: &&OwnFault| allows.iter().any(|a| a.rule == f.rule);
    let refused: Vec<&OwnFault> = faults.iter().filter(|f| !is_allowed(f)).collect();
    if !refused.is_empty() {
        return Err(refusal(&refused));
    }
    for allow in allows {
        let found: Vec<String> = faults.iter().filter(|f| f.rule == allow.rule).map(ToString::to_string).collect();
        if found.is_empty() {
            ui::warn(format!("--allow {}: nothing in this bundle needs it, so the bundle does not say it", allow.rule));
            continue;
        }
        ui::warn(format!("{} is allowed ({}): {}", allow.rule, allow.reason, found.join("; ")));
        let (rule, reason, said_by) = (allow.rule.clone(), allow.reason.clone(), said_by.to_owned());
        plan.allowed.push(AllowedRule { rule, reason, said_by, found });
    }
    if plan.allowed.is_empty() { Ok(rendered) } else { files::render(plan, &app.templates) }
}

fn faults(app: &App, plan: &Plan, rendered: &BTreeMap<String, String>) -> Result<Vec<OwnFault>> {
    let data = DataRules::load(&app.manifests)?;
    let scripts = rendered.iter().filter(|(name, _)| name.starts_with("apply."));
    let each: Result<Vec<Vec<OwnFault>>> =
        scripts.map(|(name, script)| faults_of(plan, name, script, &app.manifests, &data, Level::Error)).collect();
    Ok(each?.concat())
}

fn refusal(faults: &[&OwnFault]) -> Error {
    let mut lines: Vec<String> = faults.iter().take(LISTED).map(|f| format!("\n  {f}\n    {}", f.statement)).collect();
    if faults.len() > LISTED {
        lines.push(format!("\n  and {} more", faults.len() - LISTED));
    }
    let mut rules: Vec<&str> = faults.iter().map(|f| f.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let flags: Vec<String> = rules.iter().map(|rule| format!("--allow '{rule}=REASON'")).collect();
    Error::refused(format!("no bundle was written: flowmend lint finds errors in it{}", lines.concat()))
        .hint(format!("flowmend lint --explain {} says what is meant", rules[0]))
        .hint(format!(
            "if you looked at the statements and they are right, plan again with {}; the ticket and the bundle will say it",
            flags.join(" ")
        ))
        .hint("if the recipe is your own, mend its templates; else report this as a fault of flowmend")
}

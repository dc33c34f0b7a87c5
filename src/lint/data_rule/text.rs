//! The sentences of a rule: templates, tried against every generation when the rule is loaded.

use std::collections::BTreeMap;

use super::DataRule;
use crate::manifest::{Manifest, Manifests, Role, version_order};
use crate::{Error, Result};
use minijinja::{Environment, UndefinedBehavior, context};

/// What a sentence can name.
#[derive(Clone, Copy)]
pub(super) struct Told<'t> {
    /// The table that is changed.
    pub table: &'t str,
    /// The states before.
    pub from: &'t str,
    /// The states after.
    pub to: &'t str,
    /// The scheduler and the release.
    pub release: &'t str,
    /// Role columns → columns.
    pub col: &'t BTreeMap<String, String>,
}

/// A sentence with its names filled in; one that names what is not there is an error.
pub(super) fn render(text: &str, told: &Told<'_>) -> std::result::Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let Told { table, from, to, release, col } = *told;
    environment.render_str(text, context! { table, from, to, release, col })
}

/// Renders every sentence for every table that the rule can speak about.
pub(super) fn check(rule: &DataRule, manifests: &Manifests) -> Result<()> {
    for manifest in manifests.of(&rule.scheduler)? {
        let covered = manifest.releases.iter().any(|r| rule.file.covers(&version_order(r)));
        let roles = manifest.roles.iter().filter(|(name, role)| rule.file.can_speak_of(name, role));
        for (_, role) in roles.filter(|_| covered) {
            check_for(rule, manifest, role)?;
        }
    }
    Ok(())
}

fn check_for(rule: &DataRule, manifest: &Manifest, role: &Role) -> Result<()> {
    let title = format!("{} {}", manifest.title, manifest.generation);
    let told = Told { table: &role.table, from: "", to: "", release: &title, col: &role.columns };
    for (key, text) in sentences(rule) {
        render(text, &told).map_err(|e| {
            let what = e.detail().map_or_else(|| e.kind().to_string(), ToOwned::to_owned);
            Error::usage(format!("{key}: `{text}` cannot be filled in for {title}: {what}"))
        })?;
    }
    Ok(())
}

/// The rule's templates, each with its key.
fn sentences(rule: &DataRule) -> impl Iterator<Item = (String, &str)> {
    let numbered = |key: &'static str, texts| -> Vec<(String, &str)> {
        let texts: &Vec<String> = texts;
        texts.iter().enumerate().map(|(n, text)| (format!("{key}[{n}]"), text.as_str())).collect()
    };
    let file = &rule.file;
    std::iter::once(("message".to_owned(), file.message.as_str()))
        .chain(numbered("why", &file.why))
        .chain(numbered("help", &file.help))
}

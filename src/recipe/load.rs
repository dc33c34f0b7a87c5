//! Reads recipes and checks them against every manifest they apply to.

use std::collections::BTreeMap;

use super::{Op, Recipe, RecipeFile, StepFile};
use crate::data::Tree;
use crate::manifest::{Manifest, Manifests};
use crate::{Error, Result};

/// Every recipe that is known.
#[derive(Clone, Debug, Default)]
pub struct Recipes {
    all: Vec<Recipe>,
}

impl Recipes {
    /// Reads the recipes of a tree (`<scheduler>/<recipe>/recipe.toml` and the files beside it).
    ///
    /// # Errors
    /// A recipe with a mistake, or one that would write what a manifest forbids.
    pub fn load(tree: &Tree, manifests: &Manifests) -> Result<Self> {
        let mut all = Vec::new();
        for (path, file) in tree.iter() {
            let Some(folder) = path.strip_suffix("/recipe.toml") else {
                continue;
            };
            let Some((scheduler, name)) = folder.split_once('/') else {
                continue;
            };
            let parsed: RecipeFile = toml::from_str(&file.text)
                .map_err(|e| Error::usage(format!("{}: {}", file.origin, e.to_string().trim_end())))?;
            if parsed.name != name {
                return Err(Error::usage(format!(
                    "{}: name: `{}` differs from the folder {name}",
                    file.origin, parsed.name
                )));
            }
            let recipe = Recipe {
                scheduler: scheduler.to_owned(),
                folder: folder.to_owned(),
                templates: templates(tree, folder),
                sha256: digest(tree, folder),
                file: parsed,
            };
            check(&recipe, &file.origin, manifests)?;
            all.push(recipe);
        }
        Ok(Self { all })
    }

    /// All recipes of a scheduler.
    pub fn of<'a>(&'a self, scheduler: &str) -> impl Iterator<Item = &'a Recipe> + use<'a> {
        let scheduler = scheduler.to_owned();
        self.all.iter().filter(move |r| r.scheduler == scheduler)
    }

    /// One recipe.
    ///
    /// # Errors
    /// The scheduler has no such recipe.
    pub fn get(&self, scheduler: &str, name: &str) -> Result<&Recipe> {
        self.of(scheduler).find(|r| r.file.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.of(scheduler).map(|r| r.file.name.as_str()).collect();
            let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
            Error::usage(format!("no recipe `{name}` for {scheduler}")).hint(format!("known recipes: {known}"))
        })
    }

    /// All recipes.
    pub fn iter(&self) -> impl Iterator<Item = &Recipe> {
        self.all.iter()
    }
}

fn templates(tree: &Tree, folder: &str) -> BTreeMap<String, String> {
    let prefix = format!("{folder}/");
    tree.iter().filter_map(|(path, file)| Some((path.strip_prefix(&prefix)?.to_owned(), file.text.clone()))).collect()
}

fn digest(tree: &Tree, folder: &str) -> String {
    let files = templates(tree, folder);
    let parts: Vec<&[u8]> = files.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]).collect();
    crate::bundle::sha256(&parts)
}

fn check(recipe: &Recipe, origin: &str, manifests: &Manifests) -> Result<()> {
    let bad = |message: String| Error::usage(format!("{origin}: {message}"));
    let file = &recipe.file;
    let named = file.steps.iter().map(|s| &s.query).chain([&file.prose]).chain(file.choice.iter().map(|c| &c.screen));
    for template in named {
        if !recipe.templates.contains_key(template) {
            return Err(bad(format!("no file {template} beside it")));
        }
    }
    for (index, step) in file.steps.iter().enumerate() {
        if file.steps[..index].iter().any(|s| s.role == step.role && s.op == step.op && s.query == step.query) {
            return Err(bad(format!("steps: {} is listed twice", step.role)));
        }
        if step.op == Op::Update && step.set.is_empty() {
            return Err(bad(format!("steps.{}: an update sets something", step.role)));
        }
    }
    for check in &file.checks {
        if !file.steps.iter().any(|s| s.role == check.step) {
            return Err(bad(format!("checks.{}: no step {}", check.name, check.step)));
        }
    }
    let applies = |m: &&Manifest| m.scheduler == recipe.scheduler && file.needs.iter().all(|role| m.has(role));
    for manifest in manifests.iter().filter(applies) {
        for step in file.steps.iter().filter(|s| manifest.has(&s.role)) {
            may_write(step, manifest).map_err(|e| bad(format!("{e} (generation {})", manifest.generation)))?;
        }
        children_first(recipe, manifest).map_err(|e| bad(format!("{e} (generation {})", manifest.generation)))?;
    }
    Ok(())
}

/// A step writes no table or column that the manifest forbids.
fn may_write(step: &StepFile, manifest: &Manifest) -> Result<()> {
    let role = manifest.role(&step.role)?;
    if manifest.is_forbidden_table(&role.table) {
        return Err(Error::usage(format!("steps.{}: the manifest forbids writing {}", step.role, role.table)));
    }
    for column in step.set.keys() {
        let name = format!("{}.{column}", step.role);
        if !manifest.has(&name) {
            // A column that this generation lacks is left out of the step.
            continue;
        }
        if manifest.forbidden.columns.contains(&name) && !step.allow.contains_key(column) {
            let message = format!("steps.{}: the manifest forbids writing {name}", step.role);
            return Err(Error::usage(message).hint("name the exception and its reason under `allow`"));
        }
    }
    Ok(())
}

/// Child tables are written before their parents.
fn children_first(recipe: &Recipe, manifest: &Manifest) -> Result<()> {
    let position = |column: &str| {
        let role = column.split('.').next()?;
        recipe.file.steps.iter().position(|s| s.role == role && s.op == Op::Update)
    };
    for relation in manifest.relations.iter().filter(|r| r.part_of) {
        if let (Some(child), Some(parent)) = (position(&relation.child), position(&relation.parent))
            && child > parent
        {
            let (child, parent) = (&recipe.file.steps[child].role, &recipe.file.steps[parent].role);
            return Err(Error::usage(format!("steps: {child} must come before its parent {parent}")));
        }
    }
    Ok(())
}

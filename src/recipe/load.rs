//! Reads recipes and checks them against every manifest they apply to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;

use minijinja::Environment;
use toml::de::{DeTable, DeValue};

use super::{
    EffectFile, Names, Op, Parameter, ParameterKind, Recipe, RecipeFile, RelatedFile, SetKind, SharedWords, StepFile,
    Tells,
};
use crate::data::{DataFile, Tree};
use crate::manifest::{Manifest, Manifests};
use crate::{Error, Result};

/// The folder beside a scheduler's recipes for what they share.
pub const SHARED: &str = "shared";
/// The file there with shared parameters and reasons.
const WORDS: &str = "words.toml";

/// Every recipe that is known.
#[derive(Clone, Debug, Default)]
pub struct Recipes {
    all: Vec<Recipe>,
}

impl Recipes {
    /// Reads the recipes of a tree (`<scheduler>/<recipe>/recipe.toml` and the files beside it),
    /// and checks those of schedulers of which a manifest or recipe is somebody's own.
    ///
    /// # Errors
    /// A recipe with a mistake, or one that would write what a manifest forbids.
    pub fn load(tree: &Tree, manifests: &Manifests) -> Result<Self> {
        let recipes = Self::read(tree)?;
        let own = |r: &&Recipe| !(tree.is_built_in(&r.scheduler) && manifests.is_built_in(&r.scheduler));
        recipes.all.iter().filter(own).try_for_each(|r| r.check(tree, manifests))?;
        Ok(recipes)
    }

    /// Reads the recipes of a tree and checks every one.
    ///
    /// # Errors
    /// As [`Recipes::load`].
    pub fn checked(tree: &Tree, manifests: &Manifests) -> Result<Self> {
        let recipes = Self::read(tree)?;
        recipes.all.iter().try_for_each(|r| r.check(tree, manifests))?;
        Ok(recipes)
    }

    fn read(tree: &Tree) -> Result<Self> {
        let mut all = Vec::new();
        let mut shared: BTreeMap<&str, Shared> = BTreeMap::new();
        for (path, file) in tree.iter() {
            let Some(folder) = path.strip_suffix("/recipe.toml") else { continue };
            let Some((scheduler, name)) = folder.split_once('/') else { continue };
            let mut parsed: RecipeFile = read_toml(file)?;
            if parsed.name != name {
                let message = format!("name: `{}` differs from the folder {name}", parsed.name);
                return Err(Place { file }.at(&["name"], message));
            }
            if !shared.contains_key(scheduler) {
                shared.insert(scheduler, Shared::read(tree, scheduler)?);
            }
            let Some(shared) = shared.get(scheduler) else { continue };
            take_words(&mut parsed, &shared.words, Place { file })?;
            all.push(Recipe {
                scheduler: scheduler.to_owned(),
                folder: folder.to_owned(),
                templates: Arc::new(templates(tree, folder)),
                shared: Arc::clone(&shared.templates),
                file: parsed,
            });
        }
        followers_exist(tree, &all)?;
        all.sort_by(|a: &Recipe, b: &Recipe| {
            (&a.scheduler, a.file.order, &a.file.name).cmp(&(&b.scheduler, b.file.order, &b.file.name))
        });
        Ok(Self { all })
    }

    /// All recipes of a scheduler, in the order of their places.
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

    /// The command that gives rows with a code of an earlier release a state of this one, where a
    /// recipe does so, and the flag before each code that is confirmed.
    #[must_use]
    pub fn mapping(&self, manifest: &Manifest) -> Option<(String, String)> {
        self.of(&manifest.scheduler).filter(|r| r.applies_to(manifest)).find_map(|r| {
            let flag = r.file.parameters.iter().find(|p| p.kind == ParameterKind::Legacy)?;
            Some((format!("flowmend plan {}", r.file.name), format!("--{}", flag.name)))
        })
    }

    /// The role columns by which the recipes for a release name the owners of rows, each once.
    #[must_use]
    pub fn owner_columns(&self, manifest: &Manifest) -> Vec<&str> {
        let mut columns: Vec<&str> = Vec::new();
        for recipe in self.all.iter().filter(|r| r.applies_to(manifest)) {
            let column = recipe.file.owner.as_deref().filter(|c| manifest.has(c) && !columns.contains(c));
            columns.extend(column);
        }
        columns
    }

    /// All recipes.
    pub fn iter(&self) -> impl Iterator<Item = &Recipe> {
        self.all.iter()
    }
}

fn read_toml<T: serde::de::DeserializeOwned>(file: &DataFile) -> Result<T> {
    toml::from_str(&file.text).map_err(|e| Error::usage(format!("{}: {}", file.origin, e.to_string().trim_end())))
}

/// What a scheduler's recipes share; nothing if there are no such files.
struct Shared {
    words: SharedWords,
    templates: Arc<BTreeMap<String, String>>,
}

impl Shared {
    fn read(tree: &Tree, scheduler: &str) -> Result<Self> {
        let folder = format!("{scheduler}/{SHARED}");
        let words = tree.get(&format!("{folder}/{WORDS}")).map_or_else(|| Ok(SharedWords::default()), read_toml)?;
        Ok(Self { words, templates: Arc::new(templates(tree, &folder)) })
    }
}

/// Gives a recipe the shared parameters that it names, and every shared reason
/// that it does not say in words of its own.
fn take_words(recipe: &mut RecipeFile, words: &SharedWords, place: Place<'_>) -> Result<()> {
    for (index, name) in recipe.uses.iter().enumerate() {
        let path = ["uses", &index.to_string()];
        let Some(parameter) = words.parameters.iter().find(|p| p.name == *name) else {
            return Err(place.at(&path, format!("uses: {SHARED}/{WORDS} has no parameter {name}")));
        };
        if recipe.parameters.iter().any(|p| p.name == *name) {
            return Err(place.at(&path, format!("uses: the parameter {name} is described here, too")));
        }
        recipe.parameters.push(Parameter { shared: true, ..parameter.clone() });
    }
    if recipe.unit.is_none() {
        recipe.unit.clone_from(&words.unit);
    }
    let own: Vec<String> = recipe.left_out.iter().map(|r| r.code.clone()).collect();
    recipe.left_out.extend(words.left_out.iter().filter(|r| !own.contains(&r.code)).cloned());
    Ok(())
}

fn templates(tree: &Tree, folder: &str) -> BTreeMap<String, String> {
    let prefix = format!("{folder}/");
    tree.iter()
        .filter_map(|(path, file)| Some((path.strip_prefix(&prefix)?.to_owned(), file.text.to_string())))
        .collect()
}

/// `then` and `also` name recipes of the same scheduler.
fn followers_exist(tree: &Tree, all: &[Recipe]) -> Result<()> {
    for recipe in all {
        let known = |name: &String| all.iter().any(|r| r.scheduler == recipe.scheduler && r.file.name == *name);
        for (key, names) in [("then", &recipe.file.then), ("also", &recipe.file.also)] {
            let unknown = names.iter().enumerate().find(|(_, name)| !known(name));
            if let (Some((index, name)), Some(file)) = (unknown, tree.get(&format!("{}/recipe.toml", recipe.folder))) {
                let message = format!("{key}: {} has no recipe {name}", recipe.scheduler);
                return Err(Place { file }.at(&[key, &index.to_string()], message));
            }
        }
    }
    Ok(())
}

/// The recipe's file, able to say "file, line, key".
#[derive(Clone, Copy)]
struct Place<'a> {
    file: &'a DataFile,
}

impl Place<'_> {
    /// An error at a key, for example `["steps", "0", "query"]`.
    fn at(self, path: &[&str], message: impl Display) -> Error {
        let line = self.line(path).map_or_else(String::new, |line| format!(", line {line}"));
        Error::usage(format!("{}{line}: {message}", self.file.origin))
    }

    fn line(self, path: &[&str]) -> Option<usize> {
        let table = DeTable::parse(&self.file.text).ok()?;
        let (first, rest) = path.split_first()?;
        let mut value = table.get_ref().iter().find(|(key, _)| key.get_ref() == first)?.1;
        for part in rest {
            value = match value.get_ref() {
                DeValue::Table(table) => table.iter().find(|(key, _)| key.get_ref() == part)?.1,
                DeValue::Array(list) => list.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(self.file.text.get(..value.span().start)?.matches('\n').count() + 1)
    }

    /// An error at a key of a step.
    fn at_step(self, index: usize, keys: &[&str], message: impl Display) -> Error {
        let index = index.to_string();
        self.at(&[&["steps", &index], keys].concat(), message)
    }
}

impl Recipe {
    /// Checks the recipe against every manifest that it applies to.
    fn check(&self, tree: &Tree, manifests: &Manifests) -> Result<()> {
        let file = tree.get(&format!("{}/recipe.toml", self.folder));
        file.map_or(Ok(()), |file| check(self, Place { file }, manifests))
    }
}

fn check(recipe: &Recipe, place: Place<'_>, manifests: &Manifests) -> Result<()> {
    files_are_there(recipe, place)?;
    given_is_given(recipe, place)?;
    templates_parse(recipe, place)?;
    let file = &recipe.file;
    for (index, step) in file.steps.iter().enumerate() {
        if file.steps[..index].iter().any(|s| s.role == step.role && s.op == step.op && s.query == step.query) {
            return Err(place.at_step(index, &["role"], format!("steps: {} is listed twice", step.role)));
        }
        if step.op != Op::Update && !step.moves_on.is_empty() {
            let message = format!("steps.{}.moves_on: only rows that are updated move on", step.role);
            return Err(place.at_step(index, &["op"], message));
        }
        if step.op == Op::Delete && step.may_end {
            let message = format!("steps.{}.may_end: rows that are deleted have no end to come", step.role);
            return Err(place.at_step(index, &["op"], message));
        }
        if step.op == Op::Update && step.set.is_empty() {
            return Err(place.at_step(index, &["op"], format!("steps.{}: an update sets something", step.role)));
        }
    }
    for (index, check) in file.checks.iter().enumerate() {
        if !file.steps.iter().any(|s| s.role == check.step) {
            let message = format!("checks.{}.step: no step {}", check.name, check.step);
            return Err(place.at(&["checks", &index.to_string(), "step"], message));
        }
    }
    names_are_known(recipe, place, manifests)?;
    filters_are_known(recipe, place, manifests)?;
    exceptions_are_needed(recipe, place, manifests)?;
    for manifest in generations(recipe, manifests)?.into_iter().filter(|m| recipe.applies_to(m)) {
        for (index, step) in file.steps.iter().enumerate().filter(|(_, s)| manifest.has(&s.role)) {
            may_write(step, index, place, manifest)?;
            names_scopes(step, index, place, manifest)?;
        }
        children_first(recipe, place, manifest)?;
    }
    Ok(())
}

/// Every file that the recipe names lies beside it.
fn files_are_there(recipe: &Recipe, place: Place<'_>) -> Result<()> {
    let missing = |template: &str| !recipe.templates.contains_key(template);
    if let Some((index, step)) = recipe.file.steps.iter().enumerate().find(|(_, s)| missing(&s.query)) {
        return Err(place.at_step(
            index,
            &["query"],
            format!("steps.{}.query: no file {} beside it", step.role, step.query),
        ));
    }
    if let Some((index, report)) = recipe.file.reports.iter().enumerate().find(|(_, r)| missing(&r.query)) {
        let message = format!("reports.{}.query: no file {} beside it", report.role, report.query);
        return Err(place.at(&["reports", &index.to_string(), "query"], message));
    }
    if let Some((index, effect)) = recipe.file.effects.iter().enumerate().find(|(_, e)| missing(&e.query)) {
        let message = format!("effects.{}.query: no file {} beside it", effect.name, effect.query);
        return Err(place.at(&["effects", &index.to_string(), "query"], message));
    }
    if let Some((index, effect)) = recipe.file.effects.iter().enumerate().find(|(_, e)| e.gives.is_empty()) {
        let message = format!("effects.{}.gives: name the columns of the query", effect.name);
        return Err(place.at(&["effects", &index.to_string(), "gives"], message));
    }
    if let Some((index, effect)) = recipe.file.effects.iter().enumerate().find(|(_, e)| lacks_title(e)) {
        let message = format!("effects.{}.title: say what starts, in a few words", effect.name);
        return Err(place.at(&["effects", &index.to_string(), "tells"], message));
    }
    if missing(&recipe.file.prose) {
        return Err(place.at(&["prose"], format!("prose: no file {} beside it", recipe.file.prose)));
    }
    if let Some(choice) = recipe.file.choice.iter().find(|c| missing(&c.screen)) {
        return Err(place.at(&["choice", "screen"], format!("choice.screen: no file {} beside it", choice.screen)));
    }
    if let Some(left) = recipe.file.choice.iter().filter_map(|c| c.left.as_ref()).find(|left| missing(left)) {
        return Err(place.at(&["choice", "left"], format!("choice.left: no file {left} beside it")));
    }
    Ok(())
}

/// An effect that tells of a start is counted under its title.
fn lacks_title(effect: &EffectFile) -> bool {
    effect.tells == Tells::Starts && effect.title.is_empty()
}

/// A condition is told what its step's query gives.
fn given_is_given(recipe: &Recipe, place: Place<'_>) -> Result<()> {
    for (index, step) in recipe.file.steps.iter().enumerate() {
        for (n, condition) in step.conditions.iter().enumerate() {
            let Some(k) = condition.given.iter().position(|name| !step.gives.contains(name)) else { continue };
            let message = format!(
                "steps.{}.conditions.{}.given: {} is not among the step's `gives`",
                step.role, condition.name, condition.given[k]
            );
            return Err(place.at_step(index, &["conditions", &n.to_string(), "given", &k.to_string()], message));
        }
    }
    Ok(())
}

/// Every template can be read; what it asks for is seen when it renders.
fn templates_parse(recipe: &Recipe, place: Place<'_>) -> Result<()> {
    let env = Environment::new();
    let folder = place.file.origin.trim_end_matches("recipe.toml");
    for (name, text) in recipe.templates.iter().filter(|(name, _)| name.ends_with(".j2")) {
        env.template_from_named_str(&format!("{folder}{name}"), text)?;
    }
    for (name, text) in recipe.shared.iter().filter(|(name, _)| name.ends_with(".j2")) {
        env.template_from_named_str(&format!("{}/{SHARED}/{name}", recipe.scheduler), text)?;
    }
    for (index, step) in recipe.file.steps.iter().enumerate() {
        let conditions = step.conditions.iter().enumerate();
        let conditions = conditions.flat_map(|(n, c)| [(n, "sql", &c.sql), (n, "when", &c.when)]);
        for (n, key, text) in conditions {
            let path = ["conditions", &n.to_string(), key];
            env.template_from_str(text).map_err(|e| place.at_step(index, &path, Error::from(e)))?;
        }
        env.template_from_str(&step.when).map_err(|e| place.at_step(index, &["when"], Error::from(e)))?;
        for (rule, reason) in &step.accepts {
            env.template_from_str(reason).map_err(|e| place.at_step(index, &["accepts", rule], Error::from(e)))?;
        }
        for (column, set) in &step.set {
            env.template_from_str(&set.sql).map_err(|e| place.at_step(index, &["set", column], Error::from(e)))?;
        }
    }
    for (index, report) in recipe.file.reports.iter().enumerate() {
        let path = ["reports", &index.to_string(), "when"];
        env.template_from_str(&report.when).map_err(|e| place.at(&path, Error::from(e)))?;
    }
    for (index, finding) in recipe.file.findings.iter().enumerate() {
        let path = ["findings", &index.to_string(), "explain"];
        env.template_from_str(&finding.explain).map_err(|e| place.at(&path, Error::from(e)))?;
    }
    for (index, effect) in recipe.file.effects.iter().enumerate() {
        for (key, text) in [("when", &effect.when), ("text", &effect.text), ("way_out", &effect.way_out)] {
            let path = ["effects", &index.to_string(), key];
            env.template_from_str(text).map_err(|e| place.at(&path, Error::from(e)))?;
        }
    }
    for (index, check) in recipe.file.checks.iter().enumerate() {
        let path = ["checks", &index.to_string(), "sql"];
        env.template_from_str(&check.sql).map_err(|e| place.at(&path, Error::from(e)))?;
    }
    Ok(())
}

/// The generations of the recipe's scheduler; none where no manifest speaks of it.
fn generations<'m>(recipe: &Recipe, manifests: &'m Manifests) -> Result<Vec<&'m Manifest>> {
    if manifests.knows(&recipe.scheduler) { manifests.of(&recipe.scheduler) } else { Ok(Vec::new()) }
}

/// A role or column that no generation of the scheduler has is a slip of the pen.
fn names_are_known(recipe: &Recipe, place: Place<'_>, manifests: &Manifests) -> Result<()> {
    let generations = generations(recipe, manifests)?;
    if generations.is_empty() {
        return Ok(());
    }
    let unknown = |name: &str| !generations.iter().any(|m| m.has(name));
    let message = |key: &str, name: &str| format!("{key}: no generation of {} has {name}", recipe.scheduler);
    if let Some((index, name)) = recipe.file.needs.iter().enumerate().find(|(_, name)| unknown(name)) {
        return Err(place.at(&["needs", &index.to_string()], message("needs", name)));
    }
    if let Some(unit) = recipe.file.unit.iter().find(|name| unknown(name)) {
        return Err(place.at(&["unit"], message("unit", unit)));
    }
    if let Some(owner) = recipe.file.owner.iter().find(|name| unknown(name)) {
        return Err(place.at(&["owner"], message("owner", owner)));
    }
    // inspect lists owners with their unfinished rows and the oldest start. A role without
    // states is one whose rows are the owners themselves.
    let role = recipe.file.owner.as_deref().and_then(|owner| owner.split('.').next());
    let start = role.filter(|role| !unknown(&format!("{role}.state"))).map(|role| format!("{role}.start_time"));
    if let Some(name) = start.iter().find(|name| unknown(name)) {
        return Err(place.at(&["owner"], message("owner needs the start of its rows", name)));
    }
    if let Some((index, report)) = recipe.file.reports.iter().enumerate().find(|(_, r)| unknown(&r.role)) {
        return Err(place.at(&["reports", &index.to_string(), "role"], message("reports.role", &report.role)));
    }
    for (index, step) in recipe.file.steps.iter().enumerate() {
        if unknown(&step.role) {
            return Err(place.at_step(index, &["role"], message("steps.role", &step.role)));
        }
        for (n, column) in step.moves_on.iter().enumerate() {
            let name = format!("{}.{column}", step.role);
            if unknown(&name) {
                let key = format!("steps.{}.moves_on", step.role);
                return Err(place.at_step(index, &["moves_on", &n.to_string()], message(&key, &name)));
            }
        }
        for column in step.set.keys() {
            let name = format!("{}.{column}", step.role);
            if unknown(&name) {
                return Err(place.at_step(
                    index,
                    &["set", column],
                    message(&format!("steps.{}.set", step.role), &name),
                ));
            }
        }
        if step.related.as_ref().is_some_and(|r| r.from.0.len() != r.to.0.len() || r.from.0.is_empty()) {
            let message = format!("steps.{}.related: `from` and `to` name as many columns, at least one", step.role);
            return Err(place.at_step(index, &["related", "to"], message));
        }
        let names = |r: &RelatedFile| {
            let from = r.from.0.iter().map(|c| ("from", format!("{}.{c}", step.role)));
            let to = r.to.0.iter().map(|c| ("to", format!("{}.{c}", r.role)));
            from.chain(to).collect::<Vec<_>>()
        };
        for (key, name) in step.related.iter().flat_map(names) {
            if unknown(&name) {
                return Err(place.at_step(
                    index,
                    &["related", key],
                    message(&format!("steps.{}.related.{key}", step.role), &name),
                ));
            }
        }
    }
    Ok(())
}

/// What a filter names is in columns of one role, which some generation has.
fn filters_are_known(recipe: &Recipe, place: Place<'_>, manifests: &Manifests) -> Result<()> {
    let generations = generations(recipe, manifests)?;
    if generations.is_empty() {
        return Ok(());
    }
    let unknown = |name: &str| !name.contains('.') || !generations.iter().any(|m| m.has(name));
    for (index, parameter) in recipe.file.parameters.iter().enumerate() {
        let fails = |key: &str, why: String| {
            let path = ["parameters", &index.to_string(), key];
            Err(place.at(&path, format!("parameters.{}.{key}: {why}", parameter.name)))
        };
        let names_rows = matches!(parameter.kind, ParameterKind::Texts | ParameterKind::Numbers);
        if !parameter.among.is_empty() && !names_rows {
            return fails("among", "only texts and numbers name rows".to_owned());
        }
        if !parameter.within.is_empty() && parameter.among.is_empty() {
            return fails("within", "only where `among` says what holds the names".to_owned());
        }
        if parameter.which && parameter.among.is_empty() {
            return fails("which", "only where `among` says what holds the names".to_owned());
        }
        let is_age = |name: &String| recipe.parameter(name).is_some_and(|p| p.kind == ParameterKind::Age);
        if let Some(age) =
            parameter.listed_needs.iter().find(|name| parameter.kind.owner_form().is_none() || !is_age(name))
        {
            return fails("listed_needs", format!("it names an age for owners, and {age} is none, or these are none"));
        }
        let like = |name: &String| {
            recipe.parameter(name).is_some_and(|p| p.kind == parameter.kind && p.name != parameter.name)
        };
        if let Some(other) = parameter.excludes.iter().find(|name| !like(name)) {
            return fails("excludes", format!("{} has no other parameter {other} of this kind", recipe.file.name));
        }
        let among = parameter.among.iter().flat_map(|Names(names)| names).map(|name| ("among", name));
        let within = parameter.within.iter().map(|name| ("within", name));
        if let Some((key, name)) = among.chain(within).find(|(_, name)| unknown(name)) {
            return fails(key, format!("no generation of {} has the column {name}", recipe.scheduler));
        }
        for Names(names) in &parameter.among {
            let roles: BTreeSet<_> = names.iter().filter_map(|name| name.split('.').next()).collect();
            if roles.len() != 1 {
                return fails("among", "names that are joined are columns of one role".to_owned());
            }
        }
    }
    Ok(())
}

/// An exception without a rule, or without a reason, is a slip of the pen.
fn exceptions_are_needed(recipe: &Recipe, place: Place<'_>, manifests: &Manifests) -> Result<()> {
    let generations = generations(recipe, manifests)?.into_iter().filter(|m| recipe.applies_to(m));
    let generations: Vec<&Manifest> = generations.collect();
    for (index, step) in recipe.file.steps.iter().enumerate() {
        let Some(reason) = &step.allow_table else { continue };
        if reason.trim().is_empty() {
            return Err(place.at_step(index, &["allow_table"], "steps.allow_table: say why"));
        }
        let tables = generations.iter().filter_map(|m| Some((m, m.roles.get(&step.role)?)));
        if !tables.clone().any(|(m, role)| m.is_forbidden_table(&role.table)) && tables.count() > 0 {
            let message = format!("steps.allow_table: no generation forbids the table of {}", step.role);
            return Err(place.at_step(index, &["allow_table"], message));
        }
    }
    Ok(())
}

/// A step writes no table or column that the manifest forbids.
fn may_write(step: &StepFile, index: usize, place: Place<'_>, manifest: &Manifest) -> Result<()> {
    let role = manifest.role(&step.role)?;
    let generation = &manifest.generation;
    if manifest.is_forbidden_table(&role.table) && step.allow_table.is_none() {
        let message =
            format!("steps.{}.role: the manifest forbids writing {} (generation {generation})", step.role, role.table);
        let hint = "name the exception and its reason under `allow_table`, if only a step like this one may touch it";
        return Err(place.at_step(index, &["role"], message).hint(hint));
    }
    for column in step.set.keys() {
        let name = format!("{}.{column}", step.role);
        if !manifest.has(&name) {
            // A column that this generation lacks is left out of the step.
            continue;
        }
        if manifest.forbidden.columns.contains(&name) && !step.allow.contains_key(column) {
            let message =
                format!("steps.{}.set: the manifest forbids writing {name} (generation {generation})", step.role);
            let hint = "name the exception and its reason under `allow`";
            return Err(place.at_step(index, &["set", column], message).hint(hint));
        }
    }
    Ok(())
}

/// Whose lock rows a step needs is read from its rows.
fn names_scopes(step: &StepFile, index: usize, place: Place<'_>, manifest: &Manifest) -> Result<()> {
    let role = manifest.role(&step.role)?;
    let named = |scope: &str| match step.op {
        Op::Insert => step.set.get(scope).is_some_and(|set| set.kind == SetKind::Row),
        Op::Update | Op::Delete => role.key.iter().any(|column| column == scope),
    };
    let Some(scope) = manifest.locks.iter().filter_map(|l| l.scope.as_deref()).find(|scope| !named(scope)) else {
        return Ok(());
    };
    let (what, generation) = (if step.op == Op::Insert { "set" } else { "key" }, &manifest.generation);
    let message = format!(
        "steps.{}.role: the scheduler's lock rows are told apart by {scope}, which is not in the {what} of {} (generation {generation})",
        step.role, step.role
    );
    Err(place.at_step(index, &["role"], message))
}

/// Child tables are written before their parents.
fn children_first(recipe: &Recipe, place: Place<'_>, manifest: &Manifest) -> Result<()> {
    let position = |column: &str| {
        let role = column.split('.').next()?;
        recipe.file.steps.iter().position(|s| s.role == role && s.op == Op::Update)
    };
    for relation in manifest.relations.iter().filter(|r| r.part_of) {
        if let (Some(child), Some(parent)) = (position(&relation.child), position(&relation.parent))
            && child > parent
        {
            let (child_role, parent_role) = (&recipe.file.steps[child].role, &recipe.file.steps[parent].role);
            let message = format!(
                "steps.role: {child_role} must come before its parent {parent_role} (generation {})",
                manifest.generation
            );
            return Err(place.at_step(child, &["role"], message));
        }
    }
    Ok(())
}

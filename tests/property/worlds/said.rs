//! What an operator says: something for each parameter that the recipes have.

use std::collections::BTreeMap;

use flowmend::manifest::Manifest;
use flowmend::recipe::{Parameter, ParameterKind, Recipe};

use super::dice::Dice;
use super::hints;
use super::world::World;

/// Flag → texts, for every writing recipe of the manifest's scheduler.
pub fn flags(m: &Manifest, recipes: &[&Recipe], world: &World<'_>, dice: &mut Dice) -> BTreeMap<String, Vec<String>> {
    let mut said = BTreeMap::new();
    // Most plans take all rows; what names a few would leave others untried.
    let scoped = dice.in_hundred(25);
    for parameter in recipes.iter().flat_map(|r| &r.file.parameters) {
        let chooses = recipes.iter().filter_map(|r| r.file.choice.as_ref()).any(|c| c.parameter == parameter.name);
        let texts = values(m, parameter, (chooses, scoped), world, dice);
        if !texts.is_empty() && !said.contains_key(&parameter.name) {
            said.insert(parameter.name.clone(), texts);
        }
    }
    said
}

/// A choice that a recipe asks for is always made: a plan without it is a screen.
fn values(
    m: &Manifest,
    p: &Parameter,
    (chooses, scoped): (bool, bool),
    world: &World<'_>,
    dice: &mut Dice,
) -> Vec<String> {
    let often = match p.kind {
        ParameterKind::Choice if chooses => 100,
        ParameterKind::Owners | ParameterKind::Names => 85,
        ParameterKind::Age => 70,
        ParameterKind::Legacy => 70,
        ParameterKind::Choice | ParameterKind::Flag => 50,
        _ if hints::parameter(&m.scheduler, &p.name).is_some() => 80,
        ParameterKind::Texts | ParameterKind::Numbers if scoped => 50,
        ParameterKind::Texts | ParameterKind::Numbers => 0,
    };
    if !dice.in_hundred(often) {
        return Vec::new();
    }
    match p.kind {
        ParameterKind::Choice => vec![dice.pick(&p.values).clone()],
        ParameterKind::Flag => vec!["true".to_owned()],
        ParameterKind::Age => vec![(*dice.pick(&["6h", "6h", "1d", "10m"])).to_owned()],
        ParameterKind::Owners | ParameterKind::Names => owners(dice),
        ParameterKind::Legacy => confirmed(m, dice),
        ParameterKind::Texts | ParameterKind::Numbers => named(m, p, world, dice),
    }
}

/// What is proposed for most codes of earlier releases.
fn confirmed(m: &Manifest, dice: &mut Dice) -> Vec<String> {
    m.legacy.iter().filter(|_| dice.in_hundred(80)).map(|l| m.confirmation(l)).collect()
}

fn owners(dice: &mut Dice) -> Vec<String> {
    let some: [&[&str]; 7] = [
        &["*"],
        &["*"],
        &["*"],
        &["*"],
        &["10.0.0.9", "node-b:9999"],
        &["10.0.0.9:5678"],
        &["10.0.0.9:5678@2026-11-28T12:00:00", "node-b@2026-11-28T00:00:00"],
    ];
    dice.pick(&some).iter().map(|o| (*o).to_owned()).collect()
}

/// Rows of the world that the parameter may name, one or two of them.
fn named(m: &Manifest, p: &Parameter, world: &World<'_>, dice: &mut Dice) -> Vec<String> {
    if let Some(words) = hints::parameter(&m.scheduler, &p.name) {
        return vec![(*dice.pick(words)).to_owned()];
    }
    let name = p.name.replace('-', "_");
    let held: Vec<String> = [name.clone(), format!("{name}_id"), format!("{name}_name")]
        .iter()
        .flat_map(|column| world.held(column))
        .filter(|text| !text.trim().trim_matches(',').is_empty())
        .collect();
    match (p.kind, held.is_empty()) {
        (ParameterKind::Numbers, _) => vec!["1,2,3,4,5,6".to_owned()],
        (_, true) => vec!["it's \\ {{ this }}".to_owned()],
        (_, false) => vec![dice.pick(&held).clone(), dice.pick(&held).clone()],
    }
}

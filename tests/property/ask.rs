//! What an operator asks for: random parameters, as flags and as facts.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::model::{Model, NOW, PROJECTS, wall};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choose {
    Finish,
    Resume,
    Silent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    Runs(Vec<i64>),
    /// The place of a definition, by name or by code.
    Workflow(usize, bool),
    /// The place of a project, by name or by number.
    Project(usize, bool),
}

/// Somebody's word: host (`*` for all), port, and the time before which it holds.
#[derive(Clone, Debug)]
pub struct Claim {
    pub host: &'static str,
    pub port: Option<u16>,
    pub before: Option<i64>,
}

#[derive(Clone, Debug)]
pub struct Ask {
    pub killed: bool,
    pub older_hours: Option<i64>,
    pub claims: Vec<Claim>,
    pub choose: Choose,
    pub scope: Scope,
}

impl Ask {
    /// Everything is closed that every master's death allows.
    pub fn all_dead() -> Self {
        let claims = vec![Claim { host: "*", port: None, before: None }];
        Self { killed: false, older_hours: None, claims, choose: Choose::Finish, scope: Scope::All }
    }

    pub fn cutoff(&self) -> Option<i64> {
        self.older_hours.map(|h| NOW - h * 3600)
    }

    /// Flag name → texts.
    pub fn flags(&self, model: &Model) -> BTreeMap<String, Vec<String>> {
        let mut flags = BTreeMap::new();
        let mut put = |name: &str, texts: Vec<String>| flags.insert(name.to_owned(), texts);
        put("outcome", vec![if self.killed { "killed" } else { "failed" }.to_owned()]);
        // The chain of serial runs and orphaned sub-workflows have tests of their own.
        put("waiters", vec!["leave".to_owned()]);
        put("children", vec!["keep".to_owned()]);
        if let Some(hours) = self.older_hours {
            put("older-than", vec![format!("{hours}h")]);
        }
        if !self.claims.is_empty() {
            put("dead-owner", self.claims.iter().map(Claim::flag).collect());
        }
        match self.choose {
            Choose::Finish => drop(put("choose", vec!["finish".to_owned()])),
            Choose::Resume => drop(put("choose", vec!["resume".to_owned()])),
            Choose::Silent => {}
        }
        match &self.scope {
            Scope::All => {}
            Scope::Runs(runs) => drop(put("instance", runs.iter().map(ToString::to_string).collect())),
            Scope::Workflow(at, named) => {
                let definition = &model.definitions[*at];
                let text = if *named { definition.name.clone() } else { definition.code.to_string() };
                put("workflow", vec![text]);
            }
            Scope::Project(at, named) => {
                let (id, name) = PROJECTS[*at];
                put("project", vec![if *named { name.to_owned() } else { id.to_string() }]);
            }
        }
        flags
    }
}

impl Claim {
    fn flag(&self) -> String {
        let port = self.port.map(|p| format!(":{p}")).unwrap_or_default();
        let before = self.before.map(|t| format!("@{}", wall(t).replace(' ', "T"))).unwrap_or_default();
        format!("{}{port}{before}", self.host)
    }
}

pub fn ask(runs: usize, definitions: usize) -> impl Strategy<Value = Ask> {
    let older = prop_oneof![3 => Just(None), 1 => Just(Some(6)), 2 => Just(Some(24))];
    let choose = prop_oneof![7 => Just(Choose::Finish), 1 => Just(Choose::Resume), 1 => Just(Choose::Silent)];
    let claims = proptest::collection::vec(claim(), 1..4);
    let claims = prop_oneof![8 => claims, 1 => Just(Vec::new())];
    (any::<bool>(), older, claims, choose, scope(runs, definitions))
        .prop_map(|(killed, older_hours, claims, choose, scope)| Ask { killed, older_hours, claims, choose, scope })
}

fn claim() -> impl Strategy<Value = Claim> {
    let host = prop_oneof![
        4 => Just(("10.0.0.9", None)),
        4 => Just(("10.0.0.9", Some(5678))),
        2 => Just(("master-a.example", None)),
        3 => Just(("*", None)),
    ];
    let before =
        prop_oneof![4 => Just(None), 1 => (NOW - 48 * 3600..NOW).prop_map(Some), 1 => Just(Some(NOW - 24 * 3600))];
    (host, before).prop_map(|((host, port), before)| Claim { host, port, before })
}

fn scope(runs: usize, definitions: usize) -> impl Strategy<Value = Scope> {
    let last = i64::try_from(runs).unwrap() + 2;
    prop_oneof![
        8 => Just(Scope::All),
        1 => proptest::collection::vec(1..last, 1..5).prop_map(Scope::Runs),
        1 => (0..definitions, any::<bool>()).prop_map(|(at, named)| Scope::Workflow(at, named)),
        1 => (0..PROJECTS.len(), any::<bool>()).prop_map(|(at, named)| Scope::Project(at, named)),
    ]
}

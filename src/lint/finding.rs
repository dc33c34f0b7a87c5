//! What the linter says.

use std::ops::Range;

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Worth knowing.
    Info,
    /// Probably not what is wanted.
    Warning,
    /// Does damage, or does not run.
    Error,
}

impl Level {
    /// The level of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        [Self::Info, Self::Warning, Self::Error].into_iter().find(|level| level.name() == name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A rewrite that needs no judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes of the script that go.
    pub range: Range<usize>,
    /// What comes in their place.
    pub text: String,
}

/// One thing that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's code.
    pub rule: String,
    /// How bad it is.
    pub level: Level,
    /// Where, in bytes of the script.
    pub range: Range<usize>,
    /// The sentence.
    pub message: String,
    /// Why: the fact and where it was read.
    pub why: Vec<String>,
    /// The ways out.
    pub help: Vec<String>,
    /// The way out as a rewrite, where it is mechanical.
    pub edit: Option<Edit>,
}

impl Finding {
    /// A finding with its sentence.
    pub fn new(rule: &str, level: Level, range: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            rule: rule.to_owned(),
            level,
            range,
            message: message.into(),
            why: Vec::new(),
            help: Vec::new(),
            edit: None,
        }
    }

    /// Adds the fact behind it.
    pub fn why(&mut self, fact: impl Into<String>) -> &mut Self {
        self.why.push(fact.into());
        self
    }

    /// Adds a way out.
    pub fn help(&mut self, way: impl Into<String>) -> &mut Self {
        self.help.push(way.into());
        self
    }

    /// Adds a rewrite.
    pub fn edit(&mut self, range: Range<usize>, text: impl Into<String>) -> &mut Self {
        self.edit = Some(Edit { range, text: text.into() });
        self
    }
}

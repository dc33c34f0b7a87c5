//! The linter's findings, for people, programs and CI systems.

mod github;
mod human;
pub(super) mod junit;
pub(super) mod sarif;

use serde::Serialize;

use crate::lint::{Finding, Level, Linted, Pages};
use crate::sql::Places;
use crate::{Error, Result};

/// A script with what was found in it.
pub struct Checked<'a> {
    /// The file's name, `-` for standard input.
    pub name: &'a str,
    /// The script.
    pub text: &'a str,
    /// What it was checked against: scheduler and release.
    pub against: String,
    /// The findings.
    pub linted: Linted,
}

/// The forms of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people, as a compiler writes.
    Human,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// `JUnit`'s XML.
    Junit,
    /// Annotations of GitHub Actions.
    Github,
}

impl Form {
    /// The form of a name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name {
            "json" => Self::Json,
            "sarif" => Self::Sarif,
            "junit" => Self::Junit,
            "github" => Self::Github,
            _ => Self::Human,
        }
    }
}

/// Writes the report.
///
/// # Errors
/// The form cannot be written; a fault of flowmend.
pub fn render(checked: &[Checked<'_>], form: Form, pages: &Pages) -> Result<String> {
    match form {
        Form::Human => Ok(human::render(checked)),
        Form::Json => json(checked),
        Form::Sarif => sarif::render(checked, pages),
        Form::Junit => junit::render(checked),
        Form::Github => Ok(github::render(checked)),
    }
}

/// How many findings have a level.
#[must_use]
pub fn count(checked: &[Checked<'_>], level: Level) -> usize {
    checked.iter().flat_map(|c| &c.linted.findings).filter(|f| f.level == level).count()
}

/// A finding with its place, for programs.
#[derive(Serialize)]
struct Shown<'a> {
    file: &'a str,
    rule: &'a str,
    level: Level,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    message: &'a str,
    why: &'a [String],
    help: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    edit: Option<ShownEdit<'a>>,
}

#[derive(Serialize)]
struct ShownEdit<'a> {
    /// Bytes of the file.
    start: usize,
    end: usize,
    text: &'a str,
}

fn shown<'a>(name: &'a str, places: &Places<'_>, finding: &'a Finding) -> Shown<'a> {
    let (from, to) = (places.place(finding.range.start), places.place(finding.range.end));
    Shown {
        file: name,
        rule: &finding.rule,
        level: finding.level,
        line: from.line,
        column: from.column,
        end_line: to.line,
        end_column: to.column,
        message: &finding.message,
        why: &finding.why,
        help: &finding.help,
        edit: finding.edit.as_ref().map(|e| ShownEdit { start: e.range.start, end: e.range.end, text: &e.text }),
    }
}

/// The sentence of a finding, its facts and its ways out, a line each.
fn whole(finding: &Finding) -> String {
    let parts = [std::slice::from_ref(&finding.message), &finding.why, &finding.help];
    parts.concat().join("\n")
}

#[derive(Serialize)]
struct File<'a> {
    file: &'a str,
    against: &'a str,
    statements: usize,
    unread: usize,
    allowed: usize,
    findings: Vec<Shown<'a>>,
}

fn json(checked: &[Checked<'_>]) -> Result<String> {
    let file = |c: &Checked<'_>| -> Result<serde_json::Value> {
        let places = Places::of(c.text);
        let file = File {
            file: c.name,
            against: &c.against,
            statements: c.linted.statements,
            unread: c.linted.unread,
            allowed: c.linted.allowed,
            findings: c.linted.findings.iter().map(|f| shown(c.name, &places, f)).collect(),
        };
        serde_json::to_value(file).map_err(|e| Error::internal(e.to_string()))
    };
    let files = checked.iter().map(file).collect::<Result<Vec<_>>>()?;
    let whole = serde_json::json!({
        "format": 1,
        "files": files,
        "errors": count(checked, Level::Error),
        "warnings": count(checked, Level::Warning),
        "infos": count(checked, Level::Info),
    });
    serde_json::to_string_pretty(&whole).map_err(|e| Error::internal(e.to_string()))
}

//! What an upgrade breaks, for people, programs and CI systems.

use std::cmp::Reverse;

use quick_junit::{Report, TestSuite};
use serde::Serialize;
use serde_json::{Value, json};

use super::lint::{junit, sarif};
use super::sections::Section;
use crate::lint::Level;
use crate::ui::{BAD, GOOD, HEAD, WARN, paint, rows_of, safe, wrap};
use crate::upgrade::{About, BROUGHT, FORMAT, Finding};
use crate::{Error, Result};

/// The findings of an upgrade check.
#[derive(Serialize)]
pub struct UpgradeReport {
    /// The version of this form.
    pub format: u32,
    /// The scheduler's name for people.
    pub title: String,
    /// The release that runs, or ran.
    pub from: String,
    /// The release that is reached.
    pub to: String,
    /// The database, if one was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// Whether the upgrade has already run.
    pub after: bool,
    /// How many scripts were checked, if any were named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scripts: Option<usize>,
    /// The findings, the worst first.
    pub findings: Vec<Finding>,
}

impl UpgradeReport {
    /// A report of findings.
    #[must_use]
    pub fn new(title: &str, from: &str, to: &str, mut findings: Vec<Finding>) -> Self {
        findings.sort_by(|a, b| order(a).cmp(&order(b)));
        let (title, from, to) = (title.to_owned(), from.to_owned(), to.to_owned());
        Self { format: FORMAT, title, from, to, database: None, after: false, scripts: None, findings }
    }

    /// Whether something breaks.
    #[must_use]
    pub fn breaks(&self) -> bool {
        self.findings.iter().any(|f| f.level > Level::Info)
    }

    fn heading(&self) -> String {
        let place = self.database.as_ref().map(|d| format!(" in {d}")).unwrap_or_default();
        let verb = if self.after { "after the upgrade" } else { "upgrade" };
        format!("{}: {verb} {} → {}{place}", self.title, self.from, self.to)
    }

    /// The report in a form.
    ///
    /// # Errors
    /// It cannot be written; a fault of flowmend.
    pub fn render(&self, form: &str) -> Result<String> {
        match form {
            "json" => serde_json::to_string_pretty(self).map_err(|e| Error::internal(e.to_string())),
            "sarif" => self.sarif(),
            "junit" => self.junit(),
            "markdown" => Ok(super::sections::markdown(&self.heading(), &self.sections())),
            _ => Ok(self.human()),
        }
    }

    fn human(&self) -> String {
        let mut lines = vec![paint(HEAD, &self.heading())];
        let count = |level| self.findings.iter().filter(|f| f.level == level).count();
        let (errors, warnings) = (count(Level::Error), count(Level::Warning));
        lines.push(match (errors, warnings) {
            (0, 0) => paint(GOOD, "nothing breaks that flowmend knows of"),
            _ => paint(BAD, &format!("{}, {}", number(errors, "error"), number(warnings, "warning"))),
        });
        if let Some(scripts) = self.scripts {
            lines.push(format!("{} checked; only what the upgrade breaks is listed", number(scripts, "script")));
        }
        for (about, heading) in ABOUT {
            let found: Vec<&Finding> = self.findings.iter().filter(|f| f.about == about).collect();
            if found.is_empty() {
                continue;
            }
            lines.extend([String::new(), paint(HEAD, heading)]);
            let (brought, found): (Vec<&Finding>, Vec<&Finding>) = found.into_iter().partition(|f| f.code == BROUGHT);
            found.chunk_by(|a, b| has_details_of(a, b)).for_each(|alike| lines.extend(told(alike)));
            lines.extend(told_brought(&brought));
        }
        lines.join("\n")
    }

    fn sections(&self) -> Vec<Section> {
        let row = |f: &Finding| {
            let rows = f.rows.map(|n| n.to_string()).unwrap_or_default();
            let since = f.since.clone().unwrap_or_default();
            vec![f.level.name().to_owned(), f.code.clone(), f.subject.clone(), rows, since, with_help(f)]
        };
        let section = |(about, heading): (About, &str)| {
            let rows: Vec<Vec<String>> = self.findings.iter().filter(|f| f.about == about).map(row).collect();
            let head = ["level", "code", "what", "rows", "since", "finding"];
            (!rows.is_empty()).then(|| Section::table(heading, &head, rows))
        };
        ABOUT.into_iter().filter_map(section).collect()
    }

    fn sarif(&self) -> Result<String> {
        let mut codes: Vec<&str> = self.findings.iter().map(|f| f.code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        let result = |f: &Finding| {
            let location = match &f.place {
                Some((file, line)) => json!({ "physicalLocation": {
                    "artifactLocation": { "uri": sarif::uri(file) },
                    "region": { "startLine": line },
                } }),
                None => json!({ "logicalLocations": [{ "fullyQualifiedName": f.subject }] }),
            };
            json!({
                "ruleId": f.code,
                "ruleIndex": codes.iter().position(|c| *c == f.code),
                "level": sarif::level_name(f.level),
                "message": { "text": with_help(f) },
                "locations": [location],
            })
        };
        let rules: Vec<Value> = codes.iter().map(|code| json!({ "id": code })).collect();
        let results: Vec<Value> = self.findings.iter().map(result).collect();
        sarif::log(&sarif::run(&rules, &results))
    }

    fn junit(&self) -> Result<String> {
        let mut report = Report::new("flowmend upgrade-check");
        let mut suite = TestSuite::new(self.heading());
        for f in &self.findings {
            let name = format!("{}: {}", f.subject, f.code);
            suite.add_test_case(junit::case(name, &f.code, f.level, &f.message, with_help(f)));
        }
        junit::add_suite(&mut report, suite);
        report.to_string().map_err(|e| Error::internal(e.to_string()))
    }
}

/// The headings, in the order in which they matter.
const ABOUT: [(About, &str); 5] = [
    (About::Before, "Before the upgrade"),
    (About::Rows, "Rows"),
    (About::Schema, "Tables and columns of this database"),
    (About::Scripts, "Scripts, views and reports"),
    (About::Repairs, "Repairs"),
];

/// The sentence, how many rows, the facts and the ways out, a line each.
fn with_help(f: &Finding) -> String {
    let rows = f.rows.map(|n| format!("{}{}", rows_of(n), sample(f)));
    [Some(f.message.clone()), rows]
        .into_iter()
        .flatten()
        .chain(f.why.clone())
        .chain(f.help.clone())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The worst first, then by what they are about; codes in the order of numbers.
fn order(f: &Finding) -> (Reverse<Level>, About, &str, &str, Option<i64>, &str) {
    let (subject, code) = f.subject.rsplit_once(' ').unwrap_or((&f.subject, ""));
    (Reverse(f.level), f.about, &f.code, subject, code.parse().ok(), code)
}

fn number(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// How many names one line lists.
const NAMED: usize = 12;

/// What the scheduler's own upgrade brings, in one line: every upgrade has some.
fn told_brought(brought: &[&Finding]) -> Vec<String> {
    if brought.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = brought.iter().take(NAMED).map(|f| f.subject.as_str()).collect();
    let more = brought.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more (--format json)") } else { String::new() };
    let text = format!("not there yet, the scheduler's own upgrade must bring it: {}{more}", names.join(", "));
    wrap("  note: ", 4, &text)
}

fn sample(f: &Finding) -> String {
    if f.sample.is_empty() { String::new() } else { format!(" (for example {})", safe(&f.sample.join(", "), 200)) }
}

/// Whether the same facts and ways out belong to two findings.
fn has_details_of(a: &Finding, b: &Finding) -> bool {
    (a.level, &a.code, &a.why, &a.help) == (b.level, &b.code, &b.why, &b.help)
}

/// Findings with the same details, which stand once, under the last.
fn told(alike: &[&Finding]) -> Vec<String> {
    let mut lines: Vec<String> = alike.iter().flat_map(|f| sentence(f)).collect();
    if let Some(f) = alike.first().filter(|f| f.level > Level::Info) {
        f.why.iter().for_each(|why| lines.extend(wrap("    ", 6, why)));
        f.help.iter().for_each(|help| lines.extend(wrap("    → ", 6, help)));
    }
    lines
}

fn sentence(f: &Finding) -> Vec<String> {
    let level = match f.level {
        Level::Error => paint(BAD, "error"),
        Level::Warning => paint(WARN, "warning"),
        Level::Info => "note".to_owned(),
    };
    // Of a column that is missing the sentence says it.
    let since =
        f.since.as_ref().filter(|_| f.about != About::Schema).map(|s| format!(" (since {s})")).unwrap_or_default();
    let rows = f.rows.map(|n| format!(": {}{}", rows_of(n), sample(f))).unwrap_or_default();
    let text = format!("{}{rows}{since}", f.message);
    // A code says which column it is of; a sentence about a table names it.
    let text = if f.about == About::Rows { format!("{} {text}", column(&f.subject)) } else { text };
    wrap(&format!("  {level}: "), 4, &text)
}

fn column(subject: &str) -> &str {
    // A key names several.
    let end = subject.find(')').map_or_else(|| subject.find(' '), |at| Some(at + 1));
    end.map_or(subject, |at| &subject[..at])
}

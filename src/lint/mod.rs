//! Checks hand-written SQL against the release that it will run on. Pure.
//!
//! A script is split as its client splits it ([`crate::sql`]), each statement is parsed and
//! read into what the rules see ([`reading`]): the rows that it selects, as sets of states,
//! and what it writes to them. Rules speak about these, not about text.

mod absence;
mod ahead;
mod allow;
mod body;
mod branches;
mod bundle;
mod chosen;
mod client;
mod comment;
mod conditions;
mod config;
mod data_rule;
mod define;
mod finding;
mod fix;
mod hits;
mod knowledge;
mod moments;
mod own;
mod page;
mod parse;
mod pattern;
mod prepared;
mod read;
pub mod reading;
mod report;
mod rewrite;
pub mod rules;
mod scope;
mod truth;
mod values;

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use sqlparser::ast::{CopyTarget, Statement};

pub use allow::Allow;
pub use bundle::{OwnFault, faults_of, release_of, the_plan_knows};
pub use comment::told;
pub use config::Config;
pub use data_rule::DataRules;
pub use finding::{Edit, Finding, Level};
pub use fix::fixed;
pub use hits::{Hit, hits};
pub use knowledge::Knowledge;
pub use page::{Page, Pages};
pub use report::Report;

use self::ahead::Ready;
use self::client::{Runs, client_runs};
use self::data_rule::DataRule;
use self::parse::{End, Parsed, Unread};
use self::prepared::{Memory, Seen};
use self::reading::{Deed, Reading};
use self::rules::{Across, Check};
use crate::manifest::Engine;
use crate::sql::{Client, Piece, PieceKind, Places, Script, split};
use crate::ui::safe;
use crate::{Error, Result};

/// What was found in a script.
#[derive(Debug, Default)]
pub struct Linted {
    /// Findings, in the order of the script.
    pub findings: Vec<Finding>,
    /// How many statements there are.
    pub statements: usize,
    /// How many of them could not be read, so that nothing in them was checked.
    pub unread: usize,
    /// How many findings the script allows by its comments.
    pub allowed: usize,
}

/// Long chains of ORs make deep trees; they are walked on a stack of this size, in bytes.
const STACK: usize = 1 << 30;

/// Checks a script.
///
/// # Errors
/// No thread can be started; a fault of flowmend.
pub fn lint(text: &str, knowledge: &Knowledge<'_>, data: &DataRules, config: &Config) -> Result<Linted> {
    Ok(lint_with(text, knowledge.engine, || Ok(knowledge), data, config)?.1)
}

/// Checks a script, and learns of its release while its statements are parsed.
///
/// # Errors
/// What is asked for is not known, or no thread can be started; a fault of flowmend.
pub fn lint_with<'k, K: Borrow<Knowledge<'k>> + Send + Sync>(
    text: &str,
    engine: Engine,
    learn: impl FnOnce() -> Result<K> + Send,
    data: &DataRules,
    config: &Config,
) -> Result<(K, Linted)> {
    std::thread::scope(|scope| {
        let work = || linted(text, engine, learn, data, config);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|e| Error::internal(format!("cannot start a thread: {e}")))?;
        thread.join().map_err(|_| Error::internal("the linter stopped"))?
    })
}

fn linted<'k, K: Borrow<Knowledge<'k>> + Send + Sync>(
    text: &str,
    engine: Engine,
    learn: impl FnOnce() -> Result<K>,
    data: &DataRules,
    config: &Config,
) -> Result<(K, Linted)> {
    let places = Places::of(text);
    let script = split(text, Client::of(engine));
    let learned = OnceLock::new();
    let known = || learned.get().map(K::borrow);
    let own = own::own_tables(text, &script.pieces);
    let source = ahead::Source { text, pieces: &script.pieces, places: &places, engine, known: &known, own: &own };
    let linted = std::thread::scope(|scope| -> Result<Linted> {
        let parsed = source.start(scope);
        let knowledge = learn()?;
        let knowledge = learned.get_or_init(|| knowledge);
        Ok(checked(parsed, &script, knowledge.borrow(), data, config))
    })?;
    let knowledge = learned.into_inner().ok_or_else(|| Error::internal("the release was not learned"))?;
    Ok((knowledge, linted))
}

fn checked(
    parsed: ahead::Ahead<'_>,
    script: &Script,
    knowledge: &Knowledge<'_>,
    data: &DataRules,
    config: &Config,
) -> Linted {
    let text = parsed.source.text;
    let mut run = Run {
        report: Report::new(knowledge, parsed.source.places),
        across: rules::ALL.iter().filter_map(across).collect(),
        data: data.of(knowledge),
        memory: Memory::default(),
        own: parsed.source.own,
        views: BTreeSet::new(),
        linted: Linted::default(),
    };
    if script.bom {
        run.says("byte-order-mark", 0..3, Level::Info, "the file begins with a byte order mark");
    }
    if script.crlf {
        let at = text.find("\r\n").unwrap_or_default();
        run.says("windows-lines", at..at, Level::Info, "lines end as on Windows (CRLF)");
    }
    parsed.each(|piece, ready| match piece.kind {
        PieceKind::Client => run.client(text, piece),
        PieceKind::Sql => ready.into_iter().for_each(|ready| run.statement(ready, piece)),
    });
    run.end();
    let Run { report, mut linted, .. } = run;
    let comments = script.comments.iter().cloned();
    let ranges: Vec<Range<usize>> = script.pieces.iter().map(|p| p.range.clone()).collect();
    linted.findings = report.findings;
    if !config.comments_allow_nothing {
        let (allowed, unclear) = allow::read(text, comments, &ranges);
        let (findings, silenced) = allow::apply(allowed, linted.findings);
        linted.findings = findings;
        linted.findings.extend(unclear);
        linted.allowed = silenced;
    }
    // Last, since a comment for a rule that is off is of use where it is not.
    linted.findings = config.levelled(linted.findings);
    linted.sort();
    linted
}

impl Linted {
    /// Puts the findings in the order of the script, the worst first where they meet.
    pub fn sort(&mut self) {
        self.findings.sort_by_key(|f| (f.range.start, std::cmp::Reverse(f.level), f.rule.clone()));
    }
}

fn across(rule: &rules::Rule) -> Option<(&'static str, Box<dyn Across>)> {
    match rule.check {
        Check::Across(watch) => Some((rule.code, watch())),
        Check::Each(_) | Check::Moves(_) => None,
    }
}

struct Run<'r> {
    report: Report<'r>,
    across: Vec<(&'static str, Box<dyn Across>)>,
    /// The rules about the release.
    data: Vec<&'r DataRule>,
    /// User variables and prepared statements.
    memory: Memory,
    /// Tables of the script's own, under the name of a schema.
    own: &'r [String],
    /// Views (lower case) that the script has made so far.
    views: BTreeSet<String>,
    linted: Linted,
}

impl<'r> Run<'r> {
    fn says(&mut self, rule: &'static str, range: Range<usize>, level: Level, message: &str) -> &mut Finding {
        self.report.rule = rule;
        self.report.over(range, level, message)
    }

    fn client(&mut self, text: &str, piece: &Piece) {
        let line = &text[piece.range.clone()];
        self.memory.client_sets(line);
        let Some(runs) = client_runs(line) else { return };
        self.memory.forget();
        let (message, help) = match runs {
            Runs::File => ("another file is run here: what it does is not checked", "give flowmend that file, too"),
            Runs::Result => (
                "the result of the query before is run as SQL: what it does is not checked",
                "write the result into a file, and give flowmend that file",
            ),
            Runs::Shell => ("a shell command is run here: what it does is not checked", "leave it out of the script"),
            Runs::Rows => (
                "rows come from a file here: what they are is not checked",
                "fill a table of your own, and write the scheduler's by statements that name their rows",
            ),
        };
        self.says("other-file", piece.range.clone(), Level::Warning, message).help(help);
    }

    fn statement(&mut self, Ready { parsed, reading }: Ready, piece: &Piece) {
        self.linted.statements += 1;
        self.report.start = parsed.start;
        match (piece.open, parsed.end) {
            (Some(open), _) => {
                let range = open..open + 1;
                self.says("open-quote", range, Level::Error, "a quote or comment begins here and never ends");
            }
            (None, End::Missing) => self.missing_end(&parsed),
            (None, End::Script) => {
                let at = parsed.range.end;
                self.says("unterminated-statement", at..at, Level::Info, "the last statement has no semicolon");
            }
            (None, End::Marked) => {}
        }
        if self.prepared(&parsed) {
            return;
        }
        if matches!(parsed.what, Ok(Statement::Merge(_))) {
            self.linted.unread += 1;
            let message = "MERGE is not understood, and nothing in it was checked";
            self.says("unread-statement", parsed.range.clone(), Level::Error, message)
                .help("write it as UPDATE, DELETE and INSERT, which are checked");
            return;
        }
        if let Ok(Statement::Copy { target, to, .. }) = &parsed.what {
            self.copies(target, *to, &parsed.range);
        }
        match parsed.what {
            Err(unread) => match define::by_words(self.report.text(parsed.range.clone()), self.report.knowledge.engine)
            {
                Some((definition, body)) => {
                    let deed = Deed::Define(definition);
                    self.rules(&Reading { range: parsed.range.clone(), deed, ..Reading::default() });
                    self.body(parsed.range.end - body.len(), body);
                }
                None => self.unread(&unread, piece),
            },
            Ok(mut statement) => {
                let filled = self.memory.fill(&mut statement);
                let first = self.report.findings.len();
                let read = || read::read(&statement, (self.report.knowledge, self.own), &[]);
                let mut reading = reading.filter(|_| !filled).unwrap_or_else(read);
                reading.range = parsed.range.clone();
                self.rules(&reading);
                // What stands there is a variable, whose value stands elsewhere.
                if filled {
                    self.report.findings[first..].iter_mut().for_each(|finding| finding.edit = None);
                }
                // PostgreSQL's bodies are texts to the parser.
                if self.report.knowledge.engine == Engine::PostgreSql
                    && let Deed::Define(_) = reading.deed
                    && let Some((definition, routine)) =
                        define::by_words(self.report.text(parsed.range.clone()), Engine::PostgreSql)
                    && ["CREATE FUNCTION", "CREATE PROCEDURE", "DO"].contains(&definition.what)
                {
                    self.body(parsed.range.end - routine.len(), routine);
                }
            }
        }
    }

    /// What a COPY brings that nobody sees here.
    fn copies(&mut self, target: &CopyTarget, to: bool, range: &Range<usize>) {
        let (message, help) = match target {
            CopyTarget::Program { .. } => (
                "a shell command is run here, by the server: what it does is not checked",
                "leave it out of the script",
            ),
            CopyTarget::File { .. } if !to => (
                "rows come from a file here: what they are is not checked",
                "fill a table of your own, and write the scheduler's by statements that name their rows",
            ),
            _ => return,
        };
        self.says("other-file", range.clone(), Level::Warning, message).help(help);
    }

    /// Changes through a view that the script itself makes: whose rows they are stands there.
    fn through_views(&mut self, reading: &Reading) {
        let views = std::mem::take(&mut self.views);
        for change in reading.changes.iter().filter(|c| views.contains(&c.table.to_lowercase())) {
            self.report.rule = "unread-statement";
            let message =
                format!("{} is a view that this script makes: what is written through it is not checked", change.table);
            self.report.at(change.span, Level::Error, message).help("write the table behind it");
        }
        self.views = views;
        if let Deed::Define(definition) = &reading.deed
            && definition.what == "CREATE VIEW"
        {
            self.views.extend(definition.tables.iter().map(|t| t.to_lowercase()));
        }
    }

    /// Whether a statement prepares or runs another one; what it runs is checked.
    fn prepared(&mut self, parsed: &Parsed) -> bool {
        if self.report.knowledge.engine != Engine::MySql {
            return false;
        }
        let text = self.report.text(parsed.range.clone());
        match self.memory.see(text, parsed.what.as_ref().ok()) {
            Seen::Plain => return false,
            Seen::Done => {}
            Seen::Runs(texts) => texts.iter().for_each(|text| self.run(text, &parsed.range)),
            Seen::Unknown(why) => {
                self.linted.unread += 1;
                let message = format!("what is run here is not checked: {why}");
                self.says("unread-statement", parsed.range.clone(), Level::Warning, &message)
                    .help("a text is known if this file sets it to a literal, or to a CONCAT of literals");
            }
        }
        true
    }

    /// Checks a text that the script runs as a statement: all findings stand where it is run.
    fn run(&mut self, text: &str, at: &Range<usize>) {
        let first = self.report.findings.len();
        let grammar = parse::grammar(self.report.knowledge.engine);
        self.report.pinned = Some(at.clone());
        match parse::only(text, grammar.as_ref()) {
            Ok(statement) => {
                let reading = read::read(&statement, (self.report.knowledge, self.own), &[]);
                self.rules(&Reading { range: at.clone(), ..reading });
            }
            Err(unread) => self.not_understood(&unread),
        }
        self.report.pinned = None;
        for finding in &mut self.report.findings[first..] {
            finding.edit = None;
            finding.why(format!("what is run: {}", safe(text, 300)));
        }
    }

    /// The changes in the body of a trigger or routine, from the definition's text after its
    /// kind. What may change rows there and cannot be read is said.
    fn body(&mut self, start: usize, routine: &str) {
        let engine = self.report.knowledge.engine;
        let grammar = parse::grammar(engine);
        let body = body::body_of(routine, engine);
        let start = start + body.start;
        if body.quoted {
            let range = start..start + routine.len();
            return self.unread_part(range, "the body stands in plain quotes; write it as $$ … $$");
        }
        for part in body::parts(body.text, engine) {
            let range = match part {
                body::Part::Change(range) => range,
                body::Part::Unread(range) => {
                    self.unread_part(start + range.start..start + range.end, "it may change rows");
                    continue;
                }
            };
            let at = start + range.start..start + range.end;
            let statement = match parse::only(&body.text[range], grammar.as_ref()) {
                Ok(statement) => statement,
                Err(unread) => {
                    self.unread_part(at, &unread.message);
                    continue;
                }
            };
            let mut reading = read::read(&statement, (self.report.knowledge, self.own), &body.locals);
            if reading.changes.is_empty() {
                continue;
            }
            reading.changes.iter_mut().for_each(|c| c.in_body = true);
            reading.range = at;
            self.report.start = reading.range.start;
            self.rules(&reading);
        }
    }

    fn unread_part(&mut self, range: Range<usize>, why: &str) {
        self.linted.unread += 1;
        let message = format!("this part of a routine is not understood, and nothing in it was checked: {why}");
        self.says("unread-statement", range, Level::Warning, &message);
    }

    fn missing_end(&mut self, parsed: &Parsed) {
        let at = parsed.range.end;
        let message = "the statement has no semicolon, and another begins";
        self.says("unterminated-statement", at..at, Level::Error, message)
            .why("the server sees one statement and refuses it with a syntax error: nothing of it runs")
            .edit(at..at, ";");
    }

    fn unread(&mut self, unread: &Unread, piece: &Piece) {
        // PRAGMA takes words that no grammar lists; MySQL's DO only counts. Neither changes a row.
        if piece.open.is_some() || ["PRAGMA", "DO"].contains(&unread.word.as_str()) {
            return;
        }
        self.not_understood(unread);
    }

    fn not_understood(&mut self, unread: &Unread) {
        self.linted.unread += 1;
        let changes =
            ["UPDATE", "DELETE", "INSERT", "REPLACE", "MERGE", "WITH", "LOAD", "COPY"].contains(&unread.word.as_str());
        let level = if changes { Level::Error } else { Level::Warning };
        let message = format!("this statement is not understood, and nothing in it was checked: {}", unread.message);
        self.report.rule = "unread-statement";
        self.report.at(unread.span, level, message);
    }

    fn rules(&mut self, reading: &Reading) {
        let knowledge = self.report.knowledge;
        let moves = report::transitions(knowledge, reading);
        for rule in rules::ALL {
            self.report.rule = rule.code;
            match rule.check {
                Check::Each(check) => check(&mut self.report, reading),
                Check::Moves(check) => moves.iter().for_each(|t| check(&mut self.report, t)),
                Check::Across(_) => {}
            }
        }
        self.through_views(reading);
        let roles: Vec<_> = reading.changes.iter().map(|change| knowledge.role(&change.table)).collect();
        for rule in &self.data {
            self.report.rule = &rule.code;
            rule.check(&mut self.report, reading, &roles);
        }
        for (code, watch) in &mut self.across {
            self.report.rule = code;
            watch.see(&mut self.report, reading);
        }
        if let Deed::Define(definition) = &reading.deed
            && definition.what.starts_with("CREATE")
        {
            self.report.made.extend(definition.tables.iter().map(|t| t.to_lowercase()));
        }
    }

    fn end(&mut self) {
        self.report.start = 0;
        for (code, watch) in &mut self.across {
            self.report.rule = code;
            watch.end(&mut self.report);
        }
        let Report { findings, answered, .. } = &mut self.report;
        findings.retain(|f| !answered.contains(&f.rule));
    }
}

//! `flowmend lint`.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use clap::ArgMatches;

use super::App;
use super::args::{given, path_of};
use crate::dialect::Dialect;
use crate::lint::{Config, DataRules, Knowledge, Level, Linted, Pages, fixed, lint, told};
use crate::report::lint::{Checked, Form, count, render};
use crate::sql::{Client, split};
use crate::{Error, Result, ui};

/// Long chains of ORs make deep trees; they are walked on a stack of this size, in bytes.
const STACK: usize = 1 << 30;

/// Checks scripts, or prints the rules.
pub(super) fn run(app: &App, m: &ArgMatches) -> Result<u8> {
    let pages = Pages::load();
    if let Some(code) = given(m, "explain") {
        return explain(&pages, code);
    }
    if m.get_flag("rules") {
        pages.iter().for_each(|p| ui::out(format!("{:<28} {}", p.code, p.summary())));
        return Ok(0);
    }
    let data = DataRules::load(&app.manifests)?;
    let config = config(m, &codes(&pages))?;
    let files: Vec<PathBuf> = m.get_many::<PathBuf>("file").into_iter().flatten().cloned().collect();
    let mut scripts = Vec::new();
    for file in &files {
        let name = if file.as_os_str() == "-" { "-".to_owned() } else { file.display().to_string() };
        scripts.push((name, read(file)?));
    }
    let mut checked = Vec::new();
    for (name, text) in &scripts {
        let own = config.for_path(name);
        let target = Target::of(m, &own, name, text)?;
        let knowledge = Knowledge::of(&app.manifests, &target.scheduler, &target.release, target.dialect.engine)?;
        let linted = deep(|| lint(text, &knowledge, &data, &own))?;
        checked.push(Checked { name, text, against: knowledge.title(), linted });
    }
    if m.get_flag("fix") || m.get_flag("write") {
        return fix(&checked, m.get_flag("write"));
    }
    let form = Form::of(given(m, "format").unwrap_or("human"));
    report(&checked, form, &pages, path_of(m, "output"))?;
    let worst = count(&checked, Level::Error) + count(&checked, Level::Warning);
    Ok(u8::from(worst > 0))
}

/// Runs on a thread with room for deep trees.
fn deep(work: impl FnOnce() -> Linted + Send) -> Result<Linted> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|e| Error::internal(format!("cannot start a thread: {e}")))?;
        thread.join().map_err(|_| Error::internal("the linter stopped"))
    })
}

fn codes(pages: &Pages) -> Vec<String> {
    pages.iter().map(|p| p.code.clone()).collect()
}

fn read(file: &Path) -> Result<String> {
    let bytes = if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let bytes = bytes.map_err(|e| Error::usage(format!("{}: {e}", file.display())))?;
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = e.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
        Error::usage(format!("{}, line {line}: not UTF-8", file.display()))
            .hint("convert it, for example: iconv -f LATIN1 -t UTF-8")
    })
}

/// `--config`, else `flowmend.toml` where one is.
fn config(m: &ArgMatches, codes: &[String]) -> Result<Config> {
    let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
    let named = path_of(m, "config").cloned();
    let file = named.clone().unwrap_or_else(|| PathBuf::from("flowmend.toml"));
    if named.is_none() && !file.exists() {
        return Ok(Config::default());
    }
    let text = crate::data::read_text(&file)?;
    Config::read(&text, &file.display().to_string(), &codes)
}

/// What a script will run on.
struct Target {
    scheduler: String,
    release: String,
    dialect: Dialect,
}

impl Target {
    /// From the command line, else from the script itself, else from the configuration.
    fn of(m: &ArgMatches, config: &Config, name: &str, text: &str) -> Result<Self> {
        // Comments are found alike by every client, but for `#`.
        let said = LazyCell::new(|| told(text, &split(text, Client::Psql)));
        let find = |flag: &str, configured: &Option<String>| {
            let own = given(m, flag).map(ToOwned::to_owned);
            own.or_else(|| said.get(flag).cloned()).or_else(|| configured.clone())
        };
        let missing = |what: &str, example: &str| {
            Error::usage(format!("{name}: which {what} the script is for is not said")).hint(format!(
                "give --{what} {example}, or write `-- flowmend: {what}={example}` into the script, or put it under [lint] in flowmend.toml"
            ))
        };
        let scheduler = find("scheduler", &config.scheduler).ok_or_else(|| missing("scheduler", "NAME"))?;
        let release = find("release", &config.release).ok_or_else(|| missing("release", "VERSION"))?;
        let dialect = find("dialect", &config.dialect).ok_or_else(|| missing("dialect", "mysql"))?;
        Ok(Self { scheduler, release, dialect: Dialect::load(&dialect)? })
    }
}

fn explain(pages: &Pages, code: &str) -> Result<u8> {
    let page = pages.get(code).ok_or_else(|| {
        let codes: Vec<&str> = pages.iter().map(|p| p.code.as_str()).collect();
        let near = similar::get_close_matches(code, &codes, 1, 0.6).first().map(|n| (*n).to_owned());
        let hint = near.map_or("flowmend lint --rules lists them".to_owned(), |n| format!("did you mean {n}?"));
        Error::usage(format!("there is no rule `{code}`")).hint(hint)
    })?;
    ui::out(page.text.trim_end());
    Ok(0)
}

/// `--fix` shows what would change, `--write` changes it.
fn fix(checked: &[Checked<'_>], write: bool) -> Result<u8> {
    let mut left = false;
    for file in checked {
        let (text, done) = fixed(file.text, &file.linted.findings);
        left |= file.linted.findings.iter().any(|f| f.edit.is_none() && f.level > Level::Info);
        if write && done > 0 {
            if file.name == "-" {
                ui::out(text.trim_end_matches('\n'));
                continue;
            }
            std::fs::write(file.name, &text).map_err(|e| Error::usage(format!("{}: {e}", file.name)))?;
            ui::note(format!("{}: {done} rewritten", file.name));
        } else if done > 0 {
            let diff = similar::TextDiff::from_lines(file.text, text.as_str());
            ui::out(diff.unified_diff().header(file.name, file.name).to_string().trim_end_matches('\n'));
        }
    }
    Ok(u8::from(left))
}

fn report(checked: &[Checked<'_>], form: Form, pages: &Pages, output: Option<&PathBuf>) -> Result<()> {
    let text = render(checked, form, pages)?;
    match output {
        None => ui::out(text),
        Some(file) => {
            let plain = anstream::adapter::strip_str(&text).to_string();
            std::fs::write(file, plain + "\n").map_err(|e| Error::usage(format!("{}: {e}", file.display())))?;
        }
    }
    Ok(())
}

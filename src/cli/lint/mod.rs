//! `flowmend lint`.

mod live;
mod script;

use std::path::PathBuf;

use clap::ArgMatches;

use self::live::Live;
pub(super) use self::script::scripts_below;
use self::script::{Script, Target};
use super::App;
use super::args::{given, path_of};
use crate::lint::{Config, DataRules, Knowledge, Level, Pages, fixed, lint_with, the_plan_knows};
use crate::report::lint::{Checked, Form, count, render};
use crate::report::print_to;
use crate::{Error, Result, ui};

/// Checks scripts, or prints the rules.
pub(super) async fn run(app: &App, m: &ArgMatches) -> Result<u8> {
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
    let mut live = Live::open(app, m).await?;
    let dialect = given(m, "dialect").map(ToOwned::to_owned).or_else(|| live.as_ref().and_then(|l| l.says("dialect")));
    let dialect = dialect.as_deref().or(config.dialect.as_deref());
    let mut scripts = Vec::new();
    for file in m.get_many::<PathBuf>("file").into_iter().flatten() {
        scripts.extend(Script::read(file, &app.manifests, dialect)?);
    }
    let here = std::env::current_dir().ok();
    let mut checked = Vec::new();
    for script in &scripts {
        let own = config.for_path(&script.name, here.as_deref());
        let target = Target::of(m, &own, script, live.as_ref())?;
        let in_script = |e: Error| e.context(&script.name);
        let manifests = target.manifests(&app.manifests).map_err(in_script)?;
        let (engine, span) = (target.dialect.engine, live.as_ref().and_then(|live| live.span(&target.release)));
        let learn = || {
            let known = Knowledge::of(&manifests, &target.scheduler, &target.release, engine)?;
            Ok(span.into_iter().fold(known, Knowledge::of_any))
        };
        let (knowledge, mut linted) = lint_with(&script.text, engine, learn, &data, &own).map_err(in_script)?;
        let planned = script.as_planned(&knowledge);
        if planned.is_some() {
            linted.findings.retain(|f| !the_plan_knows(f));
        }
        if let Some(live) = &mut live {
            live.count(&script.text, &knowledge, &own, &mut linted).await;
        }
        let against = planned.map_or_else(|| knowledge.title(), ToOwned::to_owned);
        checked.push(Checked { name: &script.name, text: &script.text, against, linted });
    }
    if let Some(live) = live {
        live.close().await;
    }
    if m.get_flag("fix") || m.get_flag("write") {
        return fix(&checked, m.get_flag("write"));
    }
    let form = Form::of(given(m, "format").unwrap_or("human"));
    print_to(&render(&checked, form, &pages)?, path_of(m, "output"))?;
    let worst = count(&checked, Level::Error) + count(&checked, Level::Warning);
    Ok(u8::from(worst > 0))
}

fn codes(pages: &Pages) -> Vec<String> {
    pages.iter().map(|p| p.code.clone()).collect()
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

fn explain(pages: &Pages, code: &str) -> Result<u8> {
    let page = pages.named(code)?;
    ui::out(page.text.trim_end());
    Ok(0)
}

/// `--fix` shows what would change, `--write` changes it.
fn fix(checked: &[Checked<'_>], write: bool) -> Result<u8> {
    let mut left = false;
    let mut rewritten = 0;
    for file in checked {
        let (text, done) = fixed(file.text, &file.linted.findings);
        rewritten += done;
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
    if rewritten == 0 {
        ui::note("nothing to rewrite: no finding has a fix that needs no judgement");
    }
    if left {
        ui::note("errors or warnings are left for you; without --fix or --write they are shown");
    }
    Ok(u8::from(left))
}

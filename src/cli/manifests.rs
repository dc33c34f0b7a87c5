//! `flowmend manifests`.

use clap::ArgMatches;

use super::App;
use super::args::{path_of, wants_json};
use crate::manifest::Manifests;
use crate::recipe::Recipes;
use crate::{Error, Result, report, ui};

/// Lists or checks manifests.
pub(super) fn run(app: &App, m: &ArgMatches) -> Result<u8> {
    match m.subcommand() {
        Some(("list", m)) => list(app, m),
        Some(("check", m)) => check(app, m),
        _ => Err(Error::usage("no command")),
    }
}

fn list(app: &App, m: &ArgMatches) -> Result<u8> {
    let rows: Vec<Vec<String>> = app
        .manifests
        .all()?
        .into_iter()
        .map(|m| {
            let approximate = match m.approximate.as_slice() {
                [] => String::new(),
                some if some.len() == m.releases.len() => "approximate".to_owned(),
                some => format!("approximate: {}", some.join(" ")),
            };
            vec![m.scheduler.clone(), m.generation.clone(), m.releases.join(" "), approximate]
        })
        .collect();
    if wants_json(m) {
        return report::json(&rows).map(|()| 0);
    }
    ui::out(report::human::table(&["scheduler", "generation", "releases", ""], &rows));
    Ok(0)
}

fn check(app: &App, m: &ArgMatches) -> Result<u8> {
    let dir = path_of(m, "dir").ok_or_else(|| Error::usage("no directory was named"))?;
    let manifests = Manifests::load(Some(dir))?;
    Recipes::checked(&app.templates, &manifests)?;
    let own = manifests.all()?.into_iter().filter(|x| x.origin.starts_with(&dir.display().to_string())).count();
    if own == 0 {
        return Err(Error::usage(format!("{} holds no manifest", dir.display()))
            .hint("a manifest is a file <scheduler>/<generation>.toml"));
    }
    ui::out(format!("{own} manifests of {} are right", dir.display()));
    Ok(0)
}

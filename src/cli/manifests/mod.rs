//! `flowmend manifests`.

mod new;

use clap::ArgMatches;

use super::App;
use super::args::{given, path_of, wants_json};
use crate::dialect::Dialect;
use crate::manifest::compare::compare;
use crate::manifest::{Manifest, Manifests};
use crate::recipe::Recipes;
use crate::report::manifests::{LEGEND, ShownStep, changes, matrix, show, show_json, spans};
use crate::report::sections::{Section, markdown, terminal};
use crate::upgrade::{Upgrade, recipe_changes};
use crate::{Error, Result, report, ui};

/// Shows, compares, checks and begins manifests.
pub(super) fn run(app: &App, m: &ArgMatches) -> Result<u8> {
    match m.subcommand() {
        Some(("list", m)) => list(app, m),
        Some(("show", m)) => show_one(app, m),
        Some(("diff", m)) => diff(app, m),
        Some(("matrix", m)) => states(app, m),
        Some(("export", m)) => export(app, m),
        Some(("new", m)) => new::run(app, m),
        Some(("check", m)) => check(app, m),
        _ => Err(Error::usage("no command")),
    }
}

/// A positional text.
fn word<'a>(m: &'a ArgMatches, name: &str) -> Result<&'a str> {
    given(m, name).ok_or_else(|| Error::usage(format!("no {name} was named")))
}

fn list(app: &App, m: &ArgMatches) -> Result<u8> {
    let all = app.manifests.all()?;
    let row = |m: &&Manifest| {
        let approximate = match m.approximate.as_slice() {
            [] => String::new(),
            some if some.len() == m.releases.len() => "approximate".to_owned(),
            some => format!("approximate: {}", some.join(" ")),
        };
        vec![m.scheduler.clone(), m.generation.clone(), m.releases.join(" "), approximate]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    if wants_json(m) {
        return report::json(&rows).map(|()| 0);
    }
    ui::out(report::human::table(&["scheduler", "generation", "releases", ""], &rows));
    Ok(0)
}

/// Sections in the form that was asked for.
fn print(m: &ArgMatches, title: &str, sections: &[Section]) {
    let text =
        if given(m, "format") == Some("markdown") { markdown(title, sections) } else { terminal(title, sections) };
    ui::out(text);
}

fn show_one(app: &App, m: &ArgMatches) -> Result<u8> {
    let release = word(m, "release")?;
    let found = app.manifests.release(word(m, "scheduler")?, release)?;
    if wants_json(m) {
        return report::json(&show_json(found, &app.recipes)).map(|()| 0);
    }
    let title = format!("{} {release} (manifest {} to {})", found.title, found.generation, last(found));
    print(m, &title, &show(found, &app.recipes));
    Ok(0)
}

fn last(m: &Manifest) -> &str {
    m.releases.last().map_or(m.generation.as_str(), String::as_str)
}

/// Exit 1 where something differs, as `diff` does.
fn diff(app: &App, m: &ArgMatches) -> Result<u8> {
    let (from, to) = (word(m, "from")?, word(m, "to")?);
    let upgrade = Upgrade::between(&app.manifests, word(m, "scheduler")?, from, to)?;
    let (old, new) = (upgrade.from.clone().behaving_as(from), upgrade.to.clone().behaving_as(to));
    let between = upgrade.steps.iter().map(|step| step.to).take(upgrade.steps.len().saturating_sub(1));
    let way: Vec<&Manifest> = std::iter::once(&old).chain(between).chain([&new]).collect();
    let step = |from: &Manifest, to: &Manifest| {
        let mut changes = compare(from, to);
        changes.extend(recipe_changes(&app.recipes, from, to));
        ShownStep { to: to.generation.clone(), releases: to.releases.clone(), changes }
    };
    let each: Vec<ShownStep> = way.windows(2).map(|pair| step(pair[0], pair[1])).collect();
    let whole = step(&old, &new);
    let differs = whole.differs() || each.iter().any(ShownStep::differs);
    let (mut sections, steps) = if m.get_flag("steps") {
        let of = |(step, to): (&ShownStep, &&Manifest)| changes(&to.release_range(), &step.changes);
        (each.iter().zip(&way[1..]).flat_map(of).collect(), each)
    } else {
        (changes("", &whole.changes), vec![whole])
    };
    if wants_json(m) {
        report::json(&steps)?;
    } else {
        if !differs {
            sections.push(Section::default().note("nothing differs that flowmend knows of"));
        }
        print(m, &format!("{}: {from} → {to}", upgrade.to.title), &sections);
    }
    Ok(u8::from(differs))
}

fn states(app: &App, m: &ArgMatches) -> Result<u8> {
    let all = app.manifests.of(word(m, "scheduler")?)?;
    let title = all.last().map(|m| m.title.clone()).unwrap_or_default();
    if wants_json(m) {
        let sections = matrix(&all);
        let json = sections.iter().map(|s| serde_json::json!({ "column": s.title, "head": s.head, "rows": s.rows }));
        return report::json(&json.collect::<Vec<_>>()).map(|()| 0);
    }
    let mut sections = if given(m, "format") == Some("markdown") { matrix(&all) } else { spans(&all) };
    sections.push(Section::default().note(LEGEND));
    print(m, &format!("{title}: states by release"), &sections);
    Ok(0)
}

fn export(app: &App, m: &ArgMatches) -> Result<u8> {
    let release = word(m, "release")?;
    let found = app.manifests.release(word(m, "scheduler")?, release)?;
    let text = match word(m, "lang")? {
        "sql" => report::export::sql(found, release, &Dialect::load(given(m, "dialect").unwrap_or("postgresql"))?),
        _ => report::export::json(found, release)?,
    };
    ui::out(text);
    Ok(0)
}

fn check(app: &App, m: &ArgMatches) -> Result<u8> {
    let dir = path_of(m, "dir").ok_or_else(|| Error::usage("no directory was named"))?;
    let manifests = Manifests::load(Some(dir))?;
    Recipes::checked(&app.templates, &manifests)?;
    let all = manifests.all()?;
    let own = all.iter().filter(|x| x.origin.starts_with(&dir.display().to_string())).count();
    if own == 0 {
        return Err(Error::usage(format!("{} holds no manifest", dir.display()))
            .hint("a manifest is a file <scheduler>/<generation>.toml"));
    }
    for m in all.iter().filter(|x| x.origin.starts_with(&dir.display().to_string())) {
        unsourced(m);
        unmarked(m, &all);
    }
    let (manifests, are) = if own == 1 { ("manifest", "is") } else { ("manifests", "are") };
    ui::out(format!("{own} {manifests} of {} {are} right", dir.display()));
    Ok(0)
}

fn unsourced(m: &Manifest) {
    if m.sources.is_empty() {
        ui::warn(format!("{}: sources is empty: say where its facts were read", m.origin));
    }
}

/// A schema that two generations fit is told apart by the version row or `--release` only.
fn unmarked(m: &Manifest, all: &[&Manifest]) {
    let same = |o: &&&Manifest| {
        let (own, other) = (&m.fingerprint, &o.fingerprint);
        o.scheduler == m.scheduler
            && o.generation != m.generation
            && own.present == other.present
            && own.absent == other.absent
            && own.details == other.details
            && own.without == other.without
    };
    if let Some(other) = all.iter().find(same) {
        ui::warn(format!(
            "{}: its fingerprint is that of {}: only the version row or --release tells them apart",
            m.origin, other.generation
        ));
    }
}

//! `flowmend demo NAME`: a whole repair on a small SQLite database, offline.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use serde::Deserialize;

use super::App;
use super::args::{given, path_of};
use crate::db::{Access, Address, Database};
use crate::dialect::Dialect;
use crate::manifest::ddl;
use crate::{Error, Result, bundle, ui};

/// The story of a demo: `<scheduler>/demo/demo.toml` in the template tree.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Story {
    /// Told when no name was given.
    #[serde(default)]
    first: bool,
    release: String,
    story: String,
    now: String,
    zone: String,
    /// What is planned: a recipe, or `--all`.
    plan: String,
    arguments: Vec<String>,
    /// What `plan` asks for, one after the other, and what the operator says; empty where it does not ask.
    choices: Vec<[String; 2]>,
}

const DATABASE: &str = "scheduler.db";
const BUNDLE: &str = "repair";
/// Where the bundle of the walk is kept, with its receipts.
const WALKED: &str = "walked";

/// Walks through a whole repair.
pub(super) async fn run(app: &App, m: &ArgMatches) -> Result<u8> {
    let stories = stories(app)?;
    if m.get_flag("list") {
        return list(app, &stories);
    }
    let (scheduler, story) = pick(&stories, given(m, "name"))?;
    let (dir, kept) = workplace(path_of(m, "keep"))?;
    let outcome = walk(app, scheduler, story, &dir).await;
    if kept {
        begin_again(app, scheduler, story).await?;
        ui::out(format!("\nThe database in {} is as it was at the start:", dir.display()));
        ui::out(format!("repeat the commands above there, in their order. The bundle is in {WALKED}/, too."));
    } else {
        let _ = std::env::set_current_dir(std::env::temp_dir());
        let _ = std::fs::remove_dir_all(&dir);
    }
    outcome
}

/// A fresh database, and the bundle out of the way: a bundle that was rolled back
/// is not applied again, and the same plan has the same id.
async fn begin_again(app: &App, scheduler: &str, story: &Story) -> Result<()> {
    let cannot = |e: std::io::Error| Error::usage(format!("cannot tidy up: {e}"));
    if Path::new(BUNDLE).exists() {
        std::fs::rename(BUNDLE, WALKED).map_err(cannot)?;
    }
    make_database(app, scheduler, story).await
}

/// Every story in the template tree, by the name of its scheduler.
fn stories(app: &App) -> Result<BTreeMap<String, Story>> {
    let files = app.templates.iter().filter_map(|(path, file)| Some((path.strip_suffix("/demo/demo.toml")?, file)));
    files
        .map(|(name, file)| {
            let story = toml::from_str(&file.text).map_err(|e| Error::usage(format!("{}: {e}", file.origin)))?;
            Ok((name.to_owned(), story))
        })
        .collect()
}

fn pick<'s>(stories: &'s BTreeMap<String, Story>, name: Option<&str>) -> Result<(&'s str, &'s Story)> {
    let found = match name {
        Some(name) => stories.get_key_value(name),
        None => stories.iter().find(|(_, story)| story.first).or_else(|| stories.first_key_value()),
    };
    found.map(|(name, story)| (name.as_str(), story)).ok_or_else(|| {
        let names: Vec<&str> = stories.keys().map(String::as_str).collect();
        Error::usage(format!("no demo for `{}`", name.unwrap_or("any scheduler")))
            .hint(format!("there are demos for {}", names.join(", ")))
    })
}

fn list(app: &App, stories: &BTreeMap<String, Story>) -> Result<u8> {
    for (name, story) in stories {
        let manifest = app.manifests.release(name, &story.release)?;
        ui::out(format!("{name:<18}{} {}: plan {}", manifest.title, story.release, story.plan));
    }
    Ok(0)
}

/// A new directory to work in, and whether it stays.
fn workplace(keep: Option<&PathBuf>) -> Result<(PathBuf, bool)> {
    let dir =
        keep.cloned().unwrap_or_else(|| std::env::temp_dir().join(format!("flowmend-demo-{}", std::process::id())));
    let cannot = |e: std::io::Error| Error::usage(format!("cannot use {}: {e}", dir.display()));
    if dir.exists() && std::fs::read_dir(&dir).map_err(cannot)?.next().is_some() {
        return Err(
            Error::usage(format!("{} exists and is not empty", dir.display())).hint("give --keep a new directory")
        );
    }
    std::fs::create_dir_all(&dir).map_err(cannot)?;
    let dir = std::fs::canonicalize(&dir).map_err(cannot)?;
    Ok((dir, keep.is_some()))
}

async fn walk(app: &App, scheduler: &str, story: &Story, dir: &Path) -> Result<u8> {
    std::env::set_current_dir(dir).map_err(|e| Error::usage(format!("cannot use {}: {e}", dir.display())))?;
    make_database(app, scheduler, story).await?;
    let title = &app.manifests.release(scheduler, &story.release)?.title;
    ui::out(ui::paint(ui::HEAD, &format!("A night with {title} {}", story.release)));
    ui::out(story.story.trim_end());
    let before = digest().await?;
    let url = ["--url", &format!("sqlite:{DATABASE}")];
    let mut steps = Steps { app, number: 0 };
    steps.look_and_plan(story, &url).await?;
    let seal = bundle::Bundle::read(Path::new(BUNDLE))?.seal;
    let sealed = ["--seal", seal.short()];
    steps.take("Review: what a DBA reads (and TICKET.md, and the SQL)", &["show", BUNDLE], 0).await?;
    steps.take("Rehearse: repair and undo in one transaction", &[&["rehearse", BUNDLE], &url[..]].concat(), 0).await?;
    steps.take("Apply what was approved", &[&["apply", BUNDLE], &url[..], &sealed].concat(), 0).await?;
    let repaired = digest().await?;
    let verify = [&["verify", BUNDLE], &url[..]].concat();
    steps.take("Verify, now or later", &verify, 0).await?;
    steps.take("Undo", &[&["rollback", BUNDLE], &url[..], &sealed].concat(), 0).await?;
    steps.take("Verify the undo", &verify, 0).await?;
    proof(&before, &repaired, &digest().await?)
}

/// The last lines: the rows of all tables, before, repaired and after.
fn proof(before: &str, repaired: &str, after: &str) -> Result<u8> {
    ui::out(format!("\n{}", ui::paint(ui::HEAD, "The round trip, as SHA-256 over every row of every table")));
    ui::out(format!("  before    {}", &before[..32]));
    ui::out(format!("  repaired  {}", &repaired[..32]));
    ui::out(format!("  undone    {}", &after[..32]));
    if before != after || before == repaired {
        return Err(Error::internal("the round trip did not come back to where it began"));
    }
    ui::out(ui::paint(ui::GOOD, "The repair changed rows, and the undo brought every byte back."));
    Ok(0)
}

/// The numbered steps of the walk.
struct Steps<'a> {
    app: &'a App,
    number: usize,
}

impl Steps<'_> {
    async fn look_and_plan(&mut self, story: &Story, url: &[&str]) -> Result<()> {
        let arguments = texts(&story.arguments);
        let about = [url, &["--now", &story.now, "--zone", &story.zone], &arguments].concat();
        self.take("Look, read only", &[&["inspect"], &about[..]].concat(), 1).await?;
        let mut plan = [&["plan", story.plan.as_str()], &about[..]].concat();
        let out = ["--out", BUNDLE];
        for choice in &story.choices {
            self.take("Plan: it asks where there are two ways", &[&plan[..], &out].concat(), 2).await?;
            plan.extend(texts(choice));
        }
        self.take("Plan: nothing is written to the database", &[&plan[..], &out].concat(), 0).await
    }

    /// Prints a command and runs it, as `main` would.
    async fn take(&mut self, title: &str, arguments: &[&str], expected: u8) -> Result<()> {
        self.number += 1;
        ui::out(format!("\n{}", ui::paint(ui::HEAD, &format!("{}. {title}", self.number))));
        ui::out(ui::paint(ui::DIM, &command_line(arguments)));
        let line = std::iter::once("flowmend").chain(arguments.iter().copied());
        let matches = super::args::command(&self.app.recipes)
            .try_get_matches_from(line)
            .map_err(|e| Error::internal(e.to_string()))?;
        let code = match Box::pin(super::dispatch(self.app, &matches)).await {
            Err(error) if error.kind.exit_code() == expected => {
                ui::error(&error.to_string(), error.hints());
                expected
            }
            outcome => outcome?,
        };
        if code == expected {
            return Ok(());
        }
        Err(Error::internal(format!("the demo expected exit code {expected} of {}, not {code}", arguments[0])))
    }
}

fn texts(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// The command as a reader would type it, in lines of at most 80 columns.
fn command_line(arguments: &[&str]) -> String {
    let mut lines = vec!["$ flowmend".to_owned()];
    for argument in arguments {
        let shown = if argument.contains([' ', '*']) { format!("'{argument}'") } else { (*argument).to_owned() };
        let line = lines.last_mut().filter(|l| l.len() + shown.len() + 3 <= 78);
        match line {
            Some(line) => line.push_str(&format!(" {shown}")),
            None => {
                if let Some(last) = lines.last_mut() {
                    last.push_str(" \\");
                }
                lines.push(format!("    {shown}"));
            }
        }
    }
    lines.join("\n")
}

async fn open() -> Result<Database> {
    Database::open(&Address::parse(&format!("sqlite:{DATABASE}"))?, None, Access::ReadWrite).await
}

async fn make_database(app: &App, scheduler: &str, story: &Story) -> Result<()> {
    for left in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{DATABASE}{left}"));
    }
    std::fs::File::create(DATABASE).map_err(|e| Error::usage(format!("cannot write {DATABASE}: {e}")))?;
    let manifest = app.manifests.release(scheduler, &story.release)?;
    let path = format!("{scheduler}/demo/rows.sql");
    let rows = app.templates.get(&path).ok_or_else(|| Error::internal(format!("no {path}")))?;
    let mut db = open().await?;
    db.rows("BEGIN").await?;
    for table in ddl::create_all(manifest, &Dialect::load("sqlite")?) {
        db.rows(&table).await?;
    }
    db.rows(&rows.text).await?;
    db.rows("COMMIT").await?;
    db.close().await;
    Ok(())
}

/// SHA-256 over every row of the scheduler's tables, in the order of their values:
/// a row that was deleted and inserted again is the same row.
async fn digest() -> Result<String> {
    let mut db = open().await?;
    let mut text = String::new();
    for table in db.catalog().await?.iter().filter(|t| !t.name.starts_with("flowmend_")) {
        let columns: Vec<String> =
            table.columns.iter().map(|c| format!("quote({})", db.dialect.ident(&c.name))).collect();
        let sql = format!("SELECT {} FROM {} ORDER BY 1", columns.join(" || ',' || "), db.dialect.ident(&table.name));
        text.push_str(&table.name);
        for row in db.rows(&sql).await? {
            text.push_str(row.first().and_then(Option::as_deref).unwrap_or_default());
            text.push('\n');
        }
    }
    db.close().await;
    Ok(crate::digest::sha256(&[text.as_bytes()]))
}

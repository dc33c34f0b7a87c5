//! The command line: one file a command, thin.

mod args;
mod bundle_cmds;
mod context;
mod demo;
mod inspect;
mod lint;
mod manifests;
mod plan;
mod self_check;
mod show;
mod tools;
mod upgrade;

use std::ffi::OsString;
use std::process::ExitCode;

pub use args::command;

use crate::data::Tree;
use crate::manifest::Manifests;
use crate::recipe::Recipes;
use crate::{Error, Kind, Result, ui};

/// What every command may need.
pub struct App {
    /// All manifests.
    pub manifests: Manifests,
    /// All recipes.
    pub recipes: Recipes,
    /// Recipes and bundle shapes.
    pub templates: Tree,
}

/// Parses the command line and runs it. The exit code is part of the contract.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    match run(&args) {
        Ok(_) if ui::out_failed() => {
            ui::error("the report could not be written to stdout", &[]);
            ExitCode::from(Kind::Internal.exit_code())
        }
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            ui::error(&error.to_string(), error.hints());
            ExitCode::from(error.kind.exit_code())
        }
    }
}

fn run(args: &[OsString]) -> Result<u8> {
    let app = load(args)?;
    let command = args::command(&app.recipes);
    let matches = match command.try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => return Ok(show_clap(&error)),
    };
    args::set_colour(&matches);
    init_log(&matches);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Error::internal(format!("cannot start: {e}")))?;
    runtime.block_on(dispatch(&app, &matches))
}

async fn dispatch(app: &App, matches: &clap::ArgMatches) -> Result<u8> {
    match matches.subcommand() {
        Some(("demo", m)) => demo::run(app, m).await,
        Some(("inspect", m)) => inspect::run(app, m).await,
        Some(("plan", m)) => plan::run(app, m).await,
        Some(("show", m)) => show::run(m),
        Some(("rehearse", m)) => bundle_cmds::rehearse(app, m).await,
        Some(("apply", m)) => bundle_cmds::apply(app, m).await,
        Some(("verify", m)) => bundle_cmds::verify(m).await,
        Some(("rollback", m)) => bundle_cmds::rollback(app, m).await,
        Some(("clean", m)) => bundle_cmds::clean(m).await,
        Some(("ticket", m)) => show::ticket(m),
        Some(("lint", m)) => lint::run(app, m).await,
        Some(("upgrade-check", m)) => upgrade::run(app, m).await,
        Some(("manifests", m)) => manifests::run(app, m),
        Some(("completions", m)) => tools::completions(app, m),
        Some(("man", m)) => tools::man(app, m),
        _ => Err(Error::usage("no command")),
    }
}

/// clap's own messages: help and version are no errors.
fn show_clap(error: &clap::Error) -> u8 {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        ui::note(text.trim_end());
        return 2;
    }
    ui::out(text.trim_end());
    0
}

/// Data directories are needed before the command line can be parsed, because
/// the recipes' parameters are flags.
fn load(args: &[OsString]) -> Result<App> {
    let directory = |flag: &str, variable: &str| -> Option<std::path::PathBuf> {
        let mut found = std::env::var_os(variable).filter(|v| !v.is_empty()).map(Into::into);
        for (index, arg) in args.iter().enumerate() {
            let Some(text) = arg.to_str() else { continue };
            if text == flag {
                found = args.get(index + 1).map(Into::into);
            } else if let Some(value) = text.strip_prefix(flag).and_then(|t| t.strip_prefix('=')) {
                found = Some(value.into());
            }
        }
        found
    };
    let manifests = Manifests::load(directory("--enums", "FLOWMEND_ENUMS").as_deref())?;
    if !args::takes_recipes(args) {
        return Ok(App { manifests, recipes: Recipes::default(), templates: Tree::default() });
    }
    let templates = Tree::templates(directory("--templates", "FLOWMEND_TEMPLATES").as_deref())?;
    let recipes = Recipes::load(&templates, &manifests)?;
    Ok(App { manifests, recipes, templates })
}

fn init_log(matches: &clap::ArgMatches) {
    let level = match matches.get_count("verbose") {
        0 => return,
        1 => "flowmend=info",
        _ => "flowmend=debug",
    };
    let filter = tracing_subscriber::EnvFilter::new(level);
    let colours = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours).init();
}

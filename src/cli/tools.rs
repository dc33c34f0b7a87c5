//! `flowmend completions` and `flowmend man`.

use clap::ArgMatches;

use super::App;
use super::args::command;
use crate::{Error, Result, ui};

/// Prints shell completions.
pub(super) fn completions(app: &App, m: &ArgMatches) -> Result<u8> {
    let shell: clap_complete::Shell = *m.get_one("shell").ok_or_else(|| Error::usage("no shell was named"))?;
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command(&app.recipes), "flowmend", &mut text);
    print(&text)
}

/// Prints the manual page.
pub(super) fn man(app: &App, m: &ArgMatches) -> Result<u8> {
    let mut text = Vec::new();
    let mut whole = command(&app.recipes);
    whole.build();
    let wanted = match super::args::given(m, "command") {
        None => whole,
        Some(name) => {
            let found = whole.find_subcommand(name).cloned();
            found.ok_or_else(|| Error::usage(format!("no command `{name}`")))?
        }
    };
    let page = clap_mangen::Man::new(wanted);
    page.render(&mut text).map_err(|e| Error::internal(e.to_string()))?;
    print(&text)
}

fn print(text: &[u8]) -> Result<u8> {
    ui::out(String::from_utf8_lossy(text).trim_end());
    Ok(0)
}

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
pub(super) fn man(app: &App, _: &ArgMatches) -> Result<u8> {
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command(&app.recipes));
    page.render(&mut text).map_err(|e| Error::internal(e.to_string()))?;
    print(&text)
}

fn print(text: &[u8]) -> Result<u8> {
    ui::out(String::from_utf8_lossy(text).trim_end());
    Ok(0)
}

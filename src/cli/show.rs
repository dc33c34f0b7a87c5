//! `flowmend show` and `flowmend ticket`.

use clap::ArgMatches;

use super::args::{given, path_of, wants_json};
use super::bundle_cmds::read_bundle;
use crate::bundle::Bundle;
use crate::{Error, Result, report, ui};

fn bundle_of(m: &ArgMatches, name: &str) -> Result<Bundle> {
    read_bundle(path_of(m, name).ok_or_else(|| Error::usage("no bundle was named"))?)
}

/// Prints a bundle, or compares two. Exit 1 when two differ.
pub(super) fn run(m: &ArgMatches) -> Result<u8> {
    let bundle = bundle_of(m, "dir")?;
    if path_of(m, "other").is_some() {
        let other = bundle_of(m, "other")?;
        let diff = report::diff::compare(&bundle, &other);
        if wants_json(m) {
            report::json(&diff)?;
        } else {
            report::diff::print(&diff, &bundle, &other);
        }
        return Ok(u8::from(!diff.same));
    }
    if wants_json(m) {
        report::json(&report::bundle_summary(&bundle))?;
    } else {
        report::human::bundle(&bundle, rows(m)?);
    }
    Ok(0)
}

/// How many rows of each step are shown.
fn rows(m: &ArgMatches) -> Result<usize> {
    match given(m, "rows") {
        None => Ok(5),
        Some("all") => Ok(usize::MAX),
        Some(n) => n.parse().map_err(|_| Error::usage(format!("--rows: `{n}` is neither a number nor `all`"))),
    }
}

/// Prints the change ticket.
pub(super) fn ticket(m: &ArgMatches) -> Result<u8> {
    ui::out(bundle_of(m, "dir")?.file("TICKET.md")?.trim_end());
    Ok(0)
}

//! `flowmend show` and `flowmend ticket`.

use clap::ArgMatches;

use super::args::{path_of, wants_json};
use crate::bundle::Bundle;
use crate::{Error, Result, report, ui};

fn bundle_of(m: &ArgMatches, name: &str) -> Result<Bundle> {
    Bundle::read(path_of(m, name).ok_or_else(|| Error::usage("no bundle was named"))?)
}

/// Prints a bundle, or compares two. Exit 1 when two differ.
pub(super) fn run(m: &ArgMatches) -> Result<u8> {
    let bundle = bundle_of(m, "dir")?;
    if path_of(m, "other").is_some() {
        let other = bundle_of(m, "other")?;
        return Ok(u8::from(report::diff::bundles(&bundle, &other)));
    }
    if wants_json(m) {
        report::json(&report::bundle_summary(&bundle))?;
    } else {
        report::human::bundle(&bundle);
    }
    Ok(0)
}

/// Prints the change ticket.
pub(super) fn ticket(m: &ArgMatches) -> Result<u8> {
    ui::out(bundle_of(m, "dir")?.file("TICKET.md")?.trim_end());
    Ok(0)
}

//! `flowmend demo`.

use clap::ArgMatches;

use super::App;
use crate::Result;

/// Walks through a whole repair.
pub(super) async fn run(_app: &App, _m: &ArgMatches) -> Result<u8> {
    Ok(0)
}

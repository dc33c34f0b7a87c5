//! Real schedulers, run from their own code, killed and repaired.
//!
//! Only with FLOWMEND_TEST_REAL set (`scripts/test.sh --real`): these tests start
//! servers and take minutes. `docs/real-schedulers.md` has what they found.

mod airflow;
mod dolphinscheduler;
mod quartz;
mod road;
mod rows;
mod servers;
mod watch;

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::support::db::Server;

/// One installation at a time: the servers' ports are fixed.
static ONE: Mutex<()> = Mutex::new(());

/// The turn of a release on a server, if real schedulers were asked for and all
/// that it takes is there.
fn turn(script: &'static str, release: &str, server: Server) -> Option<(String, MutexGuard<'static, ()>)> {
    let what = format!("real {script} {release} on {server:?}");
    if std::env::var_os("FLOWMEND_TEST_REAL").is_none() {
        crate::support::skipped(&what, "FLOWMEND_TEST_REAL is not set (scripts/test.sh --real)");
        return None;
    }
    if !server.is_there(&what) || !servers::got(&what, script, release) {
        return None;
    }
    Some((what, ONE.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// A name, and what to do with an installation.
type Scenario<I> = (&'static str, fn(&I));

/// Runs scenarios on one installation, and fails with all that failed.
///
/// FLOWMEND_REAL_SCENARIOS names the ones to run, with commas. `calm` ends what a
/// scenario left running, so that the next one starts in peace and plans find its
/// own damage only.
fn each<I>(what: &str, installation: &I, scenarios: &[Scenario<I>], calm: fn(&I)) {
    let chosen = std::env::var("FLOWMEND_REAL_SCENARIOS").ok();
    let mut failed = Vec::new();
    for (name, scenario) in scenarios {
        if chosen.as_ref().is_some_and(|c| !c.split(',').any(|part| name.starts_with(part))) {
            continue;
        }
        eprintln!("\n=== {name}: {what}");
        let run = std::panic::AssertUnwindSafe(|| scenario(installation));
        if std::panic::catch_unwind(run).is_err() {
            failed.push(*name);
        }
        calm(installation);
    }
    assert!(failed.is_empty(), "{what}: {failed:?}");
}

//! Real schedulers, run from their own code, killed and repaired.
//!
//! Only with FLOWMEND_TEST_REAL set (`scripts/test.sh --real`): these tests start
//! Java servers and take minutes. `docs/real-schedulers.md` has what they found.

mod api;
mod cluster;
mod damage;
mod releases;
mod scenarios;
mod watch;

use crate::support::db::Server;
use cluster::Cluster;

/// One installation at a time: the servers' ports are fixed.
static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Runs every scenario on one installation, and fails with all that failed.
///
/// FLOWMEND_REAL_SCENARIOS names the ones to run, with commas.
fn all(release: &str, server: Server) {
    let what = format!("real dolphinscheduler {release} on {server:?}");
    if !asked(&what) || !server.is_there(&what) || !cluster::built(&what, release) {
        return;
    }
    let _alone = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let cluster = Cluster::start(release, server);
    let chosen = std::env::var("FLOWMEND_REAL_SCENARIOS").ok();
    let mut failed = Vec::new();
    for (name, scenario, fits) in scenarios::ALL {
        if chosen.as_ref().is_some_and(|c| !c.split(',').any(|part| name.starts_with(part))) || !fits(cluster.release) {
            continue;
        }
        eprintln!("\n=== {name}: {what}");
        let run = std::panic::AssertUnwindSafe(|| scenario(&cluster));
        if std::panic::catch_unwind(run).is_err() {
            failed.push(*name);
        }
        cluster.calm();
    }
    assert!(failed.is_empty(), "{what}: {failed:?}");
}

/// Whether real schedulers were asked for.
fn asked(what: &str) -> bool {
    if std::env::var_os("FLOWMEND_TEST_REAL").is_some() {
        return true;
    }
    crate::support::skipped(what, "FLOWMEND_TEST_REAL is not set (scripts/test.sh --real)");
    false
}

#[test]
fn dolphinscheduler_2_0_9_on_postgresql() {
    all("2.0.9", Server::PostgreSql);
}

#[test]
fn dolphinscheduler_2_0_9_on_mariadb() {
    all("2.0.9", Server::MariaDb);
}

#[test]
fn dolphinscheduler_3_3_dev_on_postgresql() {
    all("3.3-dev", Server::PostgreSql);
}

#[test]
fn dolphinscheduler_3_3_dev_on_mariadb() {
    all("3.3-dev", Server::MariaDb);
}

#[test]
fn dolphinscheduler_3_1_9_on_postgresql() {
    all("3.1.9", Server::PostgreSql);
}

#[test]
fn dolphinscheduler_3_1_9_on_mariadb() {
    all("3.1.9", Server::MariaDb);
}

#[test]
fn dolphinscheduler_3_2_2_on_postgresql() {
    all("3.2.2", Server::PostgreSql);
}

#[test]
fn dolphinscheduler_3_2_2_on_mariadb() {
    all("3.2.2", Server::MariaDb);
}

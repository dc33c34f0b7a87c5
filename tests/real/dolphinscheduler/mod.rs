//! Apache DolphinScheduler.

mod api;
mod cluster;
mod damage;
mod releases;
mod scenarios;
mod watch;

use crate::support::db::Server;
use cluster::Cluster;

/// Runs every scenario that a release has what it takes for.
fn all(release: &str, server: Server) {
    let release = releases::named(release);
    let Some((what, _turn)) = super::turn("dolphinscheduler", release.name, server) else { return };
    let cluster = Cluster::start(release, server);
    let fit = scenarios::ALL.iter().filter(|(_, _, fits)| fits(release));
    let scenarios: Vec<_> = fit.map(|(name, scenario, _)| (*name, *scenario)).collect();
    super::each(&what, &cluster, &scenarios, Cluster::calm);
}

#[test]
fn release_2_0_9_on_postgresql() {
    all("2.0.9", Server::PostgreSql);
}

#[test]
fn release_2_0_9_on_mariadb() {
    all("2.0.9", Server::MariaDb);
}

#[test]
fn release_3_3_dev_on_postgresql() {
    all("3.3-dev", Server::PostgreSql);
}

#[test]
fn release_3_3_dev_on_mariadb() {
    all("3.3-dev", Server::MariaDb);
}

#[test]
fn release_3_1_9_on_postgresql() {
    all("3.1.9", Server::PostgreSql);
}

#[test]
fn release_3_1_9_on_mariadb() {
    all("3.1.9", Server::MariaDb);
}

#[test]
fn release_3_2_2_on_postgresql() {
    all("3.2.2", Server::PostgreSql);
}

#[test]
fn release_3_2_2_on_mariadb() {
    all("3.2.2", Server::MariaDb);
}

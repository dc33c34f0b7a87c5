//! Quartz.

mod scenarios;
mod store;

use crate::support::db::Server;
use store::At;

/// Runs every scenario, each on tables of its own.
fn all(release: &'static str, server: Server) {
    let Some((what, _turn)) = super::turn(store::SCRIPT, release, server) else { return };
    super::each(&what, &At { release, server }, scenarios::ALL, |_| ());
}

#[test]
fn release_2_3_2_on_postgresql() {
    all("2.3.2", Server::PostgreSql);
}

#[test]
fn release_2_3_2_on_mariadb() {
    all("2.3.2", Server::MariaDb);
}

#[test]
fn release_2_5_2_on_postgresql() {
    all("2.5.2", Server::PostgreSql);
}

#[test]
fn release_2_5_2_on_mariadb() {
    all("2.5.2", Server::MariaDb);
}

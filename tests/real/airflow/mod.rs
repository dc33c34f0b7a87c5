//! Apache Airflow.

mod damage;
mod installation;
mod releases;
mod scenarios;

use crate::support::db::Server;
use installation::Airflow;

/// Runs every scenario.
fn all(release: &str, server: Server) {
    let release = releases::named(release);
    let Some((what, _turn)) = super::turn("airflow", release.name, server) else { return };
    let airflow = Airflow::start(release, server);
    super::each(&what, &airflow, scenarios::ALL, Airflow::calm);
}

#[test]
fn release_2_11_2_on_sqlite() {
    all("2.11.2", Server::Sqlite);
}

#[test]
fn release_2_11_2_on_postgresql() {
    all("2.11.2", Server::PostgreSql);
}

#[test]
fn release_3_0_6_on_sqlite() {
    all("3.0.6", Server::Sqlite);
}

#[test]
fn release_3_0_6_on_postgresql() {
    all("3.0.6", Server::PostgreSql);
}

#[test]
fn release_3_3_2_on_sqlite() {
    all("3.3.2", Server::Sqlite);
}

#[test]
fn release_3_3_2_on_postgresql() {
    all("3.3.2", Server::PostgreSql);
}

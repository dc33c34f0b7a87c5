//! What scenarios must know of a release.

use crate::support::db::Server;

/// One release.
pub struct Release {
    pub name: &'static str,
    /// Every component, in the order of their start.
    pub servers: &'static [&'static str],
    /// How the command line lists the runs of a DAG, but for its name.
    pub list_runs: &'static [&'static str],
    /// Tasks run below the scheduler without an API server.
    pub alone: bool,
    /// A scheduler ends when it meets a retry without an end.
    pub dies_of_retry: bool,
}

/// Every release that tests run.
pub const ALL: &[Release] = &[
    Release {
        name: "2.11.2",
        servers: &["triggerer", "scheduler"],
        list_runs: &["dags", "list-runs", "-o", "json", "-d"],
        alone: true,
        dies_of_retry: true,
    },
    Release {
        name: "3.0.6",
        servers: &["api-server", "dag-processor", "triggerer", "scheduler"],
        list_runs: &["dags", "list-runs", "-o", "json"],
        alone: false,
        dies_of_retry: true,
    },
    Release {
        name: "3.3.2",
        servers: &["api-server", "dag-processor", "triggerer", "scheduler"],
        list_runs: &["dags", "list-runs", "-o", "json"],
        alone: false,
        dies_of_retry: false,
    },
];

/// The release of this name.
pub fn named(name: &str) -> &'static Release {
    ALL.iter().find(|r| r.name == name).unwrap()
}

impl Release {
    /// A scheduler runs one task at a time, and does nothing else meanwhile.
    pub fn one_by_one(&self, server: Server) -> bool {
        self.alone && server == Server::Sqlite
    }
}

//! One reader for each scheduler: it knows the shape of its JSON and how its facts must be read.

mod airflow;
mod dolphinscheduler;
pub mod json;
mod quartz;
mod xxl_job;

use std::path::Path;

use super::{Product, Upstream};

/// How a scheduler's facts are read and compared.
pub struct Reader {
    pub scheduler: &'static str,
    /// The facts have at least so many releases.
    pub at_least: usize,
    pub products: &'static [Product],
    /// Role columns that hold states, where a release has them.
    pub state_columns: &'static [&'static str],
    /// Whether the manifests list every table that upstream has.
    pub every_table: bool,
    /// Whether the manifests list indexes that are not unique.
    pub indexes: bool,
    /// Release, product and table whose indexes differ from those of the generation that lists the release.
    pub other_indexes: &'static [(&'static str, &'static str, &'static str)],
    /// Where "finished" differs from upstream's own predicate.
    pub finished: &'static [Finished],
    /// Whether the facts say that a table is never written.
    pub never_written: fn(&str) -> bool,
    /// Forbidden patterns of tables that the facts do not list, for a reason.
    pub elsewhere: &'static [&'static str],
    pub read: fn(&Path) -> Vec<Upstream>,
}

/// A state that is finished for repairs and not in upstream's predicate, or the other way round.
pub struct Finished {
    pub column: &'static str,
    pub state: &'static str,
    /// First and last release of which this holds.
    pub first: &'static str,
    pub last: &'static str,
    /// What the manifest says.
    pub finished: bool,
    #[expect(dead_code, reason = "for readers")]
    pub why: &'static str,
}

/// Every scheduler of the facts.
pub fn all() -> [Reader; 4] {
    [dolphinscheduler::READER, airflow::READER, xxl_job::READER, quartz::READER]
}

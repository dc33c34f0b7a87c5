//! The scenarios, by number and name.

use super::installation::Airflow;
use crate::real::Scenario;

mod all;
mod closed;
mod finish;
mod gone;
mod jobs;
mod left;
mod no_end;
mod settled;
mod triggers;

/// Every scenario.
pub const ALL: &[Scenario<Airflow>] = &[
    ("1-finish", finish::finish),
    ("1-retry", finish::retry),
    ("2-resume", left::resume),
    ("2-deferred", left::deferred_task),
    ("3-lost-trigger", triggers::lost),
    ("4-settled", settled::close),
    ("5-closed-run", closed::living),
    ("6-retry-without-end", no_end::retry),
    ("7-jobs", jobs::stale),
    ("8-all", all::mixed),
    ("9-gone-dag", gone::removed),
];

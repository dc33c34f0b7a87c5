//! The scenarios, by number and name.

use super::cluster::Cluster;

mod alone;

/// Every scenario.
pub const ALL: &[(&str, fn(&Cluster))] = &[("1-finish", alone::finish), ("2-resume", alone::resume)];

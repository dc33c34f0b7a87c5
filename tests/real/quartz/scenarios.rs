//! The scenarios, by number and name.

use super::store::At;
use crate::real::Scenario;

mod cluster;
mod deleted;
mod errors;
mod single;

/// Every scenario.
pub const ALL: &[Scenario<At>] = &[
    ("1-both-dead", cluster::both_dead),
    ("1-both-left", cluster::both_left),
    ("2-living-peer", cluster::living_peer),
    ("3-not-clustered", single::dead),
    ("4-deleted", deleted::by_hand),
    ("5-error", errors::fixed),
    ("6-all", deleted::all),
];

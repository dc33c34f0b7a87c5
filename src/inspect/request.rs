//! What a survey is asked for.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::skew::Skew;
use crate::plan::{OwnerClaim, Zone};
use crate::recipe::Recipes;

/// What the operator asked for.
pub struct SurveyRequest<'a> {
    /// All recipes.
    pub recipes: &'a Recipes,
    /// Parameters as given, flag name → texts.
    pub given: &'a BTreeMap<String, Vec<String>>,
    /// The moment.
    pub now: Timestamp,
    /// The scheduler's zone, if it is known.
    pub zone: Option<&'a Zone>,
    /// The newest heartbeat beside the database's clock, if it was looked at.
    pub skew: Option<&'a Skew>,
    /// Who asks.
    pub said_by: &'a str,
    /// The owners that the operator says are dead.
    pub said_dead: &'a [OwnerClaim],
    /// The owners that heartbeats or a registry show dead.
    pub shown_dead: &'a [OwnerClaim],
    /// The owners listed in the registry that the operator named, if one was named.
    pub registered: Option<&'a BTreeSet<String>>,
}

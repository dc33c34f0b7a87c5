//! Manifests: against the upstream facts, their fingerprints, mistakes in them, and a scheduler of one's own.

mod docs;
mod eras;
mod facts;
mod fingerprint;
pub mod in_house;
mod mistakes;
mod schemas;

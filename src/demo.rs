//! Test data and the demo's database, made from a manifest.

//! Properties over generated databases of every generation.
//!
//! `generate` makes a database in memory, `model` writes it by role, `oracle`
//! predicts from memory what a repair must do, `drive` calls the library, and
//! `roundtrip` compares the two on real servers. `worlds` does without an oracle
//! and takes every scheduler, from its manifests alone.

mod ask;
mod changes;
mod corners;
pub mod drive;
mod era;
mod every_recipe;
mod generate;
mod generations;
mod healthy;
mod model;
mod oracle;
mod roundtrip;
mod snapshot;
mod text;
mod worlds;

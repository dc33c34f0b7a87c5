//! Properties over generated databases of every generation.
//!
//! `generate` makes a database in memory, `model` writes it by role, `oracle`
//! predicts from memory what a repair must do, `drive` calls the library, and
//! `roundtrip` compares the two on real servers.

mod ask;
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

//! All integration tests, as one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, missing_docs)]

mod cases;
mod cli;
mod golden;
mod layers;
mod lint;
mod live;
mod manifests;
mod property;
mod real;
mod recipes;
mod support;
mod upgrade;

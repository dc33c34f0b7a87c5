//! flowmend turns "these rows of a workflow scheduler's metadata database are
//! wrong" into a bundle of SQL that a DBA can read, approve, run, prove and undo.
//!
//! Data flows one way: a manifest (what a release calls its states, tables and
//! columns), a recipe (queries that return row changes) and a dialect meet in
//! [`inspect`] and [`plan`]; [`render`] turns the plan into a [`bundle`];
//! [`apply`] runs it. Everything that writes is derived from the row changes by
//! code that knows no scheduler.

pub mod apply;
pub mod bundle;
pub mod catalog;
pub mod cli;
pub mod data;
pub mod db;
pub mod dialect;
pub mod digest;
pub mod error;
pub mod inspect;
pub mod lint;
pub mod manifest;
pub mod near;
pub mod plan;
pub mod recipe;
pub mod registry;
pub mod render;
pub mod report;
pub mod sql;
pub mod ui;
pub mod upgrade;

pub use error::{Error, Kind, Result};

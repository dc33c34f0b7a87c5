//! minijinja environments: recipe queries, and the files of a bundle. Pure.

mod book;
mod chain;
pub mod files;
mod legacy;
pub mod locks;
mod recipe_env;
pub mod ticket;
pub mod view;

use minijinja::Value;

/// A serializable value for a template.
pub(crate) fn ser(value: impl serde::Serialize) -> Value {
    Value::from(minijinja::value::Serde(value))
}

pub use recipe_env::{Query, RecipeEnv, RecipeScope};

//! See docs/recipes.

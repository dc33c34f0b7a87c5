//! Several recipes in one plan.

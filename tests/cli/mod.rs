//! The command line: help, errors, exit codes, the demo.

mod demo;
mod errors;
mod filters;
mod help;
mod lint;
mod nouns;
mod pages;
mod review;
mod secrets;
mod words;

//! The command line: help, errors, exit codes, the demo.

mod demo;
mod errors;
mod help;
mod lint;
mod pages;
mod review;
mod secrets;

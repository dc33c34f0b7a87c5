//! The command line: help, errors, exit codes, the demo.

mod demo;
mod errors;
mod help;
mod review;
mod secrets;

//! The `flowmend` program: parse, run, print the error, exit code.

fn main() -> std::process::ExitCode {
    flowmend::cli::main(std::env::args_os())
}

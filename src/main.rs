//! The `flowmend` program: parse, run, print the error, exit code.

/// The linter makes and drops many small trees.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    flowmend::cli::main(std::env::args_os())
}

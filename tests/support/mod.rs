//! What the tests share: databases on real servers, stock clients, the program.

pub mod bundle;
pub mod db;
pub mod demos;
pub mod fixture;
pub mod nodes;
pub mod program;
pub mod proxy;
pub mod quartz;
pub mod registry;

use std::io::Write as _;

/// Notes that a test cannot run here; `scripts/test.sh` counts and prints these.
pub fn skipped(what: &str, why: &str) {
    eprintln!("SKIPPED {what}: {why}");
    if let Some(path) = std::env::var_os("FLOWMEND_TEST_SKIPS") {
        let file = std::fs::File::options().append(true).create(true).open(path);
        let _ = file.and_then(|mut f| writeln!(f, "SKIPPED {what}: {why}"));
    }
}

/// Whether the long tests were asked for.
pub fn long() -> bool {
    std::env::var_os("FLOWMEND_TEST_LONG").is_some()
}

/// The upstream facts, when they lie beside the project.
pub fn facts() -> Option<std::path::PathBuf> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/facts");
    dir.is_dir().then_some(dir)
}

//! Looking on while time passes.

use std::path::Path;
use std::time::{Duration, Instant};

/// Waits until something is so; says what was awaited when it is not.
#[track_caller]
pub fn wait(seconds: u64, what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        if so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    panic!("not within {seconds} s: {what}");
}

/// The same without a panic: whether it became so.
pub fn becomes(seconds: u64, mut so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        if so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    false
}

/// Lets time pass.
pub fn pass(seconds: u64) {
    std::thread::sleep(Duration::from_secs(seconds));
}

/// The lines of a marker file: what the tasks did.
pub fn lines(file: &Path) -> Vec<String> {
    std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// How often tasks began.
pub fn begun(file: &Path) -> usize {
    lines(file).iter().filter(|l| l.starts_with("begin")).count()
}

/// How often tasks ended.
pub fn ended(file: &Path) -> usize {
    lines(file).iter().filter(|l| l.starts_with("end")).count()
}

//! `flowmend lint` beside other linters on the same files, in turns: `cargo bench --bench lint`.
//!
//! The files hold 1,000 and 100,000 UPDATEs of three lines. squawk (PyPI `squawk-cli`) and
//! sqlfluff run beside when they are on the PATH; sqlfluff on the small file only, and with
//! `large_file_skip_byte_limit = 0`, without which it skips files over 20 kB and is fast.
//! Printed are medians, and ratios to flowmend in the same run; peak memory is Linux's VmHWM.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SIZES: [usize; 2] = [1_000, 100_000];
const ROUNDS: usize = 5;

fn main() -> io::Result<()> {
    let dir = tempfile::tempdir()?;
    let mut per_statement = Vec::new();
    for size in SIZES {
        let file = dir.path().join(format!("{size}.sql"));
        std::fs::write(&file, script(size))?;
        let mut linters = vec![flowmend(&file)];
        linters.extend(installed("squawk", &[]).map(|c| with_file(c, &file)));
        if size == SIZES[0] {
            std::fs::write(dir.path().join(".sqlfluff"), "[sqlfluff]\nlarge_file_skip_byte_limit = 0\n")?;
            let arguments = ["lint", "--dialect", "postgres", "--disable-progress-bar"];
            linters.extend(installed("sqlfluff", &arguments).map(|c| with_file(c, &file)));
        }
        let mut taken: Vec<Vec<(Duration, u64)>> = vec![Vec::new(); linters.len()];
        for _ in 0..ROUNDS {
            for (linter, taken) in linters.iter_mut().zip(&mut taken) {
                taken.push(run(linter)?);
            }
        }
        println!("{size} statements, {ROUNDS} rounds");
        let own = median(&taken[0]);
        for (linter, taken) in linters.iter().zip(&taken) {
            let name = Path::new(linter.get_program()).file_name().unwrap_or_default().to_string_lossy();
            let (middle, memory) = (median(taken), taken.iter().map(|t| t.1).max().unwrap_or_default());
            let ratio = middle.as_secs_f64() / own.as_secs_f64();
            println!("  {name:<10} {:>9.3} s  {ratio:>8.2} × flowmend  {memory:>7} kB", middle.as_secs_f64());
        }
        per_statement.push(own.as_secs_f64() / size as f64);
    }
    println!("a statement of the large file takes {:.2} × one of the small", per_statement[1] / per_statement[0]);
    Ok(())
}

/// UPDATEs of three lines that are right, and differ.
fn script(size: usize) -> String {
    let mut text = String::new();
    for id in 1..=size {
        let _ = writeln!(
            text,
            "UPDATE t_ds_task_instance\n   SET state = 6, end_time = '2026-11-28 10:00:00'\n WHERE id = {id} AND state = 1 AND host = '10.0.0.4:1234';"
        );
    }
    text
}

fn flowmend(file: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowmend"));
    command.args(["lint", "--scheduler", "dolphinscheduler", "--release", "3.1.9", "--dialect", "postgresql"]);
    with_file(command, file)
}

fn with_file(mut command: Command, file: &Path) -> Command {
    command.arg(file).current_dir(file.parent().unwrap_or(file)).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn installed(program: &str, arguments: &[&str]) -> Option<Command> {
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_err() {
        println!("{program} is not installed: not compared");
        return None;
    }
    let mut command = Command::new(program);
    command.args(arguments);
    Some(command)
}

/// Wall time, and peak memory in kB where the system tells.
fn run(command: &mut Command) -> io::Result<(Duration, u64)> {
    let start = Instant::now();
    let mut child = command.spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut memory = 0;
    loop {
        if child.try_wait()?.is_some() {
            return Ok((start.elapsed(), memory));
        }
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|l| l.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        memory = memory.max(peak.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn median(taken: &[(Duration, u64)]) -> Duration {
    let mut times: Vec<Duration> = taken.iter().map(|t| t.0).collect();
    times.sort();
    times[times.len() / 2]
}

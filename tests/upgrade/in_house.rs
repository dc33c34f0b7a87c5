//! The example of a scheduler of one's own, as its README goes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::program::{Run, command, seal};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The commands of the README's blocks.
fn commands() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("examples/in-house/README.md")).unwrap();
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).map(ToOwned::to_owned).collect()
}

/// A folder in which the example lies as in the project.
fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("examples")).unwrap();
    std::os::unix::fs::symlink(root().join("examples/in-house"), dir.path().join("examples/in-house")).unwrap();
    let path = dir.path().to_owned();
    (dir, path)
}

fn run(line: &str, dir: &Path, env: &[(String, String)]) -> Run {
    let approved = if line.contains("SEAL") { seal(&dir.join("repair")) } else { String::new() };
    let line = line.replace("SEAL", &approved);
    let mut program = command(line.split_whitespace().skip(1));
    let output = program.current_dir(dir).envs(env.iter().cloned()).output().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn the_readme_works_as_written() {
    let (_keep, dir) = place();
    let mut env: Vec<(String, String)> = Vec::new();
    let mut ran = Vec::new();
    for line in commands() {
        if let Some(rest) = line.strip_prefix("export ") {
            let set = rest.split_whitespace().map(|pair| pair.split_once('=').unwrap());
            env.extend(set.map(|(name, value)| (name.to_owned(), value.to_owned())));
            continue;
        }
        if line.starts_with("sqlite3 ") {
            assert!(Command::new("sh").args(["-c", &line]).current_dir(&dir).status().unwrap().success());
            continue;
        }
        let done = run(&line, &dir, &env);
        let finds = ["inspect", "manifests diff", "upgrade-check"].iter().any(|c| line.contains(c));
        ran.push((line, done.expect(i32::from(finds))));
    }
    let of = |word: &str| &ran.iter().find(|(line, _)| line.contains(word)).unwrap().1;
    assert!(of("plan").out.contains("4 rows"), "{}", of("plan").out);
    assert!(of("diff").out.contains("run.state HALTED HALTED is gone"), "{}", of("diff").out);
    let check = of("upgrade-check").out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["ns_run.state HALTED", "1 row (for example r-077)", "PAUSED", "Let no run go on", "2 rows"] {
        assert!(check.contains(part), "{part}: {check}");
    }
}

//! The pages: links lead somewhere, each recipe is explained, and the commands work as written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::demos::{Demo, demos};
use crate::support::program::{command, flowmend};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README.md and everything below docs/, with its text.
pub(super) fn pages() -> Vec<(PathBuf, String)> {
    let mut open = vec![root().join("docs")];
    let mut paths = vec![root().join("README.md")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// The text without its code blocks.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The lines of its code blocks, continued lines joined.
fn commands(text: &str) -> Vec<String> {
    let blocks: Vec<&str> = text.split("```").skip(1).step_by(2).collect();
    let joined = blocks.join("\n").replace("\\\n", " ");
    let lines = joined.lines().map(|l| l.split(" #").next().unwrap().trim().to_owned());
    lines.filter(|l| l.starts_with("flowmend ")).collect()
}

/// The anchors that a page's headings make.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text)
        .lines()
        .filter_map(|l| l.strip_prefix('#').map(|l| l.trim_start_matches('#').trim().to_lowercase()))
        .collect::<Vec<_>>();
    let plain = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    headings.iter().map(|h| h.chars().filter(plain).collect::<String>().replace(' ', "-")).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut seen = 0;
    for (page, text) in pages() {
        for link in prose(&text).split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            if link.contains("://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            assert!(target.exists(), "{}: {link}", page.display());
            if !anchor.is_empty() {
                let there = anchors(&std::fs::read_to_string(&target).unwrap());
                assert!(there.contains(anchor), "{}: {link} is none of {there:?}", page.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

/// The page that a recipe names in its first lines says what it finds, and the index beside it leads there.
#[test]
fn every_recipe_has_a_page() {
    let files = std::process::Command::new("find")
        .arg(root().join("templates"))
        .args(["-name", "recipe.toml"])
        .output()
        .unwrap();
    let files = String::from_utf8(files.stdout).unwrap();
    for file in files.lines() {
        let recipe = std::fs::read_to_string(file).unwrap();
        let page = recipe
            .lines()
            .find_map(|l| l.strip_prefix("# Facts and sources: "))
            .unwrap_or_else(|| panic!("{file} names no page"));
        let page = root().join(page.trim_end_matches('.'));
        let text = std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        for code in recipe.split("[[findings]]\ncode = \"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(text.contains(&format!("`{code}`")), "{} does not name `{code}`", page.display());
        }
        let index = std::fs::read_to_string(page.with_file_name("README.md")).unwrap();
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(index.contains(&format!("]({name}")), "no link to {}", page.display());
    }
}

/// What an example of a page says of the database that the scheduler's demo leaves.
fn works(line: &str, dir: &Path) -> Result<(), String> {
    let line = line.replace("--url URL", "--url sqlite:scheduler.db");
    let words: Vec<&str> = line.split_whitespace().skip(1).map(|w| w.trim_matches('\'')).collect();
    let run = command(&words).current_dir(dir).env("FLOWMEND_ZONE", "+00:00").output().unwrap();
    let _ = std::fs::remove_dir_all(dir.join("repair"));
    let err = String::from_utf8(run.stderr).unwrap();
    match (words[0], run.status.code()) {
        ("inspect", Some(0 | 1)) | ("plan", Some(0)) => Ok(()),
        // The page explains the choice, too.
        ("plan", Some(2)) if err.contains("a choice is needed") => Ok(()),
        // Nothing is there that the words speak of.
        ("plan", Some(4)) if err.contains("left out because nothing proves them dead, and the owners") => Ok(()),
        // The demo's tables have the prefix that upstream ships.
        ("inspect", Some(4)) if line.contains("--table-prefix") && err.contains("no table of") => Ok(()),
        // A page may be about other releases than the demo's.
        ("plan", Some(2)) if err.contains(" is not for ") => Ok(()),
        ("plan", Some(4)) if err.contains("the schema is not that of") => Ok(()),
        (_, code) => Err(format!("{line}\nended with {code:?}\n{err}")),
    }
}

/// Code and tests that a page names are there; the files of the example of one's own aside.
#[test]
fn every_file_that_is_named_is_there() {
    let rooms = ["src/", "tests/", "scripts/", "templates/", "dialects/", "enums/", "examples/"];
    let mut seen = 0;
    for (page, text) in pages() {
        for span in prose(&text).split('`').skip(1).step_by(2) {
            let is_path = rooms.iter().any(|room| span.starts_with(room)) && span.chars().all(|c| !" <*…".contains(c));
            if !is_path || span.contains("nightshift") || span.chars().any(|c| c.is_ascii_uppercase()) {
                continue;
            }
            assert!(root().join(span).exists(), "{}: {span}", page.display());
            seen += 1;
        }
    }
    assert!(seen > 80, "{seen}");
}

/// Whose times are local says so on its first page; whose are UTC wants no zone in any command.
#[test]
fn zones_are_asked_for_where_they_are_needed() {
    for demo in demos() {
        let own = root().join("docs/recipes").join(&demo.name);
        let folder = if own.is_dir() { own } else { root().join("docs/recipes") };
        let first = std::fs::read_to_string(folder.join("README.md")).unwrap();
        let utc = demo.manifest().clock.is_some_and(|clock| clock.utc);
        let says = if utc {
            "leave `--zone` and `FLOWMEND_ZONE` out"
        } else {
            "`export FLOWMEND_ZONE=+08:00` (what `date +%:z` says"
        };
        assert!(first.contains(says), "{}: {says}", demo.name);
        for (page, text) in pages().iter().filter(|(path, _)| utc && path.parent() == Some(&folder)) {
            let asks: Vec<String> = commands(text).into_iter().filter(|line| line.contains("--zone")).collect();
            assert!(asks.is_empty(), "{}: {asks:?}", page.display());
        }
    }
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(!commands(&readme).iter().any(|line| line.contains("--zone")), "FLOWMEND_ZONE is said once");
}

#[test]
fn the_commands_of_each_scheduler_work_as_written() {
    let mut faults = Vec::new();
    let mut ran = 0;
    for Demo { name: scheduler, .. } in demos() {
        let dir = tempfile::tempdir().unwrap();
        let kept = dir.path().join("kept");
        flowmend(["demo", &scheduler, "--keep", &kept.display().to_string()]).expect(0);
        let own = root().join("docs/recipes").join(&scheduler);
        let folder = if own.is_dir() { own } else { root().join("docs/recipes") };
        for (page, text) in pages().iter().filter(|(path, _)| path.parent() == Some(&folder)) {
            for line in commands(text) {
                ran += 1;
                faults.extend(works(&line, &kept).err().map(|e| format!("{}: {e}", page.display())));
            }
        }
    }
    assert!(ran > 30, "{ran}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

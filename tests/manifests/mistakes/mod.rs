//! Mistakes in data files: the program says which file, which line and which key.

mod in_manifests;
mod in_recipes;

use std::path::{Path, PathBuf};

use super::in_house::data;
use crate::support::program::{Run, flowmend};

/// A copy of the in-house scheduler, to be broken.
struct Copy {
    dir: tempfile::TempDir,
}

/// One change of a text, and what the message must say.
struct Mistake {
    /// What is replaced, once …
    from: &'static str,
    /// … by this.
    to: &'static str,
    /// A text that stands only in the line that the message must name.
    line: &'static str,
    /// The key, and whatever else the message must say.
    says: &'static [&'static str],
}

impl Copy {
    fn new() -> Self {
        let copy = Self { dir: tempfile::tempdir().unwrap() };
        for file in ["enums/nightshift/1.0.toml", "enums/nightshift/2.0.toml"] {
            copy.take(file);
        }
        for entry in std::fs::read_dir(data(RECIPE)).unwrap() {
            copy.take(&format!("{RECIPE}/{}", entry.unwrap().file_name().into_string().unwrap()));
        }
        copy
    }

    fn take(&self, file: &str) {
        let to = self.path(file);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(data(file), to).unwrap();
    }

    fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    #[track_caller]
    fn replace(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {file}");
        std::fs::write(self.path(file), text.replace(from, to)).unwrap();
    }

    fn check(&self) -> Run {
        let (enums, templates) =
            (self.path("enums").display().to_string(), self.path("templates").display().to_string());
        flowmend(["manifests", "check", &enums, "--templates", &templates])
    }

    /// The check fails and names the file and the line that holds a text.
    #[track_caller]
    fn fails(&self, file: &str, line: &str, says: &[&str]) {
        let text = self.read(file);
        assert_eq!(text.matches(line).count(), 1, "`{line}` marks one line of {file}");
        let number = text[..text.find(line).unwrap()].matches('\n').count() + 1;
        let run = self.check().expect(2);
        assert_eq!(run.out, "");
        let name = Path::new(file).file_name().unwrap().to_str().unwrap();
        for part in [name, &format!("line {number}")].iter().chain(says) {
            assert!(run.err.contains(part), "`{part}` is not in:\n{}", run.err);
        }
    }
}

impl Mistake {
    #[track_caller]
    fn is_found(&self, file: &str) {
        let copy = Copy::new();
        copy.replace(file, self.from, self.to);
        copy.fails(file, self.line, self.says);
    }
}

/// The recipe's folder.
const RECIPE: &str = "templates/nightshift/dead-runs";

#[test]
fn the_copy_is_right() {
    let run = Copy::new().check().expect(0);
    assert!(run.out.starts_with("2 manifests of "), "{}", run.out);
}

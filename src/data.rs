//! The data files: embedded in the binary, overridable from a directory.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rust_embed::RustEmbed;

use crate::{Error, Result};

#[derive(RustEmbed)]
#[folder = "enums/"]
struct EmbeddedEnums;

#[derive(RustEmbed)]
#[folder = "templates/"]
struct EmbeddedTemplates;

#[derive(RustEmbed)]
#[folder = "dialects/"]
struct EmbeddedDialects;

#[derive(RustEmbed)]
#[folder = "rules/"]
struct EmbeddedRules;

#[derive(RustEmbed)]
#[folder = "docs/rules/"]
struct EmbeddedPages;

/// A tree of text files: path inside the tree (`/` between folders) → text and origin.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, DataFile>,
}

/// One data file.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// The text; what comes with the program is not copied.
    pub text: Cow<'static, str>,
    /// What to call the file in a message.
    pub origin: String,
    /// Whether it comes with the program, whose tests have checked it.
    pub built_in: bool,
}

impl Tree {
    /// The manifests, with the files of `dir` laid over them.
    ///
    /// # Errors
    /// A directory or file that cannot be read.
    pub fn enums(dir: Option<&Path>) -> Result<Self> {
        Self::embedded::<EmbeddedEnums>("enums").overlay(dir, "toml")
    }

    /// The recipes and bundle shapes, with the files of `dir` laid over them.
    ///
    /// # Errors
    /// A directory or file that cannot be read.
    pub fn templates(dir: Option<&Path>) -> Result<Self> {
        Self::embedded::<EmbeddedTemplates>("templates").overlay(dir, "")
    }

    /// The dialects.
    #[must_use]
    pub fn dialects() -> Self {
        Self::embedded::<EmbeddedDialects>("dialects")
    }

    /// The linter's rules that are about one scheduler.
    #[must_use]
    pub fn rules() -> Self {
        Self::embedded::<EmbeddedRules>("rules")
    }

    /// The pages of the linter's rules.
    #[must_use]
    pub fn rule_pages() -> Self {
        Self::embedded::<EmbeddedPages>("docs/rules")
    }

    /// A tree of texts by their paths, which are their origins, too.
    pub fn of<'t>(texts: impl IntoIterator<Item = (&'t str, &'t str)>) -> Self {
        let file = |(path, text): (&str, &str)| {
            (path.to_owned(), DataFile { text: text.to_owned().into(), origin: path.to_owned(), built_in: false })
        };
        Self { files: texts.into_iter().map(file).collect() }
    }

    fn embedded<E: RustEmbed>(root: &str) -> Self {
        let files = E::iter()
            .filter_map(|path| {
                let text = match E::get(&path)?.data {
                    Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).ok()?),
                    Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).ok()?),
                };
                Some((path.to_string(), DataFile { text, origin: format!("{root}/{path}"), built_in: true }))
            })
            .collect();
        Self { files }
    }

    fn overlay(mut self, dir: Option<&Path>, extension: &str) -> Result<Self> {
        let Some(dir) = dir else { return Ok(self) };
        if !dir.is_dir() {
            return Err(Error::usage(format!("{} is not a directory", dir.display())));
        }
        for path in files_below(dir)? {
            if !extension.is_empty() && path.extension().is_none_or(|e| e != extension) {
                continue;
            }
            let text = read_text(&path)?;
            let key = path.strip_prefix(dir).unwrap_or(&path).components();
            let key: Vec<_> = key.map(|c| c.as_os_str().to_string_lossy()).collect();
            self.files.insert(
                key.join("/"),
                DataFile { text: text.into(), origin: path.display().to_string(), built_in: false },
            );
        }
        Ok(self)
    }

    /// The file at a path inside the tree.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&DataFile> {
        self.files.get(path)
    }

    /// Whether every file of a folder comes with the program.
    #[must_use]
    pub fn is_built_in(&self, folder: &str) -> bool {
        let inside = |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        self.iter().all(|(path, file)| file.built_in || !inside(path))
    }

    /// All files in path order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &DataFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }
}

/// Reads a text file, naming it in the error.
///
/// # Errors
/// The file cannot be read or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| Error::usage(format!("cannot read {}: {e}", path.display())))
}

/// All files below a directory, in order. A link may lead back: each directory is read once.
///
/// # Errors
/// A directory that cannot be read.
pub fn files_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut seen, mut open) = (Vec::new(), BTreeSet::new(), vec![dir.to_owned()]);
    while let Some(dir) = open.pop() {
        if dir.canonicalize().is_ok_and(|real| !seen.insert(real)) {
            continue;
        }
        let fails = |e: std::io::Error| Error::usage(format!("cannot read {}: {e}", dir.display()));
        for entry in std::fs::read_dir(&dir).map_err(fails)? {
            let path = entry.map_err(fails)?.path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}

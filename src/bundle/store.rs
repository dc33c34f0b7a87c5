//! Reads and writes a bundle's folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::seal::sums;
use super::{Seal, read_plan};
use crate::plan::Plan;
use crate::{Error, Result};

const SUMS: &str = "SHA256SUMS";
const PLAN: &str = "plan.toml";
/// The folder of receipts inside a bundle; the seal does not cover it.
pub const RECEIPTS: &str = "receipts";

/// A bundle that was read and whose seal holds.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// Where it is.
    pub dir: PathBuf,
    /// The id.
    pub id: String,
    /// The plan.
    pub plan: Plan,
    /// The seal.
    pub seal: Seal,
    /// File name → text.
    pub files: BTreeMap<String, String>,
}

impl Bundle {
    /// Whether a folder is meant to be a bundle, whole or not.
    #[must_use]
    pub fn is_in(dir: &Path) -> bool {
        dir.join(SUMS).exists() || dir.join(PLAN).exists()
    }

    /// Reads a bundle and checks every file against the seal.
    ///
    /// # Errors
    /// The folder is no bundle, is half written, or a file was changed, added or lost.
    pub fn read(dir: &Path) -> Result<Self> {
        let no_bundle = |why: String| Error::refused(format!("{} is not a whole bundle: {why}", dir.display()));
        if !dir.is_dir() {
            return Err(Error::usage(format!("{} is not a directory", dir.display()))
                .hint("give the directory that plan wrote"));
        }
        let sums_text = std::fs::read_to_string(dir.join(SUMS)).map_err(|e| no_bundle(format!("{SUMS}: {e}")))?;
        let mut files = BTreeMap::new();
        for line in sums_text.lines() {
            let (sum, name) =
                line.split_once("  ").ok_or_else(|| no_bundle(format!("{SUMS} holds the line `{line}`")))?;
            if name.contains(['/', '\\']) || name.starts_with('.') {
                return Err(no_bundle(format!("{SUMS} names {name}")));
            }
            let text = std::fs::read_to_string(dir.join(name)).map_err(|e| no_bundle(format!("{name}: {e}")))?;
            if crate::digest::sha256(&[text.as_bytes()]) != sum {
                return Err(no_bundle(format!("{name} was changed after it was sealed"))
                    .hint("what was approved is what runs: plan again instead of editing a bundle"));
            }
            files.insert(name.to_owned(), text);
        }
        no_strangers(dir, &files).map_err(no_bundle)?;
        let plan_file = files.get(PLAN).ok_or_else(|| no_bundle(format!("{PLAN} is missing")))?;
        let (plan, id) = read_plan(plan_file)?;
        Ok(Self { dir: dir.to_owned(), id, plan, seal: Seal::of(&sums_text), files })
    }

    /// The text of a file.
    ///
    /// # Errors
    /// The bundle has no such file.
    pub fn file(&self, name: &str) -> Result<&str> {
        let text = self.files.get(name).map(String::as_str);
        text.ok_or_else(|| Error::refused(format!("{} has no file {name}", self.dir.display())))
    }
}

/// A file that the seal does not cover could be taken for a part of the bundle.
fn no_strangers(dir: &Path, files: &BTreeMap<String, String>) -> std::result::Result<(), String> {
    let entries = std::fs::read_dir(dir).map_err(|e| e.to_string())?;
    for entry in entries {
        let name = entry.map_err(|e| e.to_string())?.file_name().to_string_lossy().into_owned();
        if name != SUMS && name != RECEIPTS && !files.contains_key(&name) {
            return Err(format!("{name} is not covered by the seal"));
        }
    }
    Ok(())
}

/// Looks, before the work is done, whether a bundle can be written to a folder.
///
/// # Errors
/// The folder exists and is not empty, or is no folder.
pub fn must_be_free(dir: &Path) -> Result<()> {
    let cannot = |e: std::io::Error| Error::usage(format!("cannot write {}: {e}", dir.display()));
    if dir.exists() && std::fs::read_dir(dir).map_err(cannot)?.next().is_some() {
        return Err(
            Error::usage(format!("{} exists and is not empty", dir.display())).hint("give --out another directory")
        );
    }
    Ok(())
}

/// Writes a bundle into a new folder, whole or not at all.
///
/// # Errors
/// The folder exists and is not empty, or cannot be written.
pub fn write(dir: &Path, files: &BTreeMap<String, String>) -> Result<Seal> {
    let cannot = |what: &Path, e: std::io::Error| Error::usage(format!("cannot write {}: {e}", what.display()));
    must_be_free(dir)?;
    let sums_text = sums(files);
    let parent = dir.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(|e| cannot(parent, e))?;
    let name = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_else(|| "bundle".to_owned());
    // Beside the target, so that the last step is a rename within one file system.
    let unfinished = parent.join(format!(".{name}.unfinished-{}", std::process::id()));
    std::fs::create_dir_all(&unfinished).map_err(|e| cannot(&unfinished, e))?;
    let written = files.iter().chain([(&SUMS.to_owned(), &sums_text)]).try_for_each(|(name, text)| {
        let path = unfinished.join(name);
        std::fs::write(&path, text).map_err(|e| cannot(&path, e))
    });
    let moved = written.and_then(|()| {
        if dir.exists() {
            std::fs::remove_dir(dir).map_err(|e| cannot(dir, e))?;
        }
        std::fs::rename(&unfinished, dir).map_err(|e| cannot(dir, e))
    });
    if moved.is_err() {
        let _ = std::fs::remove_dir_all(&unfinished);
    }
    moved.map(|()| Seal::of(&sums_text))
}

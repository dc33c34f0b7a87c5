//! A manifest's file, able to say where in it a mistake is.

use serde::de::DeserializeOwned;
use toml::Spanned;

use super::file::{ManifestFile, ManifestHead};
use crate::data::DataFile;
use crate::{Error, Result};

/// A data file, able to say "file, line, key".
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub file: &'a DataFile,
}

impl Source<'_> {
    pub(super) fn parse(self) -> Result<ManifestFile> {
        self.read(&self.file.text)
    }

    /// A part of the file's text, in which errors are not placed.
    pub(super) fn parse_part(self, part: &str) -> Result<ManifestFile> {
        self.read(part)
    }

    /// What stands before the file's first table: TOML has the keys of the file itself there.
    pub(super) fn head(self) -> Result<ManifestHead> {
        let text: &str = &self.file.text;
        // In files that come with the program the sources follow what is wanted here.
        let end = if self.file.built_in { "\nsources = [" } else { "\n[" };
        let head = text.find(end).map_or(text, |at| &text[..=at]);
        // What ends inside of a text or a list is no TOML.
        self.read(head).or_else(|_| self.read(text))
    }

    fn read<T: DeserializeOwned>(self, text: &str) -> Result<T> {
        toml::from_str(text).map_err(|e| Error::usage(format!("{}: {}", self.file.origin, e.to_string().trim_end())))
    }

    /// What to call the file in a message.
    pub(super) fn origin(self) -> String {
        self.file.origin.clone()
    }

    /// An error at a value.
    pub(super) fn at<T>(self, value: &Spanned<T>, message: impl std::fmt::Display) -> Error {
        let before = self.file.text.get(..value.span().start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        Error::usage(format!("{}, line {line}: {message}", self.file.origin))
    }

    pub(super) fn check_path(self, path: &str, file: &ManifestFile) -> Result<()> {
        let expected = format!("{}/{}.toml", file.scheduler.get_ref(), file.generation.get_ref());
        if path == expected {
            return Ok(());
        }
        Err(self
            .at(
                &file.generation,
                format!("generation: the file must be named {expected} after its scheduler and generation"),
            )
            .hint("the directory to name is the one above the schedulers' directories"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Tree;

    /// The head of a file that comes with the program stands before its sources.
    #[test]
    fn heads() {
        for (path, file) in Tree::enums(None).unwrap().iter() {
            let (head, whole) = (Source { file }.head().unwrap(), Source { file }.parse().unwrap());
            assert_eq!(head.releases, *whole.releases.get_ref(), "{path}");
            assert_eq!(head.generation, *whole.generation.get_ref(), "{path}");
            assert_eq!(head.extends, whole.extends.map(|e| e.get_ref().clone()), "{path}");
        }
    }
}

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
        let text = &self.file.text;
        let head = text.find("\n[").map_or(text.as_str(), |at| &text[..=at]);
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

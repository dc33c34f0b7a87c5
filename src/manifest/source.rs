//! A manifest's file, able to say where in it a mistake is.

use toml::Spanned;

use super::file::ManifestFile;
use crate::data::DataFile;
use crate::{Error, Result};

/// A data file, able to say "file, line, key".
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub file: &'a DataFile,
}

impl Source<'_> {
    pub(super) fn parse(self) -> Result<ManifestFile> {
        toml::from_str(&self.file.text)
            .map_err(|e| Error::usage(format!("{}: {}", self.file.origin, e.to_string().trim_end())))
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

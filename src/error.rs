//! The one error type of the library, and the exit code each kind means.
//!
//! A message is a sentence fragment without the word "error"; a hint says the
//! way out. The exit codes are a contract (see the README).

use std::fmt;

/// What went wrong, by what the caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The command line, a configuration or a data file is wrong. Exit 2.
    Usage,
    /// A guard failed inside the transaction; everything was rolled back. Exit 3.
    Guard,
    /// Refused before any change. Exit 4.
    Refused,
    /// The database said no, or the outcome is unknown. Exit 6.
    Database,
    /// A fault of flowmend itself. Exit 70.
    Internal,
}

impl Kind {
    /// The process exit code of this kind.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Guard => 3,
            Self::Refused => 4,
            Self::Database => 6,
            Self::Internal => 70,
        }
    }
}

/// An error with its kind and, where there is one, the way out.
#[derive(Debug)]
pub struct Error {
    /// The kind, which fixes the exit code.
    pub kind: Kind,
    message: String,
    hints: Vec<String>,
}

/// The library's result.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of a kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    /// The caller gave something that cannot be used.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// A guard of the bundle failed and the transaction was rolled back.
    pub fn guard(message: impl Into<String>) -> Self {
        Self::new(Kind::Guard, message)
    }

    /// Refused before any change.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Kind::Refused, message)
    }

    /// The database said no.
    pub fn database(message: impl Into<String>) -> Self {
        Self::new(Kind::Database, message)
    }

    /// A fault of flowmend.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, message)
    }

    /// Adds one line that says the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Puts what was being done in front of the message.
    #[must_use]
    pub fn context(mut self, what: impl fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// The ways out, in the order they were added.
    #[must_use]
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<minijinja::Error> for Error {
    /// A template that does not render is a fault in a data file.
    fn from(outer: minijinja::Error) -> Self {
        // An error inside an included template wraps the one that says why.
        let mut error = &outer;
        while let Some(inner) = std::error::Error::source(error).and_then(|e| e.downcast_ref::<minijinja::Error>()) {
            error = inner;
        }
        let place = match (error.name(), error.line()) {
            (Some(name), Some(line)) => format!("{name}, line {line}: "),
            (Some(name), None) => format!("{name}: "),
            _ => String::new(),
        };
        let detail = error.detail().map_or_else(|| error.kind().to_string(), ToOwned::to_owned);
        Self::usage(format!("template {place}{detail}"))
    }
}

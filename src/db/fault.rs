//! What a server's error means to a repair.

use sqlx::Error as SqlxError;

use crate::{Error, Kind};

/// The kinds a repair reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Somebody else holds a lock for longer than we wait.
    LockTimeout,
    /// A key or CHECK constraint said no: a guard, or a run that exists already.
    Constraint,
    /// The connection is gone; what the server did is not known.
    ConnectionLost,
    /// The login lacks a privilege.
    Denied,
    /// A statement took longer than the time we gave it.
    TooLong,
    /// Anything else.
    Other,
}

/// An error of the server or the connection.
#[derive(Debug)]
pub struct DbFault {
    /// What it means.
    pub kind: FaultKind,
    /// The server's own code (SQLSTATE or number), if it gave one.
    pub code: String,
    /// The server's own words.
    pub message: String,
}

impl DbFault {
    pub(super) fn from_sqlx(error: &SqlxError) -> Self {
        match error {
            SqlxError::Database(db) => {
                let number = db.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>().map(|e| e.number().to_string());
                let code = number.or_else(|| db.code().map(Into::into)).unwrap_or_default();
                Self { kind: kind_of(&code, db.message()), message: db.message().to_owned(), code }
            }
            SqlxError::Io(e) => Self::lost(e.to_string()),
            SqlxError::WorkerCrashed | SqlxError::Protocol(_) | SqlxError::Tls(_) => Self::lost(error.to_string()),
            other => Self { kind: FaultKind::Other, code: String::new(), message: other.to_string() },
        }
    }

    fn lost(message: String) -> Self {
        Self { kind: FaultKind::ConnectionLost, code: String::new(), message }
    }
}

fn kind_of(code: &str, message: &str) -> FaultKind {
    match code {
        // MySQL lock wait time-out, deadlock, no-wait; PostgreSQL lock_timeout,
        // deadlock; SQLite busy and its extended forms.
        "1205" | "1213" | "3572" | "55P03" | "40P01" | "5" | "6" | "261" | "517" => FaultKind::LockTimeout,
        "1062" | "1048" | "1242" | "1364" | "3819" | "4025" | "23505" | "23514" | "23502" | "275" | "1555" | "2067"
        | "1299" | "19" => FaultKind::Constraint,
        "1044" | "1045" | "1142" | "1143" | "1227" | "1370" | "42501" | "28P01" | "28000" | "8" => FaultKind::Denied,
        // A statement time-out: PostgreSQL, MariaDB, MySQL.
        "57014" | "1969" | "3024" => FaultKind::TooLong,
        // The server shut the session down: MySQL KILL and shutdown, PostgreSQL class 57P.
        "1053" | "1317" | "2006" | "2013" | "57P01" | "57P02" | "57P03" => FaultKind::ConnectionLost,
        _ if message.contains("server has gone away") || message.contains("Connection was killed") => {
            FaultKind::ConnectionLost
        }
        _ => FaultKind::Other,
    }
}

impl std::fmt::Display for DbFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.code.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl From<DbFault> for Error {
    fn from(fault: DbFault) -> Self {
        let error = Self::new(Kind::Database, format!("the database says: {fault}"));
        match fault.kind {
            FaultKind::Denied => {
                error.hint("the login lacks a privilege: to look, GRANT SELECT on the scheduler's tables; to apply, the GRANTs that the bundle's TICKET.md lists")
            }
            FaultKind::TooLong => error.hint(
                "the tables are huge: give more time with --timeout, or narrow what is looked at with the recipe's own flags (flowmend plan --help)",
            ),
            FaultKind::LockTimeout => {
                error.hint("another session holds a lock on these rows; end it or try again later")
            }
            _ => error,
        }
    }
}

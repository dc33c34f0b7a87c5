//! The server's own guard is switched off.

use crate::lint::finding::Level;
use crate::lint::reading::{Deed, Reading};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    let Deed::Set { name, value } = &reading.deed else { return };
    let off = ["0", "off", "false", "'off'"].contains(&value.to_lowercase().as_str());
    let what = match name.as_str() {
        "sql_safe_updates" if off => "UPDATE and DELETE without a key are accepted from here on",
        "foreign_key_checks" if off => "rows that refer to nothing are accepted from here on",
        "unique_checks" if off => "double keys may be accepted from here on",
        "sql_log_bin" if off => "replicas do not hear of what follows",
        "session_replication_role" => "triggers and foreign keys of PostgreSQL do not fire from here on",
        _ => return,
    };
    report
        .statement(reading, Level::Warning, format!("{name} is switched: {what}"))
        .help("leave it on, and name rows by their primary key");
}

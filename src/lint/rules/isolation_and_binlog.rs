//! The isolation level or the binary log's format is changed (MySQL, MariaDB).

use crate::lint::finding::Level;
use crate::lint::reading::{Deed, Reading};
use crate::lint::report::Report;
use crate::manifest::Engine;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    let Deed::Set { name, value } = &reading.deed else { return };
    if report.knowledge.engine != Engine::MySql {
        return;
    }
    let levels = ["transaction", "transaction_isolation", "tx_isolation"];
    let value = value.to_uppercase().replace('-', " ");
    let refused = ["READ COMMITTED", "READ UNCOMMITTED"].iter().any(|level| value.contains(level));
    if levels.contains(&name.as_str()) && refused {
        let message = "a server that logs statements refuses changes at this isolation level";
        report
            .statement(reading, Level::Warning, message)
            .why("with binlog_format = STATEMENT the first UPDATE fails: error 1665")
            .help("keep the server's own level, or ask SELECT @@binlog_format first");
    } else if name == "binlog_format" {
        report
            .statement(reading, Level::Warning, "the binary log's format is changed")
            .why("it needs a privilege, and changes what the replicas get")
            .help("keep the server's own format, and write statements that are safe in it");
    }
}

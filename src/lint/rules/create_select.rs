//! CREATE TABLE … SELECT.

use crate::lint::finding::Level;
use crate::lint::reading::{Deed, Reading};
use crate::lint::report::Report;
use crate::manifest::Engine;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    let Deed::Define(definition) = &reading.deed else { return };
    if report.knowledge.engine != Engine::MySql || !definition.filled {
        return;
    }
    report
        .statement(reading, Level::Warning, "CREATE TABLE … SELECT is refused under GTID")
        .why("error 1786 with enforce_gtid_consistency on MySQL before 8.0.21; a temporary table does not help (1787)")
        .why("the copy has no keys and no generated columns")
        .help("write two statements: CREATE TABLE copy LIKE table; INSERT INTO copy SELECT …");
}

//! A trigger, an event, an index … is made on the scheduler's tables, or a table is changed.

use crate::lint::define::{DROP_DATABASE, DROP_SCHEMA};
use crate::lint::finding::Level;
use crate::lint::reading::{Deed, Reading};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    let Deed::Define(definition) = &reading.deed else { return };
    let knowledge = report.knowledge;
    if [DROP_DATABASE, DROP_SCHEMA].contains(&definition.what) {
        let message = format!("{}: every table in it goes", definition.what);
        report.statement(reading, Level::Error, message).why("a scheduler's tables may be among them");
        return;
    }
    let known: Vec<&String> = definition.tables.iter().filter(|t| knowledge.table(t).is_some()).collect();
    let Some(table) = known.first() else { return };
    let (level, what) = match definition.what {
        "CREATE TRIGGER" | "CREATE RULE" => {
            (Level::Error, "it changes what the scheduler writes, unseen, from then on")
        }
        "TRUNCATE" => {
            (Level::Error, "every row goes at once, without conditions, and it cannot be rolled back on MySQL")
        }
        "DROP TABLE" => (Level::Error, "the scheduler's table goes"),
        "ALTER TABLE" | "RENAME TABLE" => {
            (Level::Error, "the scheduler's next upgrade expects the shape of its release")
        }
        "CREATE TABLE" => (Level::Warning, "the name is one of the scheduler's own tables"),
        "CREATE INDEX" | "DROP INDEX" => {
            (Level::Warning, "the scheduler's next upgrade expects the shape of its release")
        }
        _ => return,
    };
    let message = format!("{} on {table}, a table of {}", definition.what, knowledge.title());
    report.statement(reading, level, message).why(what);
}

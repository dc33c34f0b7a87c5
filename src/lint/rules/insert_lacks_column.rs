//! A new row lacks a value that the table wants.

use crate::lint::finding::Level;
use crate::lint::reading::{Does, Reading};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for change in reading.changes.iter().filter(|c| c.does == Does::Insert && !c.sets.is_empty()) {
        let engine = report.knowledge.engine;
        let Some(spec) = report.knowledge.table(&change.table) else { continue };
        let wanted = |column: &&crate::manifest::TableColumn| {
            let form = column.on(engine);
            form.is_some_and(|f| !f.nullable && f.default.is_none() && !f.auto_increment)
        };
        let columns = spec.columns_on(engine).filter(wanted).map(|c| c.name.as_str());
        let lacking: Vec<&str> = columns.filter(|name| change.set(name).is_none()).collect();
        if lacking.is_empty() {
            continue;
        }
        let message = format!("the new row lacks {}, which {} wants in every row", lacking.join(", "), spec.name);
        let title = report.knowledge.title();
        report
            .at(change.span, Level::Error, message)
            .why(format!("NOT NULL without a default in {title}: the server refuses the row, or fills in nothing that the scheduler wrote"))
            .help("name every column, or let the scheduler write the row");
    }
}

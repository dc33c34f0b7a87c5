//! LIMIT inside IN (SELECT …) (MySQL 1235).

use crate::lint::finding::Level;
use crate::lint::reading::{Reading, Remark};
use crate::lint::report::Report;
use crate::manifest::Engine;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    if report.knowledge.engine != Engine::MySql {
        return;
    }
    for (remark, span) in &reading.remarks {
        if *remark == Remark::LimitInSubquery {
            report
                .at(*span, Level::Error, "LIMIT stands in a sub-query of IN: the statement does not run")
                .why("error 1235 on MySQL and MariaDB")
                .help("join the sub-query instead, or wrap it in another");
        }
    }
}

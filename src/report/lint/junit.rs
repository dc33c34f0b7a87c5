//! JUnit's XML: a suite for each file, a case for each finding.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Checked, shown, whole};
use crate::lint::Level;
use crate::sql::Places;
use crate::{Error, Result};

pub(super) fn render(checked: &[Checked<'_>]) -> Result<String> {
    let mut report = Report::new("flowmend lint");
    for file in checked {
        let places = Places::of(file.text);
        let mut suite = TestSuite::new(file.name);
        for finding in &file.linted.findings {
            let s = shown(file.name, &places, finding);
            // Remarks are no failures.
            let mut status = match finding.level {
                Level::Info => TestCaseStatus::success(),
                _ => TestCaseStatus::non_success(NonSuccessKind::Failure),
            };
            status.set_message(finding.message.clone());
            if let TestCaseStatus::NonSuccess { .. } = &status {
                status.set_type(finding.level.name());
                status.set_description(format!("{}:{}:{}: {}\n", file.name, s.line, s.column, whole(finding)));
            }
            let mut case = TestCase::new(format!("{}:{}: {}", s.line, s.column, finding.rule), status);
            case.set_classname(finding.rule.clone());
            suite.add_test_case(case);
        }
        if file.linted.findings.is_empty() {
            suite.add_test_case(TestCase::new("no findings", TestCaseStatus::success()));
        }
        report.add_test_suite(suite);
    }
    report.to_string().map_err(|e| Error::internal(e.to_string()))
}

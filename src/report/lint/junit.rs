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
            let text = format!("{}:{}:{}: {}\n", file.name, s.line, s.column, whole(finding));
            let name = format!("{}:{}: {}", s.line, s.column, finding.rule);
            suite.add_test_case(case(name, &finding.rule, finding.level, &finding.message, text));
        }
        add_suite(&mut report, suite);
    }
    report.to_string().map_err(|e| Error::internal(e.to_string()))
}

/// One finding. Remarks are no failures.
pub(in crate::report) fn case(name: String, code: &str, level: Level, message: &str, text: String) -> TestCase {
    let mut status = match level {
        Level::Info => TestCaseStatus::success(),
        _ => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    status.set_message(message);
    if let TestCaseStatus::NonSuccess { .. } = &status {
        status.set_type(level.name());
        status.set_description(text);
    }
    let mut case = TestCase::new(name, status);
    case.set_classname(code);
    case
}

/// Adds a suite, which says so where nothing was found.
pub(in crate::report) fn add_suite(report: &mut Report, mut suite: TestSuite) {
    if suite.test_cases.is_empty() {
        suite.add_test_case(TestCase::new("no findings", TestCaseStatus::success()));
    }
    report.add_test_suite(suite);
}

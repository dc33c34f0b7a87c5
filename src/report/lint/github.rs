//! Annotations of GitHub Actions: one line for each finding.

use super::{Checked, shown, whole};
use crate::lint::Level;
use crate::sql::Places;

pub(super) fn render(checked: &[Checked<'_>]) -> String {
    let mut lines = Vec::new();
    for file in checked {
        let places = Places::of(file.text);
        for finding in &file.linted.findings {
            let s = shown(file.name, &places, finding);
            let kind = match finding.level {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Info => "notice",
            };
            let text = whole(finding);
            lines.push(format!(
                "::{kind} file={},line={},col={},endLine={},endColumn={},title={}::{}",
                property(file.name),
                s.line,
                s.column,
                s.end_line,
                s.end_column,
                property(&finding.rule),
                data(&text)
            ));
        }
    }
    lines.join("\n")
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

//! A number in quotes, or a text without.

use crate::lint::finding::Level;
use crate::lint::reading::{Reading, Scalar};
use crate::lint::report::Report;

pub(super) fn check(report: &mut Report<'_>, reading: &Reading) {
    for used in &reading.codes {
        let Some(set) = report.knowledge.manifest.states.get(&used.role_column) else { continue };
        let range = report.bytes(used.span);
        match &used.scalar {
            Scalar::Text(text) if !set.text && text.parse::<i64>().is_ok() => {
                let message = format!("{} holds numbers: '{text}' is converted", used.column);
                let finding = report.over(range.clone(), Level::Info, message);
                if text.parse::<u64>().is_ok() {
                    finding.edit(range, text.clone());
                }
            }
            Scalar::Number(number) if set.text => {
                let message = format!("{} holds texts: {number} is compared as a number", used.column);
                let finding = report
                    .over(range.clone(), Level::Warning, message)
                    .why("PostgreSQL refuses it; MySQL turns every text into a number first, and no index helps");
                // Texts have another order than numbers, and a sign stands before its number.
                if used.equal && number.parse::<u64>().is_ok() {
                    finding.edit(range, format!("'{number}'"));
                }
            }
            _ => {}
        }
    }
}

//! "Did you mean …?": the names that are most like one that is not known. Pure.

/// How alike two names must be, of 1.
const ALIKE: f32 = 0.7;
/// How long a part of a name must be to stand for it.
const PART: usize = 3;

/// The known names that are most like a name, or hold it, whatever their case; the best first.
#[must_use]
pub fn near<'n>(name: &str, known: &[&'n str], most: usize) -> Vec<&'n str> {
    let lower: Vec<String> = known.iter().map(|n| n.to_lowercase()).collect();
    let keys: Vec<&str> = lower.iter().map(String::as_str).collect();
    let mut found: Vec<&str> = Vec::new();
    for key in similar::get_close_matches(name.to_lowercase().as_str(), &keys, most, ALIKE) {
        // Names that differ in case alone are all meant.
        let same = lower.iter().zip(known).filter(|(l, _)| *l == key).map(|(_, n)| *n);
        found.extend(same.filter(|n| !found.contains(n)).collect::<Vec<_>>());
    }
    if name.len() >= PART {
        let holds = lower.iter().zip(known).filter(|(l, _)| l.contains(&name.to_lowercase())).map(|(_, n)| *n);
        found.extend(holds.filter(|n| !found.contains(n)).collect::<Vec<_>>());
    }
    found.truncate(most);
    found
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn the_best_first_whatever_the_case() {
        let known = ["Sales", "sales_daily", "billing", "SALES"];
        assert_eq!(near("salse", &known, 2), ["Sales", "SALES"]);
        assert_eq!(near("BILING", &known, 2), ["billing"]);
        assert_eq!(near("dail", &known, 2), ["sales_daily"]);
        assert!(near("coffee", &known, 2).is_empty());
    }
}

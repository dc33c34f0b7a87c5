//! Scripts so long that they are parsed ahead of the rules.

use std::fmt::Write as _;

use flowmend::lint::Linted;

use super::check;

/// Rule and text of each finding, without its place.
fn found(sql: &str, linted: &Linted) -> Vec<(String, String)> {
    linted.findings.iter().map(|f| (f.rule.clone(), sql[f.range.clone()].to_owned())).collect()
}

/// What a script says does not hang on how much stands around it, and comes in its order.
#[test]
fn a_long_script_is_checked_as_its_parts_are() {
    let parts = [
        "\\set id 7\nUPDATE t_ds_task_instance SET state = 66 WHERE id = :id;\n",
        "UPDATE t_ds_nothing SET a = 1 WHERE id = 1;\n",
        "UPDATE t_ds_task_instance SET stat = 6 WHERE id = 1 AND state = 1;\n",
        "UPDATE t_ds_task_instance WHERE SET;\n",
        "DELETE FROM t_ds_task_instance;\n",
    ];
    let check = |sql: &str| check(sql, "dolphinscheduler", "3.1.9", "postgresql");
    let alone: Vec<_> = parts.iter().map(|part| found(part, &check(part))).collect();
    let of_statement = |rule: &str| {
        ["unknown-state", "unknown-table", "unknown-column", "unread-statement", "missing-where"].contains(&rule)
    };
    let mut script = String::new();
    let mut wanted = Vec::new();
    for n in 0..400 {
        let _ = writeln!(script, "-- {n}");
        script.push_str(parts[n % parts.len()]);
        wanted.extend(alone[n % parts.len()].iter().filter(|(rule, _)| of_statement(rule)).cloned());
    }
    let linted = check(&script);
    assert_eq!((linted.statements, linted.unread), (400, 80));
    let got: Vec<_> = found(&script, &linted).into_iter().filter(|(rule, _)| of_statement(rule)).collect();
    assert_eq!(got, wanted);
    assert!(linted.findings.is_sorted_by_key(|f| f.range.start));
}

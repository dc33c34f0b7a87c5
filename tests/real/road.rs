//! The program's road from a damage to its repair.

use crate::support::db::TestDb;
use crate::support::program::{Run, flowmend, on_bundle, sealed};

/// `flowmend plan` with a recipe, or `--all`.
pub fn plan(db: &TestDb, recipe: &str, bundle: &str, extra: &[impl AsRef<str>]) -> Run {
    let out = db.path(bundle).display().to_string();
    let extra: Vec<&str> = extra.iter().map(AsRef::as_ref).collect();
    let args = ["plan", recipe, "--url", &db.url, "--out", &out];
    let planned = flowmend([&args[..], &extra].concat());
    eprintln!("$ flowmend plan {recipe} {}\n{}{}", extra.join(" "), planned.out, planned.err);
    planned
}

/// The whole road: plan, rehearse, apply, verify.
pub fn repair(db: &TestDb, recipe: &str, bundle: &str, extra: &[impl AsRef<str>]) {
    repair_live(db, recipe, bundle, extra);
    on_bundle("verify", db, bundle).expect(0);
}

/// The same beside a living scheduler, who may change the rows again at once.
pub fn repair_live(db: &TestDb, recipe: &str, bundle: &str, extra: &[impl AsRef<str>]) {
    plan(db, recipe, bundle, extra).expect(0);
    assert!(db.path(bundle).exists(), "there is something to repair");
    on_bundle("rehearse", db, bundle).expect(0);
    sealed("apply", db, bundle, &[]).expect(0);
}

/// There is nothing to repair, also where rows of owners that may live (exit code 4)
/// are left out.
pub fn nothing(db: &TestDb, recipe: &str, bundle: &str, extra: &[impl AsRef<str>]) {
    let planned = plan(db, recipe, bundle, extra);
    assert!([0, 4].contains(&planned.code), "{planned:?}");
    assert!(!db.path(bundle).exists(), "nothing to repair");
}

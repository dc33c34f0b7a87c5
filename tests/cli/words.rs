//! What people are advised at night: never a weaker proof.

use flowmend::data::Tree;
use flowmend::manifest::Manifests;
use flowmend::recipe::Recipes;

/// A cut-off that is nearer lets a plan write rows of what still runs.
const WEAKER: [&str; 4] = ["shorter --older-than", "shorter age", "another age", "plan without the age"];

#[test]
fn no_way_out_weakens_a_proof() {
    let recipes = Recipes::load(&Tree::templates(None).unwrap(), &Manifests::load(None).unwrap()).unwrap();
    let mut ways = 0;
    for reason in recipes.iter().flat_map(|r| &r.file.left_out) {
        let way = &reason.way_out;
        assert!(!WEAKER.iter().any(|advice| way.contains(advice)), "{}: {way}", reason.code);
        // Without the age, all rows lose it: the one row is named.
        assert!(!way.contains("without --older-than") || way.contains(" ID"), "{}: {way}", reason.code);
        ways += 1;
    }
    assert!(ways > 100, "{ways}");
}

#[test]
fn no_page_weakens_a_proof() {
    let mut pages = 0;
    for (page, text) in super::pages::pages() {
        assert!(!WEAKER.iter().any(|advice| text.contains(advice)), "{}", page.display());
        pages += 1;
    }
    assert!(pages > 20, "{pages}");
}

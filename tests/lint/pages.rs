//! Every rule has its page, and does what the page says.

use flowmend::data::Tree;
use flowmend::lint::{DataRules, Pages, rules};
use flowmend::manifest::Manifests;

use super::check;

#[test]
fn every_rule_has_its_page_and_every_page_its_rule() {
    let pages = Pages::load();
    let manifests = Manifests::load(None).unwrap();
    let data = DataRules::load(&manifests).unwrap();
    let of_program = rules::ALL.iter().map(|r| r.code.to_owned());
    let of_reader = rules::OF_THE_READER.iter().map(|code| (*code).to_owned());
    let mut codes: Vec<String> = of_program.chain(of_reader).chain(data.iter().map(|r| r.code.clone())).collect();
    codes.sort();
    codes.dedup();
    let mut with_page: Vec<String> = pages.iter().map(|p| p.code.clone()).collect();
    with_page.sort();
    assert_eq!(codes, with_page);
}

#[test]
fn every_built_in_rule_fits_the_manifests() {
    DataRules::from_tree(&Tree::rules(), &Manifests::load(None).unwrap()).unwrap();
}

#[test]
fn the_examples_of_the_pages() {
    let mut wrong = Vec::new();
    for page in Pages::load().iter() {
        assert!(!page.summary().is_empty(), "{}", page.code);
        let examples = page.examples();
        assert!(examples.iter().any(|e| !e.found), "{} leaves nothing alone", page.code);
        for example in examples {
            let told = |key: &str| example.told[key].as_str();
            let linted = check(&example.sql, told("scheduler"), told("release"), told("dialect"));
            let found: Vec<&str> = linted.findings.iter().map(|f| f.rule.as_str()).collect();
            if found.contains(&page.code.as_str()) != example.found {
                wrong.push(format!("docs/rules/{}.md:{}: {found:?}", page.code, example.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

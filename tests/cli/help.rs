//! The whole command line reference is a snapshot: help cannot change unseen.

use crate::support::program::flowmend;

#[test]
fn reference() {
    let mut text = flowmend(["--help"]).expect(0).out;
    for command in [
        "demo",
        "inspect",
        "plan",
        "show",
        "rehearse",
        "apply",
        "verify",
        "rollback",
        "clean",
        "ticket",
        "manifests",
        "completions",
        "man",
    ] {
        text += &format!("\n==== flowmend {command}\n{}", flowmend([command, "--help"]).expect(0).out);
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("reference", text);
    });
}

#[test]
fn man_page_and_completions() {
    assert!(flowmend(["man"]).expect(0).out.contains(".TH flowmend"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(flowmend(["completions", shell]).expect(0).out.contains("flowmend"), "{shell}");
    }
}

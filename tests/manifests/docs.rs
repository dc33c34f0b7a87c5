//! docs/manifests.md shows the very files that the tests run, and knows every key.

use super::in_house::data;

fn page() -> String {
    std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/manifests.md")).unwrap()
}

#[test]
fn the_example_is_the_tested_one() {
    let page = page();
    let mut shown = 0;
    for folder in ["enums/nightshift", "templates/nightshift/dead-runs"] {
        for entry in std::fs::read_dir(data(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(page.contains(&format!("\n{text}```")), "{} differs from docs/manifests.md", path.display());
            shown += 1;
        }
    }
    assert_eq!(shown, 8);
}

/// Every key that a manifest may have, as the program itself lists them when one is wrong.
#[test]
fn every_key_is_explained() {
    let page = page();
    for file in ["src/manifest/file.rs", "src/recipe/mod.rs"] {
        let text = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        for key in text.lines().filter_map(field) {
            let key = if key == "type_name" { "type" } else { key };
            let forms = [
                format!("`{key}"),
                format!("`[{key}]"),
                format!("`[[{key}]]"),
                format!(".{key}]]`"),
                format!("`[{key}."),
            ];
            assert!(forms.iter().any(|form| page.contains(form)), "{file}: {key}");
        }
    }
}

/// Every key that a rule of the linter may have.
#[test]
fn every_key_of_a_rule_is_explained() {
    let page = page();
    let rules = page.split("## Rules of the linter").nth(1).unwrap().split("\n## ").next().unwrap();
    let text = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lint/data_rule/file.rs");
    let text = std::fs::read_to_string(text).unwrap();
    let keys: Vec<&str> = text.lines().filter_map(field).collect();
    assert!(keys.contains(&"reads_none") && keys.contains(&"unless"), "{keys:?}");
    for key in keys {
        assert!(rules.contains(&format!("`{key}`")), "{key}");
    }
}

/// The name of a public field; the fields of the recipe in memory are no keys.
fn field(line: &str) -> Option<&str> {
    let (name, _) = line.trim().strip_prefix("pub ")?.split_once(':')?;
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    (plain && !["folder", "templates", "shared", "sha256", "file", "scheduler"].contains(&name)).then_some(name)
}

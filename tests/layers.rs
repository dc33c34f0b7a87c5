//! The pure rooms touch no database, no clock, no random source and no runtime,
//! and nothing in `src/` names a scheduler: that is data.

use std::path::{Path, PathBuf};

fn sources(below: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(below)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                // Tests beside the code may name what they like.
                let code = text.split("#[cfg(test)]").next().unwrap().to_owned();
                found.push((path, code));
            }
        }
    }
    assert!(!found.is_empty(), "{below}");
    found
}

#[test]
fn the_pure_rooms_are_pure() {
    let forbidden = [
        "sqlx",
        "tokio",
        "async ",
        ".await",
        "Timestamp::now",
        "SystemTime",
        "Instant::now",
        "rand::",
        "crate::db",
        "crate::apply",
        "crate::inspect",
        "crate::cli",
    ];
    for room in ["src/plan", "src/recipe", "src/manifest", "src/dialect", "src/render", "src/lint", "src/sql"] {
        for (path, code) in sources(room) {
            for word in forbidden {
                assert!(!code.contains(word), "{} holds `{word}`", path.display());
            }
        }
    }
}

#[test]
fn no_scheduler_is_named_in_the_program() {
    for (path, code) in sources("src") {
        let lower = code.to_lowercase();
        for word in ["dolphin", "airflow", "xxl", "quartz", "t_ds_", "qrtz_", "dag_run"] {
            assert!(!lower.contains(word), "{} names `{word}`", path.display());
        }
    }
}

/// What only one scheduler has is said by its manifest or recipe, if at all.
#[test]
fn no_scheduler_s_own_words_are_in_messages() {
    let literal = |code: &str| code.split('"').skip(1).step_by(2).map(str::to_lowercase).collect::<Vec<_>>();
    for (path, code) in sources("src") {
        let code: String = code.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        for text in literal(&code.replace("\\\"", "'")) {
            let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
            for word in ["master", "worker", "executor", "triggerer", "misfire", "admin", "dag", "dags"] {
                assert!(!words.contains(&word), "{} says `{word}`: {text}", path.display());
            }
            assert!(!text.contains("a command came"), "{}: {text}", path.display());
        }
    }
}

#[test]
fn only_one_room_names_a_driver() {
    for (room, driver) in [("src/db/", "sqlx::"), ("src/registry/", "zookeeper_client"), ("src/registry/", "ureq::")] {
        for (path, code) in sources("src") {
            assert!(path.to_string_lossy().contains(room) || !code.contains(driver), "{}", path.display());
        }
    }
}

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

#[test]
fn only_one_room_names_a_driver() {
    for (room, driver) in [("src/db/", "sqlx::"), ("src/registry/", "zookeeper_client"), ("src/registry/", "ureq::")] {
        for (path, code) in sources("src") {
            assert!(path.to_string_lossy().contains(room) || !code.contains(driver), "{}", path.display());
        }
    }
}

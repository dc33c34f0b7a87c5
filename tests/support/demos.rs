//! The stories of the demos, as the data has them.

use std::path::Path;

/// One story.
pub struct Demo {
    /// Its scheduler.
    pub name: String,
    /// Whether it is told when nobody names one.
    pub first: bool,
}

/// Every story there is, by name.
pub fn demos() -> Vec<Demo> {
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let folders = std::fs::read_dir(templates).unwrap().map(|e| e.unwrap().path());
    let mut demos: Vec<Demo> = folders.filter(|path| path.join("demo/demo.toml").is_file()).map(|p| read(&p)).collect();
    demos.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(demos.len() > 3);
    demos
}

fn read(folder: &Path) -> Demo {
    let story: toml::Table = std::fs::read_to_string(folder.join("demo/demo.toml")).unwrap().parse().unwrap();
    Demo {
        name: folder.file_name().unwrap().to_str().unwrap().to_owned(),
        first: story.get("first").and_then(toml::Value::as_bool).unwrap_or_default(),
    }
}

//! The data files are part of the program: a change of one is a change of it.

fn main() {
    for folder in ["enums", "templates", "dialects", "rules", "docs/rules"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}

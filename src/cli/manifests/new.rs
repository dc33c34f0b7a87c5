//! `flowmend manifests new`: a manifest to begin with.

use std::path::Path;

use clap::ArgMatches;

use super::super::App;
use super::super::args::path_of;
use super::word;
use crate::manifest::{Manifest, State, StateSet};
use crate::{Error, Result, ui};

/// Writes, or prints, a manifest of a new generation that extends a known one.
pub(super) fn run(app: &App, m: &ArgMatches) -> Result<u8> {
    let (scheduler, from) = (word(m, "scheduler")?, word(m, "from")?);
    let generation = word(m, "generation")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    if generation.is_empty() || !generation.chars().all(plain) || generation.starts_with('.') {
        return Err(Error::usage(format!("--generation: `{}` is no version", ui::safe(generation, 60)))
            .hint("write the first release of the new generation, for example 3.5.0"));
    }
    let base = app.manifests.release(scheduler, from)?;
    if let Ok(known) = app.manifests.release(scheduler, generation) {
        return Err(Error::usage(format!("{generation} belongs to the generation {} already", known.generation))
            .hint(format!("flowmend manifests show {scheduler} {generation}")));
    }
    let text = skeleton(base, generation);
    let Some(dir) = path_of(m, "out") else {
        ui::out(text.trim_end());
        return Ok(0);
    };
    let file = dir.join(scheduler).join(format!("{generation}.toml"));
    write(&file, &text)?;
    ui::note(format!("{} is written; edit it, then: flowmend manifests check {}", file.display(), dir.display()));
    Ok(0)
}

/// A file that is there is somebody's work.
fn write(file: &Path, text: &str) -> Result<()> {
    let fails = |e: std::io::Error| Error::usage(format!("cannot write {}: {e}", file.display()));
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(fails)?;
    }
    if file.exists() {
        return Err(Error::usage(format!("{} is there already", file.display()))
            .hint("edit it, or name another directory with --out"));
    }
    let mut open = std::fs::OpenOptions::new().write(true).create_new(true).open(file).map_err(fails)?;
    std::io::Write::write_all(&mut open, text.as_bytes()).map_err(fails)
}

fn skeleton(base: &Manifest, generation: &str) -> String {
    let mut lines = vec![
        format!("# {} {generation}: what its metadata database calls its states, tables and columns.", base.title),
        format!("# Everything that is not said here is as in {}. Keys: docs/manifests.md.", base.generation),
        format!("scheduler = {}", quoted(&base.scheduler)),
        format!("title = {}", quoted(&base.title)),
        format!("generation = {}", quoted(generation)),
        format!("releases = [{}]", quoted(generation)),
        format!("extends = {}", quoted(&base.generation)),
        "# Where you read it: repository, tag and path.".to_owned(),
        "sources = []".to_owned(),
        String::new(),
        "# Names by which this generation's schema is known; they must tell it from its neighbours.".to_owned(),
        "[fingerprint]".to_owned(),
        format!("present = [{}]", list(&base.fingerprint.present)),
        format!("absent = [{}]", list(&base.fingerprint.absent)),
    ];
    for (column, set) in &base.states {
        lines.extend(states(column, set));
    }
    lines.extend([
        String::new(),
        "# Tables that changed are written out whole; tables that went: dropped_tables = [\"name\"] above.".to_owned(),
        "# Codes that this release cannot read any more, and what such a row may become:".to_owned(),
        "# [[legacy]]".to_owned(),
        "# column = \"task_instance.state\"".to_owned(),
        "# code = 5".to_owned(),
        "# name = \"STOP\"".to_owned(),
        "# to = \"KILL\"".to_owned(),
        "# sure = false".to_owned(),
        "# why = \"where that was read\"".to_owned(),
        String::new(),
    ]);
    lines.join("\n")
}

fn states(column: &str, set: &StateSet) -> Vec<String> {
    let mut lines = vec![String::new(), "[[states]]".to_owned(), format!("column = {}", quoted(column))];
    lines.push(format!("type = {}", quoted(&set.type_name)));
    lines.push(format!("stored_as = {}", quoted(if set.text { "text" } else { "int" })));
    lines.extend(set.with.iter().map(|with| format!("with = {}", quoted(with))));
    let meaning = |key: &str, s: &State| {
        let (name, phase) = (quoted(&s.name), quoted(&s.phase));
        format!("{key} = {{ name = {name}, phase = {phase}, finished = {} }}", s.finished)
    };
    lines.extend(set.null.iter().map(|s| meaning("null", s)));
    lines.extend(set.other.iter().map(|s| meaning("other", s)));
    lines.push("values = [".to_owned());
    lines.extend(set.states.iter().map(|s| format!("  {},", value(set, s))));
    lines.push("]".to_owned());
    lines
}

fn value(set: &StateSet, state: &State) -> String {
    let code = |text: &String| if set.text { quoted(text) } else { text.clone() };
    let mut parts = vec![format!("code = {}", code(&state.code))];
    if !state.when.is_empty() {
        // The codes of another column may be of another kind.
        let when: Vec<String> = state.when.iter().map(code).collect();
        parts.push(format!("when = [{}]", when.join(", ")));
    }
    parts.push(format!("name = {}", quoted(&state.name)));
    parts.push(format!("phase = {}", quoted(&state.phase)));
    parts.push(format!("finished = {}", state.finished));
    if state.upstream_finished != state.finished {
        parts.push(format!("upstream_finished = {}", state.upstream_finished));
    }
    if !state.legal {
        parts.push("legal = false".to_owned());
    }
    format!("{{ {} }}", parts.join(", "))
}

fn list(texts: &[String]) -> String {
    texts.iter().map(|t| quoted(t)).collect::<Vec<_>>().join(", ")
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

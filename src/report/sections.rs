//! Tables under headings, for the terminal or as Markdown.

use comfy_table::{ContentArrangement, Table, presets};

use super::human;
use crate::ui::{HEAD, paint, safe};

/// A heading, a table, and sentences below it.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// The columns' headings; none if there is no table.
    pub head: Vec<String>,
    /// The cells.
    pub rows: Vec<Vec<String>>,
    /// What else there is to say, a paragraph each.
    pub notes: Vec<String>,
}

impl Section {
    /// A section with a table.
    pub fn table(title: impl Into<String>, head: &[&str], rows: Vec<Vec<String>>) -> Self {
        let head = head.iter().map(|h| (*h).to_owned()).collect();
        Self { title: title.into(), head, rows, notes: Vec::new() }
    }

    /// Adds a paragraph.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }
}

/// The sections as Markdown, below a title.
#[must_use]
pub fn markdown(title: &str, sections: &[Section]) -> String {
    let mut parts = vec![format!("# {title}")];
    for section in sections {
        parts.push(format!("## {}", section.title));
        if !section.rows.is_empty() {
            parts.push(markdown_table(section));
        }
        parts.extend(section.notes.clone());
    }
    parts.join("\n\n")
}

fn markdown_table(section: &Section) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(section.head.clone());
    for row in &section.rows {
        let line = |text: &str| safe(text, 400).replace('|', "\\|");
        let cell = |text: &String| text.lines().map(line).collect::<Vec<_>>().join("<br>");
        table.add_row(row.iter().map(cell).collect::<Vec<_>>());
    }
    human::lines_of(&table)
}

/// The sections for a terminal, below a title.
#[must_use]
pub fn terminal(title: &str, sections: &[Section]) -> String {
    let mut parts = vec![paint(HEAD, title)];
    for section in sections {
        parts.push(String::new());
        parts.push(paint(HEAD, &section.title));
        if !section.rows.is_empty() {
            let head: Vec<&str> = section.head.iter().map(String::as_str).collect();
            parts.push(human::table(&head, &section.rows));
        }
        parts.extend(section.notes.iter().flat_map(|note| crate::ui::wrap("  ", 2, note)));
    }
    parts.join("\n")
}

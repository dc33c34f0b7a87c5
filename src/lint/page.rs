//! The rules' pages: `docs/rules/<code>.md`, read by people and by `--explain`.

use std::collections::BTreeMap;

use crate::data::Tree;
use crate::near::near;
use crate::{Error, Result};

/// A rule's page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The rule's code.
    pub code: String,
    /// The page, as Markdown.
    pub text: String,
}

/// A script on a page.
#[derive(Clone, Debug)]
pub struct Example {
    /// The script.
    pub sql: String,
    /// Whether the rule must speak.
    pub found: bool,
    /// `scheduler`, `release`, `dialect`.
    pub told: BTreeMap<String, String>,
    /// Its line on the page.
    pub line: usize,
}

/// All pages.
#[derive(Clone, Debug)]
pub struct Pages {
    pages: Vec<Page>,
}

impl Pages {
    /// The built-in pages.
    #[must_use]
    pub fn load() -> Self {
        let tree = Tree::rule_pages();
        let files = tree.iter().filter_map(|(path, file)| Some((path.strip_suffix(".md")?, file)));
        let pages = files.filter(|(code, _)| *code != "README");
        Self { pages: pages.map(|(code, file)| Page { code: code.to_owned(), text: file.text.to_string() }).collect() }
    }

    /// The page of a rule.
    #[must_use]
    pub fn get(&self, code: &str) -> Option<&Page> {
        self.pages.iter().find(|p| p.code == code)
    }

    /// The page of a rule that somebody named.
    ///
    /// # Errors
    /// There is no such rule.
    pub fn named(&self, code: &str) -> Result<&Page> {
        self.get(code).ok_or_else(|| {
            let codes: Vec<&str> = self.pages.iter().map(|p| p.code.as_str()).collect();
            let near = near(code, &codes, 1);
            let list = "flowmend lint --rules lists them".to_owned();
            let hint = near.first().map_or(list, |n| format!("did you mean {n}?"));
            Error::usage(format!("there is no rule `{code}`")).hint(hint)
        })
    }

    /// All pages, by code.
    pub fn iter(&self) -> impl Iterator<Item = &Page> {
        self.pages.iter()
    }
}

impl Page {
    /// The sentence under the heading.
    #[must_use]
    pub fn summary(&self) -> &str {
        self.text.lines().skip(1).find(|l| !l.trim().is_empty()).unwrap_or_default()
    }

    /// The scripts on the page. A fence says ```` ```sql found scheduler=… ```` or `left`.
    #[must_use]
    pub fn examples(&self) -> Vec<Example> {
        let mut found: Vec<Example> = Vec::new();
        let mut open = false;
        for (number, line) in self.text.lines().enumerate() {
            if let Some(info) = line.strip_prefix("```sql ") {
                open = true;
                let pairs = info.split_whitespace().filter_map(|p| p.split_once('='));
                found.push(Example {
                    sql: String::new(),
                    found: info.starts_with("found"),
                    told: pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
                    line: number + 1,
                });
            } else if line.starts_with("```") {
                open = false;
            } else if open && let Some(example) = found.last_mut() {
                example.sql.push_str(line);
                example.sql.push('\n');
            }
        }
        found
    }
}

//! What a script sets and uses later: user variables, psql's variables, and statements that it
//! makes from texts (MySQL, MariaDB: `PREPARE … FROM`, `EXECUTE`).
//!
//! The text is known where it is a literal, or a user variable that the script itself set to
//! a literal, to a CONCAT of what is known, or to one of several such texts (IF, CASE).
//! Anything else is said to be unknown.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Set, Statement, Value, ValueWithSpan, visit_expressions_mut};
use sqlparser::dialect::{MySqlDialect, PostgreSqlDialect};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Span, Token};

use super::reading::Scalar;
use super::truth::arguments;
use super::values::as_literal;

/// How many texts a variable may hold before it counts as unknown.
const MOST: usize = 16;

/// How long such a text may be, in bytes, before it counts as unknown.
const LONGEST: usize = 1 << 16;

/// What the script has set and prepared so far.
#[derive(Default)]
pub(super) struct Memory {
    /// Variables (`@name` in lower case, `:name`) → the texts that they may hold.
    variables: BTreeMap<String, Vec<String>>,
    /// Prepared statements (lower case) → their texts; none where these are not known.
    prepared: BTreeMap<String, Option<Vec<String>>>,
}

/// What a statement has to do with prepared ones.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing: it is to be read as it is.
    Plain,
    /// It prepares or drops one; there is nothing in it to be checked.
    Done,
    /// It runs one of these.
    Runs(Vec<String>),
    /// It runs something that cannot be known, and why.
    Unknown(String),
}

impl Memory {
    /// Takes the next statement of the script.
    pub fn see(&mut self, text: &str, statement: Option<&Statement>) -> Seen {
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or_default().to_ascii_uppercase();
        match (first.as_str(), words.next().unwrap_or_default()) {
            ("PREPARE", name) => self.prepare(name, text),
            ("EXECUTE", immediate) if immediate.eq_ignore_ascii_case("immediate") => {
                let from = text.to_ascii_uppercase().find("IMMEDIATE").unwrap_or_default() + "IMMEDIATE".len();
                match self.source(&text[from..]) {
                    Ok(texts) => Seen::Runs(texts),
                    Err(why) => Seen::Unknown(why),
                }
            }
            ("EXECUTE", name) => match self.prepared.get(&bare(name)) {
                Some(Some(texts)) => {
                    let texts = texts.clone();
                    // What it sets is not followed.
                    self.forget();
                    Seen::Runs(texts)
                }
                // That was said where it was prepared.
                Some(None) => Seen::Done,
                None => Seen::Unknown(format!("{} is not prepared in this file", bare(name))),
            },
            ("DEALLOCATE" | "DROP", what) if what.eq_ignore_ascii_case("prepare") => {
                self.prepared.remove(&bare(words.next().unwrap_or_default()));
                Seen::Done
            }
            ("SET", _) => {
                self.set(statement);
                Seen::Plain
            }
            // A routine may set any variable.
            ("CALL", _) => {
                self.forget();
                Seen::Plain
            }
            _ => {
                // `SELECT … INTO @x`, `@x := …`
                if text.contains('@') && assigns(text) {
                    self.variables.retain(|name, _| !text.to_lowercase().contains(name));
                }
                Seen::Plain
            }
        }
    }

    /// psql's `\set name value …`: the values are joined, as psql does it.
    pub fn client_sets(&mut self, line: &str) {
        let mut words = line.trim().splitn(3, char::is_whitespace);
        let name = match (words.next(), words.next()) {
            (Some("\\set" | "\\unset"), Some(name)) => format!(":{name}"),
            (Some("\\getenv"), Some(name)) => return drop(self.variables.remove(&format!(":{name}"))),
            (Some("\\gset" | "\\prompt" | "\\if" | "\\elif" | "\\else" | "\\endif"), _) => return self.forget(),
            _ => return,
        };
        match words.next().and_then(psql_value) {
            Some(value) => drop(self.variables.insert(name, vec![value])),
            None => drop(self.variables.remove(&name)),
        }
    }

    /// Puts the values of known variables in their places; says whether there were any.
    pub fn fill(&self, statement: &mut Statement) -> bool {
        if self.variables.is_empty() || matches!(statement, Statement::Set(_)) {
            return false;
        }
        let mut any = false;
        let _: ControlFlow<()> = visit_expressions_mut(statement, |expr| {
            if let Some(filled) = self.filled(expr) {
                *expr = filled;
                any = true;
            }
            ControlFlow::Continue(())
        });
        any
    }

    fn filled(&self, expr: &Expr) -> Option<Expr> {
        let (name, span) = match expr {
            Expr::Identifier(name) if name.value.starts_with('@') => (name.value.to_lowercase(), name.span),
            Expr::Identifier(name) => (name.value.clone(), name.span),
            Expr::Value(ValueWithSpan { value: Value::Placeholder(name), span }) => (name.clone(), *span),
            _ => return None,
        };
        // psql's `:'name'`, as the parser sees it.
        let quoted = name.strip_prefix('$').map(|name| format!(":{name}"));
        let [text] = self.variables.get(quoted.as_ref().unwrap_or(&name))?.as_slice() else { return None };
        let value = match text.parse::<i64>() {
            Ok(_) if quoted.is_none() => Value::Number(text.clone(), false),
            // psql puts what stands there in the statement: NULL, a column, a whole condition.
            _ if name.starts_with(':') => return as_written(text, span),
            _ => Value::SingleQuotedString(text.clone()),
        };
        Some(Expr::Value(ValueWithSpan { value, span }))
    }

    /// What another file may have set is not known any more.
    pub fn forget(&mut self) {
        self.variables.clear();
    }

    fn prepare(&mut self, name: &str, text: &str) -> Seen {
        let from = text.to_ascii_uppercase().split_once("FROM").map_or(text.len(), |(before, _)| before.len() + 4);
        let texts = self.source(&text[from..]);
        let why = texts.as_ref().err().cloned();
        self.prepared.insert(bare(name), texts.ok());
        why.map_or(Seen::Done, Seen::Unknown)
    }

    /// The texts that a source may be worth: a literal or a variable.
    fn source(&self, text: &str) -> Result<Vec<String>, String> {
        let parsed = Parser::new(&MySqlDialect {}).try_with_sql(text).and_then(|mut p| p.parse_expr());
        let unknown = || format!("the text of {} is not known here", text.trim());
        parsed.ok().and_then(|expr| self.worth(&expr)).ok_or_else(unknown)
    }

    fn set(&mut self, statement: Option<&Statement>) {
        let pairs: Vec<(String, Option<&Expr>)> = match statement {
            Some(Statement::Set(Set::SingleAssignment { variable, values, .. })) => {
                vec![(variable.to_string(), values.first().filter(|_| values.len() == 1))]
            }
            Some(Statement::Set(Set::MultipleAssignments { assignments })) => {
                assignments.iter().map(|a| (a.name.to_string(), Some(&a.value))).collect()
            }
            Some(_) => Vec::new(),
            None => return self.forget(),
        };
        for (name, value) in pairs {
            let texts = value.and_then(|v| self.worth(v));
            match texts {
                Some(texts) => self.variables.insert(name.to_lowercase(), texts),
                None => self.variables.remove(&name.to_lowercase()),
            };
        }
    }

    /// The texts that an expression may be worth, if all of them are known.
    fn worth(&self, expr: &Expr) -> Option<Vec<String>> {
        if let Some(scalar) = as_literal(expr) {
            return match scalar {
                Scalar::Text(text) | Scalar::Number(text) => Some(vec![text]),
                Scalar::Null | Scalar::Bool(_) => None,
            };
        }
        match expr {
            Expr::Nested(inner) => self.worth(inner),
            Expr::Identifier(name) => self.variables.get(&name.value.to_lowercase()).cloned(),
            Expr::Case { conditions, else_result: Some(other), .. } => {
                self.one_of(conditions.iter().map(|c| &c.result).chain([other.as_ref()]))
            }
            Expr::Function(function) => {
                let arguments = arguments(&function.args);
                match (function.name.to_string().to_lowercase().as_str(), arguments.as_slice()) {
                    ("concat", parts @ [_, ..]) => self.joined(parts),
                    ("if", [_, yes, no]) => self.one_of([*yes, *no].into_iter()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn one_of<'e>(&self, parts: impl Iterator<Item = &'e Expr>) -> Option<Vec<String>> {
        let each: Option<Vec<Vec<String>>> = parts.map(|part| self.worth(part)).collect();
        let all = each?.concat();
        (all.len() <= MOST).then_some(all)
    }

    fn joined(&self, parts: &[&Expr]) -> Option<Vec<String>> {
        let mut all = vec![String::new()];
        for part in parts {
            let next = self.worth(part)?;
            all = all.iter().flat_map(|head| next.iter().map(move |tail| format!("{head}{tail}"))).collect();
            if all.len() > MOST || all.iter().any(|text| text.len() > LONGEST) {
                return None;
            }
        }
        Some(all)
    }
}

/// Whether a statement may set user variables: `SELECT … INTO @x`, `@x := …`.
fn assigns(text: &str) -> bool {
    let lower = text.to_lowercase();
    let into = lower.match_indices("into").any(|(at, _)| lower[at + 4..].trim_start().starts_with('@'));
    into || lower.contains(":=")
}

/// The value of psql's `\set`: words in quotes or without, one after the other; nothing where a
/// command or another variable stands in it.
fn psql_value(text: &str) -> Option<String> {
    let (mut value, mut quoted) = (String::new(), false);
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' if quoted && chars.peek() == Some(&'\'') => value.extend(chars.next()),
            '\'' => quoted = !quoted,
            '\\' if quoted => value.extend(chars.next()),
            '`' | ':' | '"' | '\\' if !quoted => return None,
            c if c.is_whitespace() && !quoted => {}
            c => value.push(c),
        }
    }
    (!quoted && !value.is_empty()).then_some(value)
}

/// A text as the expression that it is, standing where its name stood.
fn as_written(text: &str, span: Span) -> Option<Expr> {
    let mut parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(text).ok()?;
    let mut expr = parser.parse_expr().ok().filter(|_| parser.peek_token().token == Token::EOF)?;
    let _: ControlFlow<()> = visit_expressions_mut(&mut expr, |inner| {
        match inner {
            Expr::Identifier(name) => name.span = span,
            Expr::CompoundIdentifier(parts) => parts.iter_mut().for_each(|part| part.span = span),
            Expr::Value(value) => value.span = span,
            _ => {}
        }
        ControlFlow::Continue(())
    });
    Some(expr)
}

fn bare(name: &str) -> String {
    name.trim_matches(['`', ';']).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::parse::{grammar, only};
    use crate::manifest::Engine;

    /// What the last of some statements is seen as.
    fn seen(statements: &[&str]) -> Seen {
        let mut memory = Memory::default();
        let grammar = grammar(Engine::MySql);
        let mut last = Seen::Plain;
        for text in statements {
            last = memory.see(text, only(text, grammar.as_ref()).ok().as_ref());
        }
        last
    }

    #[test]
    fn texts_that_the_script_itself_sets_are_known() {
        let runs = |texts: &[&str]| Seen::Runs(texts.iter().map(|t| (*t).to_owned()).collect());
        for (statements, wanted) in [
            (&["PREPARE s FROM 'COMMIT'", "EXECUTE s"][..], runs(&["COMMIT"])),
            (&["SET @x = 'SELECT 1'", "PREPARE s FROM @X", "EXECUTE `s` USING @a"], runs(&["SELECT 1"])),
            (&["SET @t := 'a', @x = CONCAT('DROP ', @t, 5)", "PREPARE s FROM @x", "EXECUTE S"], runs(&["DROP a5"])),
            (
                &["SET @x = IF((SELECT 1) = 1, 'COMMIT', 'ROLLBACK')", "PREPARE s FROM @x", "EXECUTE s"],
                runs(&["COMMIT", "ROLLBACK"]),
            ),
            (&["EXECUTE IMMEDIATE CONCAT('COM', 'MIT')"], runs(&["COMMIT"])),
        ] {
            assert_eq!(seen(statements), wanted, "{statements:?}");
        }
    }

    #[test]
    fn what_comes_from_elsewhere_is_said_to_be_unknown() {
        for statements in [
            &["PREPARE s FROM @x"][..],
            &["EXECUTE s"],
            &["SET @x = 'a'", "SELECT b INTO @x FROM c", "PREPARE s FROM @x"],
            &["SET @x = 'a'", "SELECT @x := b FROM c", "PREPARE s FROM @x"],
            &["SET @x = 'a'", "SET @x = (SELECT b FROM c)", "PREPARE s FROM @x"],
            &["SET @x = 'a'", "CALL p()", "PREPARE s FROM @x"],
            &["SET @x = CONCAT('a', @y)", "PREPARE s FROM @x"],
            &["PREPARE s FROM 'COMMIT'", "DEALLOCATE PREPARE s", "EXECUTE s"],
        ] {
            assert!(matches!(seen(statements), Seen::Unknown(_)), "{statements:?}: {:?}", seen(statements));
        }
    }
}

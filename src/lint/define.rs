//! What a statement does as a whole.

use sqlparser::ast::{AlterTableOperation, ObjectName, ObjectType, RenameTableNameKind, Set, Statement};

use super::own::is_own;
use super::reading::{Deed, Definition};
use super::scope::{last_part, schema_of};
use crate::manifest::Engine;

/// What takes every table along, whatever its name.
pub(super) const DROP_DATABASE: &str = "DROP DATABASE";
/// A routine without a name, which runs at once (MariaDB).
pub(super) const BLOCK: &str = "BEGIN NOT ATOMIC";
/// The same for a schema.
pub(super) const DROP_SCHEMA: &str = "DROP SCHEMA";

/// What a statement does. `own` are tables of the script's own, under the name of a schema.
pub(super) fn deed(statement: &Statement, own: &[String]) -> Deed {
    match statement {
        Statement::Query(_) | Statement::Explain { .. } | Statement::ExplainTable { .. } => Deed::Query,
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Merge(_) => Deed::Change,
        Statement::StartTransaction { .. } => Deed::Begin,
        Statement::Commit { .. } => Deed::Commit,
        Statement::Rollback { savepoint: None, .. } => Deed::Rollback,
        Statement::Set(set) => set_of(set),
        other => definition(other, own).map_or(Deed::Other, Deed::Define),
    }
}

/// Whether a statement holds other statements that run later.
pub(super) fn has_body(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::CreateTrigger(_)
            | Statement::CreateRule(_)
            | Statement::CreateProcedure { .. }
            | Statement::CreateFunction(_)
    )
}

fn definition(statement: &Statement, own: &[String]) -> Option<Definition> {
    let name = |name: &ObjectName| {
        let (table, schema) = (last_part(name).0, schema_of(name));
        match schema.filter(|schema| is_own(own, Some(schema), &table)) {
            Some(schema) => format!("{schema}.{table}"),
            None => table,
        }
    };
    let of = |what: &'static str, names: Vec<&ObjectName>| Definition {
        what,
        tables: names.into_iter().map(name).collect(),
        filled: false,
        temporary: false,
    };
    Some(match statement {
        Statement::CreateTable(table) => Definition {
            filled: table.query.is_some(),
            temporary: table.temporary,
            ..of("CREATE TABLE", vec![&table.name])
        },
        Statement::CreateView(view) => of("CREATE VIEW", vec![&view.name]),
        Statement::CreateIndex(index) => of("CREATE INDEX", vec![&index.table_name]),
        Statement::AlterTable(table) => {
            let renamed = |o: &AlterTableOperation| matches!(o, AlterTableOperation::RenameTable { .. });
            // How a table is kept, and whose it is, is nothing of its shape.
            let kept = |o: &AlterTableOperation| {
                matches!(o, AlterTableOperation::SetOptionsParens { .. } | AlterTableOperation::OwnerTo { .. })
            };
            let what = match &table.operations {
                all if all.iter().any(renamed) => "RENAME TABLE",
                all if all.iter().all(kept) => "ALTER TABLE SETTINGS",
                _ => "ALTER TABLE",
            };
            // What gets the name of a scheduler's table is taken for it.
            let new = table.operations.iter().filter_map(|o| match o {
                AlterTableOperation::RenameTable {
                    table_name: RenameTableNameKind::As(name) | RenameTableNameKind::To(name),
                } => Some(name),
                _ => None,
            });
            of(what, std::iter::once(&table.name).chain(new).collect())
        }
        Statement::RenameTable(tables) => {
            of("RENAME TABLE", tables.iter().flat_map(|t| [&t.old_name, &t.new_name]).collect())
        }
        Statement::Truncate(truncate) => of("TRUNCATE", truncate.table_names.iter().map(|t| &t.name).collect()),
        Statement::CreateTrigger(trigger) => of("CREATE TRIGGER", vec![&trigger.table_name]),
        Statement::DropTrigger(trigger) => {
            of("DROP TRIGGER", trigger.table_name.as_ref().map(|t| vec![t]).unwrap_or_default())
        }
        Statement::CreateRule(rule) => of("CREATE RULE", vec![&rule.table_name]),
        Statement::CreateFunction(_) => of("CREATE FUNCTION", Vec::new()),
        Statement::CreateProcedure { .. } => of("CREATE PROCEDURE", Vec::new()),
        Statement::Drop { object_type, names, temporary, .. } => {
            let what = match object_type {
                ObjectType::Table => "DROP TABLE",
                ObjectType::View => "DROP VIEW",
                ObjectType::Index => "DROP INDEX",
                ObjectType::Database => DROP_DATABASE,
                ObjectType::Schema => DROP_SCHEMA,
                _ => "DROP",
            };
            Definition { temporary: *temporary, ..of(what, names.iter().collect()) }
        }
        _ => return None,
    })
}

fn set_of(set: &Set) -> Deed {
    let one = |name: String, value: String| {
        let name = name.to_lowercase();
        let bare = name.trim_start_matches('@');
        let bare = ["session.", "global.", "local."].iter().fold(bare, |n, p| n.strip_prefix(p).unwrap_or(n));
        Deed::Set { name: bare.to_owned(), value }
    };
    match set {
        Set::SingleAssignment { variable, values, .. } => {
            let value = values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            one(variable.to_string(), value)
        }
        Set::MultipleAssignments { assignments } => {
            assignments.first().map_or(Deed::Other, |a| one(a.name.to_string(), a.value.to_string()))
        }
        Set::SetTransaction { .. } => one("transaction".to_owned(), set.to_string()),
        _ => Deed::Other,
    }
}

/// A definition that the parser does not understand, read by its first words; and the
/// rest of its text, in which statements may stand.
pub(super) fn by_words(text: &str, engine: Engine) -> Option<(Definition, &str)> {
    const KINDS: [(&str, &str); 4] = [
        ("trigger", "CREATE TRIGGER"),
        ("event", "CREATE EVENT"),
        ("procedure", "CREATE PROCEDURE"),
        ("function", "CREATE FUNCTION"),
    ];
    let (first, mut rest) = next_word(text)?;
    // PostgreSQL's DO is a routine without a name.
    let nameless = |what| Definition { what, tables: Vec::new(), filled: false, temporary: false };
    if engine == Engine::PostgreSql && first.eq_ignore_ascii_case("do") {
        return Some((nameless("DO"), rest));
    }
    // So is MariaDB's, which runs at once.
    if let Some(body) = block(text).filter(|_| engine == Engine::MySql) {
        return Some((nameless(BLOCK), body));
    }
    if !first.eq_ignore_ascii_case("create") {
        return None;
    }
    let mut next = || {
        let (word, after) = next_word(rest)?;
        rest = after;
        Some(word)
    };
    // DEFINER = …, OR REPLACE, TEMPORARY come before what is made.
    let kind = |word: &str| KINDS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
    let (_, what) = (0..8).map_while(|_| next()).find_map(kind)?;
    let mut tables = Vec::new();
    if *what == "CREATE TRIGGER" {
        while !next()?.eq_ignore_ascii_case("on") {}
        let table = next()?;
        tables.push(table.rsplit('.').next().unwrap_or(table).trim_matches(['`', '"', '(']).to_owned());
    }
    Some((Definition { what, tables, filled: false, temporary: false }, rest))
}

/// MariaDB's routine without a name, and what stands in it.
fn block(text: &str) -> Option<&str> {
    let mut rest = text;
    for name in ["begin", "not", "atomic"] {
        let (word, after) = next_word(rest)?;
        if !word.eq_ignore_ascii_case(name) {
            return None;
        }
        rest = after;
    }
    Some(rest)
}

/// The first word of a text, and what follows it.
pub(super) fn next_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

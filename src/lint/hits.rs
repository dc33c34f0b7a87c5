//! How many rows a script's changes reach: queries that count them, for a database that is at hand.

use std::ops::{ControlFlow, Range};

use sqlparser::ast::{
    Expr, FromTable, Query, Statement, TableFactor, TableWithJoins, UpdateTableFromKind, Value, Visit, Visitor,
};

use super::knowledge::Knowledge;
use super::own::own_tables;
use super::reading::{Change, Does};
use super::report::Report;
use super::scope::last_part;
use super::{parse, read};
use crate::sql::{Client, PieceKind, Places, split};

/// Functions that may be asked: they read, and do nothing else. A condition with any other
/// is not run, for a call may lock, wait, end a session or read a file.
const HARMLESS: &[&str] = &[
    "abs",
    "age",
    "cast",
    "ceil",
    "ceiling",
    "coalesce",
    "concat",
    "count",
    "curdate",
    "current_date",
    "current_timestamp",
    "date",
    "date_add",
    "date_format",
    "date_sub",
    "date_trunc",
    "datediff",
    "datetime",
    "exists",
    "extract",
    "floor",
    "from_unixtime",
    "greatest",
    "if",
    "ifnull",
    "julianday",
    "least",
    "left",
    "length",
    "localtimestamp",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "now",
    "nullif",
    "replace",
    "right",
    "round",
    "rtrim",
    "strftime",
    "substr",
    "substring",
    "substring_index",
    "sum",
    "timestampdiff",
    "to_char",
    "to_timestamp",
    "trim",
    "unix_timestamp",
    "unixepoch",
    "upper",
    "utc_timestamp",
];

/// An UPDATE or DELETE on a table of the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Where its table is named, in bytes of the script.
    pub range: Range<usize>,
    /// What it does.
    pub does: Does,
    /// The table as the script spells it.
    pub table: String,
    /// The query that counts its rows, or why there is none.
    pub query: Result<String, &'static str>,
}

/// The changes of a script to the scheduler's rows, each with the query that counts them.
#[must_use]
pub fn hits(text: &str, knowledge: &Knowledge<'_>) -> Vec<Hit> {
    let places = Places::of(text);
    let grammar = parse::grammar(knowledge.engine);
    let script = split(text, Client::of(knowledge.engine));
    let own = own_tables(text, &script.pieces);
    let mut report = Report::new(knowledge, &places);
    let mut found = Vec::new();
    for piece in script.pieces.iter().filter(|p| p.kind == PieceKind::Sql) {
        for parsed in parse::parse(text, piece, grammar.as_ref(), &places) {
            let Ok(statement) = parsed.what else { continue };
            report.start = parsed.start;
            let changes = read::read(&statement, (knowledge, &own), &[]).changes;
            let ours = |c: &&Change| c.does != Does::Insert && !c.in_body && knowledge.table(&c.table).is_some();
            found.extend(changes.iter().filter(ours).map(|change| Hit {
                range: report.bytes(change.span),
                does: change.does,
                table: change.table.clone(),
                query: query(&statement, change, knowledge),
            }));
        }
    }
    found
}

fn query(statement: &Statement, change: &Change, knowledge: &Knowledge<'_>) -> Result<String, &'static str> {
    let rows = Rows::of(statement).ok_or("it is not a plain UPDATE or DELETE")?;
    let mut guard = Guard::default();
    let _ = rows.tables.iter().try_for_each(|t| t.visit(&mut guard));
    let _ = rows.condition.iter().try_for_each(|c| c.visit(&mut guard));
    match guard.objection {
        _ if rows.limited => return Err("it has a LIMIT"),
        Some(objection) => return Err(objection),
        None => {}
    }
    let from = rows.tables.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let condition = rows.condition.map(|c| format!(" WHERE {c}")).unwrap_or_default();
    if let [one] = rows.tables.as_slice()
        && one.joins.is_empty()
    {
        return Ok(format!("SELECT COUNT(*) FROM {from}{condition}"));
    }
    // A joined row counts once, however many rows it meets.
    let alias = rows.alias(&change.table).ok_or("its table is named in a way that is not understood")?;
    let table = knowledge.table(&change.table).ok_or("the release has no such table")?;
    let key: Vec<String> = table.key_on(knowledge.engine).iter().map(|column| format!("{alias}.{column}")).collect();
    if key.is_empty() {
        return Err("its table has no primary key");
    }
    Ok(format!("SELECT COUNT(*) FROM (SELECT DISTINCT {} FROM {from}{condition}) reached", key.join(", ")))
}

/// What of a statement says which rows it changes.
struct Rows<'s> {
    tables: Vec<&'s TableWithJoins>,
    condition: Option<&'s Expr>,
    limited: bool,
}

impl<'s> Rows<'s> {
    fn of(statement: &'s Statement) -> Option<Self> {
        match statement {
            Statement::Update(update) => {
                let from = match &update.from {
                    Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) => from.as_slice(),
                    None => &[],
                };
                let tables = std::iter::once(&update.table).chain(from).collect();
                Some(Self { tables, condition: update.selection.as_ref(), limited: update.limit.is_some() })
            }
            Statement::Delete(delete) => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
                let tables = from.iter().chain(delete.using.as_deref().unwrap_or_default()).collect();
                Some(Self { tables, condition: delete.selection.as_ref(), limited: delete.limit.is_some() })
            }
            _ => None,
        }
    }

    /// How a table is called in the statement.
    fn alias(&self, table: &str) -> Option<String> {
        let relations =
            self.tables.iter().flat_map(|t| std::iter::once(&t.relation).chain(t.joins.iter().map(|j| &j.relation)));
        relations
            .filter_map(|relation| match relation {
                TableFactor::Table { name, alias, .. } if last_part(name).0.eq_ignore_ascii_case(table) => {
                    Some(alias.as_ref().map_or_else(|| name.to_string(), |a| a.name.to_string()))
                }
                _ => None,
            })
            .next()
    }
}

/// Looks for what keeps a condition from being asked of a database.
#[derive(Default)]
struct Guard {
    objection: Option<&'static str>,
}

impl Visitor for Guard {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        match query.locks.is_empty() {
            true => ControlFlow::Continue(()),
            false => self.object("it locks rows"),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Value(value) if matches!(value.value, Value::Placeholder(_)) => self.object("it hangs on a variable"),
            Expr::Identifier(name) if name.value.starts_with('@') => self.object("it hangs on a variable"),
            Expr::CompoundIdentifier(parts) if parts.iter().any(|p| p.value.starts_with('@')) => {
                self.object("it hangs on a variable")
            }
            Expr::Function(function) => {
                let name = function.name.to_string().to_lowercase();
                if HARMLESS.contains(&name.as_str()) {
                    return ControlFlow::Continue(());
                }
                self.object("it calls a function that flowmend does not run")
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Guard {
    fn object(&mut self, why: &'static str) -> ControlFlow<()> {
        self.objection = Some(why);
        ControlFlow::Break(())
    }
}

//! Which tables and columns a name in a statement means.

use sqlparser::ast::{Expr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, TableFactor, TableWithJoins};
use sqlparser::tokenizer::Span;

use super::knowledge::Knowledge;
use super::own::is_own;
use crate::manifest::TableSpec;

/// A table in a FROM list.
#[derive(Clone)]
pub(super) struct Binding<'a> {
    /// What the statement calls it.
    pub alias: String,
    /// The table's name as written; empty for a derived table.
    pub table: String,
    /// The schema that is written before the name.
    pub schema: Option<String>,
    /// Where the name stands.
    pub span: Span,
    /// The scheduler's table, if it is one. Others have columns that nobody knows.
    pub spec: Option<&'a TableSpec>,
    /// Whether the statement asks that there be no row of it: an outer join that finds none.
    pub is_missing: bool,
}

impl Binding<'_> {
    /// What a query or function returns: it is no table, and its columns are not known.
    fn of_result(alias: String) -> Self {
        Self { alias, table: String::new(), schema: None, span: Span::empty(), spec: None, is_missing: false }
    }
}

/// The tables that a part of a statement sees.
#[derive(Clone, Default)]
pub(super) struct Scope<'a> {
    /// Tables.
    pub bindings: Vec<Binding<'a>>,
    /// Names that are no columns: a SELECT's results, a routine's parameters and variables.
    pub aliases: Vec<String>,
}

/// What a name means.
pub(super) enum Meaning<'s, 'a> {
    /// A column of a table of the scheduler.
    Column(&'s Binding<'a>),
    /// Nothing that can be known: another table's column, a variable, a result's name.
    Opaque,
    /// Nothing: no table in scope has such a column.
    Nothing(Vec<String>),
}

/// Units that stand where a name could stand: `TIMESTAMPDIFF(MINUTE, a, b)`.
const UNITS: [&str; 10] =
    ["microsecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "epoch"];

/// Columns that every row of a database has.
const SYSTEM: [&str; 9] = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "oid", "rowid", "_rowid_"];

/// Rows that triggers and upserts name.
const ROWS: [&str; 3] = ["new", "old", "excluded"];

impl<'a> Scope<'a> {
    /// Whether a name is a variable or parameter: a value, although not a literal.
    pub fn is_variable(&self, expr: &Expr) -> bool {
        as_name(expr).is_some_and(|parts| match parts {
            [one] => one.value.starts_with(['@', ':', '$']) || self.is_alias(&one.value),
            _ => false,
        })
    }

    /// The scope of a FROM list.
    pub fn of(knowledge: &Knowledge<'a>, from: &[TableWithJoins], hidden: &[String]) -> Self {
        let mut scope = Self::default();
        for table in from {
            scope.add(knowledge, table, hidden);
        }
        scope
    }

    /// Adds a table and what is joined to it. `hidden` are names of common table expressions, and
    /// tables of the script's own under the name of a schema.
    pub fn add(&mut self, knowledge: &Knowledge<'a>, table: &TableWithJoins, hidden: &[String]) {
        self.factor(knowledge, &table.relation, hidden);
        for join in &table.joins {
            self.factor(knowledge, &join.relation, hidden);
        }
    }

    fn factor(&mut self, knowledge: &Knowledge<'a>, factor: &TableFactor, hidden: &[String]) {
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let (table, span) = last_part(name);
                let alias = alias.as_ref().map_or_else(|| table.clone(), |a| a.name.value.clone());
                let named_here = name.0.len() == 1 && hidden.iter().any(|h| h.eq_ignore_ascii_case(&table));
                let (system, schema) = (is_system(name), schema_of(name));
                let own = is_own(hidden, schema.as_deref(), &table);
                // `t(a, b)` gives the columns other names.
                let renamed =
                    matches!(factor, TableFactor::Table { alias: Some(alias), .. } if !alias.columns.is_empty());
                let is_none = named_here || system || own || renamed;
                let spec = if is_none { None } else { knowledge.table(&table) };
                // What belongs to the database has a name here for its columns only.
                let table = if system { String::new() } else { qualified(own, schema.as_ref(), table) };
                self.bindings.push(Binding { alias, table, schema, span, spec, is_missing: false });
            }
            TableFactor::NestedJoin { table_with_joins, .. } => self.add(knowledge, table_with_joins, hidden),
            other => {
                let alias = alias_of(other).map(|a| a.value.clone()).unwrap_or_default();
                self.bindings.push(Binding::of_result(alias));
            }
        }
    }

    /// The scope of a SELECT.
    pub fn of_select(knowledge: &Knowledge<'a>, select: &Select, hidden: &[String]) -> Self {
        let mut scope = Self::of(knowledge, &select.from, hidden);
        for item in &select.projection {
            match item {
                SelectItem::ExprWithAlias { alias, .. } => scope.aliases.push(alias.value.clone()),
                SelectItem::ExprWithAliases { aliases, .. } => {
                    scope.aliases.extend(aliases.iter().map(|a| a.value.clone()));
                }
                _ => {}
            }
        }
        scope
    }

    /// What a query's own ORDER BY sees.
    pub fn of_query(knowledge: &Knowledge<'a>, query: &Query, hidden: &[String]) -> Self {
        match query.body.as_ref() {
            SetExpr::Select(select) => Self::of_select(knowledge, select, hidden),
            // The names of a union are those of its first part; its columns are not looked for.
            _ => Self { bindings: vec![Binding::of_result(String::new())], aliases: Vec::new() },
        }
    }

    /// Whether a name is known and no column.
    pub fn is_alias(&self, name: &str) -> bool {
        self.aliases.iter().any(|a| a.eq_ignore_ascii_case(name))
    }

    /// Notes tables of which there must be no row, by their aliases in lower case and the columns that
    /// must be NULL. A column that may be NULL in a row says nothing.
    pub fn lack(&mut self, knowledge: &Knowledge<'_>, missing: &[(String, String)]) {
        for binding in &mut self.bindings {
            let mut columns = missing.iter().filter(|(alias, _)| binding.alias.eq_ignore_ascii_case(alias));
            let nullable = |column: &str| {
                let spec = binding.spec.and_then(|spec| knowledge.column_spec(spec, column));
                spec.is_none_or(|spec| spec.nullable)
            };
            binding.is_missing |= columns.any(|(_, column)| !nullable(column));
        }
    }

    /// The binding that a qualifier names.
    pub fn named(&self, qualifier: &str) -> Option<&Binding<'a>> {
        let by_alias = self.bindings.iter().find(|b| b.alias.eq_ignore_ascii_case(qualifier));
        by_alias.or_else(|| self.bindings.iter().find(|b| b.table.eq_ignore_ascii_case(qualifier)))
    }
}

/// What a name means, seen from the innermost scope (the last).
pub(super) fn meaning<'s, 'a>(scopes: &'s [Scope<'a>], knowledge: &Knowledge<'a>, parts: &[Ident]) -> Meaning<'s, 'a> {
    let Some((column, qualifiers)) = parts.split_last() else {
        return Meaning::Opaque;
    };
    let name = column.value.as_str();
    if name.starts_with(['@', ':', '$']) || is_one_of(&SYSTEM, name) {
        return Meaning::Opaque;
    }
    match qualifiers.last() {
        Some(qualifier) => of_table(scopes, knowledge, &qualifier.value, name),
        None => anywhere(scopes, knowledge, name),
    }
}

fn of_table<'s, 'a>(
    scopes: &'s [Scope<'a>],
    knowledge: &Knowledge<'a>,
    qualifier: &str,
    name: &str,
) -> Meaning<'s, 'a> {
    if is_one_of(&ROWS, qualifier) {
        return Meaning::Opaque;
    }
    let Some(binding) = scopes.iter().rev().find_map(|s| s.named(qualifier)) else {
        return Meaning::Opaque;
    };
    match binding.spec {
        Some(spec) if knowledge.has_column(spec, name) => Meaning::Column(binding),
        Some(spec) => Meaning::Nothing(vec![spec.name.clone()]),
        None => Meaning::Opaque,
    }
}

fn anywhere<'s, 'a>(scopes: &'s [Scope<'a>], knowledge: &Knowledge<'a>, name: &str) -> Meaning<'s, 'a> {
    let mut looked = Vec::new();
    let mut unknown = false;
    for scope in scopes.iter().rev() {
        for binding in &scope.bindings {
            match binding.spec {
                Some(spec) if knowledge.has_column(spec, name) => return Meaning::Column(binding),
                Some(spec) => looked.push(spec.name.clone()),
                None => unknown = true,
            }
            // A whole row: to_json(t).
            unknown |= binding.alias.eq_ignore_ascii_case(name);
        }
        unknown |= scope.is_alias(name);
    }
    if unknown || looked.is_empty() || is_one_of(&UNITS, name) {
        return Meaning::Opaque;
    }
    looked.sort();
    looked.dedup();
    Meaning::Nothing(looked)
}

/// Whether a name is one of some, however it is spelt.
fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|n| n.eq_ignore_ascii_case(name))
}

/// A column's name, if an expression is one.
pub(super) fn as_name(expr: &Expr) -> Option<&[Ident]> {
    match expr {
        Expr::Identifier(one) => Some(std::slice::from_ref(one)),
        Expr::CompoundIdentifier(parts) => Some(parts),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => as_name(inner),
        _ => None,
    }
}

/// The table's own name in `schema.table`, and where it stands.
pub(super) fn last_part(name: &ObjectName) -> (String, Span) {
    let ident = name.0.last().and_then(|p| p.as_ident());
    ident.map_or_else(|| (String::new(), Span::empty()), |i| (i.value.clone(), i.span))
}

/// What stands before the table's own name.
pub(super) fn schema_of(name: &ObjectName) -> Option<String> {
    name.0.iter().rev().nth(1).and_then(|p| p.as_ident()).map(|i| i.value.clone())
}

/// The name of a table that is not the scheduler's although its bare name is.
pub(super) fn qualified(own: bool, schema: Option<&String>, table: String) -> String {
    match schema.filter(|_| own) {
        Some(schema) => format!("{schema}.{table}"),
        None => table,
    }
}

/// Tables that the database itself has.
pub(super) fn is_system(name: &ObjectName) -> bool {
    const SCHEMAS: [&str; 6] = ["information_schema", "pg_catalog", "performance_schema", "mysql", "sys", "temp"];
    let schema = schema_of(name);
    let bare = last_part(name).0.to_lowercase();
    schema.is_some_and(|s| SCHEMAS.contains(&s.to_lowercase().as_str()))
        || bare.starts_with("pg_")
        || bare.starts_with("sqlite_")
        || bare == "dual"
}

fn alias_of(factor: &TableFactor) -> Option<&Ident> {
    match factor {
        TableFactor::Derived { alias, .. }
        | TableFactor::TableFunction { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::UNNEST { alias, .. }
        | TableFactor::JsonTable { alias, .. }
        | TableFactor::Table { alias, .. } => alias.as_ref().map(|a| &a.name),
        _ => None,
    }
}

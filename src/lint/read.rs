//! Turns a syntax tree into what the rules see.

use std::collections::HashSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    self, AssignmentTarget, BinaryOperator, Delete, Expr, FromTable, InTarget, Insert, ObjectName, OnInsert, Query,
    Select, Spanned as _, Statement, TableFactor, TableObject, Update, UpdateTableFromKind, Visit, Visitor,
};
use sqlparser::tokenizer::Span;

use super::absence::{Asked, Rows};
use super::branches;
use super::conditions;
use super::define;
use super::knowledge::Knowledge;
use super::moments;
use super::own::is_own;
use super::reading::{
    Assignment, Change, CodeUse, Deed, Does, Filter, Part, Reading, Remark, Scalar, Stranger, TableUse, Written,
};
use super::scope::{Binding, Meaning, Scope, as_name, last_part, meaning, qualified, schema_of};
use super::truth::arguments;
use super::values::{as_literal, is_default, literals_of, one_of, rows, would_be, written};
use crate::manifest::{DefaultValue, Engine};

/// Reads one statement. `own` are tables of the script's own, under the name of a schema; `locals`
/// the parameters and variables of the routine around it.
pub(super) fn read(statement: &Statement, (knowledge, own): (&Knowledge<'_>, &[String]), locals: &[String]) -> Reading {
    let mut reader = Reader {
        knowledge,
        locals,
        scopes: vec![Scope { aliases: locals.to_vec(), ..Scope::default() }],
        hidden: own.to_vec(),
        ctes: Vec::new(),
        body: 0,
        parts: Vec::new(),
        apart: Vec::new(),
        barren: Vec::new(),
        within_barren: 0,
        links: HashSet::new(),
        answers: Vec::new(),
        asked: Asked::default(),
        reading: Reading { deed: define::deed(statement, own), ..Reading::default() },
    };
    let _ = statement.visit(&mut reader);
    let mut reading = reader.reading;
    if let Statement::Explain { analyze: false, options, .. } = statement
        && !options.iter().flatten().any(runs)
    {
        // It says how the rows would be found, and changes none.
        reading.changes.clear();
        reading.tables.iter_mut().for_each(|used| used.written = false);
    }
    if !reading.changes.is_empty() && matches!(reading.deed, Deed::Query | Deed::Other) {
        reading.deed = Deed::Change;
    }
    reading
}

/// Whether an option of EXPLAIN has the statement run: `ANALYZE`, unless it is off.
fn runs(option: &ast::UtilityOption) -> bool {
    let is_off = |value: &Expr| ["false", "off", "0"].contains(&value.to_string().to_lowercase().as_str());
    option.name.value.eq_ignore_ascii_case("analyze") && !option.arg.as_ref().is_some_and(is_off)
}

struct Reader<'k, 'a> {
    knowledge: &'k Knowledge<'a>,
    /// Names of the routine around the statement.
    locals: &'k [String],
    /// From the outermost to the innermost.
    scopes: Vec<Scope<'a>>,
    /// Names of common table expressions, and tables of the script's own under the name of a schema.
    hidden: Vec<String>,
    /// Common table expressions that are a table's rows.
    ctes: Vec<Rows>,
    /// How many routine or trigger bodies are open.
    body: usize,
    /// The open statements and queries.
    parts: Vec<Part>,
    /// Queries to come that make a result of their own.
    apart: Vec<*const Query>,
    /// Queries to come that must find nothing.
    barren: Vec<*const Query>,
    /// How many of the open queries must find nothing.
    within_barren: usize,
    /// Links of chains of AND or OR whose first was read.
    links: HashSet<*const Expr>,
    /// The open chains of AND or OR, and the open NOTs.
    answers: Vec<Chain>,
    /// What the open statement's own condition asks for.
    asked: Asked,
    reading: Reading,
}

/// A chain of AND or OR, or a NOT.
struct Chain {
    /// Its first link.
    first: *const Expr,
    /// The names whose NULL it answers for.
    answered: Vec<String>,
    /// Whether it may hold where a part of it does not.
    passes: bool,
}

impl Visitor for Reader<'_, '_> {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        self.parts.push(Part::Itself);
        let scope = match statement {
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Copy { source: ast::CopySource::Table { table_name, .. }, to: false, .. } => {
                self.filled(table_name)
            }
            _ => Scope::default(),
        };
        self.scopes.push(scope);
        self.body += usize::from(define::has_body(statement));
        ControlFlow::Continue(())
    }

    fn post_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        self.scopes.pop();
        self.parts.pop();
        self.body -= usize::from(define::has_body(statement));
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let Some(with) = &query.with {
            self.hidden.extend(with.cte_tables.iter().map(|cte| cte.alias.name.value.clone()));
            self.ctes.extend(with.cte_tables.iter().filter_map(Rows::of));
            self.apart.extend(with.cte_tables.iter().map(|cte| std::ptr::from_ref(cte.query.as_ref())));
        }
        let within = self.parts.last().copied().unwrap_or_default();
        let apart = self.apart.iter().any(|known| std::ptr::eq(*known, query));
        self.parts.push(if apart || within == Part::Derived { Part::Derived } else { Part::SubQuery });
        let scope = Scope::of_query(self.knowledge, query, &self.hidden);
        self.scopes.push(scope);
        self.within_barren += usize::from(self.is_barren(query));
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.scopes.pop();
        self.parts.pop();
        self.within_barren -= usize::from(self.is_barren(query));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Derived { subquery, .. } = factor {
            self.apart.push(std::ptr::from_ref(subquery.as_ref()));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        let mut scope = Scope::of_select(self.knowledge, select, &self.hidden);
        scope.lack(self.knowledge, &self.asked.missing(select.from.iter(), select.selection.as_ref()));
        // A table that the query makes is no column.
        let made = select.into.iter().flat_map(|into| &into.targets).filter_map(as_name).filter_map(<[_]>::last);
        scope.aliases.extend(made.map(|name| name.value.clone()));
        self.uses(&scope.bindings, &[]);
        self.scopes.push(scope);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.chain(expr);
        self.negation(expr);
        // What one of several conditions asks for, another lets through.
        if !self.answers.iter().any(|chain| chain.passes) {
            self.barren.extend(self.asked.barren(expr).map(std::ptr::from_ref));
        }
        self.expression(expr);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.answers.last().is_some_and(|chain| std::ptr::eq(chain.first, expr)) {
            self.answers.pop();
        }
        ControlFlow::Continue(())
    }
}

impl<'a> Reader<'_, 'a> {
    fn update(&mut self, update: &Update) -> Scope<'a> {
        let mut scope = Scope { aliases: self.locals.to_vec(), ..Scope::default() };
        scope.add(self.knowledge, &update.table, &self.hidden);
        let own = scope.bindings.len();
        let from = match &update.from {
            Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) => from.as_slice(),
            None => &[],
        };
        for table in from {
            scope.add(self.knowledge, table, &self.hidden);
        }
        let sets = self.assignments(&update.assignments, &scope);
        // In MySQL any joined table may be written; elsewhere only the first.
        let mut targets: Vec<usize> = sets.iter().map(|(binding, _)| binding.unwrap_or(0)).collect();
        targets.sort_unstable();
        targets.dedup();
        targets.retain(|t| *t < own.max(1));
        let joins = conditions::joined(std::iter::once(&update.table).chain(from));
        let where_and_joins = (update.selection.as_ref(), &joins);
        let limited = update.limit.as_ref().filter(|_| update.order_by.is_empty()).map(Expr::span);
        self.asked = Asked::of(update.selection.as_ref(), self.knowledge.references());
        let missing = self.asked.missing(std::iter::once(&update.table).chain(from), update.selection.as_ref());
        scope.lack(self.knowledge, &missing);
        self.uses(&scope.bindings, &targets);
        for target in &targets {
            let of_target = sets.iter().filter(|(b, _)| b.unwrap_or(0) == *target).map(|(_, set)| set.clone());
            let Some(binding) = scope.bindings.get(*target) else { continue };
            let filter = conditions::filter(self.knowledge, &scope, *target, where_and_joins, limited);
            self.change(Does::Update, binding, of_target.collect(), filter, targets.len());
        }
        scope
    }

    fn delete(&mut self, delete: &Delete) -> Scope<'a> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let mut scope = Scope::of(self.knowledge, from, &self.hidden);
        scope.aliases.extend(self.locals.iter().cloned());
        let using = delete.using.as_deref().unwrap_or_default();
        for table in using {
            scope.add(self.knowledge, table, &self.hidden);
        }
        let named: Vec<usize> = delete
            .tables
            .iter()
            .filter_map(|name| {
                let name = last_part(name).0;
                scope
                    .bindings
                    .iter()
                    .position(|b| b.alias.eq_ignore_ascii_case(&name) || b.table.eq_ignore_ascii_case(&name))
            })
            .collect();
        // DELETE FROM a USING b deletes from a, which MySQL may take for an alias in the list behind;
        // its DELETE a, b FROM … names them.
        let first = scope.bindings.first().map(|b| b.table.clone()).unwrap_or_default();
        let aliased = scope.bindings.iter().skip(1).position(|b| b.alias.eq_ignore_ascii_case(&first));
        let targets = if named.is_empty() { vec![aliased.map_or(0, |at| at + 1)] } else { named };
        let joins = conditions::joined(from.iter().chain(using));
        let limited = delete.limit.as_ref().filter(|_| delete.order_by.is_empty()).map(Expr::span);
        self.asked = Asked::of(delete.selection.as_ref(), self.knowledge.references());
        scope.lack(self.knowledge, &self.asked.missing(from.iter().chain(using), delete.selection.as_ref()));
        self.uses(&scope.bindings, &targets);
        for target in &targets {
            let Some(binding) = scope.bindings.get(*target) else { continue };
            let filter =
                conditions::filter(self.knowledge, &scope, *target, (delete.selection.as_ref(), &joins), limited);
            self.change(Does::Delete, binding, Vec::new(), filter, targets.len());
        }
        scope
    }

    fn insert(&mut self, insert: &Insert) -> Scope<'a> {
        let TableObject::TableName(name) = &insert.table else {
            return Scope::default();
        };
        let scope = self.target(name, insert.table_alias.as_ref().map(|a| a.alias.value.clone()));
        let mut sets: Vec<Assignment> =
            self.assignments(&insert.assignments, &scope).into_iter().map(|(_, s)| s).collect();
        sets.extend(self.inserted(insert, &scope));
        let binding = &scope.bindings[0];
        let replaces = insert.replace_into || matches!(insert.or, Some(ast::SqliteOnConflict::Replace));
        let filter = if replaces { self.in_the_way(binding) } else { Filter::default() };
        self.change(Does::Insert, binding, sets.clone(), filter, 1);
        if let Some(change) = self.reading.changes.last_mut() {
            change.replaces = replaces;
        }
        let row = insert.insert_alias.as_ref().map(|alias| last_part(&alias.row_alias).0);
        self.upsert((insert.on.as_ref(), row.as_deref()), &scope, &sets);
        scope
    }

    /// The only table of a statement that adds rows.
    fn target(&mut self, name: &ObjectName, alias: Option<String>) -> Scope<'a> {
        let ((table, span), schema) = (last_part(name), schema_of(name));
        let alias = alias.unwrap_or_else(|| table.clone());
        let own = is_own(&self.hidden, schema.as_deref(), &table);
        let spec = if own { None } else { self.knowledge.table(&table) };
        let table = qualified(own, schema.as_ref(), table);
        let binding = Binding { alias, table, schema, span, spec, is_missing: false };
        let scope = Scope { bindings: vec![binding], aliases: Vec::new() };
        self.uses(&scope.bindings, &[0]);
        scope
    }

    /// A table that is filled from a file.
    fn filled(&mut self, name: &ObjectName) -> Scope<'a> {
        let scope = self.target(name, None);
        self.change(Does::Insert, &scope.bindings[0], Vec::new(), Filter::default(), 1);
        scope
    }

    /// The columns of an insert with their values.
    fn inserted(&mut self, insert: &Insert, scope: &Scope<'a>) -> Vec<Assignment> {
        let rows = insert.source.as_ref().map(|query| rows(&query.body)).unwrap_or_default();
        let mut sets = Vec::new();
        if insert.columns.is_empty() {
            return self.inserted_in_order(&rows, scope);
        }
        for (at, name) in insert.columns.iter().enumerate() {
            self.target_name(name, scope);
            let (column, span) = last_part(name);
            let values: Vec<&Expr> = rows.iter().filter_map(|row| row.get(at).copied()).collect();
            let each = values.iter().map(|value| self.value(&scope.bindings[0], &column, value, scope));
            let value = one_of(each.collect());
            for row_value in &values {
                self.written_code(&scope.bindings[0], &column, row_value);
            }
            let value_span = values.first().map_or(span, |v| v.span());
            sets.push(Assignment { column, value, outcome: None, span, value_span });
        }
        sets
    }

    /// The same where no columns are named: all of them, in the order of the schema.
    fn inserted_in_order(&mut self, rows: &[Vec<&Expr>], scope: &Scope<'a>) -> Vec<Assignment> {
        let Some(spec) = scope.bindings[0].spec else { return Vec::new() };
        let columns: Vec<String> = spec.columns_on(self.knowledge.engine).map(|c| c.name.clone()).collect();
        if rows.is_empty() || rows.iter().any(|row| row.len() != columns.len()) {
            return Vec::new();
        }
        let mut sets = Vec::new();
        for (at, column) in columns.into_iter().enumerate() {
            let values: Vec<&Expr> = rows.iter().map(|row| row[at]).collect();
            let each = values.iter().map(|value| self.value(&scope.bindings[0], &column, value, scope)).collect();
            for value in &values {
                self.written_code(&scope.bindings[0], &column, value);
            }
            let span = values.first().map_or(scope.bindings[0].span, |v| v.span());
            sets.push(Assignment { column, value: one_of(each), outcome: None, span, value_span: span });
        }
        sets
    }

    /// What a column gets.
    fn value(&self, binding: &Binding<'a>, column: &str, value: &Expr, scope: &Scope<'a>) -> Written {
        if !is_default(value) {
            return match written(value, scope) {
                Written::Column if !self.is_copied(binding, column, value, scope) => Written::Unknown,
                other => other,
            };
        }
        let spec = binding.spec.and_then(|spec| self.knowledge.column_spec(spec, column));
        match spec.map(|spec| (spec.default.clone(), spec.nullable)) {
            Some((Some(DefaultValue::Text(text)), _)) => Written::Literal(Scalar::Text(text)),
            Some((None, true)) => Written::Literal(Scalar::Null),
            _ => Written::Unknown,
        }
    }

    /// Whether a column gets what it held before: of the row itself, or of a table of one's own, whose columns
    /// may have any name. Another table of the scheduler, or a query, may hold any state.
    fn is_copied(&self, binding: &Binding<'a>, column: &str, value: &Expr, scope: &Scope<'a>) -> bool {
        let Some(parts) = as_name(conditions::bare(value)) else { return true };
        let is_same = parts.last().is_some_and(|last| last.value.eq_ignore_ascii_case(column));
        match (meaning(std::slice::from_ref(scope), self.knowledge, parts), parts) {
            (Meaning::Column(source), _) => is_same && source.table.eq_ignore_ascii_case(&binding.table),
            (_, [.., qualifier, _]) => {
                is_same || scope.named(&qualifier.value).is_none_or(|source| !source.table.is_empty())
            }
            _ => true,
        }
    }

    /// The row that a new one meets: named by its key.
    fn in_the_way(&self, binding: &Binding<'a>) -> Filter {
        let key = binding.spec.map(|spec| spec.key_on(self.knowledge.engine)).unwrap_or_default();
        let bounds = key.iter().map(|column| (column.to_lowercase(), super::reading::Bound::Value)).collect();
        Filter { span: Some(binding.span), bounds, ..Filter::default() }
    }

    /// `row`: what the statement calls the row that it would add.
    fn upsert(&mut self, (on, row): (Option<&OnInsert>, Option<&str>), scope: &Scope<'a>, inserted: &[Assignment]) {
        let assignments = match on {
            Some(OnInsert::DuplicateKeyUpdate(assignments)) => assignments,
            Some(OnInsert::OnConflict(conflict)) => match &conflict.action {
                ast::OnConflictAction::DoUpdate(update) => &update.assignments,
                ast::OnConflictAction::DoNothing => return,
            },
            _ => return,
        };
        let mut sets: Vec<Assignment> = self.assignments(assignments, scope).into_iter().map(|(_, s)| s).collect();
        // `VALUES(state)`, `excluded.state`: what the row would have got that was in the way.
        let values: Vec<(Span, String)> = assignments.iter().filter_map(|a| would_be(&a.value, row)).collect();
        for set in &mut sets {
            let named = values.iter().find(|(span, _)| *span == set.value_span).map(|(_, column)| column);
            let known = named.and_then(|column| inserted.iter().find(|i| i.column.eq_ignore_ascii_case(column)));
            if let Some(known) = known {
                set.value = known.value.clone();
            }
        }
        let filter = self.in_the_way(&scope.bindings[0]);
        self.change(Does::Update, &scope.bindings[0], sets, filter, 1);
    }

    fn change(&mut self, does: Does, binding: &Binding<'a>, sets: Vec<Assignment>, filter: Filter, targets: usize) {
        if binding.table.is_empty() {
            return;
        }
        self.reading.changes.push(Change {
            does,
            table: binding.spec.map_or_else(|| binding.table.clone(), |s| s.name.clone()),
            span: binding.span,
            sets,
            filter,
            targets,
            in_body: self.body > 0,
            replaces: false,
        });
    }

    fn uses(&mut self, bindings: &[Binding<'a>], written: &[usize]) {
        for (at, binding) in bindings.iter().enumerate() {
            let cte = binding.schema.is_none() && self.hidden.iter().any(|h| h.eq_ignore_ascii_case(&binding.table));
            let rows = self.ctes.iter().find(|rows| cte && rows.name == binding.table.to_lowercase());
            let stands_for = rows.filter(|rows| self.within_barren > 0 && self.asked.has_all(rows));
            if !binding.table.is_empty() && (!cte || stands_for.is_some()) {
                let name = stands_for.map_or_else(|| binding.table.clone(), |rows| rows.table.clone());
                let (schema, span) = (binding.schema.clone(), binding.span);
                let part = self.parts.last().copied().unwrap_or_default();
                let absent = self.within_barren > 0 || binding.is_missing;
                self.reading.tables.push(TableUse { name, schema, written: written.contains(&at), part, absent, span });
            }
        }
    }

    fn is_barren(&self, query: &Query) -> bool {
        self.barren.iter().any(|known| std::ptr::eq(*known, query))
    }

    /// Assignments with the binding that each writes, where that is known.
    fn assignments(&mut self, assignments: &[ast::Assignment], scope: &Scope<'a>) -> Vec<(Option<usize>, Assignment)> {
        let mut found = Vec::new();
        for assignment in assignments {
            let names: Vec<&ObjectName> = match &assignment.target {
                AssignmentTarget::ColumnName(name) => vec![name],
                AssignmentTarget::Tuple(names) => names.iter().collect(),
            };
            let several = names.len() > 1;
            for (at, name) in names.into_iter().enumerate() {
                let value = match (&assignment.value, several) {
                    (value, false) => Some(value),
                    (Expr::Tuple(values), true) => values.get(at),
                    (_, true) => None,
                };
                let binding = self.target_name(name, scope);
                let (column, span) = last_part(name);
                if let (Some(value), Some(binding)) = (value, scope.bindings.get(binding.unwrap_or(0))) {
                    self.written_code(binding, &column, value);
                }
                let own = scope.bindings.get(binding.unwrap_or(0));
                let written = match (value, own) {
                    (Some(value), Some(own)) => self.value(own, &column, value, scope),
                    _ => Written::Unknown,
                };
                let value_span = value.map_or(span, |v| v.span());
                let target = binding.unwrap_or(0);
                let outcome = value.and_then(|v| branches::outcome(self.knowledge, scope, target, (&column, v)));
                found.push((binding, Assignment { column, value: written, outcome, span, value_span }));
            }
        }
        found
    }

    /// The binding that an assignment's target belongs to; one that no table has is noted.
    fn target_name(&mut self, name: &ObjectName, scope: &Scope<'a>) -> Option<usize> {
        let parts: Vec<ast::Ident> = name.0.iter().filter_map(|p| p.as_ident().cloned()).collect();
        let (qualifier, column) = match parts.as_slice() {
            [column] => (None, column),
            [.., qualifier, column] => (Some(qualifier), column),
            [] => return None,
        };
        let candidates = || scope.bindings.iter().enumerate();
        let found = match qualifier {
            Some(q) => candidates()
                .find(|(_, b)| b.alias.eq_ignore_ascii_case(&q.value) || b.table.eq_ignore_ascii_case(&q.value)),
            None => candidates()
                .find(|(_, b)| b.spec.is_some_and(|s| self.knowledge.has_column(s, &column.value)))
                .or_else(|| candidates().next()),
        };
        let (at, binding) = found?;
        if let Some(spec) = binding.spec
            && !self.knowledge.has_column(spec, &column.value)
        {
            self.stranger(vec![spec.name.clone()], &column.value, column.span);
        }
        Some(at)
    }

    fn stranger(&mut self, tables: Vec<String>, column: &str, span: Span) {
        self.reading.strangers.push(Stranger { tables, column: column.to_owned(), span });
    }

    fn written_code(&mut self, binding: &Binding<'a>, column: &str, value: &Expr) {
        let Some(spec) = binding.spec else { return };
        self.epoch(&spec.name, column, value);
        let Some((role_column, _)) = self.knowledge.states(&spec.name, column) else { return };
        let role_column = role_column.to_owned();
        for (scalar, span) in literals_of(value) {
            self.reading.codes.push(CodeUse {
                role_column: role_column.clone(),
                column: format!("{}.{column}", spec.name),
                scalar,
                written: true,
                equal: true,
                span,
            });
        }
    }

    fn expression(&mut self, expr: &Expr) {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.name(expr),
            Expr::BinaryOp { left, op, right } => self.comparison(left, op, right),
            Expr::In { expr, target: InTarget::List(list), negated, .. } => {
                self.compared(expr, !negated, list.iter());
                if *negated {
                    self.null_blind(expr, expr.span());
                }
            }
            Expr::In { target: InTarget::Subquery(query), .. } if query.limit_clause.is_some() => {
                self.remark(Remark::LimitInSubquery, query.span());
            }
            Expr::Case { operand: Some(operand), conditions, .. } => {
                self.compared(operand, true, conditions.iter().map(|c| &c.condition));
            }
            Expr::Between { expr, low, high, .. } => {
                self.compared(expr, false, [low.as_ref(), high.as_ref()].into_iter());
                if let Some((table, column)) = self.column(expr) {
                    [low, high].into_iter().for_each(|limit| self.epoch(&table, &column, limit));
                }
            }
            _ => {}
        }
    }

    /// Opens a chain of AND or OR at its first link.
    fn chain(&mut self, expr: &Expr) {
        let Expr::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } = expr else { return };
        if self.links.remove(&std::ptr::from_ref(expr)) {
            return;
        }
        let (parts, inner) = chain(expr, op);
        self.links.extend(inner);
        let all = *op == BinaryOperator::And;
        let answered = parts.into_iter().filter_map(|part| answers_null(part, all)).collect();
        self.answers.push(Chain { first: std::ptr::from_ref(expr), answered, passes: !all });
    }

    /// What must not hold may hold for another reason: its parts ask for nothing.
    fn negation(&mut self, expr: &Expr) {
        if let Expr::UnaryOp { op: ast::UnaryOperator::Not | ast::UnaryOperator::BangNot, .. } = expr
            && self.asked.barren(expr).is_none()
        {
            self.answers.push(Chain { first: std::ptr::from_ref(expr), answered: Vec::new(), passes: true });
        }
    }

    fn name(&mut self, expr: &Expr) {
        let Some(parts) = as_name(expr).filter(|_| !is_default(expr)) else { return };
        if let Meaning::Nothing(tables) = meaning(&self.scopes, self.knowledge, parts)
            && let Some(column) = parts.last()
            && !self.is_text(parts)
        {
            let (column, span) = (column.value.clone(), column.span);
            self.stranger(tables, &column, span);
        }
    }

    /// SQLite takes what stands in double quotes and is no column for a text.
    fn is_text(&self, parts: &[ast::Ident]) -> bool {
        matches!(parts, [one] if one.quote_style == Some('"')) && self.knowledge.engine == Engine::Sqlite
    }

    /// The table and column that an expression names.
    fn column(&self, expr: &Expr) -> Option<(String, String)> {
        let parts = as_name(expr)?;
        match meaning(&self.scopes, self.knowledge, parts) {
            Meaning::Column(binding) => Some((binding.spec?.name.clone(), parts.last()?.value.clone())),
            _ => None,
        }
    }

    fn comparison(&mut self, left: &Expr, op: &BinaryOperator, right: &Expr) {
        if !conditions::compares(op) {
            return;
        }
        for (name, other) in [(left, right), (right, left)] {
            self.compared(name, *op == BinaryOperator::Eq, std::iter::once(other));
            if *op == BinaryOperator::NotEq && as_literal(other).is_some() {
                self.null_blind(name, name.span());
            }
            if as_literal(other) == Some(Scalar::Null) && *op != BinaryOperator::Spaceship && as_name(name).is_some() {
                self.remark(Remark::EqualsNull, other.span());
            }
            if moments::is_now(other)
                && let Some((table, column)) = self.column(name)
            {
                self.remark(Remark::DatabaseClock(table, column), other.span());
            }
            if let Some((table, column)) = self.column(name) {
                self.epoch(&table, &column, other);
            }
            if let Expr::Function(function) = name
                && let [inner] = arguments(&function.args).as_slice()
                && let Some((table, column)) = self.column(inner)
            {
                self.remark(Remark::WrappedColumn(table, column), name.span());
            }
        }
    }

    fn compared<'e>(&mut self, name: &Expr, equal: bool, values: impl Iterator<Item = &'e Expr>) {
        let Some((table, column)) = self.column(name) else { return };
        let Some((role_column, _)) = self.knowledge.states(&table, &column) else { return };
        let role_column = role_column.to_owned();
        for value in values {
            if let Some(scalar) = as_literal(value) {
                self.reading.codes.push(CodeUse {
                    role_column: role_column.clone(),
                    column: format!("{table}.{column}"),
                    scalar,
                    written: false,
                    equal,
                    span: value.span(),
                });
            }
        }
    }

    /// Notes a date that meets a column of milliseconds, and seconds or milliseconds that meet
    /// a column of dates.
    fn epoch(&mut self, table: &str, column: &str, value: &Expr) {
        // Most values are neither, and what the column holds takes longer to find out.
        let (date, seconds, epoch) =
            (moments::is_date(value), moments::is_epoch_seconds(value), moments::is_epoch(value));
        if !(date || seconds || epoch) {
            return;
        }
        let name = self.knowledge.role_column(table, column);
        let is_millis = name.is_some_and(|n| self.knowledge.manifest.is_epoch_ms(n));
        let place = (table.to_owned(), column.to_owned());
        if is_millis && date {
            self.remark(Remark::EpochAgainstTime(place.0, place.1), value.span());
        } else if is_millis && seconds {
            self.remark(Remark::SecondsAgainstMillis(place.0, place.1), value.span());
        } else if epoch && self.knowledge.is_date(table, column) {
            self.remark(Remark::TimeAgainstEpoch(place.0, place.1), value.span());
        }
    }

    fn null_blind(&mut self, name: &Expr, span: Span) {
        let written = written_name(name);
        if written.is_some_and(|name| self.answers.iter().any(|chain| chain.answered.contains(&name))) {
            return;
        }
        let Some((table, column)) = self.column(name) else { return };
        let nullable = self.knowledge.table(&table).and_then(|t| self.knowledge.column_spec(t, &column));
        if nullable.is_some_and(|c| c.nullable) {
            self.remark(Remark::NullBlind(table, column), span);
        }
    }

    fn remark(&mut self, remark: Remark, span: Span) {
        self.reading.remarks.push((remark, span));
    }
}

/// The parts that an operator joins, and the links between them, however long the chain.
fn chain<'e>(expr: &'e Expr, op: &BinaryOperator) -> (Vec<&'e Expr>, Vec<*const Expr>) {
    let (mut parts, mut links, mut open) = (Vec::new(), Vec::new(), vec![expr]);
    while let Some(next) = open.pop() {
        match next {
            Expr::BinaryOp { left, op: own, right } if own == op => {
                if !std::ptr::eq(next, expr) {
                    links.push(std::ptr::from_ref(next));
                }
                open.extend([right.as_ref(), left.as_ref()]);
            }
            Expr::Nested(inner) if matches!(inner.as_ref(), Expr::BinaryOp { op: own, .. } if own == op) => {
                open.push(inner);
            }
            other => parts.push(other),
        }
    }
    (parts, links)
}

/// The name whose NULL a part of a condition answers for: it asks for NULL, or, where all
/// parts must hold, it holds for other values only.
fn answers_null(part: &Expr, all: bool) -> Option<String> {
    match part {
        Expr::Nested(inner) => answers_null(inner, all),
        Expr::IsNull(name) | Expr::IsNotNull(name) => written_name(name),
        Expr::In { expr, negated: false, .. } | Expr::Between { expr, negated: false, .. } if all => written_name(expr),
        Expr::BinaryOp { left, op: BinaryOperator::Spaceship | BinaryOperator::Is, .. }
        | Expr::IsNotDistinctFrom(left, _) => written_name(left),
        Expr::BinaryOp { left, op: BinaryOperator::Eq, .. } if all => written_name(left),
        _ => None,
    }
}

/// A column's name as it is written, in lower case.
fn written_name(name: &Expr) -> Option<String> {
    let parts = as_name(name)?.iter().map(|part| part.value.to_lowercase());
    Some(parts.collect::<Vec<_>>().join("."))
}

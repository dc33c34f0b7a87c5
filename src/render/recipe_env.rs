//! The environment in which a recipe's templates become SQL.
//!
//! A template names roles, never tables: `alias("task_instance", "t").state`
//! is the real column of this release, quoted for this database.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{Rest, Value};
use minijinja::{Environment, ErrorKind, UndefinedBehavior};

use crate::dialect::{Dialect, TypeClass};
use crate::manifest::{Manifest, State, StateSet};
use crate::plan::{ParamValue, Params, Zone, epoch_ms, with_utc};
use crate::recipe::{Recipe, SHARED};
use crate::render::{legacy, ser};
use crate::{Error, Result};

/// Which states of a set a list keeps.
type Keep = fn(&State) -> bool;
type TemplateResult<T> = std::result::Result<T, minijinja::Error>;

/// What a recipe's templates may ask.
pub struct RecipeScope<'a> {
    /// The release's names.
    pub manifest: &'a Manifest,
    /// The database's language.
    pub dialect: &'a Dialect,
    /// The schema of the tables, where it must be named.
    pub schema: Option<&'a str>,
    /// What the operator said.
    pub params: &'a Params,
    /// The scheduler's zone, if it is known.
    pub zone: Option<&'a Zone>,
    /// The moment on the scheduler's clock, if its zone is known.
    pub moment: Option<&'a str>,
    /// The moment as milliseconds since the epoch, whatever the zone.
    pub moment_ms: i64,
    /// Queries that stand for tables, by the table's name.
    pub tables: BTreeMap<String, String>,
}

/// A recipe ready to render.
pub struct RecipeEnv {
    env: Environment<'static>,
    folder: String,
    scheduler: String,
    /// The tables as they will be, each as one named query.
    tables: Vec<String>,
    named: Named,
}

/// What a template named while it rendered: name and query, in order.
type Named = Arc<Mutex<Vec<(String, String)>>>;

/// A query of a recipe.
pub struct Query {
    /// What must stand before everything: each table as it will be and each query
    /// that the template named, once, however often it is read. Planned rows are many.
    pub with: String,
    /// The query itself.
    pub body: String,
}

impl RecipeEnv {
    /// Builds the environment.
    ///
    /// # Errors
    /// A parameter that cannot be shown to a template.
    pub fn new(recipe: &Recipe, scope: &RecipeScope<'_>) -> Result<Self> {
        let mut env = Environment::new();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        env.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        env.set_loader(loader(recipe));
        // The functions outlive the scope: they share one copy.
        let (m, d) = (Arc::new(scope.manifest.clone()), Arc::new(scope.dialect.clone()));
        add_names(&mut env, scope, &m, &d);
        add_states(&mut env, &m);
        legacy::add(&mut env, &m, scope.params);
        add_literals(&mut env, &d);
        env.add_global("param", params(scope.params));
        env.add_global("behaviour", ser(&scope.manifest.behaviour));
        env.add_global("title", scope.manifest.title.clone());
        let time = |t: Option<&str>| t.map_or_else(|| "NULL".to_owned(), |t| scope.dialect.time_literal(t));
        env.add_global("cutoff", time(scope.params.cutoff()));
        env.add_global("moment", time(scope.moment));
        env.add_global("moment_ms", scope.moment_ms);
        let named = Named::default();
        add_named(&mut env, &d, &named);
        let tables = scope.tables.iter().map(|(table, sql)| format!("{} AS ({sql})", to_come(scope.dialect, table)));
        Ok(Self {
            env,
            folder: recipe.folder.clone(),
            scheduler: recipe.scheduler.clone(),
            tables: tables.collect(),
            named,
        })
    }

    /// Renders one of the recipe's queries.
    ///
    /// # Errors
    /// As [`RecipeEnv::file`].
    pub fn query(&self, name: &str) -> Result<Query> {
        self.named_apart(|| self.file(name, BTreeMap::new()))
    }

    /// Renders a query given as text.
    ///
    /// # Errors
    /// As [`RecipeEnv::file`].
    pub fn query_text(&self, what: &str, template: &str, extra: BTreeMap<&str, Value>) -> Result<Query> {
        self.named_apart(|| self.text(what, template, extra))
    }

    /// A query, with what it named while it rendered.
    fn named_apart(&self, render: impl FnOnce() -> Result<String>) -> Result<Query> {
        held(&self.named).clear();
        let body = render()?;
        let named = held(&self.named);
        let parts: Vec<&str> =
            self.tables.iter().map(String::as_str).chain(named.iter().map(|(_, sql)| sql.as_str())).collect();
        let with = if parts.is_empty() { String::new() } else { format!("WITH RECURSIVE {}\n", parts.join(",\n")) };
        Ok(Query { with, body })
    }

    /// Renders a query that all recipes of the scheduler share, if there is such a file.
    ///
    /// # Errors
    /// As [`RecipeEnv::file`].
    pub fn shared_query(&self, name: &str, extra: BTreeMap<&str, Value>) -> Result<Option<String>> {
        match self.env.get_template(&format!("{}/{SHARED}/{name}", self.scheduler)) {
            Ok(template) => Ok(Some(template.render(extra)?.trim().to_owned())),
            Err(e) if e.kind() == ErrorKind::TemplateNotFound => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Renders one of the recipe's files.
    ///
    /// # Errors
    /// The template asks for a role, column or state that the release lacks.
    pub fn file(&self, name: &str, extra: BTreeMap<&str, Value>) -> Result<String> {
        Ok(self.env.get_template(&format!("{}/{name}", self.folder))?.render(extra)?.trim().to_owned())
    }

    /// Renders a template given as text.
    ///
    /// # Errors
    /// As [`RecipeEnv::file`].
    pub fn text(&self, what: &str, template: &str, extra: BTreeMap<&str, Value>) -> Result<String> {
        let rendered = self.env.render_named_str(what, template, extra);
        Ok(rendered?.trim().to_owned())
    }
}

/// The recipe's templates and those it shares, each read when it is first asked for.
fn loader(recipe: &Recipe) -> impl Fn(&str) -> TemplateResult<Option<String>> + use<> {
    let (own, shared) = (format!("{}/", recipe.folder), format!("{}/{SHARED}/", recipe.scheduler));
    let (templates, texts) = (Arc::clone(&recipe.templates), Arc::clone(&recipe.shared));
    move |name| {
        let found = match name.strip_prefix(&shared) {
            Some(file) => texts.get(file),
            None => name.strip_prefix(&own).and_then(|file| templates.get(file)),
        };
        Ok(found.cloned())
    }
}

fn fail(error: &Error) -> minijinja::Error {
    minijinja::Error::new(ErrorKind::InvalidOperation, error.to_string())
}

/// The name of a table as it will be. Names are at most 63 bytes long on PostgreSQL;
/// of tables with a long prefix the ends differ.
fn to_come(d: &Dialect, table: &str) -> String {
    let skip = table.chars().count().saturating_sub(40);
    d.ident(&format!("flowmend_{}", table.chars().skip(skip).collect::<String>()))
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `named(name, columns, query)`: the name by which the query can be read, which
/// may read itself. A named query inside another query would not see the outer
/// ones in MariaDB 10.11, so all stand before everything.
fn add_named(env: &mut Environment<'static>, d: &Arc<Dialect>, named: &Named) {
    let (d, named) = (Arc::clone(d), Arc::clone(named));
    env.add_function("named", move |name: &str, columns: &str, query: &str| {
        let full = to_come(&d, name);
        let mut named = held(&named);
        if !named.iter().any(|(known, _)| known == name) {
            named.push((name.to_owned(), format!("{full} ({columns}) AS ({query})")));
        }
        full
    });
}

fn add_names(
    env: &mut Environment<'static>,
    scope: &RecipeScope<'_>,
    manifest: &Arc<Manifest>,
    dialect: &Arc<Dialect>,
) {
    let schema = scope.schema.map(ToOwned::to_owned);
    let (m, d, tables) = (Arc::clone(manifest), Arc::clone(dialect), scope.tables.clone());
    env.add_function("table", move |role: &str| -> TemplateResult<String> {
        let role = m.role(role).map_err(|e| fail(&e))?;
        Ok(match tables.get(&role.table) {
            Some(_) => to_come(&d, &role.table),
            None => d.table(schema.as_deref(), &role.table),
        })
    });
    let (m, d, schema) = (Arc::clone(manifest), Arc::clone(dialect), scope.schema.map(ToOwned::to_owned));
    env.add_function("live_table", move |role: &str| -> TemplateResult<String> {
        Ok(d.table(schema.as_deref(), &m.role(role).map_err(|e| fail(&e))?.table))
    });
    let (m, d) = (Arc::clone(manifest), Arc::clone(dialect));
    env.add_function("alias", move |role: &str, alias: &str| -> TemplateResult<Value> {
        let role = m.role(role).map_err(|e| fail(&e))?;
        let columns = role.columns.iter().map(|(name, column)| (name.clone(), format!("{alias}.{}", d.ident(column))));
        Ok(columns.collect::<BTreeMap<_, _>>().into())
    });
    let (m, d) = (Arc::clone(manifest), Arc::clone(dialect));
    env.add_function("col", move |name: &str, alias: &str| -> TemplateResult<String> {
        Ok(format!("{alias}.{}", d.ident(m.column(name).map_err(|e| fail(&e))?)))
    });
    add_comparisons(env, scope, manifest, dialect);
    let m = Arc::clone(manifest);
    env.add_function("has", move |name: &str| m.has(name));
}

/// `before_cutoff(column, alias)` and `before_time(column, alias, time)`: whether a
/// column is before a time on the scheduler's clock. Milliseconds since the epoch are
/// compared as such. An instant is only shown by the session's zone, so there the
/// cut-off is compared as an instant, too. `earlier(time, than)` compares what two
/// expressions give, and is never NULL. A date of zeros is as unknown as NULL.
fn add_comparisons(
    env: &mut Environment<'static>,
    scope: &RecipeScope<'_>,
    manifest: &Arc<Manifest>,
    dialect: &Arc<Dialect>,
) {
    let (m, d, zone) = (Arc::clone(manifest), Arc::clone(dialect), scope.zone.cloned());
    env.add_function("before_time", move |name: &str, alias: &str, time: &str| -> TemplateResult<String> {
        let column = format!("{alias}.{}", d.ident(m.column(name).map_err(|e| fail(&e))?));
        if !m.is_epoch_ms(name) {
            return Ok(d.if_a_date(&format!("{column} < {}", d.time_literal(time)), &column));
        }
        let ms = zone.as_ref().and_then(|zone| epoch_ms(time, zone));
        let ms = ms.ok_or_else(|| {
            fail(&Error::usage(format!("before_time: the moment of `{time}` is not known: give --zone")))
        })?;
        Ok(format!("{column} < {ms}"))
    });
    let d = Arc::clone(dialect);
    env.add_function("earlier", move |time: &str, than: &str| {
        format!("COALESCE({}, 1 = 0)", d.if_a_date(&format!("({time}) < {than}"), time))
    });
    env.add_function("before_cutoff", before_cutoff(scope, manifest, dialect));
}

fn before_cutoff(
    scope: &RecipeScope<'_>,
    manifest: &Arc<Manifest>,
    dialect: &Arc<Dialect>,
) -> impl Fn(&str, &str) -> TemplateResult<String> + use<> {
    let (m, d) = (Arc::clone(manifest), Arc::clone(dialect));
    let cutoff = scope.params.cutoff().map(ToOwned::to_owned);
    let instant = scope.params.cutoff_instant();
    move |name: &str, alias: &str| {
        let column = m.column(name).map_err(|e| fail(&e))?;
        let cutoff = cutoff.as_ref().ok_or_else(|| fail(&Error::usage("before_cutoff: no age was given")))?;
        let role = m.role(name.split('.').next().unwrap_or_default()).map_err(|e| fail(&e))?;
        let spec = m.tables.get(&role.table).and_then(|t| t.columns.iter().find(|c| c.name == column)?.on(d.engine));
        let stamped = spec.is_some_and(|s| d.is_instant(&s.type_sql));
        let column = format!("{alias}.{}", d.ident(column));
        Ok(match instant {
            Some(instant) if m.is_epoch_ms(name) => format!("{column} < {}", instant * 1000),
            Some(instant) if stamped => d.if_a_date(&d.instant_before(&column, instant), &column),
            _ => d.if_a_date(&format!("{column} < {}", d.time_literal(cutoff)), &column),
        })
    }
}

fn add_states(env: &mut Environment<'static>, manifest: &Arc<Manifest>) {
    let lists: [(&'static str, Keep); 4] =
        [("unfinished", |s| !s.finished), ("finished", |s| s.finished), ("legal", |s| s.legal), ("known", |_| true)];
    for (name, keep) in lists {
        let m = Arc::clone(manifest);
        env.add_function(name, move |column: &str| -> TemplateResult<String> { list(&m, column, keep) });
        let m = Arc::clone(manifest);
        env.add_function(
            format!("is_{name}"),
            move |column: &str, value: &str, with: Option<&str>| -> TemplateResult<String> {
                condition(&m, column, value, with, keep)
            },
        );
    }
    let m = Arc::clone(manifest);
    env.add_function(
        "is_phase",
        move |column: &str, value: &str, phases: Vec<String>, with: Option<&str>| -> TemplateResult<String> {
            condition(&m, column, value, with, |s| phases.contains(&s.phase))
        },
    );
    let m = Arc::clone(manifest);
    env.add_function("codes", move |column: &str, phases: Vec<String>| -> TemplateResult<String> {
        list(&m, column, |s| phases.contains(&s.phase))
    });
    let m = Arc::clone(manifest);
    env.add_function("code", move |column: &str, phase: &str| -> TemplateResult<String> {
        let null = m.states(column).map_err(|e| fail(&e))?.null.as_ref();
        if null.is_some_and(|s| s.phase == phase) {
            return Ok("NULL".to_owned());
        }
        state_of(&m, column, phase).map(|(set, state)| set.literal(&state.code))
    });
    let m = Arc::clone(manifest);
    env.add_function("code_named", move |column: &str, name: &str| -> TemplateResult<String> {
        let set = m.states(column).map_err(|e| fail(&e))?;
        let state =
            set.states.iter().find(|s| s.name == name && !set.hangs(&s.code)).ok_or_else(|| {
                fail(&Error::usage(format!("{} {} has no {name} in {column}", m.title, m.generation)))
            })?;
        Ok(set.literal(&state.code))
    });
    let m = Arc::clone(manifest);
    env.add_function("state_name", move |column: &str, phase: &str| -> TemplateResult<String> {
        state_of(&m, column, phase).map(|(_, state)| format!("{} {}", state.code, state.name))
    });
}

/// The condition that a value means a state that is kept.
fn condition(
    m: &Manifest,
    column: &str,
    value: &str,
    with: Option<&str>,
    keep: impl FnMut(&State) -> bool,
) -> TemplateResult<String> {
    let set = m.states(column).map_err(|e| fail(&e))?;
    match (&set.with, with) {
        (Some(other), None) => {
            let message = format!("the meaning of {column} hangs on {other}: give its value as the last argument");
            Err(fail(&Error::usage(message)))
        }
        (None, Some(_)) => Err(fail(&Error::usage(format!("the meaning of {column} hangs on no other column")))),
        _ => Ok(set.condition(value, with, keep)),
    }
}

fn state_of<'m>(m: &'m Manifest, column: &str, phase: &str) -> TemplateResult<(&'m StateSet, &'m State)> {
    let set = m.states(column).map_err(|e| fail(&e))?;
    let state = set.of_phase(phase).ok_or_else(|| {
        fail(&Error::usage(format!("{} {} has no state `{phase}` that is legal in {column}", m.title, m.generation)))
    })?;
    Ok((set, state))
}

/// A list for IN; the empty list is one that nothing is in.
fn list(m: &Manifest, column: &str, mut keep: impl FnMut(&State) -> bool) -> TemplateResult<String> {
    let set = m.states(column).map_err(|e| fail(&e))?;
    if set.null.iter().chain(&set.other).any(&mut keep) {
        let state = "a value without a code of its own (NULL, or one that is not listed)";
        return Err(fail(&Error::usage(format!("{column}: {state} belongs to this list: ask with is_…()"))));
    }
    if let (Some(state), Some(with)) = (set.states.iter().find(|s| set.hangs(&s.code) && keep(s)), &set.with) {
        let message = format!("{column}: what {} means hangs on {with}: ask with is_…()", state.code);
        return Err(fail(&Error::usage(message)));
    }
    let codes = set.codes(keep);
    if codes.is_empty() {
        return Ok("(NULL)".to_owned());
    }
    let codes: Vec<String> = codes.iter().map(|code| set.literal(code)).collect();
    Ok(format!("({})", codes.join(", ")))
}

fn add_literals(env: &mut Environment<'static>, dialect: &Arc<Dialect>) {
    let d = Arc::clone(dialect);
    env.add_function("lit", move |text: &str| d.text_literal(text));
    let d = Arc::clone(dialect);
    env.add_function("lits", move |texts: Vec<String>| {
        texts.iter().map(|t| d.text_literal(t)).collect::<Vec<_>>().join(", ")
    });
    let d = Arc::clone(dialect);
    env.add_function("time", move |text: &str| d.time_literal(text));
    // NULL, and what is no moment, is shown as it is.
    env.add_filter("utc", |value: Value| with_utc(&value.to_string()));
    let d = Arc::clone(dialect);
    env.add_function("text", move |expression: &str| d.as_text(expression));
    let d = Arc::clone(dialect);
    env.add_function("day", move |time: &str| d.day(time));
    let d = Arc::clone(dialect);
    env.add_function("days_later", move |time: &str, days: i64| d.days_later(time, days));
    let d = Arc::clone(dialect);
    env.add_function("json_member", move |expression: &str, name: &str| d.json_member(expression, name));
    let d = Arc::clone(dialect);
    env.add_function("json_last", move |expression: &str, name: &str| d.json_last(expression, name));
    let d = Arc::clone(dialect);
    env.add_function("seconds_between", move |from: &str, to: &str| d.seconds_between(from, to));
    let d = Arc::clone(dialect);
    env.add_function("concat", move |parts: Vec<String>| d.concat(&parts));
    let d = Arc::clone(dialect);
    env.add_function("exactly", move |left: &str, right: &str| d.same(left, right, TypeClass::Text));
    let d = Arc::clone(dialect);
    env.add_function("same", move |left: &str, right: &str, _rest: Rest<Value>| d.same(left, right, TypeClass::Int));
}

fn params(params: &Params) -> Value {
    let value = |v: &ParamValue| match v {
        ParamValue::None => Value::from(()),
        ParamValue::Choice(text) | ParamValue::Cutoff(text) => Value::from(text.clone()),
        ParamValue::Texts(texts) => Value::from(texts.clone()),
        ParamValue::Numbers(numbers) => Value::from(numbers.clone()),
        ParamValue::Flag(flag) => Value::from(*flag),
        // `legacy()` says what was confirmed.
        ParamValue::Legacy(said) => Value::from(!said.is_empty()),
        ParamValue::Owners(owners) => owners
            .iter()
            .map(|o| {
                let or_none = |text: Option<String>| text.map_or(Value::from(()), Value::from);
                let whole = (o.literal || o.port.is_some()).then(|| o.name());
                BTreeMap::from([
                    ("any", Value::from(o.is_any())),
                    ("shown", Value::from(o.shown)),
                    ("host", Value::from(o.host.clone())),
                    ("name", or_none(whole)),
                    ("scope", or_none(o.scope.clone())),
                    ("before", or_none(o.before.clone())),
                ])
            })
            .collect::<Vec<_>>()
            .into(),
    };
    params.values.iter().map(|(name, v)| (name.clone(), value(v))).collect::<BTreeMap<_, _>>().into()
}

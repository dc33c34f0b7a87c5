//! Tables and columns that scripts name, and that a database must have.

use super::{About, Finding, Upgrade, keys};
use crate::lint::Level;
use crate::manifest::compare::{Change, ChangeKind};
use crate::manifest::{DefaultValue, Engine, Manifest, Manifests};

/// The code of a new column in which rows of today get a state.
pub(super) const NEW_STATE_COLUMN: &str = "new-state-column";

/// What breaks in scripts and reports.
pub(super) fn foreseen(upgrade: &Upgrade<'_>) -> Vec<Finding> {
    upgrade.changes.iter().filter_map(|change| of_change(upgrade, change)).collect()
}

/// Keys that change, whose use no name in a script shows: remarks, so that scripts alone decide.
pub(super) fn unseen_in_scripts(upgrade: &Upgrade<'_>) -> Vec<Finding> {
    let is_key = |f: &Finding| f.code.contains("unique-") || f.code.contains("foreign-key-") || f.code == "key-changed";
    foreseen(upgrade).into_iter().filter(is_key).map(|f| Finding { level: Level::Info, ..f }).collect()
}

/// The tables of which only the names are known, so that nothing is said of their columns.
pub(super) fn not_compared(upgrade: &Upgrade<'_>) -> Option<Finding> {
    let both: Vec<&str> =
        upgrade.from.other_tables.intersection(&upgrade.to.other_tables).map(String::as_str).collect();
    let message = format!("the columns of these tables were not compared: {}", both.join(", "));
    (!both.is_empty()).then(|| Finding::new(About::Scripts, "tables-not-compared", Level::Info, "tables", message))
}

fn of_change(upgrade: &Upgrade<'_>, change: &Change) -> Option<Finding> {
    let goal = &upgrade.releases.1;
    let is = change.after.as_deref().unwrap_or_default();
    let (code, level, help) = match change.kind {
        ChangeKind::TableDropped => ("table-gone", Level::Warning, "scripts that name it fail".to_owned()),
        ChangeKind::TableRenamed => {
            let described = upgrade.to.tables.contains_key(is);
            let columns =
                if described { "" } else { "; its columns are not described here, and may have other names, too" };
            ("table-renamed", Level::Warning, format!("write {is} in scripts and views{columns}"))
        }
        ChangeKind::ColumnDropped => ("column-gone", Level::Warning, "scripts that name it fail".to_owned()),
        ChangeKind::ColumnRenamed => ("column-renamed", Level::Warning, format!("write {is} in scripts and views")),
        ChangeKind::KeyChanged if is_still_unique(upgrade, change) => {
            ("key-changed", Level::Info, "the columns of the old key are still unique".to_owned())
        }
        ChangeKind::KeyChanged => {
            ("key-changed", Level::Warning, "look at scripts that join or delete by the old key".to_owned())
        }
        ChangeKind::CodesRetyped => {
            ("codes-retyped", Level::Warning, format!("compare with {is}, or an index is not used and rows are missed"))
        }
        ChangeKind::ColumnRetyped if converted(upgrade, change).is_some() => {
            ("column-retyped", Level::Info, converted(upgrade, change).unwrap_or_default().to_owned())
        }
        ChangeKind::ColumnRetyped if narrowed(change).is_some() => {
            ("column-narrowed", Level::Warning, "longer values are cut, or the upgrade fails on them".to_owned())
        }
        ChangeKind::ColumnRetyped => {
            ("column-retyped", Level::Info, "in a fresh database; an upgraded one may keep the old type".to_owned())
        }
        ChangeKind::ColumnAdded if new_state(upgrade, change).is_some() => {
            let state = new_state(upgrade, change).unwrap_or_default();
            (
                NEW_STATE_COLUMN,
                Level::Warning,
                format!("rows of today become {state}: set what is wrong before the new release starts"),
            )
        }
        ChangeKind::ColumnAdded if is_needed(is) => {
            ("column-needed", Level::Warning, "an INSERT that does not name it fails".to_owned())
        }
        ChangeKind::StateAdded | ChangeKind::StateLegal => {
            ("new-state", Level::Info, "reports that list codes do not know it".to_owned())
        }
        ChangeKind::StatesAdded => ("new-states", Level::Info, String::new()),
        _ => keys::of_change(upgrade, change)?,
    };
    let subject = match &change.code {
        Some(code) => format!("{} {code}", upgrade.to.real_name(&change.subject)),
        None => change.subject.clone(),
    };
    let about = if code == NEW_STATE_COLUMN { About::Before } else { About::Scripts };
    let mut finding = Finding::new(about, code, level, subject, change.sentence());
    finding.since = upgrade.since(change);
    if !help.is_empty() {
        finding.help.push(help);
    }
    let of_schema = |s: &&String| s.contains(".sql") || s.contains("models");
    let of_engine = |s: &&String| match change.engine {
        Some(Engine::PostgreSql) => s.contains("postgres"),
        _ => true,
    };
    let sources = || upgrade.to.sources.iter().filter(of_schema);
    finding.why.extend(sources().find(of_engine).or_else(|| sources().next()).cloned());
    finding.why.push(format!("schema of {goal}"));
    Some(finding)
}

/// What the upgrade itself makes of a column's values.
pub(super) fn converted<'m>(upgrade: &Upgrade<'m>, change: &Change) -> Option<&'m str> {
    let (table, column) = change.subject.split_once('.')?;
    let said = |step: &crate::upgrade::Step<'m>| step.to.converted.get(&(table.to_owned(), column.to_owned()));
    upgrade.steps.iter().rev().find_map(said).map(String::as_str)
}

/// How long a value may be, where a text column becomes shorter.
pub(super) fn narrowed(change: &Change) -> Option<u64> {
    let length = |text: &Option<String>| -> Option<u64> {
        let text = text.as_deref()?;
        let (kind, rest) = text.split_once('(')?;
        let number = rest.split(')').next()?.parse().ok()?;
        kind.contains("char").then_some(number)
    };
    let (before, after) = (length(&change.before)?, length(&change.after)?);
    (after < before).then_some(after)
}

/// The state that rows of today get in a column of states that is new, by its default.
fn new_state(upgrade: &Upgrade<'_>, change: &Change) -> Option<String> {
    let (table, column) = change.subject.split_once('.')?;
    let table = upgrade.renamed_table(table);
    let (name, role) = upgrade.to.roles.iter().find(|(_, role)| role.table == table)?;
    let (role_column, _) = role.columns.iter().find(|(_, real)| real.eq_ignore_ascii_case(column))?;
    let role_column = format!("{name}.{role_column}");
    let engine = upgrade.engines(change).into_iter().next()?;
    let spec = upgrade.to.tables.get(table)?.column_on(engine, column)?.on(engine)?.into_owned();
    let Some(DefaultValue::Text(default)) = spec.default else { return None };
    let set = upgrade.to.states.get(&role_column)?;
    // What another column's state hangs on says nothing by itself.
    let is_part = upgrade.to.states.values().any(|other| other.with.as_ref() == Some(&role_column));
    set.by_code(&default).filter(|_| !is_part).map(|state| set.shown(state))
}

/// Whether a row cannot be inserted without a column of this form.
fn is_needed(form: &str) -> bool {
    let has = |word: &str| form.contains(word);
    has(" NOT NULL")
        && !has(" DEFAULT ")
        && !has(" AUTO_INCREMENT")
        && !form.starts_with("serial")
        && !form.starts_with("bigserial")
}

/// Whether a unique key of the new release holds the columns of the old primary key.
fn is_still_unique(upgrade: &Upgrade<'_>, change: &Change) -> bool {
    let name = upgrade.renamed_table(&change.subject);
    let sorted = |columns: &mut Vec<String>| {
        columns.iter_mut().for_each(|c| *c = c.to_lowercase());
        columns.sort();
    };
    let mut old: Vec<String> = change.before.iter().flat_map(|key| key.split(", ")).map(ToOwned::to_owned).collect();
    sorted(&mut old);
    let Some(table) = upgrade.to.tables.get(name) else { return false };
    upgrade.engines(change).into_iter().all(|engine| {
        table.unique_on(engine).iter().any(|key| {
            let mut key = key.clone();
            sorted(&mut key);
            key == old
        })
    })
}

/// A table, or a column of it, that a release has and a database lacks.
pub(super) struct Lacking<'m> {
    m: &'m Manifest,
    /// The table.
    pub table: &'m str,
    /// The column, where the table is there.
    pub column: Option<&'m str>,
}

/// What a database lacks of a release. `there` says whether a table, or a column of it, is there.
pub(super) fn lacking<'m>(
    m: &'m Manifest,
    engine: Engine,
    there: &dyn Fn(&str, Option<&str>) -> bool,
) -> Vec<Lacking<'m>> {
    let mut found = Vec::new();
    for spec in m.tables.values().filter(|t| t.on(engine) && t.optional.is_none()) {
        let table = spec.name.as_str();
        if !there(table, None) {
            found.push(Lacking { m, table, column: None });
            continue;
        }
        let columns = spec.columns_on(engine).map(|c| c.name.as_str()).filter(|c| !there(table, Some(c)));
        found.extend(columns.map(|column| Lacking { m, table, column: Some(column) }));
    }
    found
}

impl Lacking<'_> {
    /// `table`, or `table.column`.
    pub fn subject(&self) -> String {
        self.column.map_or_else(|| self.table.to_owned(), |c| format!("{}.{c}", self.table))
    }

    /// That it should be there.
    pub fn missing(&self, manifests: &Manifests) -> Finding {
        let mut finding = self.finding(manifests, super::MISSING, Level::Error, "is missing, which");
        finding.help.push("a step of an earlier upgrade did not run, or the version is not the one that runs: compare with the scheduler's own upgrade scripts before you go on".to_owned());
        finding
    }

    /// That the upgrade brings it.
    pub fn brought(&self, manifests: &Manifests) -> Finding {
        let mut finding = self.finding(manifests, super::BROUGHT, Level::Info, "is not there yet, which");
        finding.help.push("the scheduler's own upgrade must bring it".to_owned());
        finding
    }

    fn finding(&self, manifests: &Manifests, code: &str, level: Level, is: &str) -> Finding {
        let what = if self.column.is_some() { "column" } else { "table" };
        let has = |m: &&Manifest| {
            m.table_named(self.table).is_some_and(|t| self.column.is_none_or(|column| t.has_column(column)))
        };
        let all = manifests.of(&self.m.scheduler).unwrap_or_default();
        let since = all.into_iter().find(has).and_then(|m| m.releases.first().cloned());
        let (subject, title) = (self.subject(), &self.m.title);
        let first = since.as_deref().unwrap_or_default();
        let message = format!("{what} {subject} {is} {title} has from {first} on");
        Finding { since, ..Finding::new(About::Schema, code, level, subject, message) }
    }
}

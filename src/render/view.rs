//! The parts of a step as SQL text: names, joins, pins, images. Pure.

use std::collections::BTreeMap;

use minijinja::Value;

use crate::dialect::Dialect;
use crate::manifest::Engine;
use crate::plan::{Column, Plan, Referrer, Step, step_name};
use crate::recipe::{ConditionTime, Op, SetKind};

/// Rows in one INSERT of the work table: few enough to read, many enough to be quick.
const CHUNK: usize = 500;

/// The SQL parts of one step.
pub struct StepView<'a> {
    d: &'a Dialect,
    schema: Option<&'a str>,
    work_schema: Option<&'a str>,
    /// The step.
    pub step: &'a Step,
    /// `03_task_instance`, also the file's name.
    pub name: String,
    prefix: String,
}

impl<'a> StepView<'a> {
    /// The view of a step; `number` is its place in the bundle.
    #[must_use]
    pub fn new(d: &'a Dialect, plan: &'a Plan, id: &str, index: usize) -> Self {
        let step = &plan.steps[index];
        let number = index + 3;
        Self {
            d,
            schema: plan.target.schema.as_deref(),
            work_schema: plan.target.own_schema(),
            step,
            name: step_name(index, &step.role),
            prefix: format!("flowmend_{}_{number:02}", &id[..12]),
        }
    }

    /// The scheduler's table.
    #[must_use]
    pub fn table(&self) -> String {
        self.d.table(self.schema, &self.step.table)
    }

    /// One of the step's own tables: `work`, `before` or `after`.
    #[must_use]
    pub fn own(&self, what: &str) -> String {
        self.d.table(self.work_schema, &format!("{}_{what}", self.prefix))
    }

    /// The map that the dialect's macros read.
    #[must_use]
    pub fn map(&self) -> BTreeMap<String, Value> {
        let s = self.step;
        let mut x: BTreeMap<String, Value> = BTreeMap::new();
        let mut put = |name: &str, value: Value| {
            x.insert(name.to_owned(), value);
        };
        put("table", self.table().into());
        for own in ["work", "before", "after"] {
            put(own, self.own(own).into());
        }
        put("columns", self.names(&s.columns, "").into());
        put("columns_t", self.names(&s.columns, "t.").into());
        put("columns_b", self.names(&s.columns, "b.").into());
        for (name, left, right, prefix) in [
            ("key_tw", "t", "w", "k_"),
            ("key_bw", "b", "w", "k_"),
            ("key_tb", "t", "b", ""),
            ("key_ta", "t", "a", ""),
            ("key_ab", "a", "b", ""),
        ] {
            put(name, self.keys(left, right, prefix).into());
        }
        put("pins_tw", self.pins().into());
        put("same_ta", self.all_same("t", "a").into());
        put("set_list", self.set_list().into());
        put("must_change", self.must_change().into());
        put("restore_list", self.restore_list().into());
        put("recount_list", self.recount_list().into());
        put("related", s.related.as_ref().map_or(Value::from(()), |r| self.d.table(self.schema, &r.table).into()));
        put("related_on", self.related_on().into());
        put("conditions_start", self.conditions(&[ConditionTime::Start, ConditionTime::Both]).into());
        put("work_columns", self.work_columns().into());
        put("work_key", self.work_key().iter().map(|c| self.work_name("k_", c)).collect::<Vec<_>>().join(", ").into());
        put(
            "image_columns",
            s.columns.iter().map(|c| self.column_map(self.q(c), &c.type_sql, false)).collect::<Vec<_>>().into(),
        );
        put("image_key", self.names(&s.key, "").into());
        put("insert_columns", s.set.iter().map(|c| self.q(&c.column)).collect::<Vec<_>>().join(", ").into());
        put("insert_values", self.insert_values().into());
        put("insert_rows", self.insert_rows().into());
        put("insert_match", self.insert_match().into());
        put("only", "".into());
        put("only_b", "".into());
        x
    }

    fn q(&self, column: &Column) -> String {
        self.d.ident(&column.name)
    }

    fn work_name(&self, prefix: &str, column: &Column) -> String {
        self.d.ident(&format!("{prefix}{}", column.name))
    }

    fn names(&self, columns: &[Column], prefix: &str) -> String {
        columns.iter().map(|c| format!("{prefix}{}", self.q(c))).collect::<Vec<_>>().join(", ")
    }

    fn keys(&self, left: &str, right: &str, prefix: &str) -> String {
        let pairs =
            self.step.key.iter().map(|c| format!("{left}.{} = {right}.{}", self.q(c), self.work_name(prefix, c)));
        pairs.collect::<Vec<_>>().join(" AND ")
    }

    fn same(&self, column: &Column, left: &str, right: &str) -> String {
        self.d.same(left, right, column.class)
    }

    fn pins(&self) -> String {
        let pins = self
            .step
            .pins
            .iter()
            .map(|c| self.same(c, &format!("t.{}", self.q(c)), &format!("w.{}", self.work_name("o_", c))));
        let pins: Vec<String> = pins.collect();
        // The key is pin enough where a role has no witnesses and nothing is written.
        if pins.is_empty() { "1 = 1".to_owned() } else { pins.join("\n   AND ") }
    }

    fn related_on(&self) -> String {
        let Some(related) = &self.step.related else {
            return String::new();
        };
        let mut parts = vec![related.on(self.d)];
        parts.extend(
            related
                .pins
                .iter()
                .map(|c| self.same(c, &format!("r.{}", self.q(c)), &format!("w.{}", self.work_name("r_", c)))),
        );
        parts.join(" AND ")
    }

    /// The query for `fields` (alias `t`) of rows that can go back no more: the row that they belong
    /// to has another state than it had before the repair, and no step of `views` wrote that.
    #[must_use]
    pub fn tied(&self, views: &[Self], fields: &str) -> Option<String> {
        let related = self.step.related.as_ref().filter(|r| !r.holds.is_empty() && self.step.op != Op::Insert)?;
        let image = self.own(if self.step.op == Op::Delete { "before" } else { "after" });
        let held = related.pins.iter().filter(|c| related.holds.contains(&c.name));
        let same = held.map(|c| self.same(c, &format!("r.{}", self.q(c)), &format!("w.{}", self.work_name("r_", c))));
        let own = views.iter().filter(|v| v.step.table == related.table && v.step.op != Op::Insert).map(|v| {
            let image = v.own(if v.step.op == Op::Delete { "before" } else { "after" });
            format!("\n   AND NOT EXISTS (SELECT 1 FROM {image} z WHERE {})", v.keys("z", "r", ""))
        });
        Some(format!(
            "SELECT {fields} FROM {image} t JOIN {} w ON {} LEFT JOIN {} r ON {}\n WHERE NOT ({}){}",
            self.own("work"),
            self.keys("t", "w", "k_"),
            self.d.table(self.schema, &related.table),
            related.on(self.d),
            same.collect::<Vec<_>>().join(" AND "),
            own.collect::<String>(),
        ))
    }

    /// Conditions that hold at one of some times, as expressions over alias `t`.
    #[must_use]
    pub fn conditions(&self, times: &[ConditionTime]) -> Vec<String> {
        self.step.conditions.iter().filter(|c| times.contains(&c.at)).map(|c| c.sql.clone()).collect()
    }

    /// Queries that count, table by table, rows that a delete of the step's rows would reach.
    #[must_use]
    pub fn reached(&self) -> Vec<(&str, String)> {
        let query = |r: &'a Referrer| {
            let pairs = r.columns.iter().map(|(own, to)| format!("x.{} = b.{}", self.d.ident(own), self.d.ident(to)));
            let on = pairs.collect::<Vec<_>>().join(" AND ");
            let child = self.d.table(self.schema, &r.table);
            (r.table.as_str(), format!("SELECT COUNT(*) FROM {child} x JOIN {} b ON {on}", self.own("before")))
        };
        self.step.referrers.iter().map(query).collect()
    }

    /// Whether a condition is looked at again before the end. A new row makes
    /// its own condition untrue ("no such row yet"), so an insert's conditions
    /// hold at the start unless they are meant for the end.
    #[must_use]
    pub fn holds_at_end(&self, at: ConditionTime) -> bool {
        match (self.step.op, at) {
            (_, ConditionTime::Start) | (Op::Insert, ConditionTime::Both) => false,
            (_, ConditionTime::End | ConditionTime::Both) => true,
        }
    }

    /// The query that counts the step's rows for which a condition does not hold.
    #[must_use]
    pub fn violations(&self, condition: &str) -> String {
        self.violating("COUNT(*)", condition)
    }

    /// The query for `fields` (alias `t`) of these rows.
    #[must_use]
    pub fn violating(&self, fields: &str, condition: &str) -> String {
        let image = if self.step.op == Op::Delete { "before" } else { "after" };
        format!("SELECT {fields} FROM {} t WHERE CASE WHEN {condition} THEN 0 ELSE 1 END = 1", self.own(image))
    }

    /// A row of an alias is the one with a key.
    #[must_use]
    pub fn is_key(&self, alias: &str, key: &[Option<String>]) -> String {
        let parts = self
            .step
            .key
            .iter()
            .zip(key)
            .map(|(c, v)| format!("{alias}.{} = {}", self.q(c), self.d.literal(v.as_deref(), c.class)));
        format!("({})", parts.collect::<Vec<_>>().join(" AND "))
    }

    /// All stored columns of two aliases are the same.
    #[must_use]
    pub fn all_same(&self, left: &str, right: &str) -> String {
        let same = self
            .step
            .columns
            .iter()
            .map(|c| self.same(c, &format!("{left}.{}", self.q(c)), &format!("{right}.{}", self.q(c))));
        same.collect::<Vec<_>>().join("\n   AND ")
    }

    /// The after-image (`a`) holds what was planned (`w`), and what was there (`b`) elsewhere.
    #[must_use]
    pub fn exact(&self) -> String {
        let mut parts = Vec::new();
        for column in &self.step.columns {
            let after = format!("a.{}", self.q(column));
            match self.step.set_column(&column.name) {
                Some((_, set)) if set.kind == SetKind::Row => {
                    parts.push(self.same(column, &after, &format!("w.{}", self.work_name("n_", column))));
                }
                // What is known only at apply time is looked at by the checks.
                Some(_) => {}
                None if column.on_update => {}
                None => parts.push(self.same(column, &after, &format!("b.{}", self.q(column)))),
            }
        }
        parts.join("\n   AND ")
    }

    fn target(&self, column: &Column) -> String {
        match self.d.engine {
            Engine::MySql => format!("t.{}", self.q(column)),
            Engine::PostgreSql | Engine::Sqlite => self.q(column),
        }
    }

    fn set_list(&self) -> String {
        let set = self.step.set.iter().enumerate().map(|(i, set)| {
            let value = match (&set.sql, self.one_value(i)) {
                (Some(sql), _) => sql.clone(),
                // A constant is written where a reviewer looks for it.
                (None, Some(value)) => self.constant(&set.column, value),
                (None, None) => format!("w.{}", self.work_name("n_", &set.column)),
            };
            format!("{} = {value}", self.target(&set.column))
        });
        set.collect::<Vec<_>>().join(",\n       ")
    }

    fn constant(&self, column: &Column, value: Option<&str>) -> String {
        let literal = self.d.literal(value, column.class);
        let name = value.and_then(|v| self.step.states.get(&column.name)?.get(v));
        name.map_or(literal.clone(), |name| format!("{literal} /* {name} */"))
    }

    /// The new value that all rows share.
    fn one_value(&self, index: usize) -> Option<Option<&str>> {
        let mut values = self.step.rows.iter().map(|r| r.new[index].as_deref());
        let first = values.next()?;
        values.all(|v| v == first).then_some(first)
    }

    /// A recount that finds the old values changes nothing, and is then counted
    /// differently by drivers; so one of them must be another. Empty where nothing
    /// is recounted.
    #[must_use]
    pub fn must_change(&self) -> String {
        let recounts = self.step.set.iter().filter(|s| s.kind == SetKind::Recount);
        let differ: Vec<String> = recounts
            .filter_map(|s| Some(self.d.differs(&format!("t.{}", self.q(&s.column)), s.sql.as_ref()?, s.column.class)))
            .collect();
        match differ.as_slice() {
            [one] => one.clone(),
            [] => String::new(),
            _ => format!("({})", differ.join(" OR ")),
        }
    }

    fn restore_list(&self) -> String {
        let written = |c: &&Column| c.on_update || self.step.set_column(&c.name).is_some();
        let set = self.step.columns.iter().filter(written).map(|c| format!("{} = b.{}", self.target(c), self.q(c)));
        set.collect::<Vec<_>>().join(",\n       ")
    }

    fn recount_list(&self) -> String {
        let known_then = self.step.set.iter().filter(|s| s.kind != SetKind::Row);
        let set = known_then.filter_map(|s| Some(format!("{} = {}", self.target(&s.column), s.sql.as_ref()?)));
        set.collect::<Vec<_>>().join(", ")
    }

    fn column_map(&self, q: String, type_sql: &str, key: bool) -> BTreeMap<&'static str, Value> {
        // In a table that is not STRICT the name ANY would turn texts into numbers; no type turns nothing.
        let any = self.d.engine == Engine::Sqlite && type_sql.eq_ignore_ascii_case("any");
        let type_sql = if any { "" } else { type_sql };
        BTreeMap::from([("q", q.into()), ("type", Value::from(type_sql)), ("key", key.into())])
    }

    /// What an insert writes: the planned values, or what is known only then.
    fn insert_values(&self) -> String {
        let value = |s: &crate::plan::SetColumn| s.sql.clone().unwrap_or_else(|| format!("t.{}", self.q(&s.column)));
        self.step.set.iter().map(value).collect::<Vec<_>>().join(", ")
    }

    /// The rows to insert under the table's own column names, for conditions over alias `t`.
    fn insert_rows(&self) -> String {
        let named = self.new_columns().map(|(_, c)| format!("w.{} AS {}", self.work_name("n_", c), self.q(c)));
        format!("SELECT {} FROM {} w", named.collect::<Vec<_>>().join(", "), self.own("work"))
    }

    /// A row of the table is one that was planned: its key came from the database.
    #[must_use]
    pub fn insert_match(&self) -> String {
        let same = self
            .new_columns()
            .map(|(_, c)| self.same(c, &format!("t.{}", self.q(c)), &format!("w.{}", self.work_name("n_", c))));
        same.collect::<Vec<_>>().join(" AND ")
    }

    /// The key of the work table: the row's own, or the number of a row to come.
    fn work_key(&self) -> Vec<Column> {
        match self.step.op {
            Op::Update | Op::Delete => self.step.key.clone(),
            Op::Insert => vec![Column {
                name: "row".to_owned(),
                type_sql: "int".to_owned(),
                class: crate::dialect::TypeClass::Int,
                on_update: false,
            }],
        }
    }

    /// The columns of the work table, in the order of [`StepView::chunks`].
    fn work_columns(&self) -> Vec<BTreeMap<&'static str, Value>> {
        let s = self.step;
        let mut columns: Vec<_> =
            self.work_key().iter().map(|c| self.column_map(self.work_name("k_", c), &c.type_sql, true)).collect();
        let mut add =
            |prefix: &str, c: &Column| columns.push(self.column_map(self.work_name(prefix, c), &c.type_sql, false));
        s.pins.iter().for_each(|c| add("o_", c));
        self.new_columns().for_each(|(_, c)| add("n_", c));
        s.related.iter().flat_map(|r| &r.pins).for_each(|c| add("r_", c));
        columns
    }

    fn new_columns(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.step.set.iter().enumerate().filter(|(_, s)| s.kind != SetKind::Now).map(|(i, s)| (i, &s.column))
    }

    /// Names of the work table's columns.
    #[must_use]
    pub fn work_names(&self) -> String {
        let names = self.work_columns().into_iter().filter_map(|c| c.get("q").map(ToString::to_string));
        names.collect::<Vec<_>>().join(", ")
    }

    /// The rows of the work table, as value lists in chunks.
    #[must_use]
    pub fn chunks(&self) -> Vec<Vec<String>> {
        let s = self.step;
        let key = self.work_key();
        let line = |row: &crate::plan::RowChange| {
            let mut values: Vec<String> = Vec::new();
            let mut add = |c: &Column, v: &Option<String>| values.push(self.d.literal(v.as_deref(), c.class));
            key.iter().zip(&row.key).for_each(|(c, v)| add(c, v));
            s.pins.iter().zip(&row.old).for_each(|(c, v)| add(c, v));
            self.new_columns().for_each(|(i, c)| add(c, &row.new[i]));
            s.related.iter().flat_map(|r| &r.pins).zip(&row.related).for_each(|(c, v)| add(c, v));
            format!("({})", values.join(", "))
        };
        s.rows.chunks(CHUNK).map(|chunk| chunk.iter().map(line).collect()).collect()
    }
}

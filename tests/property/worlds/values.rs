//! What a column of a manifest may hold, from its type and its role.

use flowmend::manifest::{Engine, Manifest, State, StateSet, TableColumn};

use super::dice::Dice;
use super::hints;
use crate::property::model::{NOW, wall};
use crate::property::text::HOSTILE;

/// Owners as rows name them: with and without a port, as an address, not at all.
pub const OWNERS: [&str; 5] = ["10.0.0.9:5678", "10.0.0.9", "node-b:9999", "http://10.0.0.9:5678/", ""];
/// How long ago things happened: young, on the cut-offs of the tests, and old.
const SECONDS_AGO: [i64; 13] = [
    30,
    300,
    3000,
    6 * 3600,
    6 * 3600 - 1,
    6 * 3600 + 1,
    9 * 3600,
    86_400,
    86_401,
    86_400 * 2,
    200_000,
    250_000,
    290_000,
];
/// The moment of every plan, as schedulers write it that count milliseconds since 1970.
const MILLIS_NOW: i64 = 1_795_910_400_000;
/// The first moments of days.
const MIDNIGHTS: [i64; 4] = [0, 86_400, 2 * 86_400, 3 * 86_400];

/// How a value is made.
enum Kind<'m> {
    /// Codes of a state, with their weights.
    State(Vec<(usize, Option<String>)>),
    /// One of some words.
    Words(&'static [&'static str]),
    /// One of the owners, after what stands before an address.
    Owner(&'m str),
    /// A number of its own in each row, as the type writes it.
    Serial,
    /// One of so many names that other tables hold, too.
    Name(usize),
    Plain,
}

/// A column of a table that is to be filled.
pub struct Column<'m> {
    pub name: &'m str,
    pub type_sql: String,
    pub nullable: bool,
    kind: Kind<'m>,
}

/// Where a column stands.
pub struct Place<'a> {
    pub table: &'a str,
    pub engine: Engine,
    /// Whether it is part of the primary key, and whether it is all of it.
    pub in_key: bool,
    pub whole_key: bool,
    /// How many names there are of such a column.
    pub names: usize,
    /// Whether other tables have a column of the name, or this one refers by it.
    pub shared: bool,
}

impl<'m> Column<'m> {
    pub fn new(m: &'m Manifest, column: &'m TableColumn, place: &Place<'_>) -> Self {
        let spec = column.on(place.engine).unwrap();
        // SQLite's own types say less than those they stand for.
        let told = match place.engine {
            Engine::Sqlite => column.mysql.as_ref().or(column.postgresql.as_ref()).unwrap().type_sql.clone(),
            _ => spec.type_sql.clone(),
        };
        let nullable = spec.nullable && !place.in_key;
        let kind = kind(m, column, place, nullable, &told);
        Self { name: &column.name, type_sql: told, nullable, kind }
    }

    /// A value for the row of a number.
    pub fn draw(&self, dice: &mut Dice, row: usize) -> Option<String> {
        if self.nullable && !matches!(self.kind, Kind::State(_)) && dice.in_hundred(15) {
            return None;
        }
        let text = match &self.kind {
            Kind::State(codes) => return dice.weighted(codes).clone(),
            Kind::Words(words) => (*dice.pick(words)).to_owned(),
            Kind::Owner(prefix) => format!("{prefix}{}", dice.pick(&OWNERS)),
            Kind::Serial => self.serial(row),
            Kind::Name(names) if self.is_text() => self.name_of(*names, dice),
            Kind::Name(_) | Kind::Plain => self.plain(dice),
        };
        Some(self.fit(text))
    }

    fn is(&self, starts: &[&str]) -> bool {
        starts.iter().any(|s| self.type_sql.to_lowercase().starts_with(s))
    }

    fn is_text(&self) -> bool {
        self.is(&["varchar", "char", "text", "longtext", "mediumtext"]) && self.length() != Some(1)
    }

    fn length(&self) -> Option<usize> {
        let (_, rest) = self.type_sql.split_once('(')?;
        rest.split([')', ',']).next()?.parse().ok()
    }

    fn fit(&self, text: String) -> String {
        match self.length() {
            Some(length) if self.is_text() => text.chars().take(length).collect(),
            _ => text,
        }
    }

    fn serial(&self, row: usize) -> String {
        match () {
            () if self.is(&["uuid"]) || self.length() == Some(36) => uuid(row),
            () if self.is_text() => format!("{}-{row}", self.name.to_lowercase()),
            () => row.to_string(),
        }
    }

    fn name_of(&self, names: usize, dice: &mut Dice) -> String {
        const NAMES: [&str; 8] = ["a", "b'; --", "c \\ \u{1f4a5}", "d", "e", "f\"", "g|h", "i\tj"];
        format!("{} {}", self.name.to_lowercase(), dice.pick(&NAMES[..names]))
    }

    fn plain(&self, dice: &mut Dice) -> String {
        let is = |starts: &[&str]| self.is(starts);
        match () {
            () if is(&["bool", "tinyint(1)"]) || self.length() == Some(1) => self.yes_or_no(dice),
            () if is(&["bigint"]) && self.name.to_lowercase().contains("time") => millis(dice),
            () if is(&["int", "tinyint", "smallint", "bigint"]) => number(dice),
            () if is(&["time", "datetime"]) => self.time(dice),
            () if is(&["date"]) => wall(*dice.pick(&MIDNIGHTS))[..10].to_owned(),
            () if is(&["float", "double", "numeric", "decimal", "real"]) => {
                (*dice.pick(&["0", "1.5", "-2.25"])).to_owned()
            }
            () if is(&["uuid"]) => uuid(dice.below(9)),
            () if is(&["json"]) => (*dice.pick(&["{}", "[]", "{\"a\": \"it's\"}", "null"])).to_owned(),
            () if is(&["blob", "bytea"]) => "bytes".to_owned(),
            () => (*dice.pick(HOSTILE)).to_owned(),
        }
    }

    fn yes_or_no(&self, dice: &mut Dice) -> String {
        let words = if self.is(&["bool"]) { ["true", "false"] } else { ["1", "0"] };
        (*dice.pick(&words)).to_owned()
    }

    fn time(&self, dice: &mut Dice) -> String {
        let text = wall(if dice.in_hundred(30) { *dice.pick(&MIDNIGHTS) } else { NOW - dice.pick(&SECONDS_AGO) });
        let instant = self.type_sql.contains("with time zone");
        let fine = instant || self.length() == Some(6);
        let part = if fine { *dice.pick(&["", ".5", ".123456"]) } else { "" };
        format!("{text}{part}{}", if instant { "+00" } else { "" })
    }
}

fn kind<'m>(m: &'m Manifest, column: &TableColumn, place: &Place<'_>, nullable: bool, type_sql: &str) -> Kind<'m> {
    let of_table = m.roles.iter().filter(|(_, r)| r.table == place.table);
    let real = |(_, real): &(&String, &String)| **real == column.name;
    let names = of_table.flat_map(|(role, r)| r.columns.iter().filter(real).map(move |(n, _)| format!("{role}.{n}")));
    let role_columns: Vec<String> = names.collect();
    for name in &role_columns {
        if let Some(states) = m.states.get(name) {
            let old = m.legacy.iter().filter(|l| l.column == *name).map(|l| (2, Some(l.code.clone())));
            return Kind::State(codes(states, nullable).into_iter().chain(old).collect());
        }
        if let Some(words) = hints::column(&m.scheduler, name) {
            return Kind::Words(words);
        }
    }
    let beats = m.heartbeats.iter().find(|h| role_columns.contains(&format!("{}.{}", h.role, h.address)));
    match beats {
        Some(beats) => Kind::Owner(&beats.path_prefix),
        None if role_columns.iter().any(|c| is_owner(&m.scheduler, c)) => Kind::Owner(""),
        None if place.in_key && !place.shared => Kind::Serial,
        None if place.whole_key && !type_sql.contains("char") => Kind::Serial,
        None if place.shared => Kind::Name(place.names),
        None => Kind::Plain,
    }
}

fn is_owner(scheduler: &str, role_column: &str) -> bool {
    let recipes = &crate::property::drive::app().recipes;
    recipes.of(scheduler).any(|r| r.file.owner.as_deref() == Some(role_column))
}

/// Every code, those of unfinished rows more often; now and then NULL, a code
/// that no release has, and one in small letters.
fn codes(states: &StateSet, nullable: bool) -> Vec<(usize, Option<String>)> {
    let weight = |s: &State| match (s.legal, s.finished) {
        (false, _) => 1,
        (true, false) => 8,
        (true, true) => 4,
    };
    let mut codes: Vec<_> = states.states.iter().map(|s| (weight(s), Some(s.code.clone()))).collect();
    codes.push((1, Some(if states.text && states.other.is_none() { "planned" } else { "99" }.to_owned())));
    if nullable {
        codes.push((if states.null.is_some() { 8 } else { 2 }, None));
    }
    if states.text {
        codes.push((1, Some(states.states[0].code.to_lowercase())));
    }
    codes
}

/// Small numbers are many rows' keys, too, so that rows refer to each other by chance.
fn number(dice: &mut Dice) -> String {
    let small = [(6, 0), (6, 1), (4, 2), (3, 3), (2, 4), (1, 5), (1, 6), (1, 7), (1, 8), (3, -1)];
    dice.weighted(&small).to_string()
}

fn millis(dice: &mut Dice) -> String {
    match dice.below(10) {
        0 => "0".to_owned(),
        1 => "-1".to_owned(),
        2 => (MILLIS_NOW + 3_600_000).to_string(),
        _ => (MILLIS_NOW - dice.pick(&SECONDS_AGO) * 1000).to_string(),
    }
}

fn uuid(n: usize) -> String {
    format!("{n:08}-0000-4000-8000-000000000000")
}

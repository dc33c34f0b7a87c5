//! How the tables of a manifest hang together: foreign keys, relations, and keys
//! of one table that another table has under the same names.

use std::collections::{BTreeMap, BTreeSet};

use flowmend::dialect::TypeClass;
use flowmend::manifest::{Engine, Manifest, TableSpec};

/// Columns of a table that name a row of another.
#[derive(Clone, Debug)]
pub struct Link {
    pub parent: String,
    /// Column here, column there.
    pub pairs: Vec<(String, String)>,
    /// Whether the engine refuses a row without its parent.
    pub enforced: bool,
}

/// Table → its links, those first that the engine enforces.
pub type Links = BTreeMap<String, Vec<Link>>;

/// The links between some tables, and these tables with parents before children.
/// Links that close a circle are left out, if the engine does not enforce them.
pub fn of(m: &Manifest, engine: Engine, tables: &BTreeSet<String>) -> (Links, Vec<String>) {
    let mut links = Links::new();
    for name in tables {
        let table = &m.tables[name];
        let mut found = foreign_keys(table, engine);
        found.extend(relations(m, name));
        let version = m.roles.get("version").map(|r| &r.table);
        for parent in tables.iter().filter(|p| *p != name && Some(*p) != version) {
            found.extend(same_names(table, &m.tables[parent], engine));
        }
        found.retain(|l| tables.contains(&l.parent) && l.parent != *name);
        links.insert(name.clone(), without_copies(found));
    }
    let refers =
        |links: &Links, child: &str, parent: &str| links[child].iter().any(|l| l.parent == parent && l.enforced);
    let enforced = links.clone();
    for (child, found) in &mut links {
        // A table that must refer to this one is not its parent.
        found.retain(|l| l.enforced || !refers(&enforced, &l.parent, child));
    }
    in_order(links)
}

/// Foreign keys of any engine; upstream ships none for SQLite, where they hold all the same.
fn foreign_keys(table: &TableSpec, engine: Engine) -> Vec<Link> {
    let enforced = table.foreign_keys_on(engine);
    let all = table.foreign_keys_mysql.iter().chain(&table.foreign_keys_postgresql);
    let link = |key: &flowmend::manifest::ForeignKey| Link {
        parent: key.references.clone(),
        pairs: key.columns.iter().cloned().zip(key.ref_columns.iter().cloned()).collect(),
        enforced: enforced.iter().any(|e| e.columns == key.columns && e.references == key.references),
    };
    all.map(link).collect()
}

fn relations(m: &Manifest, table: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for relation in &m.relations {
        let side = |name: &str| {
            let (role, column) = name.split_once('.').unwrap();
            let role = m.roles.get(role)?;
            Some((role.table.clone(), role.columns.get(column)?.clone()))
        };
        if let (Some((child, from)), Some((parent, to))) = (side(&relation.child), side(&relation.parent))
            && child == table
        {
            found.push(Link { parent, pairs: vec![(from, to)], enforced: false });
        }
    }
    found
}

/// The parent's keys, if the table has all their columns under the same names.
fn same_names(table: &TableSpec, parent: &TableSpec, engine: Engine) -> Vec<Link> {
    let class = |of: &TableSpec, column: &String| {
        let found = of.columns_on(engine).find(|c| c.name == *column)?;
        found.on(engine).map(|spec| TypeClass::of(&spec.type_sql))
    };
    let has = |column: &String| class(table, column).is_some_and(|c| class(parent, column) == Some(c));
    let tells_rows_apart = |key: &&Vec<String>| !key.is_empty() && key.iter().all(|c| c != "id" && has(c));
    let link = |key: &Vec<String>| Link {
        parent: parent.name.clone(),
        pairs: key.iter().map(|c| (c.clone(), c.clone())).collect(),
        enforced: false,
    };
    keys(parent, engine).iter().filter(tells_rows_apart).map(link).collect()
}

/// Primary and unique keys.
pub fn keys(table: &TableSpec, engine: Engine) -> Vec<Vec<String>> {
    let unique = if engine == Engine::PostgreSql { &table.unique_postgresql } else { &table.unique_mysql };
    let mut keys = vec![table.key_on(engine).to_vec()];
    keys.extend(unique.iter().cloned());
    keys.retain(|k| !k.is_empty());
    keys
}

/// Of several links to one parent, those that say something new.
fn without_copies(found: Vec<Link>) -> Vec<Link> {
    let mut kept: Vec<Link> = Vec::new();
    for link in found {
        let said = |k: &Link| k.parent == link.parent && link.pairs.iter().all(|pair| k.pairs.contains(pair));
        if !kept.iter().any(said) {
            kept.push(link);
        }
    }
    kept.sort_by_key(|l| (!l.enforced, std::cmp::Reverse(l.pairs.len())));
    kept
}

fn in_order(mut links: Links) -> (Links, Vec<String>) {
    let mut order: Vec<String> = Vec::new();
    while order.len() < links.len() {
        let free = |must: bool| {
            let waits = |l: &Link| (l.enforced || !must) && !order.contains(&l.parent);
            links.iter().find(|(name, found)| !order.contains(name) && !found.iter().any(waits)).map(|(n, _)| n.clone())
        };
        let next = free(false).or_else(|| free(true)).expect("no circle of foreign keys");
        order.push(next);
    }
    for (child, found) in &mut links {
        let place = |name: &str| order.iter().position(|o| o == name);
        found.retain(|l| place(&l.parent) < place(child));
    }
    (links, order)
}

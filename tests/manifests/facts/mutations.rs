//! The comparisons see every change: each test changes one thing in what a manifest says, and asks.

use std::collections::BTreeSet;

use flowmend::manifest::{
    ColumnSpec, DefaultValue, Engine, ForeignKey, Manifest, Manifests, State, StateSet, TableSpec,
};

use super::{Differences, Known, Product, Shape, Upstream, forbidden, known, released, states, tables};

/// The oldest and the newest release of a scheduler, with the manifest that lists it.
struct End {
    known: &'static Known,
    upstream: &'static Upstream,
    manifest: Manifest,
    /// Tables that some generation of the scheduler lists.
    listed: BTreeSet<String>,
}

fn ends(known: &'static [Known]) -> Vec<End> {
    let manifests = Manifests::load(None).unwrap();
    let mut ends = Vec::new();
    for known in known {
        let scheduler = known.reader.scheduler;
        for upstream in [known.releases.first().unwrap(), known.releases.last().unwrap()] {
            let manifest = manifests.release(scheduler, &upstream.version).unwrap().clone();
            ends.push(End { known, upstream, manifest, listed: tables::listed(&manifests, scheduler) });
        }
    }
    ends
}

impl End {
    /// Every table that is compared, on every product.
    fn tables(&self) -> impl Iterator<Item = (&Product, &TableSpec, &Shape)> {
        self.known.reader.products.iter().flat_map(move |product| {
            let theirs = self.upstream.tables.get(product.name).into_iter().flatten();
            theirs.filter_map(move |(name, shape)| {
                let ours = self.manifest.tables.get(name).filter(|t| t.on(product.engine))?;
                Some((product, ours, shape))
            })
        })
    }

    /// Changes a table and asks for the difference.
    #[track_caller]
    fn must_see(
        &self,
        what: &str,
        (product, ours, theirs): (&Product, &TableSpec, &Shape),
        change: impl FnOnce(&mut TableSpec),
    ) {
        let mut changed = ours.clone();
        change(&mut changed);
        let found = differences(|d| tables::compare_table(d, product, &changed, theirs, &self.listed));
        assert!(found, "{} {} {}: {what}", self.upstream.version, product.name, ours.name);
    }

    /// Changes the manifest and asks for the difference.
    #[track_caller]
    fn must_see_in(
        &self,
        what: &str,
        compare: impl FnOnce(&mut Differences, &Manifest),
        change: impl FnOnce(&mut Manifest),
    ) {
        let mut changed = self.manifest.clone();
        change(&mut changed);
        let found = differences(|d| compare(d, &changed));
        assert!(found, "{} {}: {what}", self.known.reader.scheduler, self.upstream.version);
    }
}

fn differences(compare: impl FnOnce(&mut Differences)) -> bool {
    let mut differences = Differences::default();
    compare(&mut differences);
    !differences.found.is_empty()
}

/// What is changed, and how.
type Change<T> = (&'static str, fn(&mut T));

/// Changes of a column's form.
const OF_FORMS: [Change<ColumnSpec>; 5] = [
    ("type", |spec| spec.type_sql.push_str(" unsigned")),
    ("NULL", |spec| spec.nullable = !spec.nullable),
    ("number", |spec| spec.auto_increment = !spec.auto_increment),
    ("default", |spec| {
        spec.default = match spec.default.take() {
            Some(DefaultValue::Text(text)) => Some(DefaultValue::Keyword(text)),
            Some(DefaultValue::Keyword(_)) => None,
            None => Some(DefaultValue::Text(String::new())),
        }
    }),
    ("ON UPDATE", |spec| {
        let other = spec.on_update.is_none().then(|| "CURRENT_TIMESTAMP".to_owned());
        spec.on_update = other;
    }),
];

#[test]
fn every_change_of_a_column_is_seen() {
    let Some(known) = known("every_change_of_a_column_is_seen") else { return };
    for end in ends(known) {
        for table in end.tables() {
            let (product, ours, _) = table;
            for at in (0..ours.columns.len()).filter(|at| ours.columns[*at].on(product.engine).is_some()) {
                end.must_see("gone", table, |t| drop(t.columns.remove(at)));
                end.must_see("renamed", table, |t| t.columns[at].name.push('x'));
                for (what, change) in OF_FORMS.iter().filter(|(what, _)| product.full || *what == "NULL") {
                    end.must_see(what, table, |t| {
                        let column = &mut t.columns[at];
                        column.mysql.iter_mut().chain(&mut column.postgresql).for_each(change);
                    });
                }
            }
        }
    }
}

#[test]
fn every_change_of_a_key_is_seen() {
    let Some(known) = known("every_change_of_a_key_is_seen") else { return };
    for end in ends(known) {
        for table in end.tables() {
            end.must_see("primary key", table, |t| {
                t.primary_key.push("more".into());
                t.primary_key_postgresql.push("more".into());
            });
            end.must_see("optional", table, |t| t.optional = t.optional.is_none().then(|| "why".into()));
            if table.0.full {
                end.must_see("unique keys", table, |t| {
                    t.unique_mysql.push(vec!["more".into()]);
                    t.unique_postgresql.push(vec!["more".into()]);
                });
                changed_foreign_keys(&end, table);
                changed_indexes(&end, table);
            }
        }
    }
}

fn changed_foreign_keys(end: &End, table: (&Product, &TableSpec, &Shape)) {
    let engine = table.0.engine;
    for at in 0..table.1.foreign_keys_on(engine).len() {
        end.must_see("foreign key gone", table, |t| drop(foreign_keys(t, engine).remove(at)));
        end.must_see("on delete", table, |t| foreign_keys(t, engine)[at].on_delete = "SET DEFAULT".into());
        end.must_see("references", table, |t| foreign_keys(t, engine)[at].references.push('x'));
    }
    end.must_see("foreign key more", table, |t| {
        foreign_keys(t, engine).push(ForeignKey {
            columns: vec!["more".into()],
            references: "more".into(),
            ref_columns: vec!["id".into()],
            on_delete: "CASCADE".into(),
        });
    });
}

fn foreign_keys(table: &mut TableSpec, engine: Engine) -> &mut Vec<ForeignKey> {
    if engine == Engine::MySql { &mut table.foreign_keys_mysql } else { &mut table.foreign_keys_postgresql }
}

fn changed_indexes(end: &End, (product, ours, theirs): (&Product, &TableSpec, &Shape)) {
    if !end.known.reader.indexes {
        return;
    }
    let mut changed = ours.clone();
    changed.indexes_mysql.push(vec!["more".into()]);
    changed.indexes_postgresql.push(vec!["more".into()]);
    let found = differences(|d| tables::compare_indexes(d, product, &changed, theirs, false));
    assert!(found, "{} {} {}: indexes", end.upstream.version, product.name, ours.name);
}

#[test]
fn a_table_too_many_or_too_few_is_seen() {
    let Some(known) = known("a_table_too_many_or_too_few_is_seen") else { return };
    for end in ends(known) {
        let compare = |d: &mut Differences, m: &Manifest| {
            tables::compare(d, &end.known.reader, end.upstream, m, &end.listed);
        };
        for name in end.manifest.tables.keys() {
            end.must_see_in(&format!("{name} gone"), compare, |m| drop(m.tables.remove(name)));
            end.must_see_in(&format!("{name} renamed"), compare, |m| {
                let mut table = m.tables.remove(name).unwrap();
                table.name.push('x');
                m.tables.insert(table.name.clone(), table);
            });
        }
    }
}

/// Changes of a state; the last one is seen where upstream has a word for it.
const OF_STATES: [Change<State>; 4] = [
    ("code", |state| state.code.push('0')),
    ("name", |state| state.name.push('X')),
    ("legal", |state| state.legal = !state.legal),
    ("finished", |state| state.finished = !state.finished),
];

const OF_STATE_SETS: [Change<StateSet>; 6] = [
    ("text", |set| set.text = !set.text),
    ("NULL", |set| {
        let some = set.states[0].clone();
        set.null = set.null.is_none().then_some(some);
    }),
    ("other codes", |set| {
        let some = set.states[0].clone();
        set.other = set.other.is_none().then_some(some);
    }),
    ("value gone", |set| drop(set.states.pop())),
    ("values in another order", |set| set.states.reverse()),
    ("value twice", |set| set.states.push(set.states[0].clone())),
];

#[test]
fn every_change_of_a_state_is_seen() {
    let Some(known) = known("every_change_of_a_state_is_seen") else { return };
    for end in ends(known) {
        let compare = |d: &mut Differences, m: &Manifest| states::compare(d, &end.known.reader, end.upstream, m);
        for (column, set) in &end.manifest.states {
            let counted = states::codes_of(end.upstream, &end.manifest, column).unwrap().finished.is_some();
            for at in 0..set.states.len() {
                for (what, change) in OF_STATES.iter().filter(|(what, _)| *what != "finished" || counted) {
                    let what = format!("{column} {}: {what}", set.states[at].name);
                    end.must_see_in(&what, compare, |m| change(&mut m.states.get_mut(column).unwrap().states[at]));
                }
            }
            for (what, change) in OF_STATE_SETS {
                let what = format!("{column}: {what}");
                end.must_see_in(&what, compare, |m| change(m.states.get_mut(column).unwrap()));
            }
            end.must_see_in(&format!("{column} gone"), compare, |m| drop(m.states.remove(column)));
        }
        end.must_see_in("states of another column", compare, |m| {
            let set = m.states.values().next().unwrap().clone();
            m.states.insert("more.state".into(), set);
        });
    }
}

#[test]
fn a_wrong_mark_or_release_is_seen() {
    let Some(known) = known("a_wrong_mark_or_release_is_seen") else { return };
    for end in ends(known) {
        let version = end.upstream.version.clone();
        let compare = |d: &mut Differences, m: &Manifest| released::compare(d, end.upstream, m);
        end.must_see_in("mark", compare, |m| drop(m.version_marks.insert(version.clone(), "wrong".into())));
        if end.upstream.mark.is_some() {
            end.must_see_in("no mark", compare, |m| drop(m.version_marks.remove(&version)));
        }
        end.must_see_in("approximate", compare, |m| match m.approximate.iter().position(|r| *r == version) {
            Some(at) => drop(m.approximate.remove(at)),
            None => m.approximate.push(version.clone()),
        });
        let listed = |d: &mut Differences, m: &Manifest| {
            let manifests = Manifests::load(None).unwrap();
            let others = manifests.of(m.scheduler.as_str()).unwrap().into_iter();
            let all: Vec<&Manifest> = others.filter(|o| o.generation != m.generation).chain([m]).collect();
            released::compare_listed(d, end.known, &all);
        };
        assert!(!differences(|d| listed(d, &end.manifest)));
        end.must_see_in("release gone", listed, |m| m.releases.retain(|r| *r != version));
        end.must_see_in("release invented", listed, |m| m.releases.push("9.9.9".into()));
        end.must_see_in("release invented, and approximate", listed, |m| {
            m.releases.push("9.9.9".into());
            m.approximate.push("9.9.9".into());
        });
    }
}

#[test]
fn what_is_not_forbidden_is_seen() {
    let Some(known) = known("what_is_not_forbidden_is_seen") else { return };
    for end in ends(known) {
        let compare = |d: &mut Differences, m: &Manifest| forbidden::compare(d, &end.known.reader, end.upstream, m);
        end.must_see_in("nothing is forbidden", compare, |m| m.forbidden.tables.clear());
        end.must_see_in("exceptions", compare, |m| {
            let tables = end.upstream.tables.values().flat_map(|t| t.keys().cloned());
            m.forbidden.except = tables.collect();
        });
    }
}

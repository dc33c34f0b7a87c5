//! Mistakes in a manifest.

use super::{Copy, Mistake};

const FIRST: &str = "enums/nightshift/1.0.toml";
const SECOND: &str = "enums/nightshift/2.0.toml";

#[test]
fn toml_itself() {
    let syntax = Mistake {
        from: "title = \"Nightshift\"",
        to: "title = Nightshift",
        line: "title = Nightshift",
        says: &["TOML"],
    };
    let unknown = Mistake { from: "interval_ms", to: "pause", line: "pause = 200", says: &["unknown field `pause`"] };
    let top = Mistake {
        from: "version_marks",
        to: "version_mark",
        line: "version_mark =",
        says: &["unknown field `version_mark`"],
    };
    let kind = Mistake {
        from: "interval_ms = 200",
        to: "interval_ms = \"200\"",
        line: "interval_ms",
        says: &["invalid type"],
    };
    let version = Mistake {
        from: "title = \"Nightshift\"",
        to: "title = \"Nightshift\"\nversion_is = \"hash\"",
        line: "version_is",
        says: &["unknown variant `hash`"],
    };
    for mistake in [syntax, unknown, top, kind, version] {
        mistake.is_found(FIRST);
    }
}

#[test]
fn states() {
    let task = "code = \"WAITING\", name = \"WAITING\", phase = \"pending\"";
    let twice = Mistake {
        from: task,
        to: "code = \"DONE\", name = \"WAITING\", phase = \"pending\"",
        line: "code = \"DONE\", name = \"DONE\", phase = \"succeeded\", finished = true },\n  { code = \"BROKEN\", name = \"BROKEN\", phase = \"failed\", finished = true },\n]\n\n[roles.run]",
        says: &["states.values.code", "DONE is given to both WAITING and DONE"],
    };
    let name = Mistake {
        from: task,
        to: "code = \"W\", name = \"RUNNING\", phase = \"pending\"",
        line: "RUNNING\", phase = \"running\", finished = false },\n  { code = \"DONE\", name = \"DONE\", phase = \"succeeded\", finished = true },\n  { code = \"BROKEN\", name = \"BROKEN\", phase = \"failed\", finished = true },\n]\n\n[roles.run]",
        says: &["states.values.name", "RUNNING is listed twice"],
    };
    let kind = Mistake {
        from: task,
        to: "code = 0, name = \"WAITING\", phase = \"pending\"",
        line: "code = 0",
        says: &["states.values.code", "not of the kind text"],
    };
    let phase = Mistake {
        from: task,
        to: "code = \"WAITING\", name = \"WAITING\", phase = \"asleep\"",
        line: "asleep",
        says: &["states.values.phase", "`asleep` is none of pending"],
    };
    let column = Mistake {
        from: "column = \"task.state\"",
        to: "column = \"task.status\"",
        line: "task.status",
        says: &["states.column", "unknown role column task.status"],
    };
    let stored = Mistake {
        from: "type = \"TaskState\"\nstored_as = \"text\"",
        to: "type = \"TaskState\"\nstored_as = \"string\"",
        line: "stored_as = \"string\"",
        says: &["states.stored_as", "neither int nor text"],
    };
    let said = Mistake {
        from: task,
        to: "code = \"WAITING\", upstream_finished = false, name = \"WAITING\", phase = \"pending\"",
        line: "upstream_finished",
        says: &["states.values.upstream_finished", "what `finished` says; leave it out"],
    };
    let word = Mistake {
        from: task,
        to: "code = \"WAITING\", upstream_finished = \"no\", name = \"WAITING\", phase = \"pending\"",
        line: "upstream_finished",
        says: &["invalid type"],
    };
    for mistake in [twice, name, kind, phase, column, stored, said, word] {
        mistake.is_found(FIRST);
    }
}

#[test]
fn states_that_hang_on_another_column() {
    const COLUMN: &str = "column = \"task.state\"";
    const DONE: &str = "{ code = \"DONE\", name = \"DONE\", phase = \"succeeded\", finished = true },\n  { code = \"BROKEN\", name = \"BROKEN\", phase = \"failed\", finished = true },\n]\n\n[roles.run]";
    let other = Mistake {
        from: COLUMN,
        to: "column = \"task.state\"\nwith = \"task.answer\"",
        line: "task.answer",
        says: &["states.with", "unknown role column task.answer"],
    };
    let row = Mistake {
        from: COLUMN,
        to: "column = \"task.state\"\nwith = \"run.flow\"",
        line: "with = \"run.flow\"",
        says: &["states.with", "run.flow is not in the row of task.state"],
    };
    let unnamed = Mistake {
        from: DONE,
        to: "{ code = \"DONE\", when = [\"x\"], name = \"DONE\", phase = \"succeeded\", finished = true },\n]\n\n[roles.run]",
        line: "when = [\"x\"]",
        says: &["states.values.when", "name the other column in states.with"],
    };
    let kind = Mistake {
        from: DONE,
        to: "{ code = \"DONE\", when = [7], name = \"DONE\", phase = \"succeeded\", finished = true },\n]\n\n[roles.run]",
        line: "when = [7]",
        says: &["states.values.when", "not of the kind text"],
    };
    for mistake in [other, row, unnamed, kind] {
        mistake.is_found(FIRST);
    }
    let copy = super::Copy::new();
    copy.replace(FIRST, COLUMN, "column = \"task.state\"\nwith = \"task.name\"");
    copy.replace(FIRST, DONE, "{ code = \"DONE\", when = [\"x\"], name = \"DONE\", phase = \"succeeded\", finished = true },\n]\n\n[roles.run]");
    copy.fails(FIRST, "when = [\"x\"]", &["states.values.when", "say what DONE means otherwise"]);
    let twice = "{ code = \"DONE\", when = [\"x\", \"y\"], name = \"ONE\", phase = \"running\", finished = false },\n  { code = \"DONE\", when = [\"y\"], name = \"DONE\", phase = \"succeeded\", finished = true },\n]\n\n[roles.run]";
    copy.replace(
        FIRST,
        "{ code = \"DONE\", when = [\"x\"], name = \"DONE\", phase = \"succeeded\", finished = true },\n]\n\n[roles.run]",
        twice,
    );
    copy.fails(FIRST, "when = [\"y\"]", &["states.values.code", "DONE is given to both ONE and DONE"]);
}

#[test]
fn roles() {
    let key = Mistake {
        from: "\"name\", \"attempt\"]\nwitnesses",
        to: "\"name\", \"try\"]\nwitnesses",
        line: "\"try\"",
        says: &["roles.task.key", "unknown role column try"],
    };
    let witness = Mistake {
        from: "[\"state\", \"worker\"]",
        to: "[\"state\", \"host\"]",
        line: "\"host\"",
        says: &["roles.run.witnesses", "unknown role column host"],
    };
    let table = Mistake {
        from: "table = \"ns_seat\"",
        to: "table = \"ns_seats\"",
        line: "\"ns_seats\"",
        says: &["roles.seat.table", "no table ns_seats"],
    };
    let column = Mistake {
        from: "beat = \"beat_ms\"",
        to: "beat = \"beats\"",
        line: "\"beats\"",
        says: &["roles.worker.columns.beat", "table ns_worker has no column beats"],
    };
    for mistake in [key, witness, table, column] {
        mistake.is_found(FIRST);
    }
}

#[test]
fn role_columns_of_the_other_tables() {
    let child = Mistake {
        from: "child = \"seat.run_id\"",
        to: "child = \"seat.run\"",
        line: "\"seat.run\"",
        says: &["relations.child", "unknown role column seat.run"],
    };
    let parent = Mistake {
        from: "parent = \"run.id\"\nkind = \"part_of\"",
        to: "parent = \"run.key\"\nkind = \"part_of\"",
        line: "run.key",
        says: &["relations.parent"],
    };
    let kind = Mistake {
        from: "\"refers_to\"",
        to: "\"uses\"",
        line: "\"uses\"",
        says: &["relations.kind", "neither part_of nor refers_to"],
    };
    let never = Mistake {
        from: "column = \"run.flow\"",
        to: "column = \"run.flows\"",
        line: "run.flows",
        says: &["never_null.column"],
    };
    let forbidden = Mistake {
        from: "\"task.attempt\", \"task",
        to: "\"task.tries\", \"task",
        line: "task.tries",
        says: &["forbidden.columns", "unknown role column task.tries"],
    };
    let wall =
        Mistake { from: "wall = \"run.touched\"", to: "wall = \"run.touch\"", line: "\"run.touch\"", says: &["clock"] };
    let newest = Mistake {
        from: "newest = [\"run.touched\"]",
        to: "newest = [\"run\"]",
        line: "newest",
        says: &["clock", "unknown role column run"],
    };
    for mistake in [child, parent, kind, never, forbidden, wall, newest] {
        mistake.is_found(FIRST);
    }
}

#[test]
fn registries() {
    let mistake = |from, to, says| Mistake { from, to, line: to, says };
    for mistake in [
        mistake("kind = \"etcd\"", "kind = \"consul\"", &["registries.kind", "`consul` is neither"]),
        mistake("path = \"/workers\"", "path = \"workers\"", &["registries.path", "a slash before it"]),
        mistake("path = \"/workers\"", "path = \"/workers/\"", &["registries.path", "none behind"]),
        mistake("namespace = \"nightshift\"", "namespace = \"nightshift/\"", &["registries.namespace", "slash"]),
    ] {
        mistake.is_found(FIRST);
    }
}

#[test]
fn locks() {
    let mistake = |from, to, says| Mistake { from, to, line: "role = \"lock\"", says };
    for mistake in [
        mistake(
            "key = { name = \"dispatch\" }",
            "key = { id = \"dispatch\" }",
            &["locks.key", "the key of lock (name)"],
        ),
        mistake("key = { name = \"dispatch\" }", "key = {}", &["locks.key", "the key of lock (name)"]),
        mistake(
            "key = { name = \"dispatch\" }",
            "key = { name = \"dispatch\" }\nscope = \"name\"",
            &["locks.key", "key and scope together"],
        ),
        mistake(
            "\"ns_lock\", \"ns_flow*\"",
            "\"ns_flow*\"",
            &["locks.role", "locked and never written", "forbidden.tables"],
        ),
    ] {
        mistake.is_found(FIRST);
    }
    let role = Mistake {
        from: "[[locks]]\nrole = \"lock\"",
        to: "[[locks]]\nrole = \"seal\"",
        line: "role = \"seal\"",
        says: &["locks.role", "no role seal"],
    };
    role.is_found(FIRST);
    let gone = Mistake {
        from: "extends = \"1.0\"",
        to: "extends = \"1.0\"\ndropped_roles = [\"lock\"]",
        line: "generation =",
        says: &["locks.role", "no role lock in this generation"],
    };
    gone.is_found(SECOND);
}

#[test]
fn table_prefix() {
    for (prefix, says) in [("NS_R", "the table ns_"), ("", "it is empty")] {
        let copy = Copy::new();
        let line = format!("title = \"Nightshift\"\ntable_prefix = \"{prefix}\"");
        copy.replace(FIRST, "title = \"Nightshift\"", &line);
        copy.fails(FIRST, "table_prefix = ", &["table_prefix", says]);
    }
    let copy = Copy::new();
    copy.replace(FIRST, "title = \"Nightshift\"", "title = \"Nightshift\"\ntable_prefix = \"NS_\"");
    copy.check().expect(0);
}

#[test]
fn times_in_milliseconds() {
    Mistake {
        from: "[roles.worker.columns]",
        to: "epoch_ms = [\"pulse\"]\n\n[roles.worker.columns]",
        line: "epoch_ms = [",
        says: &["roles.worker.epoch_ms", "pulse"],
    }
    .is_found(FIRST);
}

#[test]
fn heartbeats() {
    let unit = Mistake {
        from: "\"epoch_ms\"",
        to: "\"seconds\"",
        line: "\"seconds\"",
        says: &["heartbeats.unit", "neither datetime nor epoch_ms"],
    };
    let none = Mistake {
        from: "unit = \"epoch_ms\"\n",
        to: "",
        line: "role = \"worker\"",
        says: &["heartbeats.unit", "needs its unit"],
    };
    let address = Mistake {
        from: "address = \"address\"\nbeat = \"beat\"\n",
        to: "address = \"host\"\nbeat = \"beat\"\n",
        line: "role = \"worker\"",
        says: &["heartbeats.address", "worker.host"],
    };
    let beat = Mistake {
        from: "beat = \"beat\"\n",
        to: "beat = \"pulse\"\n",
        line: "role = \"worker\"",
        says: &["heartbeats.beat", "worker.pulse"],
    };
    let scope = Mistake {
        from: "interval_ms = 200\n",
        to: "interval_ms = 200\nscope = \"realm\"\n",
        line: "role = \"worker\"",
        says: &["heartbeats.scope", "worker.realm"],
    };
    let interval = Mistake {
        from: "interval_ms = 200\n",
        to: "interval_ms = 200\ninterval = \"every\"\n",
        line: "role = \"worker\"",
        says: &["heartbeats.interval", "worker.every"],
    };
    let twice = Mistake {
        from: "interval_ms = 200\n",
        to: "interval_ms = 200\nexpires_ms = 600\ngrace_ms = 100\n",
        line: "expires_ms = 600",
        says: &["heartbeats.expires_ms", "not both"],
    };
    let called = Mistake {
        from: "interval_ms = 200\n",
        to: "interval_ms = 200\ncalled = \" \"\n",
        line: "called = ",
        says: &["heartbeats.called", "it is empty"],
    };
    for mistake in [unit, none, address, beat, scope, interval, twice, called] {
        mistake.is_found(FIRST);
    }
}

#[test]
fn tables() {
    let spec = Mistake {
        from: "mysql = \"bigint NOT NULL\"",
        to: "mysql = \"bigint NOTNULL\"",
        line: "NOTNULL",
        says: &["tables.ns_worker.beat_ms.mysql", "is not a column"],
    };
    let order = Mistake {
        from: "postgresql = \"int NOT NULL DEFAULT '1'\"",
        to: "postgresql = \"int DEFAULT '1' NOT NULL\"",
        line: "DEFAULT '1' NOT NULL",
        says: &["tables.ns_task.attempt.postgresql"],
    };
    let key = Mistake {
        from: "primary_key = [\"pool\", \"seat\"]",
        to: "primary_key = [\"pool\", \"place\"]",
        line: "\"place\"",
        says: &["tables.ns_seat.primary_key", "no column place"],
    };
    let twice = Mistake {
        from: "{ name = \"beat_ms\"",
        to: "{ name = \"address\"",
        line: "name = \"address\", mysql = \"bigint",
        says: &["tables.ns_worker.columns", "address is listed twice"],
    };
    let only = Mistake {
        from: "name = \"ns_meta\"",
        to: "name = \"ns_meta\"\nonly = \"oracle\"",
        line: "oracle",
        says: &["tables.only", "neither mysql nor postgresql"],
    };
    for mistake in [spec, order, key, twice, only] {
        mistake.is_found(FIRST);
    }
}

#[test]
fn releases_and_generations() {
    let twice = Mistake {
        from: "releases = [\"2.0\"]",
        to: "releases = [\"1.1\", \"2.0\"]",
        line: "releases",
        says: &["releases: 1.1 is also listed by", "1.0.toml"],
    };
    let extends = Mistake {
        from: "extends = \"1.0\"",
        to: "extends = \"0.9\"",
        line: "extends",
        says: &["extends", "no earlier generation 0.9 of nightshift"],
    };
    let dropped = Mistake {
        from: "extends = \"1.0\"",
        to: "extends = \"1.0\"\ndropped_tables = [\"ns_door\"]",
        line: "ns_door",
        says: &["dropped_tables", "no table ns_door to drop"],
    };
    let described = Mistake {
        from: "extends = \"1.0\"",
        to: "extends = \"1.0\"\nother_tables = [\"ns_seat\"]",
        line: "ns_seat",
        says: &["other_tables", "ns_seat is described under [[tables]]"],
    };
    let listed = Mistake {
        from: "extends = \"1.0\"",
        to: "extends = \"1.0\"\nother_tables = [\"ns_door\", # first\n \"ns_door\"]",
        line: " \"ns_door\"]",
        says: &["other_tables", "ns_door is listed twice"],
    };
    let role = Mistake {
        from: "extends = \"1.0\"",
        to: "extends = \"1.0\"\ndropped_roles = [\"door\"]",
        line: "\"door\"",
        says: &["dropped_roles", "no role door to drop"],
    };
    let needed = Mistake {
        from: "extends = \"1.0\"",
        to: "extends = \"1.0\"\ndropped_tables = [\"ns_seat\"]",
        line: "generation =",
        says: &["roles.seat", "ns_seat is gone"],
    };
    let beats = Mistake {
        from: "extends = \"1.0\"",
        to: "extends = \"1.0\"\ndropped_roles = [\"worker\"]",
        line: "generation =",
        says: &["heartbeats", "worker.address is gone"],
    };
    let lost = Mistake {
        from: "name = \"touched_at\"",
        to: "name = \"seen_at\"",
        line: "generation =",
        says: &["roles.run", "no column touched_at any more"],
    };
    let mark = Mistake {
        from: "{ \"2.0\" = \"2.0\" }",
        to: "{ \"2.1\" = \"2.0\" }",
        line: "releases",
        says: &["2.1 is named further down"],
    };
    let none = Mistake {
        from: "releases = [\"2.0\"]\n",
        to: "releases = []\n",
        line: "releases",
        says: &["list at least one release"],
    };
    let print = Mistake {
        from: "present = [\"ns_run.priority\"]",
        to: "present = [\"ns_run.prio\"]",
        line: "ns_run.prio\"",
        says: &["fingerprint.present", "ns_run.prio is not in this generation"],
    };
    for mistake in [twice, extends, dropped, described, listed, role, needed, beats, lost, mark, none, print] {
        mistake.is_found(SECOND);
    }
}

#[test]
fn file_names() {
    let copy = Copy::new();
    std::fs::rename(copy.path(SECOND), copy.path("enums/nightshift/2.toml")).unwrap();
    copy.fails("enums/nightshift/2.toml", "generation =", &["generation", "must be named nightshift/2.0.toml"]);
}

#[test]
fn directories() {
    let empty = tempfile::tempdir().unwrap();
    let dir = empty.path().display().to_string();
    let run = crate::support::program::flowmend(["manifests", "check", &dir]).expect(2);
    assert!(run.err.contains("holds no manifest"), "{}", run.err);
    let gone = empty.path().join("gone").display().to_string();
    let run = crate::support::program::flowmend(["manifests", "check", &gone]).expect(2);
    assert!(run.err.contains("is not a directory"), "{}", run.err);
}

#[test]
fn marks_of_types_and_indexes() {
    let present = "present = [\"ns_run.priority\"]";
    let with = |mark: &str| format!("present = [\"ns_run.priority\", \"{mark}\"]");
    for good in ["ns_run.priority:int", "ns_run.flow: VARCHAR(100)", "NS_RUN.flow:varchar"] {
        let copy = super::Copy::new();
        copy.replace(SECOND, present, &with(good));
        copy.check().expect(0);
    }
    for (mark, says) in [
        ("ns_run.priority:bigint", "fingerprint.present: ns_run.priority:bigint is not in this generation"),
        ("ns_run(flow)", "fingerprint.present: ns_run(flow) is not in this generation"),
        ("ns_run(flow) unique", "fingerprint.present: ns_run(flow) unique is not in this generation"),
        ("ns_run(flow", "fingerprint: `ns_run(flow` is none of table"),
        ("ns_run(flow) uniq", "fingerprint: `ns_run(flow) uniq` is none of table"),
        ("ns_run:int", "fingerprint: `ns_run:int` is none of table"),
    ] {
        let copy = super::Copy::new();
        copy.replace(SECOND, present, &with(mark));
        copy.fails(SECOND, "ns_run.priority\", \"ns_run", &[says]);
    }
    let copy = super::Copy::new();
    copy.replace(SECOND, present, "present = [\"ns_run.priority\"]\nabsent = [\"ns_run.flow:varchar(100)\"]");
    copy.fails(SECOND, "absent", &["fingerprint.absent: ns_run.flow:varchar(100) is in this generation"]);
}

#[test]
fn engines() {
    let mistake = Mistake {
        from: "releases = [\"1.0\", \"1.1\"]",
        to: "releases = [\"1.0\", \"1.1\"]\nengines = [\"mysql\", \"oracle\"]",
        line: "oracle",
        says: &["engines", "`oracle` is neither mysql nor postgresql"],
    };
    mistake.is_found(FIRST);
}

#[test]
fn what_one_release_does_otherwise() {
    let copy = Copy::new();
    let behaviour = "worker_writes_back = true\n";
    copy.replace(FIRST, behaviour, "worker_writes_back = true\n[behaviour_of.\"9.9\"]\nworker_writes_back = false\n");
    copy.fails(FIRST, "[behaviour_of", &["behaviour_of", "9.9 is no release of this generation"]);
    copy.replace(FIRST, "\"9.9\"]\nworker_writes_back", "\"1.1\"]\nworker_sleeps");
    copy.fails(FIRST, "worker_sleeps", &["behaviour_of", "says nothing of worker_sleeps"]);
    copy.replace(FIRST, "worker_sleeps", "worker_writes_back");
    copy.check().expect(0);
}

#[test]
fn allowed_writes() {
    const BEFORE: &str = "[forbidden]\n";
    let mistake = |to, line, says| Mistake { from: BEFORE, to, line, says };
    for mistake in [
        mistake(
            "[[allowed_writes]]\nrole = \"seal\"\ndeletes_older = \"beat\"\nwhy = \"x\"\n[forbidden]\n",
            "role = \"seal\"",
            &["allowed_writes.role", "no role seal"],
        ),
        mistake(
            "[[allowed_writes]]\nrole = \"seat\"\ndeletes_older = \"id\"\nwhy = \"x\"\n[forbidden]\n",
            "role = \"seat\"",
            &["allowed_writes.role", "not forbidden"],
        ),
        mistake(
            "[[allowed_writes]]\nrole = \"lock\"\ndeletes_older = \"beat\"\nwhy = \"x\"\n[forbidden]\n",
            "deletes_older = \"beat\"",
            &["allowed_writes.deletes_older", "lock has no column beat"],
        ),
        mistake(
            "[[allowed_writes]]\nrole = \"lock\"\ninserts = {}\nwhy = \"x\"\n[forbidden]\n",
            "inserts = {}",
            &["allowed_writes.inserts", "the key of lock (name)"],
        ),
        mistake(
            "[[allowed_writes]]\nrole = \"lock\"\ninserts = { name = [] }\nwhy = \"x\"\n[forbidden]\n",
            "inserts = { name = [] }",
            &["allowed_writes.inserts", "the key of lock (name)"],
        ),
        mistake(
            "[[allowed_writes]]\nrole = \"lock\" # no kind\nwhy = \"x\"\n[forbidden]\n",
            "# no kind",
            &["either `inserts` or `deletes_older`"],
        ),
        mistake(
            "[[allowed_writes]]\nrole = \"lock\"\ndeletes_older = \"name\"\nwhy = \" \"\n[forbidden]\n",
            "why = \" \"",
            &["allowed_writes.why: say why"],
        ),
    ] {
        mistake.is_found(FIRST);
    }
}

/// A code of an earlier release, with one line of it changed.
fn with_legacy(says: &str, line: &str, of: [&str; 6]) {
    let names = ["column", "code", "name", "to", "sure", "why"];
    let keys: Vec<String> = names.iter().zip(of).map(|(name, value)| format!("{name} = {value}\n")).collect();
    let copy = Copy::new();
    copy.replace(SECOND, "[fingerprint]", &format!("[[legacy]]\n{}\n[fingerprint]", keys.concat()));
    copy.fails(SECOND, line, &[says]);
}

#[test]
fn codes_of_earlier_releases() {
    let right = ["\"run.state\"", "\"LOST\"", "\"LOST\"", "\"BROKEN\"", "true", "\"the wiki\""];
    let but = |at: usize, value: &'static str| {
        let mut of = right;
        of[at] = value;
        of
    };
    for (at, value, line, says) in [
        (0, "\"run.worker\"", "column = \"run.worker\"", "legacy.column: run.worker holds no states"),
        (1, "7", "code = 7", "legacy.code"),
        (1, "\"DONE\"", "\"DONE\"\nname = \"LOST\"", "run.state may hold DONE, so it is no leftover"),
        (3, "\"ENDED\"", "to = \"ENDED\"", "legacy.to: run.state has no legal state ENDED"),
        (4, "\"maybe\"", "sure = \"maybe\"", "invalid type"),
        (5, "\" \"", "why = \" \"", "legacy.why: say why"),
        (5, "\"w\"\nwhen = 1", "when = 1", "unknown field `when`"),
    ] {
        with_legacy(says, line, but(at, value));
    }
    let twice = "\"the wiki\"\n[[legacy]]\ncolumn = \"run.state\"\ncode = \"LOST\" # again\nname = \"LOST\"\nto = \"DONE\"\nsure = false\nwhy = \"w\"";
    with_legacy("legacy.code: run.state LOST is listed twice", "\"LOST\" # again", but(5, twice));
    let copy = Copy::new();
    let keys =
        "column = \"run.state\"\ncode = \"LOST\"\nname = \"LOST\"\nto = \"BROKEN\"\nsure = true\nwhy = \"the wiki\"";
    copy.replace(SECOND, "[fingerprint]", &format!("[[legacy]]\n{keys}\n\n[fingerprint]"));
    copy.check().expect(0);
}

#[test]
fn what_an_upgrade_wants() {
    for (note, line, says) in [
        ("says = \" \"\nsource = \"w\"", "says = \" \"", "upgrade.says: say what must be done"),
        ("says = \"s\"\nsource = \"w\"\nempty = [\"queue\"]", "empty =", "upgrade.empty: no role queue"),
        (
            "says = \"s\"\nsource = \"w\"\ndrained = [\"run.worker\"]",
            "drained = [\"run.worker\"]",
            "upgrade.drained: run.worker holds no states",
        ),
        (
            "says = \"s\"\nsource = \"w\"\nwithout = { \"run.worker\" = [\"w\"] }",
            "without = ",
            "upgrade.without: run.worker holds no states",
        ),
        (
            "says = \"s\"\nsource = \"w\"\nfrom_before = \"soon\"",
            "from_before = ",
            "upgrade.from_before: soon is no release",
        ),
        ("says = \"s\"\nsource = \"w\"\nwithout = { \"run.state\" = [7] }", "without = ", "upgrade.without: "),
        ("says = \"s\"\nsource = \"w\"\nfull = []", "full =", "unknown field `full`"),
    ] {
        let copy = Copy::new();
        copy.replace(SECOND, "[fingerprint]", &format!("[[upgrade]]\n{note}\n\n[fingerprint]"));
        copy.fails(SECOND, line, &[says]);
    }
    let copy = Copy::new();
    let note = "says = \"s\"\nsource = \"w\"\nempty = [\"seat\"]\ndrained = [\"run.state\"]";
    copy.replace(SECOND, "[fingerprint]", &format!("[[upgrade]]\n{note}\n\n[fingerprint]"));
    copy.check().expect(0);
}

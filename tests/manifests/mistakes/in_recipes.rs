//! Mistakes in a recipe, and writes that a manifest forbids.

use super::{Copy, Mistake, RECIPE};

const FILE: &str = "templates/nightshift/dead-runs/recipe.toml";
const MANIFEST: &str = "enums/nightshift/1.0.toml";

#[test]
fn forbidden_table() {
    let copy = Copy::new();
    copy.replace(MANIFEST, "\"ns_flow*\"]", "\"ns_flow*\", \"*_seat\"]");
    copy.fails(FILE, "role = \"seat\"", &["steps.seat.role", "forbids writing ns_seat", "generation 1.0"]);
    copy.replace(MANIFEST, "except = []", "except = [\"ns_seat\"]");
    copy.check().expect(0);
}

/// What starts is counted under a title, and an effect tells one of three things.
#[test]
fn what_an_effect_tells() {
    let copy = Copy::new();
    let effect = "[[effects]]\nname = \"goes\"\nwhen = \"yes\"\nquery = \"seats.sql.j2\"\ngives = [\"id\"]\ntext = \"{{ row.id }}\"\n";
    let recipe = copy.read(FILE);
    std::fs::write(copy.path(FILE), format!("{recipe}\n{effect}tells = \"starts\"\n")).unwrap();
    copy.fails(FILE, "tells = \"starts\"", &["effects.goes.title", "say what starts"]);
    copy.replace(FILE, "tells = \"starts\"", "tells = \"start\"");
    copy.fails(FILE, "tells = \"start\"", &["unknown variant `start`", "`felt`, `starts`, `danger`"]);
    copy.replace(FILE, "tells = \"start\"", "tells = \"danger\"\nway_out = \"{{ \"");
    copy.fails(FILE, "way_out = \"{{ \"", &["unexpected end of input"]);
    copy.replace(FILE, "\nway_out = \"{{ \"", "");
    copy.check().expect(0);
}

/// Whose lock rows to take is read from the rows of each step.
#[test]
fn scope_of_locks() {
    let copy = Copy::new();
    copy.replace(MANIFEST, "\"ns_lock\"\nkey = [\"name\"]", "\"ns_lock\"\nkey = [\"pool\", \"name\"]");
    copy.replace(MANIFEST, "[roles.lock.columns]\n", "[roles.lock.columns]\npool = \"pool\"\n");
    let column = "  { name = \"pool\", mysql = \"varchar(40) NOT NULL\", postgresql = \"varchar(40) NOT NULL\" },\n";
    copy.replace(
        MANIFEST,
        "primary_key = [\"name\"]\ncolumns = [\n",
        &format!("primary_key = [\"pool\", \"name\"]\ncolumns = [\n{column}"),
    );
    copy.replace(MANIFEST, "key = { name = \"dispatch\" }", "key = { name = \"dispatch\" }\nscope = \"pool\"");
    copy.fails(FILE, "role = \"task\"", &["steps.task.role", "told apart by pool", "not in the key of task"]);
}

#[test]
fn exception_for_a_table() {
    let copy = Copy::new();
    let query = "query = \"seats.sql.j2\"";
    copy.replace(FILE, query, "query = \"seats.sql.j2\"\nallow_table = \"seats go, none comes\"");
    copy.fails(FILE, "allow_table", &["steps.allow_table", "no generation forbids the table of seat"]);
    copy.replace(MANIFEST, "\"ns_flow*\"]", "\"ns_flow*\", \"*_seat\"]");
    copy.check().expect(0);
    copy.replace(FILE, "\"seats go, none comes\"", "\" \"");
    copy.fails(FILE, "allow_table", &["steps.allow_table", "say why"]);
}

#[test]
fn forbidden_column_and_its_exception() {
    let copy = Copy::new();
    let set = "set.touched = { kind = \"now\" }";
    copy.replace(FILE, set, "set.touched = { kind = \"now\" }\nset.worker = { kind = \"row\" }");
    copy.fails(
        FILE,
        "set.worker",
        &["steps.run.set", "forbids writing run.worker", "name the exception and its reason under `allow`"],
    );
    copy.replace(
        FILE,
        "set.worker = { kind = \"row\" }",
        "set.worker = { kind = \"row\" }\nallow.worker = \"the run goes to nobody\"",
    );
    copy.check().expect(0);
}

#[test]
fn rows_that_move_on() {
    let set = "set.touched = { kind = \"now\" }";
    let copy = Copy::new();
    copy.replace(FILE, set, &format!("{set}\nmoves_on = [\"touched\", \"colour\"]"));
    copy.fails(FILE, "moves_on = ", &["steps.run.moves_on", "run.colour"]);
    let copy = Copy::new();
    copy.replace(FILE, set, &format!("{set}\nmoves_on = [\"touched\"]\nmay_end = true"));
    copy.check().expect(0);
    copy.replace(FILE, "op = \"delete\"", "op = \"delete\"\nmay_end = true");
    copy.fails(FILE, "op = \"delete\"", &["steps.seat.may_end", "rows that are deleted have no end"]);
    copy.replace(FILE, "op = \"delete\"\nmay_end = true", "op = \"delete\"\nmoves_on = [\"seat\"]");
    copy.fails(FILE, "op = \"delete\"", &["steps.seat.moves_on", "only rows that are updated move on"]);
}

/// What a filter names must be somewhere, or a misspelt name would be found nowhere.
#[test]
fn filters() {
    let copy = Copy::new();
    let first = "[[findings]]\ncode = \"task-of-finished-run\"";
    let flow = "[[parameters]]\nname = \"flow\"\nkind = \"texts\"\namong = [\"run.flow\"]\nhelp = \"Only these\"\n\n";
    copy.replace(FILE, first, &format!("{flow}{first}"));
    copy.check().expect(0);
    copy.replace(FILE, "[\"run.flow\"]", "[\"run.flow\", \"run.colour\"]");
    copy.fails(FILE, "among = ", &["parameters.flow.among", "no generation of nightshift has the column run.colour"]);
    copy.replace(FILE, "[\"run.flow\", \"run.colour\"]", "[\"run\"]");
    copy.fails(FILE, "among = ", &["parameters.flow.among", "the column run"]);
    copy.replace(FILE, "[\"run\"]", "[[\"run.flow\", \"task.name\"]]");
    copy.fails(FILE, "among = ", &["parameters.flow.among", "columns of one role"]);
    copy.replace(FILE, "[[\"run.flow\", \"task.name\"]]", "[[\"task.run_id\", \"task.name\"]]");
    copy.check().expect(0);
    copy.replace(FILE, "help = \"Only these\"", "within = [\"run.note\"]\nhelp = \"Only these\"");
    copy.fails(FILE, "within = ", &["parameters.flow.within", "the column run.note"]);
    copy.replace(FILE, "[\"run.note\"]", "[\"run.flow\"]");
    copy.check().expect(0);
    copy.replace(FILE, "among = [[\"task.run_id\", \"task.name\"]]", "among = []");
    copy.fails(FILE, "within = ", &["parameters.flow.within", "only where `among`"]);
    copy.replace(FILE, "among = []", "among = [\"run.flow\"]");
    copy.replace(FILE, "kind = \"texts\"", "kind = \"flag\"");
    copy.fails(FILE, "among = ", &["parameters.flow.among", "only texts and numbers name rows"]);
}

/// What a parameter says of others must be about parameters that are there, of the right kind.
#[test]
fn parameters_that_hang_on_others() {
    let first = "[[findings]]\ncode = \"task-of-finished-run\"";
    let flows = |kind: &str, more: &str| {
        let copy = Copy::new();
        let one = |name: &str, more: &str| {
            format!("[[parameters]]\nname = \"{name}\"\nkind = \"{kind}\"\n{more}help = \"Some\"\n\n")
        };
        copy.replace(FILE, first, &format!("{}{}{first}", one("flow", more), one("other", "")));
        copy
    };
    flows("texts", "excludes = [\"other\"]\n").check().expect(0);
    for wrong in ["flow", "dead-owner", "colour"] {
        let copy = flows("texts", &format!("excludes = [\"{wrong}\"]\n"));
        copy.fails(FILE, "excludes = ", &["parameters.flow.excludes", "no other parameter", wrong]);
    }
    flows("texts", "which = true\namong = [\"run.flow\"]\n").check().expect(0);
    let copy = flows("texts", "which = true\n");
    copy.fails(FILE, "which = ", &["parameters.flow.which", "only where `among`"]);
    let copy = flows("age", "listed_needs = \"other\"\n");
    copy.fails(FILE, "listed_needs = ", &["parameters.flow.listed_needs", "an age for owners"]);
    let owners = "kind = \"owners\"";
    let copy = flows("age", "");
    copy.replace(FILE, owners, &format!("{owners}\nlisted_needs = \"other\""));
    copy.check().expect(0);
    copy.replace(FILE, "listed_needs = \"other\"", "listed_needs = \"colour\"");
    copy.fails(FILE, "listed_needs = ", &["parameters.dead-owner.listed_needs", "colour"]);
}

#[test]
fn files_beside_it() {
    for (file, line, key) in [
        ("seats.sql.j2", "query = \"seats.sql.j2\"", "steps.seat.query"),
        ("prose.md.j2", "prose = ", "prose: no file prose.md.j2"),
    ] {
        let copy = Copy::new();
        std::fs::remove_file(copy.path(&format!("{RECIPE}/{file}"))).unwrap();
        copy.fails(FILE, line, &[key, "beside it"]);
    }
}

#[test]
fn parent_before_child() {
    let copy = Copy::new();
    let text = copy.read(FILE);
    let (tasks, runs, seats) = (
        text.find("[[steps]]\nrole = \"task\"").unwrap(),
        text.find("[[steps]]\nrole = \"run\"").unwrap(),
        text.find("[[steps]]\nrole = \"seat\"").unwrap(),
    );
    let swapped = [&text[..tasks], &text[runs..seats], &text[tasks..runs], &text[seats..]].concat();
    std::fs::write(copy.path(FILE), swapped).unwrap();
    copy.fails(FILE, "role = \"task\"", &["steps.role", "task must come before its parent run"]);
}

#[test]
fn names() {
    let key = Mistake { from: "prose = ", to: "prosa = ", line: "prosa", says: &["unknown field `prosa`"] };
    let name = Mistake {
        from: "name = \"dead-runs\"",
        to: "name = \"dead-run\"",
        line: "\"dead-run\"",
        says: &["name", "`dead-run` differs from the folder dead-runs"],
    };
    let needs = Mistake {
        from: "needs = [\"run\", \"task\"]",
        to: "needs = [\"run\", \"job\"]",
        line: "needs = ",
        says: &["needs", "no generation of nightshift has job"],
    };
    let owner = Mistake {
        from: "owner = \"run.worker\"",
        to: "owner = \"run.host\"",
        line: "run.host",
        says: &["owner", "run.host"],
    };
    let unit = Mistake {
        from: "prose = \"prose.md.j2\"",
        to: "prose = \"prose.md.j2\"\nunit = \"seats\"",
        line: "unit = ",
        says: &["unit", "no generation of nightshift has seats"],
    };
    let role = Mistake {
        from: "role = \"seat\"",
        to: "role = \"seats\"",
        line: "\"seats\"",
        says: &["steps.role", "no generation of nightshift has seats"],
    };
    let set =
        Mistake { from: "set.touched", to: "set.touch", line: "set.touch ", says: &["steps.run.set", "run.touch"] };
    let related = Mistake {
        from: "to = \"id\"",
        to: "to = \"ids\"",
        line: "\"ids\"",
        says: &["steps.task.related.to", "run.ids"],
    };
    let pairs = Mistake {
        from: "from = \"run_id\", to = \"id\"",
        to: "from = [\"run_id\", \"name\"], to = \"id\"",
        line: "from = [",
        says: &["steps.task.related", "name as many columns"],
    };
    let check = Mistake {
        from: "step = \"run\"",
        to: "step = \"runs\"",
        line: "step = \"runs\"",
        says: &["checks.tasks_of_closed_runs.step", "no step runs"],
    };
    let kind = Mistake {
        from: "set.touched = { kind = \"now\" }",
        to: "set.touched = { kind = \"today\" }",
        line: "today",
        says: &["unknown variant `today`"],
    };
    for mistake in [key, name, needs, owner, unit, role, set, related, pairs, check, kind] {
        mistake.is_found(FILE);
    }
}

#[test]
fn owner_without_a_start() {
    let copy = Copy::new();
    let manifest = copy.read(MANIFEST);
    let manifest = manifest.replacen("start_time = \"started_at\"\n", "", 1).replace("\"run.start_time\", ", "");
    std::fs::write(copy.path(MANIFEST), manifest).unwrap();
    copy.fails(FILE, "owner = \"run.worker\"", &["owner needs", "no generation of nightshift has run.start_time"]);
}

#[test]
fn templates_that_do_not_parse() {
    let copy = Copy::new();
    copy.replace(&format!("{RECIPE}/runs.sql.j2"), "{{ m.verdict(r) }} AS verdict", "{{ m.verdict(r }} AS verdict");
    copy.fails(&format!("{RECIPE}/runs.sql.j2"), "m.verdict", &["template", "unexpected `}`"]);
    let inline = Mistake {
        from: "when = \"yes\"\nquery = \"seats",
        to: "when = \"{% if %}\"\nquery = \"seats",
        line: "{% if %}",
        says: &["template"],
    };
    let sql = Mistake {
        from: "\"SELECT COUNT(*) FROM {{ work }}",
        to: "\"SELECT COUNT(*) FROM {{ work",
        line: "{{ work ",
        says: &["template"],
    };
    for mistake in [inline, sql] {
        mistake.is_found(FILE);
    }
}

#[test]
fn recipes_beside_it() {
    for key in ["then", "also"] {
        let copy = Copy::new();
        copy.replace(FILE, "needs = ", &format!("{key} = [\"nobody\"]\nneeds = "));
        copy.fails(FILE, &format!("{key} = ["), &[key, "nightshift has no recipe nobody"]);
    }
}

/// A condition is told only what the query of its step gives.
#[test]
fn given_to_a_condition() {
    let copy = Copy::new();
    copy.replace(FILE, "name = \"run_final\"", "name = \"run_final\"\ngiven = [\"gone\"]");
    let says = ["steps.seat.conditions.run_final.given", "gone is not among the step's `gives`"];
    copy.fails(FILE, "given = [\"gone\"]", &says);
    copy.replace(FILE, "query = \"seats.sql.j2\"", "query = \"seats.sql.j2\"\ngives = [\"gone\"]");
    copy.check().expect(0);
}

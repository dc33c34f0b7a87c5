//! Several recipes in one plan: `plan --all`, and what a repair uncovers.

use super::family::{Filled, Fixture, RELEASES};
use crate::support::db::Server;
use crate::support::fixture::Rows;
use crate::support::program::{Run, flowmend, on_bundle, plan_recipe, sealed};

const SAID: [&str; 8] = ["--choose", "finish", "--waiters", "wake", "--children", "finish", "--dead-owner", "*"];

/// Something for most recipes: a dead family three deep with a task twice in its
/// youngest run, a stranded run, a line asleep behind the stranded one, a parked
/// task, a zombie, an orphan of a command, a slot held by nobody.
fn night(f: &mut Fixture) -> Filled {
    let sub = [("is_sub", "1")];
    f.definition("60");
    f.run("1", "1", "10.0.0.9", &[]).task("1", "1", "sub", "1", "1");
    f.run("2", "1", "10.0.0.9", &sub).relation("1", "1", "2").task("2", "2", "sub", "1", "1");
    f.run("3", "1", "10.0.0.9", &sub).relation("2", "2", "3").task("3", "3", "twice", "7", "1");
    f.task("4", "3", "twice", "1", "1").task("5", "3", "work", "1", "1");
    f.handed_over("6", &[("definition_code", "60"), ("definition_id", "60")]).task("6", "6", "lost", "1", "1");
    if f.m.behaviour["serial_waiters_sleep"].as_bool() == Some(true) {
        f.run("7", "14", "10.0.0.9", &[("definition_code", "60")]);
    }
    f.run("8", "6", "10.0.0.1", &[]).task("8", "8", "parked", "8", "1").task("9", "8", "zombie", "1", "1");
    let mut filled = f.database();
    if filled.m.has("task_group") {
        let of = filled.m.column("task_group_queue.run_id").unwrap().to_owned();
        filled
            .db
            .exec("INSERT INTO t_ds_task_group (id, name, group_size, use_size, status) VALUES (7, 'tg', 1, 1, 1)");
        filled.db.exec(&format!("INSERT INTO t_ds_task_group_queue (id, task_id, task_name, group_id, {of}, priority, status, force_start, in_queue) VALUES (1, 5, 'work', 7, 3, 0, 1, 0, 1)"));
    }
    if filled.m.has("command.run_id") {
        let (run, code) =
            (filled.m.column("command.run_id").unwrap(), filled.m.column("command.definition_code").unwrap());
        let orphan = format!(
            "INSERT INTO t_ds_command (id, command_type, {run}, {code}, start_time) VALUES (900, 4, 9999, 5, '2026-11-01 10:00:00')"
        );
        filled.db.exec(&orphan);
    }
    filled.m = f.m.clone();
    filled
}

fn plan_all(filled: &Filled, extra: &[&str]) -> Run {
    let out = filled.db.path("b").display().to_string();
    let release = filled.m.releases.last().unwrap();
    let base = ["plan", "--all", "--url", &filled.db.url, "--out", &out, "--release", release];
    let moment = ["--now", "2026-11-29T00:00:00Z", "--zone", "+00:00"];
    flowmend([&base[..], &moment, extra].concat())
}

/// The place of a planned row.
fn place(planned: &[String], row: &str) -> usize {
    planned.iter().position(|p| p == row).unwrap_or_else(|| panic!("{row} is not in {planned:?}"))
}

#[test]
fn everything_in_one_bundle_and_nothing_left_to_find() {
    for server in Server::available("compose") {
        for release in server.share(&RELEASES) {
            let Some(mut f) = Fixture::new(server, release) else { continue };
            let filled = night(&mut f);
            let what = format!("{server:?} {release}");
            let before = filled.db.dump();
            plan_all(&filled, &SAID).expect(0);
            let planned = filled.planned("b");
            let mut once: Vec<&String> = planned.iter().collect();
            once.sort();
            once.dedup();
            assert_eq!(once.len(), planned.len(), "{what}: no row is changed twice: {planned:?}");
            // Duplicates, then from the youngest run up, then what follows other rows, commands last.
            let order =
                ["task_instance 4", "task_instance 5", "workflow_instance 3", "task_instance 2", "workflow_instance 2"];
            let order = [&order[..], &["task_instance 1", "workflow_instance 1"]].concat();
            let places: Vec<usize> = order.iter().map(|row| place(&planned, row)).collect();
            assert!(places.is_sorted(), "{what}: {planned:?}");
            let first_command = planned.iter().position(|p| p.starts_with("command "));
            let last_run =
                planned.iter().rposition(|p| p.starts_with("workflow_instance ") || p.starts_with("task_")).unwrap();
            assert!(first_command.is_none_or(|c| c > last_run), "{what}: commands come last: {planned:?}");
            on_bundle("rehearse", &filled.db, "b").expect(0);
            filled.apply("b");
            on_bundle("verify", &filled.db, "b").expect(0);
            let seen = flowmend([
                "inspect",
                "--url",
                &filled.db.url,
                "--release",
                release,
                "--zone",
                "+00:00",
                "--dead-owner",
                "*",
            ]);
            let quiet = seen.out.contains("nothing to repair is proved");
            assert!(quiet, "{what}: {}", seen.out);
            sealed("rollback", &filled.db, "b", &[]).expect(0);
            crate::support::db::same(&filled.db.dump(), &before, &what);
        }
    }
}

#[test]
fn the_ticket_names_every_recipe_and_its_steps() {
    let mut f = Fixture::new(Server::Sqlite, "3.1.9").unwrap();
    let filled = night(&mut f);
    plan_all(&filled, &SAID).expect(0);
    let ticket = std::fs::read_to_string(filled.db.path("b").join("TICKET.md")).unwrap();
    for recipe in [
        "duplicate-tasks",
        "fault-tolerance-tasks",
        "sub-workflows",
        "stranded-runs",
        "zombie-tasks",
        "serial-chain",
        "dead-commands",
    ] {
        assert!(ticket.contains(&format!("- {recipe}: ")), "{recipe}\n{ticket}");
        assert!(ticket.contains(&format!("### {recipe}")), "prose of {recipe}\n{ticket}");
    }
}

#[test]
fn a_recipe_can_be_left_out_and_a_choice_is_never_silent() {
    for server in Server::available("compose") {
        let mut f = Fixture::new(server, "3.1.9").unwrap();
        let filled = night(&mut f);
        let asked = plan_all(&filled, &["--dead-owner", "*"]).expect(2);
        assert!(asked.err.contains("a choice is needed"), "{}", asked.err);
        assert!(!filled.db.path("b").exists());
        plan_all(&filled, &[&SAID[..], &["--except", "dead-commands"]].concat()).expect(0);
        assert!(!filled.planned("b").contains(&"command 900".to_owned()), "{:?}", filled.planned("b"));
        let wrong = flowmend(["plan", "--all", "--url", &filled.db.url, "--except", "no-such"]).expect(2);
        assert!(
            wrong.err.contains("no recipe `no-such` would take part") && wrong.err.contains("zombie-tasks"),
            "{}",
            wrong.err
        );
        let both = flowmend(["plan", "zombie-tasks", "--all", "--url", &filled.db.url]).expect(2);
        assert!(both.err.contains("--all"), "{}", both.err);
    }
}

/// What another recipe uncovers is announced, not written, when it is left out.
#[test]
fn a_follower_that_is_left_out_is_announced() {
    for server in Server::available("compose") {
        for (release, except, roles) in [
            ("3.1.9", "task-groups", &["task_group_queue", "task_group"][..]),
            ("3.1.9", "serial-chain", &[]),
            ("3.4.1", "serial-chain", &["serial_command"]),
            ("3.1.9", "dead-commands", &["command"]),
            ("3.4.1", "dead-commands", &["command"]),
        ] {
            let mut f = Fixture::new(server, release).unwrap();
            f.serial_row(1, "1", "1");
            let filled = night(&mut f);
            let what = format!("{server:?} {release} --except {except}");
            plan_all(&filled, &SAID).expect(0);
            assert!(recipes_of(&filled, "b").iter().any(|r| r == except), "{what}: there is something to leave out");
            std::fs::remove_dir_all(filled.db.path("b")).unwrap();
            let said = plan_all(&filled, &[&SAID[..], &["--except", except]].concat()).expect(0);
            assert!(!recipes_of(&filled, "b").iter().any(|r| r == except), "{what}");
            let planned = filled.planned("b");
            for role in roles.iter().filter(|r| **r != "command") {
                assert!(!planned.iter().any(|p| p.starts_with(&format!("{role} "))), "{what}: {planned:?}");
            }
            assert!(!roles.contains(&"command") || !planned.contains(&"command 900".to_owned()), "{what}");
            let ticket = std::fs::read_to_string(filled.db.path("b").join("TICKET.md")).unwrap();
            for text in [&said.out, &ticket] {
                let way_out = format!("flowmend plan {except}");
                assert!(text.contains("excepted") && text.contains(&way_out), "{what}: {text}");
            }
            filled.apply("b");
        }
    }
}

/// The recipes that have steps in a bundle.
fn recipes_of(filled: &Filled, name: &str) -> Vec<String> {
    let bundle = flowmend::bundle::Bundle::read(&filled.db.path(name)).unwrap();
    bundle.plan.steps.iter().map(|s| s.recipe.clone()).collect()
}

/// No recipe reaches beyond the runs that were named.
#[test]
fn a_scope_holds_for_every_recipe() {
    for server in Server::available("compose") {
        for release in server.share(&RELEASES) {
            let Some(mut f) = Fixture::new(server, release) else { continue };
            f.serial_row(1, "1", "1");
            let filled = night(&mut f);
            if filled.m.has("task_group") {
                // A waiter that 3.2.1 and later do not see, its task wanted.
                let of = filled.m.column("task_group_queue.run_id").unwrap();
                filled.db.exec(&format!("INSERT INTO t_ds_task_group_queue (id, task_id, task_name, group_id, {of}, priority, status, force_start, in_queue) VALUES (2, 1, 'sub', 7, 1, 0, -1, 0, 0)"));
            }
            let what = format!("{server:?} {release}");
            plan_all(&filled, &[&SAID[..], &["--instance", "8"]].concat()).expect(0);
            let mut planned = filled.planned("b");
            planned.sort();
            assert_eq!(planned, ["task_instance 8", "task_instance 9"], "{what}");
            std::fs::remove_dir_all(filled.db.path("b")).unwrap();
            for role in ["definition", "project"] {
                let other = [("id", Some("99")), ("code", Some("99")), ("name", Some("another"))];
                filled.db.exec_all(&Rows::new(&filled.m, server.dialect()).add(role, &other).statements);
            }
            for scope in [["--workflow", "another"], ["--project", "another"]] {
                let none = plan_all(&filled, &[&SAID[..], &["--older-than", "1h"], &scope].concat()).expect(0);
                assert!(none.out.contains("Nothing to repair"), "{what} {scope:?}: {}", none.out);
            }
        }
    }
}

/// A finding stands under the recipe that repairs it, and nowhere else.
#[test]
fn each_finding_is_one_recipes() {
    let mut known = std::collections::BTreeMap::new();
    for recipe in crate::property::drive::app().recipes.of("dolphinscheduler") {
        for finding in &recipe.file.findings {
            let other = known.insert(finding.code.clone(), recipe.file.name.clone());
            assert!(other.is_none(), "{} is found by {} and by {other:?}", finding.code, recipe.file.name);
        }
    }
}

/// Many steps of few tables: each line that somebody acts on stands once.
#[test]
fn a_long_ticket_repeats_nothing() {
    for server in Server::available("compose") {
        let mut f = Fixture::new(server, "3.1.9").unwrap();
        let filled = night(&mut f);
        plan_all(&filled, &SAID).expect(0);
        let ticket = std::fs::read_to_string(filled.db.path("b").join("TICKET.md")).unwrap();
        let titles = ticket.lines().filter(|l| l.starts_with("**")).filter_map(|l| l.split_once("): ")).map(|(_, t)| t);
        let grants = ticket.lines().filter(|l| l.starts_with("GRANT "));
        let hosts = ticket.lines().filter(|l| l.starts_with("- 10.0.0."));
        for (what, lines) in
            [("step", titles.collect::<Vec<_>>()), ("grant", grants.collect()), ("host", hosts.collect())]
        {
            let mut once = lines.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), lines.len(), "{server:?}, {what}: {lines:#?}");
            assert!(server == Server::Sqlite && what == "grant" || once.len() > 1, "{server:?}, {what}: {lines:#?}");
        }
    }
}

/// The command that poisons a hand-over hides the stranded run.
#[test]
fn a_poison_command_uncovers_its_stranded_run() {
    for server in Server::available("compose") {
        for release in server.share(&["2.0.9", "3.1.9", "3.2.2", "3.4.1"]) {
            for (choose, state) in [("finish", "6"), ("resume", "")] {
                let mut f = Fixture::new(server, release).unwrap();
                f.definition("6").handed_over("6", &[]).task("6", "6", "lost", "1", "1");
                let filled = f.database();
                let run = filled.m.column("command.run_id").unwrap();
                let of = |table: &str, more: &str, value: &str| {
                    format!(
                        "INSERT INTO {table} (id, command_type, {run}, start_time{more}) VALUES (900, 99, 6, '2026-11-01 10:00:00'{value})"
                    )
                };
                let code = filled.m.column("command.definition_code").unwrap();
                filled.db.exec(&of("t_ds_command", &format!(", {code}"), ", 6"));
                let what = format!("{server:?} {release} {choose}");
                let before = filled.db.dump();
                let out = filled.db.path("b").display().to_string();
                let planned =
                    plan_recipe(&filled.db, "dead-commands", "b", &["--release", release, "--choose", choose]);
                assert_eq!(planned.code, 0, "{what} {out}: {}{}", planned.out, planned.err);
                filled.apply("b");
                assert_eq!(
                    filled.db.value("SELECT COUNT(*) FROM t_ds_command WHERE command_type = 99").as_deref(),
                    Some("0"),
                    "{what}"
                );
                if choose == "finish" {
                    assert_eq!(filled.value("workflow_instance", "6", "state").as_deref(), Some(state), "{what}");
                } else {
                    let queued = format!("SELECT command_type FROM t_ds_command WHERE {run} = 6");
                    assert_eq!(filled.db.value(&queued).as_deref(), Some("2"), "{what}");
                }
                on_bundle("verify", &filled.db, "b").expect(0);
                sealed("rollback", &filled.db, "b", &[]).expect(0);
                crate::support::db::same(&filled.db.dump(), &before, &what);
            }
        }
    }
}

fn ticket(filled: &Filled, name: &str) -> String {
    std::fs::read_to_string(filled.db.path(name).join("TICKET.md")).unwrap()
}

/// What somebody approves stands before the first table of steps.
fn first_page(ticket: &str) -> &str {
    ticket.split("## What").next().unwrap()
}

/// One queued command ends the undo of the whole bundle: said at the top, and no
/// way is named that would be refused.
#[test]
fn a_command_that_was_taken_ends_the_undo_and_the_ticket_says_so_first() {
    for server in Server::available("compose") {
        let mut f = Fixture::new(server, "3.1.9").unwrap();
        let filled = night(&mut f);
        let planned = plan_all(&filled, &SAID).expect(0);
        let ticket = ticket(&filled, "b");
        for text in [first_page(&ticket), &planned.out.split_whitespace().collect::<Vec<_>>().join(" ")] {
            assert!(text.contains("No undo once the scheduler takes a command"), "{server:?}: {text}");
            assert!(text.contains("--except serial-chain"), "{server:?}: {text}");
        }
        assert!(!ticket.contains("--partial"), "{server:?}: {ticket}");
        filled.apply("b");
        filled.db.exec("UPDATE t_ds_task_instance SET retry_times = 9 WHERE id = 5");
        let refused = sealed("rollback", &filled.db, "b", &[]).expect(4);
        assert!(refused.err.contains("1 row moved") && !refused.err.contains("--partial"), "{}", refused.err);
        // Without the recipe that inserts, the rest can be undone, in part, too.
        let without = ["--except", "serial-chain", "--except", "stranded-runs"];
        let mut f = Fixture::new(server, "3.1.9").unwrap();
        let filled = night(&mut f);
        plan_all(&filled, &[&SAID[..], &without].concat()).expect(0);
        let ticket = self::ticket(&filled, "b");
        assert!(!ticket.contains("No undo once") && ticket.contains("--partial"), "{server:?}: {ticket}");
    }
}

/// A page for who approves, a list for who checks.
#[test]
fn the_ticket_begins_with_a_summary_and_ends_with_every_run() {
    for server in Server::available("compose") {
        let mut f = Fixture::new(server, "3.1.9").unwrap();
        let filled = night(&mut f);
        plan_all(&filled, &SAID).expect(0);
        let ticket = ticket(&filled, "b");
        let first = first_page(&ticket);
        assert!(first.lines().count() < 45, "{server:?}: {first}");
        for words in ["**Undo**", "**Risk**", "seal (first 12", "approved by", " rows → 6 FAILURE"] {
            assert!(first.contains(words), "{server:?}: `{words}` is not in {first}");
        }
        let appendix = ticket.split("## Appendix: the runs").nth(1).unwrap();
        let bundle = flowmend::bundle::Bundle::read(&filled.db.path("b")).unwrap();
        for run in bundle.plan.instances() {
            assert_eq!(appendix.matches(&format!("\n| {run} |")).count(), 1, "{server:?} run {run}: {appendix}");
        }
        assert!(appendix.contains("task 5: 1 RUNNING_EXECUTION → 6 FAILURE"), "{server:?}: {appendix}");
        assert!(!ticket.contains("```flowmend"), "a code block begins on a line of its own: {ticket}");
    }
}

/// Runs and tasks are counted apart, also in what is found.
#[test]
fn runs_and_tasks_are_told_apart() {
    let mut f = Fixture::new(Server::Sqlite, "3.1.9").unwrap();
    f.run("1", "4", "10.0.0.9", &[]).task("11", "1", "t", "1", "1");
    let filled = f.database();
    let seen = filled.inspect(&["--dead-owner", "10.0.0.9"]);
    assert!(seen.contains("stop-stuck (zombie-tasks): 1 run, 1 task"), "{seen}");
    assert!(seen.contains("run: 1 wf") && seen.contains("task: 11 t"), "{seen}");
    assert!(seen.contains("said or shown to be dead"), "{seen}");
    filled.plan("zombie-tasks", "b", &["--dead-owner", "10.0.0.9", "--choose", "finish"]).expect(0);
    let ticket = ticket(&filled, "b");
    assert!(ticket.contains("| runs being stopped that no master stops any more | 1 run, 1 task |"), "{ticket}");
}

/// A parent on a living master feels the end of its sub-workflow: it is named.
#[test]
fn a_parent_that_goes_on_is_named() {
    for server in Server::available("compose") {
        let mut f = Fixture::new(server, "3.1.9").unwrap();
        f.run("1", "1", "10.0.0.7", &[]).task("1", "1", "sub", "1", "1");
        f.run("2", "1", "10.0.0.9", &[("is_sub", "1")]).relation("1", "1", "2").task("2", "2", "work", "1", "1");
        let filled = f.database();
        let planned = filled.plan("zombie-tasks", "b", &["--dead-owner", "10.0.0.9", "--choose", "finish"]).expect(0);
        let words = "Run 1 (wf) on 10.0.0.7:5678 is active and not written: it is the parent of sub-workflow 2";
        assert!(first_page(&ticket(&filled, "b")).contains(words), "{server:?}: {}", ticket(&filled, "b"));
        let shown = planned.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(words), "{server:?}: {}", planned.out);
    }
}

/// What the screen warns of when runs are left to the masters, the ticket says, too.
#[test]
fn the_warnings_of_resume_are_in_the_ticket() {
    let mut f = Fixture::new(Server::Sqlite, "3.1.9").unwrap();
    f.run("1", "1", "10.0.0.9", &[]).task("11", "1", "t", "1", "1");
    f.run("2", "4", "10.0.0.9", &[]).task("12", "2", "t", "1", "1");
    f.run("3", "6", "10.0.0.9", &[]).task("13", "3", "t", "1", "1");
    let filled = f.database();
    let dead = ["--dead-owner", "10.0.0.9"];
    let asked = filled.plan("zombie-tasks", "a", &dead).expect(2);
    assert!(asked.err.contains("give --children finish|keep and --waiters"), "{}", asked.err);
    let wide: Vec<&str> = asked.err.lines().filter(|l| l.starts_with("    ") && l.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    let screen = asked.err.split_whitespace().collect::<Vec<_>>().join(" ");
    filled.plan("zombie-tasks", "b", &[&dead[..], &["--choose", "resume"]].concat()).expect(0);
    let ticket = ticket(&filled, "b");
    for words in ["A task that holds the last slot", "a stop may hang on", "Runs that were running are taken over"] {
        assert!(screen.contains(words) && ticket.contains(words), "`{words}`\n{}\n{ticket}", asked.err);
    }
}

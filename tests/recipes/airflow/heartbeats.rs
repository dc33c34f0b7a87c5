//! `--dead-owner heartbeat`: hosts that the jobs and the tasks show dead, each with its own limit.

use super::{Night, OLD, tasks};
use crate::live::heartbeats::Beating;
use crate::support::db::{Server, TestDb};
use crate::support::fixture::manifest_of;
use crate::support::program::{flowmend, sealed};

/// Tasks on a dead host, on a living one, on one whose task is silent but whose scheduler lives,
/// and on one that has been silent for less than a task may be.
fn hosts(release: &str) -> (TestDb, &'static str) {
    let m = manifest_of("airflow", release);
    let own_beat = m.has("task_instance.beat");
    let mut night = Night::new(Server::Sqlite, &m);
    night.dag("d", true).run("d/r", "running", &[]);
    for (id, kind, host) in [
        ("1", "SchedulerJob", "scheduler"),
        ("2", "LocalTaskJob", "dead"),
        ("3", "LocalTaskJob", "living"),
        ("4", "LocalTaskJob", "both"),
        ("5", "SchedulerJob", "both"),
        ("6", "LocalTaskJob", "young"),
    ] {
        if own_beat && kind == "LocalTaskJob" {
            continue;
        }
        let values =
            [("id", id), ("type", kind), ("state", "running"), ("beat", OLD), ("start_time", OLD), ("host", host)];
        night.rows.add("job", &values.map(|(name, value)| (name, Some(value))));
    }
    for (host, job) in [("both", "4"), ("dead", "2"), ("living", "3"), ("young", "6")] {
        let values = [("start_time", Some(OLD)), ("host", Some(host)), ("job_id", Some(job)), ("beat", Some(OLD))];
        night.task("d/r", host, Some("running"), &values);
    }
    let db = night.done();
    let (table, column) = if own_beat { ("task_instance", "last_heartbeat_at") } else { ("job", "latest_heartbeat") };
    let ago = |host: &str, seconds: u32| {
        db.exec(&format!(
            "UPDATE {table} SET {column} = strftime('%Y-%m-%d %H:%M:%f', 'now', '-{seconds} seconds') WHERE hostname = '{host}'"
        ));
    };
    ago("dead", 900);
    ago("both", 900);
    ago("young", 100);
    let beat = if own_beat {
        "UPDATE task_instance SET last_heartbeat_at = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE hostname = 'living'; UPDATE job SET latest_heartbeat = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE hostname = 'both'"
    } else {
        "UPDATE job SET latest_heartbeat = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE id IN (3, 5)"
    };
    (db, beat)
}

#[test]
fn jobs_and_tasks_show_which_hosts_are_dead() {
    for (release, list) in [("2.10.5", "the jobs of task supervisors and backfills"), ("3.1.8", "the tasks that run")] {
        let (db, beat) = hosts(release);
        let out = db.path("b").display().to_string();
        let place = ["--url", &db.url, "--release", release, "--dead-owner", "heartbeat", "--choose", "finish"];
        let plan = [&["plan", "zombie-tasks"], &place[..], &["--out", &out]].concat();
        let still = flowmend(plan.clone()).expect(4);
        assert!(still.err.contains("nothing in this database beats"), "{release}: {}", still.err);
        assert!(still.err.contains("--dead-owner HOST[@TIME]") && !still.err.contains("registry"), "{}", still.err);
        let beating = Beating::with(&db, beat);
        flowmend(plan).expect(0);
        let ticket = std::fs::read_to_string(db.path("b").join("TICKET.md")).unwrap();
        let ticket = ticket.split_whitespace().collect::<Vec<_>>().join(" ");
        let proof = ticket.find("dead: shown by the heartbeats in this database: its last heartbeat is");
        let proof = &ticket[proof.unwrap_or_else(|| panic!("{release}: {ticket}"))..];
        assert!(proof.contains(&format!("older than the newest in {list}, which gives up after 300 s")), "{proof}");
        sealed("apply", &db, "b", &[]).expect(0);
        drop(beating);
        let expected = ["both: running", "dead: failed", "living: running", "young: running"];
        assert_eq!(tasks(&db, &["state"]), expected, "{release}");
    }
}

/// A clock that is ahead: the silent host's last beat lies after the moment of the plan. What
/// could not be applied is not planned.
#[test]
fn a_beat_to_come_is_left_out_though_others_show_the_host_dead() {
    for release in ["2.10.5", "3.1.8"] {
        let (db, beat) = hosts(release);
        for (table, column) in [("job", "latest_heartbeat"), ("task_instance", "last_heartbeat_at")] {
            if db.columns(table).iter().any(|c| c == column) {
                db.exec(&format!(
                    "UPDATE {table} SET {column} = strftime('%Y-%m-%d %H:%M:%f', {column}, '+1 hour') WHERE {column} > '2026-11-02'"
                ));
            }
        }
        let _beating = Beating::with(&db, &beat.replace("'now'", "'now', '+1 hour'"));
        let told = ["--url", &db.url, "--release", release, "--dead-owner", "heartbeat", "--choose", "finish"];
        let run = flowmend([&["plan", "zombie-tasks", "--out", "/nowhere/b"], &told[..]].concat()).expect(4);
        assert!(run.out.contains("(owner-may-live)"), "{release}: {}{}", run.out, run.err);
    }
}

/// Where several releases fit, their heartbeats are the same: they are watched once for all.
#[test]
fn generations_that_look_alike_are_watched_once() {
    let (db, beat) = hosts("2.7.1");
    let _beating = Beating::with(&db, beat);
    let run = flowmend(["inspect", "--url", &db.url, "--dead-owner", "heartbeat"]);
    assert!(run.out.contains("these releases look alike"), "{}{}", run.out, run.err);
    assert!(run.out.contains("said or shown to be dead"), "{}", run.out);
    assert_eq!(run.err.matches("watching the heartbeats").count(), 1, "{}", run.err);
}

/// Who owns the rows is said in words that fit: no port, no registry, nobody called NULL.
#[test]
fn owners_are_named_as_they_can_be_claimed() {
    let m = manifest_of("airflow", "2.10.5");
    let mut night = Night::new(Server::Sqlite, &m);
    night.dag("d", true).run("d/r", "running", &[]).job("1", "SchedulerJob", "running", OLD);
    night.task("d/r", "queued", Some("queued"), &[("queued_at", Some(OLD))]);
    let nobody = night.done();
    let said = |db: &TestDb| {
        let run = flowmend(["plan", "zombie-tasks", "--url", &db.url, "--release", "2.10.5", "--out", "/nowhere/b"]);
        run.expect(4).err
    };
    let told = said(&nobody);
    assert!(told.contains("1 task left out because nothing proves them dead, and no row names an owner"), "{told}");
    nobody.exec("INSERT INTO task_instance (dag_id, task_id, run_id, map_index, state, pool, pool_slots, hostname, custom_operator_name, start_date) VALUES ('d', 'ran', 'r', -1, 'running', 'p', 1, 'h1', '', '2026-11-01 10:00:00')");
    let told = said(&nobody);
    assert!(
        told.contains(
            "2 tasks left out because nothing proves them dead, and the owners may be alive: h1; some rows name none"
        ),
        "{told}"
    );
    assert!(told.contains("give --older-than DURATION") && told.contains("--dead-owner HOST"), "{told}");
    let seen = flowmend(["inspect", "--url", &nobody.url, "--release", "2.10.5"]).out;
    assert!(seen.contains("last heartbeat ") && !seen.contains("registry"), "{seen}");
}

/// Tasks whose heartbeats stand still are no health though nothing is proved, and tasks that beat are.
#[test]
fn tasks_of_silent_hosts_are_no_health() {
    let m = manifest_of("airflow", "3.1.8");
    let mut night = Night::new(Server::Sqlite, &m);
    night.dag("d", true).run("d/r", "running", &[]);
    for (task, host, beat) in [("a", "w1", "2026-11-03 09:59:57"), ("b", "w2", "2026-11-03 09:59:59")] {
        night.task(
            "d/r",
            task,
            Some("running"),
            &[("start_time", Some(OLD)), ("host", Some(host)), ("beat", Some(beat))],
        );
    }
    let db = night.done();
    db.exec("UPDATE dag_run SET conf = '{}'");
    let inspect = |now: &str| flowmend(["inspect", "--url", &db.url, "--release", "3.1.8", "--now", now]);
    let busy = inspect("2026-11-03T10:00:00Z").expect(0);
    assert!(busy.out.contains("last heartbeat"), "{}", busy.out);
    db.exec("UPDATE task_instance SET last_heartbeat_at = '2026-11-02 13:00:00' WHERE hostname = 'w1'");
    let silent = inspect("2026-11-03T10:00:00Z").expect(1);
    let said = silent.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("silent owners: 1 row waits for a proof of death w1:"), "{said}");
    assert!(said.contains("2026-11-02 13:00:00 (21 h ago)"), "{said}");
}

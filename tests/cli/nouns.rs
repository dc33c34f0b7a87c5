//! What is counted is what is meant: tasks where tasks wait, jobs where jobs are undone.

use crate::support::db::{Server, TestDb};
use crate::support::demos::{Demo, demos};
use crate::support::program::flowmend;

fn demo(name: &str) -> Demo {
    demos().into_iter().find(|demo| demo.name == name).unwrap()
}

/// A run with three mapped tasks, two of them running and one queued.
fn mapped() -> (TestDb, Demo) {
    let demo = demo("airflow");
    let db = demo.database(Server::Sqlite);
    for (index, state) in [("1", "running"), ("2", "queued")] {
        let changed = |c: String| match c.as_str() {
            "map_index" => index.to_owned(),
            "state" => format!("'{state}'"),
            _ => format!("\"{c}\""),
        };
        let columns = db.columns("task_instance");
        let (names, values): (Vec<_>, Vec<_>) = columns.into_iter().map(|c| (format!("\"{c}\""), changed(c))).collect();
        let (names, values) = (names.join(", "), values.join(", "));
        let of = "dag_id = 'billing' AND task_id = 'send_invoices' AND map_index = -1";
        db.exec(&format!("INSERT INTO task_instance ({names}) SELECT {values} FROM task_instance WHERE {of}"));
    }
    db.exec("UPDATE task_instance SET map_index = 0 WHERE task_id = 'send_invoices' AND map_index = -1");
    (db, demo)
}

#[test]
fn a_choice_counts_the_tasks_that_wait_for_it() {
    let (db, demo) = mapped();
    let said = ["--url", &db.url, "--now", &demo.now, "--zone", "UTC", "--older-than", "30m", "--dag", "billing"];
    let asked = flowmend([&["plan", "zombie-tasks"], &said[..]].concat()).expect(2);
    assert!(asked.err.contains("3 tasks would be taken up"), "{}", asked.err);
}

/// Keys of several columns differ at their ends.
#[test]
fn each_mapped_task_is_told_apart() {
    let (db, demo) = mapped();
    let said = ["--url", &db.url, "--now", &demo.now, "--zone", "UTC", "--older-than", "30m", "--dag", "billing"];
    let report = flowmend([&["inspect", "--explain"], &said[..]].concat()).expect(1).out;
    for index in 0..3 {
        // Its name says it all: no key stands before it.
        assert!(report.contains(&format!("send_invoices[{index}] is ")), "{index}: {report}");
        assert!(!report.contains(&format!("+00:00/{index}")), "{index}: {report}");
    }
}

/// The ticket of a story, and what its walk said.
fn walked(name: &str) -> (String, String) {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("kept");
    let walk = flowmend(["demo", name, "--keep", &kept.display().to_string()]).expect(0);
    (std::fs::read_to_string(kept.join("walked/TICKET.md")).unwrap(), walk.out)
}

#[test]
fn a_ticket_lists_jobs_where_jobs_are_undone() {
    let (ticket, out) = walked("quartz");
    for words in
        ["- Rows of 3 jobs: the appendix", "restores only whole jobs of which", "## Appendix: the jobs", "| job | what"]
    {
        assert!(ticket.contains(words), "{words}: {ticket}");
    }
    // What was deleted is put back, and not deleted again.
    let undone = out.split("\nrolled back: ").nth(1).unwrap().split("\n\n").next().unwrap().replace('\u{a0}', " ");
    assert!(undone.contains("put back") && undone.contains("restored") && !undone.contains("deleted"), "{undone}");
    let (ticket, _) = walked("airflow");
    assert!(ticket.contains("- Rows of 4 runs and 3 jobs: ") && ticket.contains("| run or job | what"), "{ticket}");
}

/// Parts that a plan leaves empty leave no hole, and no number stands there unexplained.
#[test]
fn a_ticket_has_no_gaps() {
    for demo in demos() {
        let (ticket, _) = walked(&demo.name);
        assert!(!ticket.contains("\n\n\n") && !ticket.contains(" \n"), "{}: {ticket}", demo.name);
        assert!(ticket.contains("Server version "), "{}: {ticket}", demo.name);
        assert!(ticket.contains("the stock client stops with `CHECK constraint failed"), "{}: {ticket}", demo.name);
    }
}

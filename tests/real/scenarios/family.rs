//! A parent with a sub-workflow, both running when the master dies.

use crate::real::api::Task;
use crate::real::cluster::Cluster;
use crate::real::damage::{Plain, plan, take};
use crate::real::watch::{becomes, begun, lines, pass, wait};

struct Family {
    child: Plain,
    parent_workflow: i64,
    parent: String,
    son: String,
}

impl Family {
    fn rows(&self) -> String {
        format!("process_definition_code IN ({}, {})", self.child.workflow, self.parent_workflow)
    }

    fn print(&self, c: &Cluster, when: &str) {
        c.print(when, &self.rows());
        let relation = ["id", "parent_process_instance_id", "parent_task_instance_id", "process_instance_id"];
        for line in c.show("t_ds_relation_process_instance", &relation, "1 = 1") {
            eprintln!("rel   {line}");
        }
        eprintln!("OBSERVED {when}: {:?}", lines(&self.child.marker));
    }
}

fn family(c: &Cluster, name: &str) -> Family {
    let child = Plain::new(c, name, "PARALLEL", 20);
    let sub = Task::Sub { name: "sub", workflow: child.workflow };
    let after = format!("echo after $(date +%s) >> {}", child.marker.display());
    let after = Task::Shell { name: "after", script: after, group: 0 };
    let parent_workflow = c.api.workflow(child.project, &format!("{name}-parent"), "PARALLEL", &[sub, after]);
    c.api.start(child.project, parent_workflow);
    wait(90, "the child's task begins", || begun(&child.marker) == 1);
    let parent = c.runs_of(parent_workflow).pop().unwrap();
    let son = c.runs_of(child.workflow).pop().unwrap();
    wait(20, "the child's task is seen", || c.task_states(&son) == ["1"]);
    c.kill(&["master"]);
    take(&child.marker, 2);
    let family = Family { child, parent_workflow, parent, son };
    family.print(c, "after kill -9 of the master");
    family
}

/// Closes a run and its tasks by hand, until there is a recipe for it.
fn close(c: &Cluster, run: &str) {
    c.db.exec(&format!(
        "UPDATE t_ds_task_instance SET state = 6, end_time = start_time WHERE process_instance_id = {run} AND state IN (0, 1, 12, 17)"
    ));
    c.db.exec(&format!(
        "UPDATE t_ds_process_instance SET state = 6, end_time = start_time WHERE id = {run} AND state = 1"
    ));
}

/// Child first, then the parent.
pub fn finish(c: &Cluster) {
    let f = family(c, "family-finish");
    let planned = plan(c, "family", &["--choose", "finish"]);
    eprintln!("flowmend plan zombie-tasks: code {}\n{}{}", planned.code, planned.out, planned.err);
    close(c, &f.son);
    close(c, &f.parent);
    c.up(&["master"]);
    pass(20);
    f.print(c, "20 s after the restart, both closed by SQL");
    assert_eq!((c.run_state(&f.son), c.run_state(&f.parent)), ("6".to_owned(), "6".to_owned()));
    assert_eq!(begun(&f.child.marker), 1);
    let said = c.api.execute(f.child.project, &f.parent, "START_FAILURE_TASK_PROCESS");
    let again = becomes(90, || c.run_state(&f.parent) == "7");
    f.print(c, "after 'run from failed' on the parent");
    eprintln!("OBSERVED run from failed: {said}; parent succeeded {again}");
}

/// Only the child is closed; the parent is left to the master.
pub fn child_only(c: &Cluster) {
    let f = family(c, "family-child");
    close(c, &f.son);
    c.up(&["master"]);
    let followed = becomes(90, || c.run_state(&f.parent) != "1");
    f.print(c, "after the restart, child closed by SQL");
    for line in c.master_says(&["ailover", "sub"]).iter().take(25) {
        eprintln!("log {line}");
    }
    eprintln!("OBSERVED the parent followed {followed}: {}", c.run_state(&f.parent));
}

/// Nothing is repaired.
pub fn resume(c: &Cluster) {
    let f = family(c, "family-resume");
    c.up(&["master"]);
    let ended = becomes(60, || c.run_state(&f.parent) != "1" && c.run_state(&f.son) != "1");
    f.print(c, "after the restart, nothing repaired");
    eprintln!("OBSERVED both ended {ended}: parent {}, child {}", c.run_state(&f.parent), c.run_state(&f.son));
}

//! A parent with a sub-workflow, both running when the master dies.

use crate::real::dolphinscheduler::api::Task;
use crate::real::dolphinscheduler::cluster::Cluster;
use crate::real::dolphinscheduler::damage::{Plain, repair, take};
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

    /// Whether the task after the sub-workflow ran.
    fn went_on(&self) -> bool {
        lines(&self.child.marker).iter().any(|line| line.starts_with("after"))
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

/// What a run and its tasks are at, in one look.
fn at(c: &Cluster, run: &str) -> (String, Vec<String>) {
    (c.run_state(run), c.task_states(run))
}

fn is(run: &str, tasks: &[&str]) -> (String, Vec<String>) {
    (run.to_owned(), tasks.iter().map(|t| (*t).to_owned()).collect())
}

/// The parent is run again from its failed task; the child, too.
fn again(c: &Cluster, f: &Family) {
    let before = begun(&f.child.marker);
    let said = c.api.execute(f.child.project, &f.parent, "START_FAILURE_TASK_PROCESS");
    assert_eq!(said["code"], 0, "{said}");
    let again = becomes(90, || c.run_state(&f.parent) == "7");
    f.print(c, "after 'run from failed' on the parent");
    assert!(again, "the parent succeeds");
    assert_eq!(begun(&f.child.marker), before + 1);
    assert!(f.went_on(), "the task after the sub-workflow ran");
}

/// Child, the parent's task, and the parent in one bundle.
pub fn finish(c: &Cluster) {
    let f = family(c, "family-finish");
    repair(c, "zombie-tasks", "family", &["--choose", "finish"]);
    let closed = (is("6", &["6"]), is("6", &["6"]));
    assert_eq!((at(c, &f.son), at(c, &f.parent)), closed);
    c.up(&["master"]);
    pass(20);
    f.print(c, "20 s after the restart");
    assert_eq!((at(c, &f.son), at(c, &f.parent)), closed, "both stay closed");
    assert_eq!((begun(&f.child.marker), f.went_on()), (1, false), "nothing ran twice, nothing went on");
    again(c, &f);
}

/// Only the child is closed; the parent is left to the master.
pub fn child_only(c: &Cluster) {
    let f = family(c, "family-child");
    repair(c, "zombie-tasks", "family-child", &["--choose", "finish", "--instance", &f.son]);
    f.print(c, "the child is closed");
    c.up(&["master"]);
    let followed = becomes(90, || c.run_state(&f.parent) != "1");
    f.print(c, "after the restart");
    for line in c.master_says(&["ailover", "sub"]).iter().take(25) {
        eprintln!("log {line}");
    }
    eprintln!("OBSERVED the parent followed {followed}: {}", c.run_state(&f.parent));
}

/// The child has failed; the parent's task is told, and the parent is left to the master.
pub fn told_failed(c: &Cluster) {
    let f = family(c, "family-failed");
    repair(c, "zombie-tasks", "family-failed", &["--choose", "finish", "--instance", &f.son]);
    repair(c, "sub-workflows", "family-failed-told", &["--choose", "resume"]);
    assert_eq!((at(c, &f.son), at(c, &f.parent)), (is("6", &["6"]), is("1", &["6"])));
    c.up(&["master"]);
    let ended = becomes(60, || c.run_state(&f.parent) != "1");
    f.print(c, "after the restart");
    assert!(ended, "the master ends the parent");
    assert_eq!(at(c, &f.parent), is("6", &["6"]));
    assert_eq!((begun(&f.child.marker), f.went_on()), (1, false));
    again(c, &f);
}

/// The child has succeeded, and its master died before the parent heard of it.
pub fn told_succeeded(c: &Cluster) {
    let f = family(c, "family-succeeded");
    let son = &f.son;
    c.exec(&format!(
        "UPDATE t_ds_task_instance SET state = 7, end_time = start_time WHERE process_instance_id = {son}"
    ));
    c.exec(&format!("UPDATE t_ds_process_instance SET state = 7, end_time = start_time WHERE id = {son}"));
    repair(c, "sub-workflows", "family-succeeded", &["--choose", "resume"]);
    assert_eq!((at(c, son), at(c, &f.parent)), (is("7", &["7"]), is("1", &["7"])));
    c.up(&["master"]);
    let ended = becomes(60, || c.run_state(&f.parent) != "1");
    f.print(c, "after the restart");
    assert!(ended, "the master ends the parent");
    assert_eq!(at(c, &f.parent), is("7", &["7", "7"]));
    assert_eq!((begun(&f.child.marker), f.went_on()), (1, true), "the child once, and the task after it");
}

/// The parent is over, its child is not.
pub fn orphan(c: &Cluster) {
    let f = family(c, "family-orphan");
    let parent = &f.parent;
    c.exec(&format!(
        "UPDATE t_ds_task_instance SET state = 9, end_time = start_time WHERE process_instance_id = {parent}"
    ));
    c.exec(&format!("UPDATE t_ds_process_instance SET state = 5, end_time = start_time WHERE id = {parent}"));
    repair(c, "sub-workflows", "family-orphan", &["--children", "finish"]);
    let closed = (is("5", &["9"]), is("5", &["9"]));
    assert_eq!((at(c, &f.son), at(c, parent)), closed);
    c.up(&["master"]);
    pass(20);
    f.print(c, "20 s after the restart");
    assert_eq!((at(c, &f.son), at(c, parent)), closed, "both stay closed");
    assert_eq!((begun(&f.child.marker), f.went_on()), (1, false));
    super::handover::next(c, &f.child);
}

/// Nothing is repaired.
pub fn resume(c: &Cluster) {
    let f = family(c, "family-resume");
    c.up(&["master"]);
    let ended = becomes(60, || c.run_state(&f.parent) != "1" && c.run_state(&f.son) != "1");
    f.print(c, "after the restart, nothing repaired");
    eprintln!("OBSERVED both ended {ended}: parent {}, child {}", c.run_state(&f.parent), c.run_state(&f.son));
}

/// Both were handed over, and both recovery commands are gone.
pub fn handed_over(c: &Cluster) {
    let f = family(c, "family-handed-over");
    let both = format!("id IN ({}, {})", f.parent, f.son);
    c.exec(&format!("UPDATE t_ds_process_instance SET {} WHERE {both}", c.release.hand_over));
    repair(c, "stranded-runs", "family-handed-over", &["--choose", "resume"]);
    f.print(c, "repaired");
    c.up(&["master"]);
    let ended = becomes(60, || c.run_state(&f.parent) == "7");
    f.print(c, "after the restart");
    assert!(ended, "the master takes both and ends them");
    assert_eq!((at(c, &f.son), at(c, &f.parent)), (is("7", c.release.anew), is("7", &["7", "7"])));
    assert_eq!((begun(&f.child.marker), f.went_on()), (2, true), "the child's task anew, and the task after it");
}

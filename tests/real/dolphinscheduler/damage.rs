//! What scenarios share: workflows to kill, and the program on what is left.

use std::path::{Path, PathBuf};

use super::api::Task;
use super::cluster::Cluster;
use crate::real::road;
use crate::real::watch::{begun, wait};
use crate::support::program::Run;

/// A script that writes down when it begins and ends, and takes as long as the
/// file `marker.seconds` says.
pub fn script(marker: &Path) -> String {
    let marker = marker.display();
    format!("echo begin $(date +%s) >> {marker}\nsleep $(cat {marker}.seconds)\necho end $(date +%s) >> {marker}\n")
}

/// How long tasks with this marker take from now on.
pub fn take(marker: &Path, seconds: u32) {
    std::fs::write(format!("{}.seconds", marker.display()), seconds.to_string()).unwrap();
}

/// A workflow with one task, and its marker.
pub struct Plain {
    pub project: i64,
    pub workflow: i64,
    pub marker: PathBuf,
}

impl Plain {
    pub fn new(c: &Cluster, name: &str, kind: &str, seconds: u32) -> Self {
        let (project, marker) = (c.api.project(name), c.marker(name));
        take(&marker, seconds);
        let task = Task::Shell { name: "a", script: script(&marker), group: 0 };
        let workflow = c.api.workflow(project, name, kind, &[task]);
        Self { project, workflow, marker }
    }

    /// Starts a run and waits until its task works.
    pub fn running(&self, c: &Cluster) -> String {
        let before = begun(&self.marker);
        let run = self.start(c);
        wait(60, "the task begins", || begun(&self.marker) > before && c.task_states(&run) == ["1"]);
        run
    }

    /// Starts a run and waits until it is there.
    pub fn start(&self, c: &Cluster) -> String {
        let before = c.runs_of(self.workflow).len();
        c.api.start(self.project, self.workflow);
        wait(60, "a run is there", || c.runs_of(self.workflow).len() > before);
        c.runs_of(self.workflow).pop().unwrap()
    }
}

/// Recipes that look at rows without an owner take no `--dead-owner`.
const OWNERLESS: [&str; 2] = ["serial-chain", "dead-commands"];

/// What every plan is told of an installation.
fn told(c: &Cluster, recipe: &str, extra: &[&str]) -> Vec<String> {
    let mut args = vec!["--zone", "+00:00", "--release", c.release.facts];
    let master = c.master();
    if !OWNERLESS.contains(&recipe) && !master.is_empty() {
        args.extend(["--dead-owner", &master]);
    }
    args.iter().chain(extra).map(|arg| (*arg).to_owned()).collect()
}

/// `flowmend plan` with a recipe, or `--all`, for the master of this installation.
pub fn plan(c: &Cluster, recipe: &str, bundle: &str, extra: &[&str]) -> Run {
    road::plan(&c.db, recipe, bundle, &told(c, recipe, extra))
}

/// The whole road: plan, rehearse, apply, verify.
pub fn repair(c: &Cluster, recipe: &str, bundle: &str, extra: &[&str]) {
    road::repair(&c.db, recipe, bundle, &told(c, recipe, extra));
}

/// The same while a master is up, who may change the rows again at once.
pub fn repair_live(c: &Cluster, recipe: &str, bundle: &str, extra: &[&str]) {
    road::repair_live(&c.db, recipe, bundle, &told(c, recipe, extra));
}

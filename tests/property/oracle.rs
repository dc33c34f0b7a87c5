//! The rules of the repair, stated again over the rows in memory.
//!
//! Written from the study of the scheduler (R1, R2, R2b, R5, R9, families as in
//! R11, and the serial queue), not from the recipe: where the two differ, one of them is wrong.

use std::collections::{BTreeMap, BTreeSet};

use flowmend::manifest::Manifest;

use super::ask::{Ask, Choose, Claim, Scope};
use super::era::Era;
use super::model::{Command, Model, NOW, Queue, Run, Task, Time, seconds, wall};

/// Role and id of a row → its new values by role column; a deleted row has none.
pub type Changes = BTreeMap<(&'static str, i64), BTreeMap<&'static str, String>>;

/// What a plan must be.
#[derive(Debug, PartialEq, Eq)]
pub enum Prediction {
    /// The operator must first choose between finish and resume.
    Choice,
    /// Exactly these rows; none of them: nothing is written.
    Rows(Changes),
}

/// Closing a child may leave its parent with nothing to wait for, so the rules
/// are asked again of what they made of the rows. Task groups come last.
pub fn predict(m: &Manifest, model: &Model, ask: &Ask) -> Prediction {
    let (mut model, mut all) = (model.clone(), Changes::new());
    loop {
        let Prediction::Rows(changes) = predict_once(m, &model, ask) else { return Prediction::Choice };
        if changes.is_empty() {
            break;
        }
        carry_out(&mut model, &changes);
        all.extend(changes);
    }
    let closed = all.keys().filter(|(role, _)| *role == "task_instance").map(|(_, id)| *id).collect();
    Oracle { era: Era::of(m), model: &model, ask }.queue(&closed, &mut all);
    Prediction::Rows(all)
}

fn carry_out(model: &mut Model, changes: &Changes) {
    for ((role, id), new) in changes {
        let number = |column: &str| new.get(column).map(|v| v.parse().unwrap());
        let end = new.get("end_time").map(|v| seconds(v));
        match *role {
            "task_instance" => {
                let task = model.tasks.iter_mut().find(|t| t.id == *id).unwrap();
                (task.state, task.end) = (number("state"), end);
            }
            "workflow_instance" => {
                let run = model.runs.iter_mut().find(|r| r.id == *id).unwrap();
                (run.state, run.end) = (number("state"), end);
            }
            "serial_command" => model.serial.retain(|s| s.id != *id),
            other => unreachable!("{other}"),
        }
    }
}

fn predict_once(m: &Manifest, model: &Model, ask: &Ask) -> Prediction {
    let oracle = Oracle { era: Era::of(m), model, ask };
    let runs = model.runs.iter().filter(|r| oracle.repairs(r)).map(|r| r.id).collect::<BTreeSet<_>>();
    // Nobody recovers a run that was being blocked, so there is nothing to choose.
    let waits = model.runs.iter().any(|r| runs.contains(&r.id) && oracle.is_active(r) && r.state != Some(15));
    if waits && ask.choose == Choose::Silent {
        return Prediction::Choice;
    }
    let mut changes = Changes::new();
    oracle.tasks(&runs, &mut changes);
    oracle.runs(&runs, &mut changes);
    oracle.serial(&runs, &mut changes);
    Prediction::Rows(changes)
}

struct Oracle<'a> {
    era: Era,
    model: &'a Model,
    ask: &'a Ask,
}

impl Oracle<'_> {
    /// Whether a run's tasks, or the run itself, are repaired.
    fn repairs(&self, run: &Run) -> bool {
        let Some(state) = run.state else { return false };
        let readable = |s: i64| self.era.is_unfinished(s) || self.era.is_finished(s);
        let tasks_known = self.valid(run.id).all(|t| t.state.is_some_and(readable));
        let free = !self.has_command(run.id) && !self.waits_for_child(run.id);
        if !tasks_known || !free || !self.in_scope(run.id) || !self.old_enough(run) {
            return false;
        }
        if self.era.run_finished().contains(&state) {
            return self.unfinished(run.id).next().is_some();
        }
        self.is_active(run)
            && (self.ask.choose != Choose::Resume || state == 15)
            && !self.is_handed_over(run)
            && self.is_proved_dead(run)
            && !self.is_its_own_ancestor(run.id)
            && !self.is_missed_by_a_parent(run.id)
            && !self.is_kept(run.id)
            && self.is_stuck(run, state)
    }

    /// R5, R2 and R2b.
    fn is_stuck(&self, run: &Run, state: i64) -> bool {
        let unfinished = self.unfinished(run.id).next().is_some();
        match state {
            2 | 4 | 15 => true,
            1 if !unfinished => self.valid(run.id).next().is_some(),
            _ => unfinished && self.era.closes_with_tasks().contains(&state),
        }
    }

    fn valid(&self, run: i64) -> impl Iterator<Item = &Task> {
        self.model.tasks.iter().filter(move |t| t.run == run && t.flag == Some(1))
    }

    fn unfinished(&self, run: i64) -> impl Iterator<Item = &Task> {
        self.valid(run).filter(|t| self.is_unfinished(t))
    }

    fn is_unfinished(&self, task: &Task) -> bool {
        task.state.is_some_and(|s| self.era.is_unfinished(s))
    }

    fn is_active(&self, run: &Run) -> bool {
        run.state.is_some_and(|s| self.era.run_active().contains(&s))
    }

    fn is_handed_over(&self, run: &Run) -> bool {
        let marked = self.era.handed_host().is_some_and(|marker| run.host.as_deref() == Some(marker));
        marked || self.era.handed_state().is_some_and(|s| run.state == Some(s))
    }

    fn has_command(&self, run: i64) -> bool {
        self.model.commands.iter().any(|c| match self.era.command_in_column() {
            true => c.run == Some(run),
            false => names_run(c, run),
        })
    }

    /// Parent and child of every link.
    fn links(&self) -> impl Iterator<Item = (i64, i64)> {
        let plain = self.model.relations.iter().filter(|(_, _, child)| *child != 0).map(|(p, _, c)| (*p, *c));
        let dynamic = self.model.sub_relations.iter().filter(|_| self.era.has_dynamic_tasks());
        plain.chain(dynamic.map(|(p, _, c)| (*p, *c)))
    }

    fn is_open(&self, run: &Run) -> bool {
        !run.state.is_some_and(|s| self.era.run_finished().contains(&s))
    }

    /// The children of a task that exist.
    fn children(&self, task: &Task) -> impl Iterator<Item = &Run> {
        let (id, run, code) = (task.id, task.run, task.code);
        let plain = self.model.relations.iter().filter(move |(_, t, _)| *t == id).map(|(_, _, c)| *c);
        let dynamic = self.model.sub_relations.iter().filter(|_| self.era.has_dynamic_tasks());
        let dynamic = dynamic.filter(move |(p, t, _)| *p == run && *t == code).map(|(_, _, c)| *c);
        plain.chain(dynamic).filter_map(|child| self.model.runs.iter().find(|r| r.id == child))
    }

    /// A child must be closed before the task that waits for it.
    fn waits_for_child(&self, run: i64) -> bool {
        let to_come = |task: &Task| {
            let announced = self.model.relations.iter().any(|(_, t, child)| *t == task.id && *child == 0);
            self.era.child_comes_by_command()
                && announced
                && self.model.commands.iter().any(|c| names(c, &["parentTaskInstanceId"], task.id))
        };
        self.unfinished(run).any(|t| self.children(t).any(|c| self.is_open(c)) || to_come(t))
    }

    fn is_its_own_ancestor(&self, run: i64) -> bool {
        let (mut above, mut more) = (BTreeSet::new(), vec![run]);
        while let Some(child) = more.pop() {
            more.extend(self.links().filter(|(_, c)| *c == child).map(|(p, _)| p).filter(|p| above.insert(*p)));
        }
        above.contains(&run)
    }

    /// A living parent of these releases waits for an event that SQL does not send.
    fn is_missed_by_a_parent(&self, run: i64) -> bool {
        let parents = self.links().filter(|(_, c)| *c == run).map(|(p, _)| p).collect::<BTreeSet<_>>();
        let lives = |p: &Run| self.is_open(p) && !self.is_handed_over(p) && !self.is_proved_dead(p);
        !self.era.parents_watch_children() && self.model.runs.iter().any(|p| parents.contains(&p.id) && lives(p))
    }

    /// Every parent is over.
    fn outlived_its_parents(&self, run: i64) -> bool {
        let parents = self.links().filter(|(_, c)| *c == run).map(|(p, _)| p).collect::<BTreeSet<_>>();
        let mut there = self.model.runs.iter().filter(|r| parents.contains(&r.id)).peekable();
        there.peek().is_some() && there.all(|p| !self.is_open(p))
    }

    /// A run that outlived its parents is kept, as these tests ask, and with it all below it.
    fn is_kept(&self, run: i64) -> bool {
        let first = self.model.runs.iter().filter(|r| self.is_open(r) && self.outlived_its_parents(r.id));
        let (mut more, mut kept) = (first.map(|r| r.id).collect::<Vec<_>>(), BTreeSet::new());
        while let Some(parent) = more.pop() {
            if kept.insert(parent) {
                more.extend(self.links().filter(|(p, _)| *p == parent).map(|(_, c)| c));
            }
        }
        kept.contains(&run)
    }

    /// The newest child's word on the task's end.
    fn says_child(&self, task: &Task) -> Option<i64> {
        let (_, _, child) = self.model.relations.iter().rfind(|(_, t, _)| *t == task.id)?;
        self.era.says_of_child(self.model.runs.iter().find(|r| r.id == *child)?.state?)
    }

    fn restarted(&self, run: &Run) -> Time {
        if self.era.has_restart_time() { run.restart } else { None }
    }

    /// A master is dead when somebody says so of its address.
    fn is_proved_dead(&self, run: &Run) -> bool {
        // A run that names nobody is covered only by the word that all are dead.
        let host = run.host.as_deref().unwrap_or_default();
        let began = self.restarted(run).or(run.start);
        self.ask.claims.iter().any(|claim| {
            (claim.host == "*" || !host.is_empty() && speaks_of(claim, host))
                && claim.before.is_none_or(|t| began.is_some_and(|b| b < t))
        })
    }

    fn old_enough(&self, run: &Run) -> bool {
        let Some(cutoff) = self.ask.cutoff() else { return true };
        let old = |time: Time| time.is_some_and(|t| t < cutoff);
        let tasks = self.unfinished(run.id).all(|t| old(t.start.or(t.submit).or(run.start)));
        let itself = !self.is_active(run) || (old(run.start) && self.restarted(run).is_none_or(|t| t < cutoff));
        tasks && itself
    }

    fn in_scope(&self, run: i64) -> bool {
        let definition = || {
            let code = self.model.runs.iter().find(|r| r.id == run)?.definition;
            self.model.definitions.iter().position(|d| d.code == code)
        };
        match &self.ask.scope {
            Scope::All => true,
            Scope::Runs(runs) => runs.contains(&run) && self.model.runs.iter().any(|r| r.id == run),
            Scope::Workflow(at, _) => definition() == Some(*at),
            Scope::Project(at, _) => {
                let project = super::model::PROJECTS[*at].0;
                definition().is_some_and(|d| self.model.definitions[d].project == project)
            }
        }
    }

    /// END of a run: the newest end of its valid tasks, else the cut-off.
    fn known_end(&self, run: i64) -> Time {
        self.valid(run).filter_map(|t| t.end).max().or_else(|| self.ask.cutoff())
    }

    fn tasks(&self, runs: &BTreeSet<i64>, changes: &mut Changes) {
        for run in self.model.runs.iter().filter(|r| runs.contains(&r.id)) {
            let state = match run.state {
                Some(4 | 5) => 9,
                Some(2) if self.era.pause_ends_killed() => 9,
                Some(2) => 3,
                _ if self.ask.killed => 9,
                _ => 6,
            };
            for task in self.unfinished(run.id) {
                let begun = task.start.or(task.submit);
                let newest = self.valid(run.id).filter_map(|t| t.end).max();
                let known = newest.or(run.end).or(self.ask.cutoff()).or(begun).or(run.start).unwrap_or(NOW);
                let end = task.end.unwrap_or(known.max(begun.unwrap_or(i64::MIN)));
                let state = self.says_child(task).filter(|_| self.is_active(run)).unwrap_or(state);
                changes
                    .insert(("task_instance", task.id), row(&[("state", state.to_string()), ("end_time", wall(end))]));
            }
        }
    }

    fn runs(&self, runs: &BTreeSet<i64>, changes: &mut Changes) {
        for run in self.model.runs.iter().filter(|r| runs.contains(&r.id) && self.is_active(r)) {
            let unfinished = self.unfinished(run.id).next().is_some();
            let state = match run.state {
                Some(4) if !unfinished && self.dag_is_done(run) => 7,
                Some(4) => 5,
                Some(2) if self.era.pause_ends_killed() => 5,
                Some(2) => 3,
                Some(15) => 16,
                _ if self.ask.killed && unfinished => 5,
                _ => 6,
            };
            let begun = self.unfinished(run.id).filter_map(|t| t.start.or(t.submit)).chain(run.start).max();
            let last = self.unfinished(run.id).filter_map(|t| t.start.or(t.submit)).max();
            let known = self.known_end(run.id).or(last).or(run.start).unwrap_or(NOW);
            let end = run.end.unwrap_or(known.max(begun.unwrap_or(i64::MIN)));
            let id = ("workflow_instance", run.id);
            changes.insert(id, row(&[("state", state.to_string()), ("end_time", wall(end))]));
        }
    }

    /// Every task of the run's definition succeeded; a definition that is not known is not done.
    fn dag_is_done(&self, run: &Run) -> bool {
        let succeeded = |t: &Task| t.state == Some(7) || (t.state == Some(13) && self.era.since("2.0.0"));
        let mut edges =
            self.model.edges.iter().filter(|(c, v, _)| *c == run.definition && *v == run.version).peekable();
        self.era.since("2.0.0")
            && edges.peek().is_some()
            && self.valid(run.id).all(succeeded)
            && edges.all(|(_, _, code)| self.valid(run.id).any(|t| t.code == *code))
    }

    /// From 3.4.0: the queue row of a run that SQL closes would block its line for ever.
    fn serial(&self, runs: &BTreeSet<i64>, changes: &mut Changes) {
        if !self.era.has_serial_queue() {
            return;
        }
        for run in self.model.runs.iter().filter(|r| runs.contains(&r.id) && self.is_active(r)) {
            for serial in self.model.serial.iter().filter(|s| s.run == run.id && s.definition == run.definition) {
                changes.insert(("serial_command", serial.id), BTreeMap::new());
            }
        }
    }

    /// R9 of the releases in which nobody else recounts. A plan that closes a task
    /// with a place in a group tidies up all groups in scope; another plan none.
    fn queue(&self, closed: &BTreeSet<i64>, changes: &mut Changes) {
        let holds = |q: &Queue| matches!(q.status, Some(-1 | 1)) && q.task.is_some_and(|t| closed.contains(&t));
        if !self.era.repairs_queue() || !self.model.queue.iter().any(holds) {
            return;
        }
        let mut released = BTreeSet::new();
        for q in self.model.queue.iter().filter(|q| matches!(q.status, Some(-1 | 1))) {
            if q.task.is_some_and(|t| closed.contains(&t)) || self.is_stale(q) {
                released.insert(q.id);
                let new = row(&[("status", "2".to_owned()), ("in_queue", "0".to_owned())]);
                changes.insert(("task_group_queue", q.id), new);
            } else if self.is_forgotten(q) {
                let new = row(&[("status", "-1".to_owned()), ("in_queue", "0".to_owned())]);
                changes.insert(("task_group_queue", q.id), new);
            }
        }
        for group in &self.model.groups {
            let of_group = || self.model.queue.iter().filter(|q| q.group == group.id);
            let holds = |q: &&Queue| q.status == Some(1) && q.force == Some(0) && !released.contains(&q.id);
            let held = i64::try_from(of_group().filter(holds).count()).unwrap();
            let touched = of_group().any(|q| released.contains(&q.id));
            if group.used != Some(held) && (self.ask.scope == Scope::All || touched) {
                changes.insert(("task_group", group.id), row(&[("used", held.to_string())]));
            }
        }
    }

    fn task_of(&self, q: &Queue) -> Option<&Task> {
        self.model.tasks.iter().find(|t| Some(t.id) == q.task)
    }

    fn run_of(&self, q: &Queue) -> Option<&Run> {
        let id = self.task_of(q).map(|t| t.run).or(q.run)?;
        self.model.runs.iter().find(|r| r.id == id)
    }

    /// A slot or a place in the line of a task that is gone, superseded or finished,
    /// and whose run no living master can still be about to tidy up.
    fn is_stale(&self, q: &Queue) -> bool {
        let over = match self.task_of(q) {
            None => true,
            Some(t) if t.flag == Some(0) => true,
            Some(t) => {
                let finished = t.state.is_some_and(|s| self.era.is_finished(s));
                let cutoff = self.ask.cutoff().unwrap_or(i64::MAX);
                finished && t.end.is_none_or(|end| end <= cutoff)
            }
        };
        let scoped = self.ask.scope == Scope::All || self.run_of(q).is_some_and(|r| self.in_scope(r.id));
        let free = self.run_of(q).is_none_or(|r| {
            let over = r.state.is_some_and(|s| self.era.run_finished().contains(&s));
            over || (!self.has_command(r.id) && !self.is_handed_over(r) && self.is_proved_dead(r))
        });
        over && scoped && free
    }

    /// Called once and never answered, while its task is still wanted. Only an age shows it.
    fn is_forgotten(&self, q: &Queue) -> bool {
        let Some(cutoff) = self.ask.cutoff() else { return false };
        let wanted = self
            .task_of(q)
            .is_some_and(|t| t.flag == Some(1) && t.state.is_some_and(|s| self.era.task_active().contains(&s)));
        let going_on = self.run_of(q).is_some_and(|r| self.is_active(r));
        self.ask.scope == Scope::All
            && q.called() < cutoff
            && q.status == Some(-1)
            && q.in_queue == Some(1)
            && wanted
            && going_on
    }
}

fn speaks_of(claim: &Claim, host: &str) -> bool {
    match claim.port {
        _ if claim.host == "*" => true,
        Some(port) => host == format!("{}:{port}", claim.host),
        None => host == claim.host || host.strip_prefix(claim.host).is_some_and(|rest| rest.starts_with(':')),
    }
}

/// 1.x: the command's text names the run, as a number or as a text.
fn names_run(command: &Command, run: i64) -> bool {
    names(command, &["ProcessInstanceId", "WaittingThreadInstanceId", "processInstanceId"], run)
}

/// The command's text holds a number, as a number or as a text, under one of some keys.
fn names(command: &Command, keys: &[&str], number: i64) -> bool {
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(&command.param) else { return false };
    keys.iter().filter_map(|k| fields.get(*k)).any(|v| match v {
        serde_json::Value::Number(n) => n.as_i64() == Some(number),
        serde_json::Value::String(s) => *s == number.to_string(),
        _ => false,
    })
}

fn row(values: &[(&'static str, String)]) -> BTreeMap<&'static str, String> {
    values.iter().cloned().collect()
}

//! Looking at an installation while time passes.

use std::path::Path;
use std::time::{Duration, Instant};

use super::cluster::Cluster;

/// Waits until something is so; says what was awaited when it is not.
#[track_caller]
pub fn wait(seconds: u64, what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        if so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    panic!("not within {seconds} s: {what}");
}

/// The same without a panic: whether it became so.
pub fn becomes(seconds: u64, mut so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        if so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    false
}

/// Lets time pass.
pub fn pass(seconds: u64) {
    std::thread::sleep(Duration::from_secs(seconds));
}

/// The lines of a marker file: what the tasks did.
pub fn lines(file: &Path) -> Vec<String> {
    std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// How often tasks began.
pub fn begun(file: &Path) -> usize {
    lines(file).iter().filter(|l| l.starts_with("begin")).count()
}

/// How often tasks ended.
pub fn ended(file: &Path) -> usize {
    lines(file).iter().filter(|l| l.starts_with("end")).count()
}

impl Cluster {
    /// The first column of the first row.
    pub fn one(&self, sql: &str) -> String {
        self.db.value(&self.release.say(sql)).unwrap_or_default()
    }

    /// Rows of a query.
    fn rows(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        self.db.rows(&self.release.say(sql))
    }

    /// Writes something, as a failover or a user would have done.
    pub fn exec(&self, sql: &str) {
        self.db.exec(&self.release.say(sql));
    }

    /// Runs of a workflow, oldest first.
    pub fn runs_of(&self, workflow: i64) -> Vec<String> {
        let sql = format!(
            "SELECT id FROM t_ds_process_instance WHERE process_definition_code = {workflow} ORDER BY t_ds_process_instance.id"
        );
        self.rows(&self.text(&sql, "id")).into_iter().map(|r| r[0].clone().unwrap()).collect()
    }

    /// Wraps a number as text, which is what rows are read as.
    fn text(&self, sql: &str, column: &str) -> String {
        sql.replacen(column, &self.db.server.dialect().as_text(column), 1)
    }

    pub fn run_state(&self, run: &str) -> String {
        self.one(&self.text(&format!("SELECT state FROM t_ds_process_instance WHERE id = {run}"), "state"))
    }

    /// The states of a run's tasks, by number.
    pub fn task_states(&self, run: &str) -> Vec<String> {
        let sql = format!(
            "SELECT state FROM t_ds_task_instance WHERE process_instance_id = {run} ORDER BY t_ds_task_instance.id"
        );
        self.rows(&self.text(&sql, "state")).into_iter().map(|r| r[0].clone().unwrap_or_default()).collect()
    }

    pub fn count(&self, table: &str, condition: &str) -> u32 {
        let d = self.db.server.dialect();
        self.one(&format!("SELECT {} FROM {table} WHERE {condition}", d.as_text("COUNT(*)"))).parse().unwrap()
    }

    /// Some rows of a table, as lines.
    pub fn show(&self, table: &str, columns: &[&str], condition: &str) -> Vec<String> {
        let d = self.db.server.dialect();
        let shown: Vec<String> = columns.iter().map(|c| d.as_text(c)).collect();
        let rows =
            self.rows(&format!("SELECT {} FROM {table} WHERE {condition} ORDER BY {table}.id", shown.join(", ")));
        let cell = |(name, value): (&&str, Option<String>)| format!("{name}={}", value.as_deref().unwrap_or("∅"));
        rows.into_iter().map(|row| columns.iter().zip(row).map(cell).collect::<Vec<_>>().join(" ")).collect()
    }

    /// Prints everything that a scenario is about.
    pub fn print(&self, when: &str, condition_on_runs: &str) {
        eprintln!("--- {when}");
        let runs =
            ["id", "state", "host", "run_times", "recovery", "command_type", "start_time", "restart_time", "end_time"];
        for line in self.show("t_ds_process_instance", &runs, condition_on_runs) {
            eprintln!("run   {line}");
        }
        let tasks =
            ["id", "process_instance_id", "name", "state", "flag", "host", "retry_times", "start_time", "end_time"];
        let of = format!("process_instance_id IN (SELECT id FROM t_ds_process_instance WHERE {condition_on_runs})");
        for line in self.show("t_ds_task_instance", &tasks, &of) {
            eprintln!("task  {line}");
        }
        let commands = ["id", "command_type", "process_instance_id", "process_definition_version", "command_param"];
        for line in self.show("t_ds_command", &commands, "1 = 1") {
            eprintln!("cmd   {line}");
        }
        for line in self.show("t_ds_error_command", &["id", "command_type", "process_instance_id", "message"], "1 = 1")
        {
            eprintln!("error {line}");
        }
        if !self.release.groups {
            return;
        }
        let queue = ["id", "task_id", "process_id", "group_id", "status", "in_queue", "force_start"];
        for line in self.show("t_ds_task_group_queue", &queue, &of.replace("process_instance_id", "process_id")) {
            eprintln!("queue {line}");
        }
        for line in self.show("t_ds_task_group", &["id", "group_size", "use_size"], "use_size <> 0") {
            eprintln!("group {line}");
        }
    }
}

//! Looking into the database of an installation.

use super::cluster::Cluster;
use crate::real::rows;

impl Cluster {
    /// The first column of the first row.
    pub fn one(&self, sql: &str) -> String {
        rows::one(&self.db, &self.release.say(sql))
    }

    /// Writes something, as a failover or a user would have done.
    pub fn exec(&self, sql: &str) {
        self.db.exec(&self.release.say(sql));
    }

    /// One column of a table by number.
    fn column(&self, table: &str, column: &str, condition: &str) -> Vec<String> {
        let say = |text: &str| self.release.say(text);
        rows::column(&self.db, &say(table), &say(column), &say(condition), "id")
    }

    /// Runs of a workflow, oldest first.
    pub fn runs_of(&self, workflow: i64) -> Vec<String> {
        self.column("t_ds_process_instance", "id", &format!("process_definition_code = {workflow}"))
    }

    pub fn run_state(&self, run: &str) -> String {
        self.column("t_ds_process_instance", "state", &format!("id = {run}")).pop().unwrap_or_default()
    }

    /// The states of a run's tasks, by number.
    pub fn task_states(&self, run: &str) -> Vec<String> {
        self.column("t_ds_task_instance", "state", &format!("process_instance_id = {run}"))
    }

    pub fn count(&self, table: &str, condition: &str) -> u32 {
        rows::count(&self.db, &self.release.say(table), &self.release.say(condition))
    }

    /// Some rows of a table, as lines.
    pub fn show(&self, table: &str, columns: &[&str], condition: &str) -> Vec<String> {
        let said: Vec<String> = columns.iter().map(|c| self.release.say(c)).collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        rows::show(&self.db, &self.release.say(table), &said, &self.release.say(condition), "id")
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

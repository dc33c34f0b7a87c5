//! Words that a scheduler's code knows and its manifest does not say. A scheduler
//! without hints is tried all the same; with them its queries meet more rows.

/// Scheduler, role column, and what it may hold.
const COLUMNS: &[(&str, &str, &[&str])] = &[
    ("airflow", "dag_run.run_type", &["scheduled", "manual", "backfill", "dataset_triggered"]),
    ("airflow", "job.type", &["SchedulerJob", "TriggererJob", "LocalTaskJob"]),
    ("quartz", "lock.name", &["TRIGGER_ACCESS", "STATE_ACCESS"]),
    ("quartz", "trigger.type", &["SIMPLE", "CRON", "BLOB", "CAL_INT"]),
    ("xxl-job", "job.schedule", &["0 0 2 * * ?", "0 0 2", "30", "soon", ""]),
    ("xxl-job", "job.schedule_type", &["NONE", "CRON", "FIX_RATE"]),
    ("xxl-job", "lock.lock_name", &["schedule_lock", "other_lock"]),
];

/// Scheduler, parameter, and what the operator may say.
const PARAMETERS: &[(&str, &str, &[&str])] = &[("quartz", "next-fire-time", &["1800000000000"])];

/// What a role column may hold.
pub fn column(scheduler: &str, role_column: &str) -> Option<&'static [&'static str]> {
    find(COLUMNS, scheduler, role_column)
}

/// What may be said for a parameter.
pub fn parameter(scheduler: &str, name: &str) -> Option<&'static [&'static str]> {
    find(PARAMETERS, scheduler, name)
}

type Hint = (&'static str, &'static str, &'static [&'static str]);

fn find(hints: &[Hint], scheduler: &str, name: &str) -> Option<&'static [&'static str]> {
    hints.iter().find(|h| h.0 == scheduler && h.1 == name).map(|h| h.2)
}

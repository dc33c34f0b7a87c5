//! xuxueli/xxl-job#837, #877, and a home-made sweeper of apache/airflow#58307: SQL that was written for
//! one release names tables and columns that another lacks.

use flowmend::manifest::{Engine, Manifest, Manifests};

use crate::support::db::{Server, TestDb};
use crate::support::program::flowmend;

/// Scheduler, what a script names, and the releases that have it.
const NAMES: [(&str, &str, &[&str]); 11] = [
    ("xxl-job", "XXL_JOB_QRTZ_TRIGGER_LOG", &["1.8.2", "2.0.1", "2.0.2"]),
    ("xxl-job", "XXL_JOB_QRTZ_TRIGGER_LOG.alarm_status", &["2.0.2"]),
    ("xxl-job", "xxl_job_log.alarm_status", &["2.1.0", "2.3.1", "2.4.2", "3.4.2"]),
    ("xxl-job", "xxl_job_info.job_cron", &["2.1.0"]),
    ("xxl-job", "xxl_job_info.schedule_conf", &["2.3.1", "2.4.2", "3.4.2"]),
    ("airflow", "task_instance.job_id", &["1.10.15", "2.2.5", "2.10.5"]),
    ("airflow", "task_instance.last_heartbeat_at", &["3.0.6", "3.1.5", "3.3.2"]),
    ("airflow", "dag_run.execution_date", &["1.10.15", "2.2.5", "2.10.5"]),
    ("airflow", "dag_run.logical_date", &["3.0.6", "3.1.5", "3.3.2"]),
    ("quartz", "QRTZ_TRIGGERS.SCHED_NAME", &["2.0.2", "2.3.2", "2.5.2"]),
    ("quartz", "QRTZ_JOB_DETAILS.IS_STATEFUL", &["1.8.6"]),
];

fn releases(scheduler: &str) -> &'static [&'static str] {
    match scheduler {
        "xxl-job" => &["1.8.2", "2.0.1", "2.0.2", "2.1.0", "2.3.1", "2.4.2", "3.4.2"],
        "airflow" => &["1.10.15", "2.2.5", "2.10.5", "3.0.6", "3.1.5", "3.3.2"],
        _ => &["1.8.6", "2.0.2", "2.3.2", "2.5.2"],
    }
}

fn manifest(scheduler: &str, release: &str) -> Manifest {
    Manifests::load(None).unwrap().release(scheduler, release).unwrap().clone()
}

/// Table or column, in the letter case of the schema.
fn has(m: &Manifest, name: &str) -> bool {
    let (table, column) = name.split_once('.').unzip();
    let Some(table) = m.tables.get(table.unwrap_or(name)) else { return false };
    column.is_none_or(|column| table.columns_on(Engine::MySql).any(|c| c.name == column))
}

#[test]
fn a_name_belongs_to_the_releases_that_have_it() {
    let manifests = Manifests::load(None).unwrap();
    for (scheduler, name, with) in NAMES {
        for release in releases(scheduler) {
            let m = manifests.release(scheduler, release).unwrap();
            assert_eq!(has(m, name), with.contains(release), "{scheduler} {release}: {name}");
        }
    }
}

/// A release that the schema contradicts is refused, whoever names it.
#[test]
fn a_release_with_other_names_is_refused() {
    for (scheduler, schema, said) in [
        ("xxl-job", "2.0.1", "2.1.0"),
        ("xxl-job", "2.1.0", "2.0.1"),
        ("xxl-job", "2.1.0", "2.4.2"),
        ("xxl-job", "2.4.2", "2.1.0"),
        ("airflow", "2.10.5", "3.1.5"),
        ("airflow", "3.1.5", "2.10.5"),
        ("airflow", "3.0.6", "3.1.5"),
        ("quartz", "1.8.6", "2.3.2"),
        ("quartz", "2.3.2", "1.8.6"),
    ] {
        let db = TestDb::with_schema(Server::Sqlite, &manifest(scheduler, schema));
        let args = ["inspect", "--url", &db.url, "--zone", "+00:00", "--scheduler", scheduler, "--release", said];
        let run = flowmend(args);
        assert!([2, 4].contains(&run.code), "{scheduler} {schema} as {said}: {}\n{}", run.out, run.err);
        assert!(run.err.contains(said), "{scheduler} {schema} as {said}: {}", run.err);
    }
}

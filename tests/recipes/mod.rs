//! One recipe each: what it finds, writes, leaves alone and undoes, on every server and era.
mod airflow;
mod commands;
mod complete_dag;
mod compose;
mod duplicate_runs;
mod duplicate_tasks;
mod family;
mod fault_tolerance;
mod illegal_states;
mod serial_chain;
mod stranded_runs;
mod sub_workflows;
mod task_groups;
mod unstarted_tasks;
mod xxl_job;
mod zombie_tasks;

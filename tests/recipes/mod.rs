//! One recipe each: what it finds, writes, leaves alone and undoes, on every server and era.
mod commands;
mod duplicate_runs;
mod duplicate_tasks;
mod family;
mod fault_tolerance;
mod illegal_states;
mod sub_workflows;

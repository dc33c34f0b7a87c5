//! Cases from the field: public issues and pages, each with the right answer.

mod counts;
mod dumps;
mod interrupted_failover;
mod null_states;
mod old_names;
mod quartz;
mod ready_stop;
mod runbook;
mod site;
mod split_enum;
mod task_group_leak;
mod xxl_job;

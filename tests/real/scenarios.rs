//! The scenarios, by number and name.

use super::cluster::Cluster;

mod all;
mod alone;
mod commands;
mod family;
mod groups;
mod handover;
mod script;
mod serial;
mod stop;

/// A name, and what to do with an installation.
type Scenario = (&'static str, fn(&Cluster));

/// Every scenario.
pub const ALL: &[Scenario] = &[
    ("1-finish", alone::finish),
    ("2-resume", alone::resume),
    ("2-host-resume", alone::resume_host),
    ("3-stop-finish", stop::finish),
    ("3-stop-resume", stop::resume),
    ("4-group-finish-holder", groups::finish_holder),
    ("4-group-finish-both", groups::finish_both),
    ("4-group-resume", groups::resume),
    ("5-serial-wake", serial::wake),
    ("5-serial-newest", serial::newest),
    ("6-family-finish", family::finish),
    ("6-family-child", family::child_only),
    ("6-family-told-failed", family::told_failed),
    ("6-family-told-succeeded", family::told_succeeded),
    ("6-family-orphan", family::orphan),
    ("6-family-resume", family::resume),
    ("7-handover-resume", handover::resume),
    ("7-handover-marked", handover::resume_marked),
    ("7-handover-finish", handover::finish),
    ("8-commands-poison", commands::poison),
    ("8-commands-before", commands::before_start),
    ("9-script", script::hand_written),
    ("10-all", all::mixed),
];

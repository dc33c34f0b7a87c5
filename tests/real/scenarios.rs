//! The scenarios, by number and name.

use super::cluster::Cluster;

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
    ("5-serial", serial::chain),
    ("6-family-finish", family::finish),
    ("6-family-child", family::child_only),
    ("6-family-resume", family::resume),
    ("7-handover", handover::stranded),
    ("7-handover-marked", handover::marked),
    ("8-commands", commands::orphans_and_poison),
    ("9-script", script::hand_written),
];

//! The scenarios, by number and name.

use super::cluster::Cluster;
use super::releases::Release;

mod all;
mod alone;
mod commands;
mod family;
mod groups;
mod handover;
mod script;
mod serial;
mod stop;

/// A name, what to do with an installation, and whether a release has what it takes.
type Scenario = (&'static str, fn(&Cluster), fn(&Release) -> bool);

fn any(_: &Release) -> bool {
    true
}

fn groups(release: &Release) -> bool {
    release.groups
}

fn keeps_children(release: &Release) -> bool {
    release.keeps_children
}

fn starts_marked(release: &Release) -> bool {
    !release.anew.is_empty()
}

fn lines(release: &Release) -> bool {
    release.lines
}

/// Every scenario.
pub const ALL: &[Scenario] = &[
    ("1-finish", alone::finish, any),
    ("2-resume", alone::resume, any),
    ("2-host-resume", alone::resume_host, any),
    ("3-stop-finish", stop::finish, any),
    ("3-stop-resume", stop::resume, any),
    ("4-group-finish-holder", groups::finish_holder, groups),
    ("4-group-finish-both", groups::finish_both, groups),
    ("4-group-resume", groups::resume, groups),
    ("5-serial-wake", serial::wake, lines),
    ("5-serial-newest", serial::newest, lines),
    ("6-family-finish", family::finish, any),
    ("6-family-child", family::child_only, any),
    ("6-family-told-failed", family::told_failed, any),
    ("6-family-told-succeeded", family::told_succeeded, any),
    ("6-family-orphan", family::orphan, any),
    ("6-family-resume", family::resume, any),
    ("7-handover-resume", handover::resume, any),
    ("7-handover-marked", handover::resume_marked, starts_marked),
    ("7-handover-family", family::handed_over, keeps_children),
    ("7-handover-finish", handover::finish, any),
    ("8-commands-poison", commands::poison, any),
    ("8-commands-before", commands::before_start, any),
    ("9-script", script::hand_written, any),
    ("10-all", all::mixed, any),
];

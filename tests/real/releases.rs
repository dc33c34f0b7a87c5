//! What scenarios must know of a release.

/// One release. What it lacks is neither asked about nor tried.
pub struct Release {
    pub name: &'static str,
    /// Serial workflows, whose runs wait in line.
    pub lines: bool,
    /// Task groups.
    pub groups: bool,
    /// A new master adopts a task that still works; others start it anew.
    pub adopts: bool,
    /// Alerts about a run, which stands here as `{}`.
    pub alerts_of: &'static str,
}

/// Every release that there is a build of.
pub const ALL: &[Release] = &[
    Release {
        name: "2.0.9",
        lines: false,
        groups: false,
        adopts: false,
        alerts_of: "content LIKE '%\"processId\":{},%'",
    },
    Release { name: "3.1.9", lines: true, groups: true, adopts: false, alerts_of: "process_instance_id = {}" },
    Release { name: "3.2.2", lines: true, groups: true, adopts: true, alerts_of: "process_instance_id = {}" },
];

/// The release of this name.
pub fn named(name: &str) -> &'static Release {
    ALL.iter().find(|r| r.name == name).unwrap()
}

//! What scenarios must know of a release.

/// One release. What it lacks is neither asked about nor tried.
pub struct Release {
    pub name: &'static str,
    /// The release that flowmend is told.
    pub facts: &'static str,
    /// Serial workflows, whose runs wait in line.
    pub lines: bool,
    /// Task groups.
    pub groups: bool,
    /// A new master adopts a task that still works; others start it anew.
    pub adopts: bool,
    /// What a failover writes into a run that it hands over.
    pub hand_over: &'static str,
    /// Alerts about a run, which stands here as `{}`.
    pub alerts_of: &'static str,
    /// Words that took the place of older ones, in tables, columns, paths and forms.
    pub words: &'static [(&'static str, &'static str)],
}

impl Release {
    /// A statement, a path or a form of this release.
    pub fn say(&self, text: &str) -> String {
        self.words.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
    }
}

const MARK: &str = "host = 'NULL'";

/// Every release that there is a build of.
pub const ALL: &[Release] = &[
    Release {
        name: "2.0.9",
        facts: "2.0.9",
        lines: false,
        groups: false,
        adopts: true,
        hand_over: MARK,
        alerts_of: "content LIKE '%\"processId\":{},%'",
        words: &[],
    },
    Release {
        name: "3.1.9",
        facts: "3.1.9",
        lines: true,
        groups: true,
        adopts: false,
        hand_over: MARK,
        alerts_of: "process_instance_id = {}",
        words: &[],
    },
    Release {
        name: "3.2.2",
        facts: "3.2.2",
        lines: true,
        groups: true,
        adopts: true,
        hand_over: MARK,
        alerts_of: "process_instance_id = {}",
        words: &[],
    },
    // The last commit that there is, on the way to 3.3.0.
    Release {
        name: "3.3-dev",
        facts: "3.3.0",
        lines: false,
        groups: true,
        adopts: true,
        hand_over: "state = 18",
        alerts_of: "process_instance_id = {}",
        words: &[
            ("process_id", "workflow_instance_id"),
            ("process_", "workflow_"),
            ("process-", "workflow-"),
            ("processDefinition", "workflowDefinition"),
            ("processInstance", "workflowInstance"),
            ("SUB_PROCESS", "SUB_WORKFLOW"),
        ],
    },
];

/// The release of this name.
pub fn named(name: &str) -> &'static Release {
    ALL.iter().find(|r| r.name == name).unwrap()
}

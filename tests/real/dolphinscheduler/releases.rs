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
    /// A run is handed over with its tasks as they are, and a new master adopts
    /// what still works; others are handed over with marked tasks.
    pub adopts: bool,
    /// The rows of a task that was marked and then started anew; none where
    /// masters do not start a marked task again.
    pub anew: &'static [&'static str],
    /// A run can be asked for while no master is up.
    pub queues: bool,
    /// Commands are taken one by one, so none gets past one that stays for ever.
    pub one_by_one: bool,
    /// A parent that is taken over goes on waiting for its child.
    pub keeps_children: bool,
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
        adopts: false,
        anew: &["7"],
        queues: true,
        one_by_one: true,
        keeps_children: true,
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
        anew: &["8", "7"],
        queues: true,
        one_by_one: false,
        keeps_children: false,
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
        anew: &["8", "7"],
        queues: true,
        one_by_one: false,
        keeps_children: false,
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
        anew: &[],
        queues: false,
        one_by_one: false,
        keeps_children: false,
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

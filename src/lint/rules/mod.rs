//! The rules, one file each. A rule's page is `docs/rules/<code>.md`: what it finds,
//! why, the way out, and scripts that it must find or leave alone (a test runs them).

use super::reading::Reading;
use super::report::{Report, Transition};

/// A rule of the program. Rules of one scheduler are data: `rules/<scheduler>/`.
pub struct Rule {
    /// Its code, which is also its page's name.
    pub code: &'static str,
    pub(super) check: Check,
}

/// How a rule looks at a script.
pub(super) enum Check {
    /// At each statement by itself.
    Each(fn(&mut Report<'_>, &Reading)),
    /// At each update of a state by itself.
    Moves(fn(&mut Report<'_>, &Transition<'_, '_>)),
    /// At the statements in their order, with a memory.
    Across(fn() -> Box<dyn Across>),
}

/// A rule with a memory.
pub(super) trait Across {
    /// The next statement.
    fn see(&mut self, report: &mut Report<'_>, reading: &Reading);
    /// The end of the script.
    fn end(&mut self, _report: &mut Report<'_>) {}
}

/// Findings that come with reading the script itself, or with asking a database.
pub const OF_THE_READER: [&str; 10] = [
    "allow-without-reason",
    "byte-order-mark",
    "open-quote",
    "other-file",
    "rows-reached",
    "unread-comment",
    "unread-statement",
    "unterminated-statement",
    "unused-allow",
    "windows-lines",
];

macro_rules! rules {
    (
        each { $($each:ident = $each_code:literal,)* }
        moves { $($moves:ident = $moves_code:literal,)* }
        across { $($across:ident = $across_code:literal,)* }
    ) => {
        $(mod $each;)*
        $(mod $moves;)*
        $(mod $across;)*

        /// All rules of the program.
        pub const ALL: &[Rule] = &[
            $(Rule { code: $each_code, check: Check::Each($each::check) },)*
            $(Rule { code: $moves_code, check: Check::Moves($moves::check) },)*
            $(Rule { code: $across_code, check: Check::Across($across::watch) },)*
        ];
    };
}

rules! {
    each {
        unknown_table = "unknown-table",
        unknown_column = "unknown-column",
        unknown_state = "unknown-state",
        null_written = "null-written",
        quoted_state = "quoted-state",
        insert_lacks_column = "insert-lacks-column",
        joined_settings = "joined-settings",
        unknown_value = "unknown-value",
        missing_where = "missing-where",
        always_true = "always-true",
        never_true = "never-true",
        deletes_unfinished = "deletes-unfinished",
        forbidden_table = "forbidden-table",
        forbidden_column = "forbidden-column",
        multi_table_change = "multi-table-change",
        null_blind = "null-blind",
        null_join = "null-join",
        database_clock = "database-clock",
        function_on_column = "function-on-column",
        unindexed_condition = "unindexed-condition",
        limit_without_order = "limit-without-order",
        same_table_subquery = "same-table-subquery",
        limit_in_subquery = "limit-in-subquery",
        scheduler_table_defined = "scheduler-table-defined",
        create_select = "create-select",
        safe_updates_off = "safe-updates-off",
        reads_other_state = "reads-other-state",
        epoch_against_time = "epoch-against-time",
        isolation_and_binlog = "isolation-and-binlog",
    }
    moves {
        finished_row_overwritten = "finished-row-overwritten",
        hides_failure = "hides-failure",
        missing_states = "missing-states",
        missing_end_time = "missing-end-time",
    }
    across {
        implicit_commit = "implicit-commit",
        no_transaction = "no-transaction",
        no_backup = "no-backup",
        parent_before_child = "parent-before-child",
        foreign_key_effect = "foreign-key-effect",
    }
}

//! Runs bundles: apply, rehearse, verify, rollback, clean.

mod blockers;
mod check;
mod clean;
mod drift;
mod ledger;
mod moved;
mod own;
mod partial;
mod receipt;
mod rehearse;
mod run;
mod script;
mod verify;

pub use check::{check_owned, check_place, check_target};
pub use clean::clean;
pub use drift::Drift;
pub use ledger::{BundleState, left_alone, state_of};
pub use partial::{Extent, GivenUp, rollback_text};
pub use receipt::{Receipt, ReceiptStep};
pub use rehearse::rehearse;
pub use run::{Events, Outcome, apply, receipt_steps, rollback};
pub use verify::{VerifyReport, verify};

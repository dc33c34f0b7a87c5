//! `rehearse`, `apply`, `verify`, `rollback` and `clean`: commands on a bundle and a database.

use std::path::Path;

use clap::ArgMatches;

use super::App;
use super::args::{given, path_of, wants_json};
use super::context::{open, registry_address};
use crate::apply::{self, Outcome, Receipt, check_owned, check_place, check_target};
use crate::bundle::Bundle;
use crate::db::{Access, Database};
use crate::render::files::check_sql;
use crate::report::human::Done;
use crate::ui::Progress;
use crate::{Error, Result, report, ui};

async fn start(m: &ArgMatches, access: Access) -> Result<(Bundle, Database)> {
    let dir = path_of(m, "dir").ok_or_else(|| Error::usage("no bundle was named"))?;
    Ok((read_bundle(dir)?, open(m, access).await?))
}

/// A whole bundle whose SQL is that of its plan.
pub(super) fn read_bundle(dir: &Path) -> Result<Bundle> {
    let bundle = Bundle::read(dir)?;
    #[cfg(debug_assertions)]
    if std::env::var_os("FLOWMEND_TEST_EDITED").is_some() {
        // For tests of the guards: they run bundles in which one expects another number.
        return Ok(bundle);
    }
    let (made, own) = (&bundle.plan.flowmend, env!("CARGO_PKG_VERSION"));
    if made == own {
        check_sql(&bundle).map_err(|e| e.context(dir.display()))?;
    } else {
        // An undo must not hang on the program's version.
        let text =
            format!("flowmend {made} made this bundle, and this is {own}: its SQL is not compared with its plan");
        ui::warn(text);
    }
    Ok(bundle)
}

/// For what writes rows of the scheduler's.
async fn start_writing(app: &App, m: &ArgMatches) -> Result<(Bundle, Database)> {
    let registry = registry_address(m)?;
    let (bundle, mut db) = start(m, Access::ReadWrite).await?;
    check_target(&mut db, &bundle, &app.manifests, registry.as_ref()).await?;
    Ok((bundle, db))
}

/// The operator's word that this is the bundle that was approved.
fn confirm(m: &ArgMatches, bundle: &Bundle, what: &str) -> Result<()> {
    if let Some(text) = given(m, "seal") {
        if bundle.seal.matches(text) {
            return Ok(());
        }
        return Err(Error::refused(format!("the seal of this bundle is {}, not {text}", bundle.seal.short()))
            .hint("this is not the bundle that was approved, or fewer than 12 characters were given"));
    }
    let path = &bundle.plan.target.database;
    let name = path.rsplit('/').next().unwrap_or(path);
    match ui::ask_line(&format!("To {what} bundle {} on {name}, type the database's name: ", bundle.id)) {
        Some(typed) if typed == name => Ok(()),
        Some(_) => Err(Error::refused("that is not the database's name")),
        None => Err(Error::usage(format!("{what} wants the seal that was approved"))
            .hint("add --seal with the first 12 characters that `flowmend show` prints")),
    }
}

fn receipt(command: &str, bundle: &Bundle, db: &Database) -> Receipt {
    Receipt::begin(command, bundle, &db.address.to_string(), &format!("{} {}", db.dialect.title, db.version))
}

/// Writes the receipt. What was done is done, so a receipt that cannot be
/// written is a warning and changes no exit code.
fn close(receipt: Receipt, bundle: &Bundle, outcome: &str, detail: &str) {
    if let Err(error) = receipt.end(bundle, outcome, detail) {
        ui::warn(error);
    }
}

/// Writes the receipt of a failed run too, then hands the error on.
fn failed(receipt: Receipt, bundle: &Bundle, error: Error) -> Error {
    close(receipt, bundle, "failed", &error.to_string());
    error
}

/// `flowmend rehearse`.
pub(super) async fn rehearse(app: &App, m: &ArgMatches) -> Result<u8> {
    let (bundle, mut db) = start_writing(app, m).await?;
    let receipt = receipt("rehearse", &bundle, &db);
    let outcome = apply::rehearse(&mut db, &bundle, &mut Progress::new()).await;
    db.close().await;
    match outcome {
        Ok(stays) => {
            close(receipt, &bundle, "done", &stays);
            report::human::rehearsed(&bundle, &stays);
            Ok(0)
        }
        Err(error) => Err(failed(receipt, &bundle, error)),
    }
}

/// `flowmend apply`.
pub(super) async fn apply(app: &App, m: &ArgMatches) -> Result<u8> {
    if m.get_flag("allow-triggers") {
        return Err(Error::usage(
            "--allow-triggers belongs to plan: the number of triggers is a guard in the bundle's SQL",
        )
        .hint("plan again with --allow-triggers"));
    }
    let (bundle, db) = start_writing(app, m).await?;
    confirm(m, &bundle, "apply")?;
    let receipt = receipt("apply", &bundle, &db);
    finish(Done::Applied, receipt, &bundle, db, |db, bundle| {
        Box::pin(async move { apply::apply(db, bundle, &mut Progress::new()).await })
    })
    .await
}

/// `flowmend rollback`.
pub(super) async fn rollback(app: &App, m: &ArgMatches) -> Result<u8> {
    let (bundle, mut db) = start_writing(app, m).await?;
    confirm(m, &bundle, "roll back")?;
    let extent = match (m.get_flag("partial"), m.get_flag("give-up-rest")) {
        (false, _) => apply::Extent::Whole,
        (true, false) => apply::Extent::Part,
        (true, true) => apply::Extent::PartForGood,
    };
    let receipt = receipt("rollback", &bundle, &db);
    let prepared = match apply::state_of(&mut db, &bundle).await? {
        apply::BundleState::Applied => apply::rollback_text(&mut db, &bundle, extent).await,
        _ => Ok((String::new(), Vec::new())),
    };
    let (text, moved) = match prepared {
        Ok(prepared) => prepared,
        // Another rollback of the same bundle moves every row, and ends between two looks.
        Err(_) if apply::state_of(&mut db, &bundle).await? == apply::BundleState::RolledBack => {
            (String::new(), Vec::new())
        }
        Err(error) => return Err(failed(receipt, &bundle, error)),
    };
    if !moved.is_empty() {
        let names: Vec<String> = moved.iter().map(|name| ui::safe(name, 100)).collect();
        let left = format!("left as they are for good, because a row of theirs moved: {}", names.join(", "));
        ui::warn(left);
    }
    finish(Done::RolledBack, receipt, &bundle, db, |db, bundle| {
        Box::pin(async move { apply::rollback(db, bundle, &text, &mut Progress::new()).await })
    })
    .await
}

type Running<'a> = std::pin::Pin<Box<dyn Future<Output = Result<Outcome>> + 'a>>;

async fn finish(
    done: Done,
    mut receipt: Receipt,
    bundle: &Bundle,
    mut db: Database,
    run: impl for<'a> FnOnce(&'a mut Database, &'a Bundle) -> Running<'a>,
) -> Result<u8> {
    let outcome = run(&mut db, bundle).await;
    match outcome {
        Ok(Outcome::Done) => {
            // A lost connection cannot list the guards any more; the receipt says so.
            receipt.steps = apply::receipt_steps(&mut db, bundle).await.unwrap_or_default();
            close(receipt, bundle, done.says(), "");
            let left = apply::left_alone(&mut db, bundle).await.unwrap_or_default();
            db.close().await;
            report::human::done(bundle, done, left);
            Ok(0)
        }
        Ok(Outcome::Already) => {
            close(receipt, bundle, "already", "");
            db.close().await;
            ui::out(format!("already {}: nothing was changed", done.says()));
            Ok(0)
        }
        Err(error) => Err(failed(receipt, bundle, error)),
    }
}

/// `flowmend verify`. Exit 1 when something does not stand as it should.
pub(super) async fn verify(m: &ArgMatches) -> Result<u8> {
    let (bundle, mut db) = start(m, Access::ReadOnly).await?;
    check_place(&mut db, &bundle.plan).await?;
    let receipt = receipt("verify", &bundle, &db);
    let found = apply::verify(&mut db, &bundle).await?;
    db.close().await;
    let outcome = if found.is_good() { "good" } else { "drifted" };
    close(receipt, &bundle, outcome, &format!("{} rows drifted", found.drifted));
    if wants_json(m) {
        report::json(&found)?;
    } else {
        report::human::verified(&bundle, &found);
    }
    Ok(u8::from(!found.is_good()))
}

/// `flowmend clean`.
pub(super) async fn clean(m: &ArgMatches) -> Result<u8> {
    let (bundle, mut db) = start(m, Access::ReadWrite).await?;
    check_owned(&mut db, &bundle).await?;
    confirm(m, &bundle, "clean up")?;
    let receipt = receipt("clean", &bundle, &db);
    let (dropped, state) = apply::clean(&mut db, &bundle, m.get_flag("give-up-rollback")).await?;
    db.close().await;
    close(receipt, &bundle, "done", &format!("{dropped} tables dropped"));
    report::human::cleaned(&bundle, dropped, state);
    Ok(0)
}

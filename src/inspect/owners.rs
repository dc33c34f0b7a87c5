//! Owners: who runs the unfinished rows, and what the database knows of their life.

use serde::Serialize;

use super::beats::{Beats, may_stand_still, read_beats, watch, watch_ms};
use super::{Given, PlanPart};
use crate::catalog::Catalog;
use crate::db::Database;
use crate::manifest::{Heartbeat, Manifest};
use crate::plan::{HEARTBEAT, OwnerClaim, OwnerName, bare_address, names_an_owner, said_dead_now, utc};
use crate::recipe::Parameter;
use crate::{Error, Result, ui};

/// A shorter wait is not worth a word.
const SAID_FROM_MS: u64 = 2_000;

/// What is known of an owner's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerState {
    /// The database holds no sign of it either way.
    Unknown,
    /// It is listed in this database; whether it still beats was not watched.
    Listed,
    /// It is listed in the registry that the operator named.
    Registered,
    /// It is not listed in the registry that the operator named.
    NotRegistered,
    /// The operator says that it is dead, or a proof does.
    Dead,
}

/// An owner of unfinished rows.
#[derive(Clone, Debug, Serialize)]
pub struct Owners {
    /// What tells it from other owners of the same address, where there is such a column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The address as the rows hold it; `None` is SQL NULL.
    pub address: Option<String>,
    /// How many unfinished rows it owns.
    pub rows: u64,
    /// When the oldest of them started, on the scheduler's clock.
    pub oldest: Option<String>,
    /// What is known of its life.
    pub state: OwnerState,
    /// When it beat last, on the scheduler's clock, where the database holds that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_beat: Option<String>,
    /// How many milliseconds before the moment of the survey that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent_ms: Option<u64>,
    /// Whether the scheduler itself would have given it up by now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub overdue: bool,
    /// Whether it is missing where the scheduler lists every owner that lives, and lists others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// How many rows of its the recipes left out because nothing proves it dead.
    #[serde(skip_serializing_if = "is_zero")]
    pub unproved: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Owners {
    /// Whether rows hang on it that no recipe repairs without a proof, while it is silent for
    /// longer than the scheduler itself waits for an owner, or missing.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        (self.overdue || self.missing)
            && self.rows > 0
            && self.unproved > 0
            && matches!(self.state, OwnerState::Unknown | OwnerState::Listed)
    }

    /// Its name, if the rows name an owner at all.
    #[must_use]
    pub fn name(&self) -> Option<OwnerName> {
        let address = self.address.clone().filter(|a| names_an_owner(a))?;
        Some(OwnerName { scope: self.scope.clone(), address })
    }
}

/// Owners of the unfinished rows of a role, by the role column that names them. A
/// role without states is one whose rows are the owners themselves: all of them count.
///
/// # Errors
/// What the server said.
pub async fn owners_of_rows(db: &mut Database, m: &Manifest, column: &str, beats: &Beats) -> Result<Vec<Owners>> {
    let role_name = column.split('.').next().unwrap_or_default();
    let Ok(role) = m.role(role_name) else { return Ok(Vec::new()) };
    let d = &db.dialect;
    let real = |name: &str| m.column(&format!("{role_name}.{name}")).map(|c| d.ident(c));
    let host = d.ident(m.column(column)?);
    let scope = m.owner_scope(role_name).map(real).transpose()?;
    let unfinished = match m.states.get(&format!("{role_name}.state")) {
        Some(set) => {
            let with = set.with.as_ref().map(|w| m.column(w).map(|c| d.ident(c))).transpose()?;
            set.condition(&real("state")?, with.as_deref(), |s| !s.finished)
        }
        None => "1 = 1".to_owned(),
    };
    let oldest = match real("start_time") {
        Ok(start) => d.as_text(&format!("MIN({start})")),
        Err(_) => "NULL".to_owned(),
    };
    let by = scope.iter().chain([&host]).cloned().collect::<Vec<_>>().join(", ");
    let sql = format!(
        "SELECT {host}, {}, {oldest}, {} FROM {} WHERE {unfinished} GROUP BY {by} ORDER BY {by}",
        d.as_text("COUNT(*)"),
        scope.unwrap_or_else(|| "NULL".to_owned()),
        d.table(db.schema.as_deref(), &role.table),
    );
    let rows = db.rows(&sql).await?;
    let owner = |row: crate::catalog::Row| {
        let mut cells = row.into_iter();
        let mut next = || cells.next().flatten();
        let address = next();
        let rows = next().and_then(|n| n.parse().ok()).unwrap_or(0);
        let (oldest, scope) = (next(), next());
        let mut owner = Owners {
            scope,
            address,
            rows,
            oldest,
            state: OwnerState::Unknown,
            last_beat: None,
            silent_ms: None,
            overdue: false,
            missing: false,
            unproved: 0,
        };
        if m.is_epoch_ms(&format!("{role_name}.start_time")) {
            owner.oldest = owner.oldest.map(|ms| utc(&ms).unwrap_or(ms));
        }
        if owner.name().is_some_and(|name| beats.contains_key(&unwrapped(name))) {
            owner.state = OwnerState::Listed;
        }
        owner
    };
    Ok(rows.into_iter().map(owner).collect())
}

/// Adds owners that are not known yet: several roles may name one.
pub fn add_owners(owners: &mut Vec<Owners>, more: impl IntoIterator<Item = Owners>) {
    let known: Vec<OwnerName> = owners.iter().filter_map(Owners::name).collect();
    owners.extend(more.into_iter().filter(|o| o.name().is_none_or(|name| !known.contains(&name))));
}

/// The owner as heartbeats list it.
fn unwrapped(owner: OwnerName) -> OwnerName {
    OwnerName { address: bare_address(&owner.address).to_owned(), ..owner }
}

/// Owners, among those said to be dead, whose heartbeat moved while it was watched.
async fn beating(db: &mut Database, catalog: &Catalog, m: &Manifest, claims: &[OwnerClaim]) -> Result<Vec<OwnerName>> {
    let first = read_beats(db, catalog, m).await?;
    let claimed = |owner: &OwnerName| said_dead_now(claims, owner);
    let interval = first.iter().filter(|(owner, _)| claimed(owner)).map(|(_, beat)| beat.interval_ms).max();
    let (Some(interval), true) = (interval, m.heartbeats.iter().any(Heartbeat::is_readable)) else {
        return Ok(Vec::new());
    };
    let watched = watch_ms(interval);
    let named: Vec<String> = first.keys().filter(|o| claimed(o)).map(|o| ui::safe(&o.to_string(), 60)).collect();
    say_watch(watched, &named);
    watch(watched).await;
    let second = read_beats(db, catalog, m).await?;
    let mut alive = Vec::new();
    for (owner, beat) in second.iter().filter(|(owner, _)| claimed(owner)) {
        if first.get(owner).map(|b| b.at) != Some(beat.at) {
            alive.push(owner.clone());
        } else if may_stand_still(beat.interval_ms, watched) {
            let owner = ui::safe(&owner.to_string(), 200);
            ui::warn(format!(
                "{owner} beats every {} s only, so that it did not in {} s says nothing of its life: be sure that it is stopped",
                beat.interval_ms / 1000,
                watched / 1000
            ));
        }
    }
    Ok(alive)
}

/// How many names of owners are said.
const NAMED: usize = 3;

/// Says at once why the program stands still, where that takes a while.
pub(super) fn say_watch(ms: u64, owners: &[String]) {
    if ms < SAID_FROM_MS {
        return;
    }
    let more = if owners.len() > NAMED { format!(" and {} more", owners.len() - NAMED) } else { String::new() };
    let whose = match owners {
        [] => "the heartbeats".to_owned(),
        owners => format!("the heartbeat of {}{more}", owners[..owners.len().min(NAMED)].join(", ")),
    };
    ui::note(format!("watching {whose} for {} s: whoever lives moves it", ms.div_ceil(1000)));
}

/// Refuses a claim that would say nothing in the end, before anybody waits for it: an owner that
/// is listed and may beat, where the recipe wants an age beside the claim.
///
/// # Errors
/// There is such a claim, or what the server said.
pub async fn refuse_without_age(
    db: &mut Database,
    catalog: &Catalog,
    m: &Manifest,
    parts: &[PlanPart<'_>],
    given: &Given,
) -> Result<()> {
    let needs = |p: &Parameter| Some((p.name.clone(), p.listed_needs.clone().filter(|age| !given.contains_key(age))?));
    let parameters = parts.iter().flat_map(|p| &p.recipe.file.parameters);
    let Some((flag, age)) = parameters.filter_map(needs).find(|(flag, _)| given.contains_key(flag)) else {
        return Ok(());
    };
    let asks = given.get(&flag).is_some_and(|values| values.iter().any(|v| v == HEARTBEAT));
    let claims = parts.iter().flat_map(|p| p.params.owners());
    let open: Vec<OwnerClaim> = claims.filter(|c| c.before.is_none() && !c.is_any()).collect();
    if open.is_empty() && !asks {
        return Ok(());
    }
    let beats = read_beats(db, catalog, m).await?;
    let listed = beats.keys().find(|owner| open.iter().any(|c| c.speaks_of(owner)));
    let what = match listed {
        Some(owner) => format!("{}, which {}", ui::safe(&owner.for_people(), 200), m.words.is_listed()),
        None if asks => HEARTBEAT.to_owned(),
        None => return Ok(()),
    };
    Err(Error::usage(format!("--{flag} {what}: --{age} is needed beside it, for without an age an entry that fell silent long ago looks like a living one"))
        .hint(format!("add --{age}, for example --{age} 30m: then what beat since contradicts you, and older entries do not"))
        .hint(m.words.or_with_time(&flag)))
}

/// Refuses claims that a heartbeat contradicts. `restate` says how the operator
/// gives another claim ("give", "plan again with").
///
/// # Errors
/// An owner said to be dead beats, or what the server said.
pub async fn refuse_beating(
    db: &mut Database,
    catalog: &Catalog,
    m: &Manifest,
    claims: &[OwnerClaim],
    restate: &str,
) -> Result<()> {
    let alive = beating(db, catalog, m, claims).await?;
    let Some(first) = alive.first() else { return Ok(()) };
    let names: Vec<String> = alive.iter().map(|owner| ui::safe(&owner.for_people(), 200)).collect();
    let mut error =
        Error::refused(format!("an owner said to be dead is alive: the heartbeat of {} moved", names.join(", ")))
            .hint(m.words.stop_it(restate));
    if first.scope.is_some() {
        error = error.hint("if one of another scope was meant, name it by its scope: --dead-owner \"'SCOPE'/'NAME'\"");
    }
    Err(error)
}

//! What the operator said, read according to the recipe's parameters.

use std::collections::BTreeMap;

use super::Zone;
use super::legacy::{Confirmed, confirmations};
use super::owner::{OwnerClaim, read_claim};
use crate::manifest::Manifest;
use crate::recipe::{OwnerForm, Parameter, ParameterKind, Recipe};
use crate::ui::safe;
use crate::{Error, Result};
use jiff::{SignedDuration, Timestamp};

/// A parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamValue {
    /// Nothing was said and there is no default.
    None,
    /// One of the recipe's values.
    Choice(String),
    /// A cut-off on the scheduler's clock.
    Cutoff(String),
    /// Texts.
    Texts(Vec<String>),
    /// Numbers.
    Numbers(Vec<i64>),
    /// Present or not.
    Flag(bool),
    /// Owners said to be dead.
    Owners(Vec<OwnerClaim>),
    /// What codes of earlier releases become.
    Legacy(Vec<Confirmed>),
}

/// All parameters of a recipe, said or not, by name with `-` as `_`.
#[derive(Clone, Debug, Default)]
pub struct Params {
    /// Name → value.
    pub values: BTreeMap<String, ParamValue>,
    /// Name → text as given, for the plan.
    pub given: BTreeMap<String, String>,
    /// The cut-off as seconds since the epoch.
    instant: Option<i64>,
}

impl Params {
    /// Reads what was given. `given` is flag name → texts.
    ///
    /// # Errors
    /// A name the recipe does not know, or a value of the wrong kind.
    pub fn read(
        recipe: &Recipe,
        manifest: &Manifest,
        given: &BTreeMap<String, Vec<String>>,
        now: Timestamp,
        zone: Option<&Zone>,
        said_by: &str,
    ) -> Result<Self> {
        for name in given.keys() {
            if recipe.parameter(name).is_none() {
                let known: Vec<String> = recipe.file.parameters.iter().map(|p| format!("--{}", p.name)).collect();
                return Err(Error::usage(format!("the recipe {} has no parameter --{name}", recipe.file.name))
                    .hint(format!("it has {}", known.join(", "))));
            }
        }
        refuse_contradictions(recipe, given)?;
        let mut params = Self::default();
        for parameter in &recipe.file.parameters {
            let texts = given.get(&parameter.name).cloned().unwrap_or_default();
            if !texts.is_empty() {
                params.given.insert(parameter.name.clone(), texts.join(","));
            }
            let value = read_one(parameter, &texts, manifest, now, zone, said_by)?;
            if let (ParameterKind::Age, Some(age)) = (parameter.kind, texts.last().and_then(|t| duration(t))) {
                params.instant = now.checked_sub(age).ok().map(Timestamp::as_second);
            }
            params.values.insert(parameter.name.replace('-', "_"), value);
        }
        Ok(params)
    }

    /// Adds owners that were shown dead to what the operator said.
    pub fn add_owners(&mut self, shown: &[OwnerClaim]) {
        for value in self.values.values_mut() {
            if let ParamValue::Owners(owners) = value {
                owners.extend_from_slice(shown);
            }
        }
    }

    /// The owners said to be dead.
    #[must_use]
    pub fn owners(&self) -> Vec<OwnerClaim> {
        let mut found = Vec::new();
        for value in self.values.values() {
            if let ParamValue::Owners(owners) = value {
                found.extend(owners.iter().cloned());
            }
        }
        found
    }

    /// The state that a code of an earlier release becomes, if the operator confirmed one.
    #[must_use]
    pub fn confirmed(&self, column: &str, code: &str) -> Option<&Confirmed> {
        let said = self.values.values().filter_map(|v| match v {
            ParamValue::Legacy(said) => Some(said),
            _ => None,
        });
        said.flatten().find(|c| c.column == column && c.code == code)
    }

    /// The cut-off as seconds since the epoch, if an age was given.
    #[must_use]
    pub fn cutoff_instant(&self) -> Option<i64> {
        self.instant
    }

    /// The cut-off, if an age was given.
    #[must_use]
    pub fn cutoff(&self) -> Option<&str> {
        self.values.values().find_map(|v| match v {
            ParamValue::Cutoff(text) => Some(text.as_str()),
            _ => None,
        })
    }
}

/// A value that is given to two parameters which exclude each other.
fn refuse_contradictions(recipe: &Recipe, given: &BTreeMap<String, Vec<String>>) -> Result<()> {
    let values = |name: &str| -> Vec<String> {
        let kind = recipe.parameter(name).map(|p| p.kind);
        let texts = given.get(name).into_iter().flatten();
        match kind {
            // Two texts may be one number.
            Some(ParameterKind::Numbers) => {
                let parts = texts.flat_map(|t| t.split(',')).map(str::trim);
                parts.map(|t| t.parse::<i64>().map_or_else(|_| t.to_owned(), |n| n.to_string())).collect()
            }
            _ => texts.cloned().collect(),
        }
    };
    for parameter in &recipe.file.parameters {
        let own = values(&parameter.name);
        for other in &parameter.excludes {
            let others = values(other);
            if let Some(both) = own.iter().find(|v| !v.is_empty() && others.contains(v)) {
                let (name, both) = (&parameter.name, safe(both, 80));
                return Err(Error::usage(format!("--{name} and --{other} both name {both}, and cannot both be true"))
                    .hint(format!("give {both} to one of the two")));
            }
        }
    }
    Ok(())
}

/// An empty value is most likely a variable that was not set; it must not widen a plan.
fn refuse_empty(p: &Parameter, texts: &[String]) -> Result<()> {
    if texts.iter().all(|t| !t.trim().trim_matches(',').is_empty()) {
        return Ok(());
    }
    Err(Error::usage(format!("--{}: the value is empty", p.name)).hint("leave the flag out to name nothing"))
}

fn read_one(
    p: &Parameter,
    texts: &[String],
    manifest: &Manifest,
    now: Timestamp,
    zone: Option<&Zone>,
    said_by: &str,
) -> Result<ParamValue> {
    if p.kind != ParameterKind::Flag {
        refuse_empty(p, texts)?;
    }
    let last = texts.last().cloned().or_else(|| p.default.clone());
    Ok(match p.kind {
        ParameterKind::Flag => ParamValue::Flag(!texts.is_empty()),
        ParameterKind::Choice => match last {
            None => ParamValue::None,
            Some(text) if p.values.contains(&text) => ParamValue::Choice(text),
            Some(text) => {
                let message = format!("--{}: `{text}` is not one of {}", p.name, p.values.join(", "));
                return Err(Error::usage(message));
            }
        },
        ParameterKind::Age => match last {
            None => ParamValue::None,
            Some(text) => ParamValue::Cutoff(cutoff(&p.name, &text, now, zone)?),
        },
        ParameterKind::Texts => ParamValue::Texts(texts.to_vec()),
        ParameterKind::Numbers => ParamValue::Numbers(numbers(&p.name, texts)?),
        ParameterKind::Legacy => ParamValue::Legacy(confirmations(&p.name, texts, manifest)?),
        ParameterKind::Owners | ParameterKind::Names => ParamValue::Owners(claims(p, texts, now, zone, said_by)?),
    })
}

/// The whole numbers of a flag that is given several times, or with commas.
///
/// # Errors
/// Something else is among them.
pub fn numbers(name: &str, texts: &[String]) -> Result<Vec<i64>> {
    let parts = texts.iter().flat_map(|t| t.split(',')).map(str::trim).filter(|t| !t.is_empty());
    parts.map(|t| t.parse().map_err(|_| Error::usage(format!("--{name}: `{t}` is not a whole number")))).collect()
}

/// No zone is further east of UTC than this, in minutes.
const EASTERNMOST: i64 = 14 * 60;

fn claims(
    p: &Parameter,
    texts: &[String],
    now: Timestamp,
    zone: Option<&Zone>,
    said_by: &str,
) -> Result<Vec<OwnerClaim>> {
    let form = p.kind.owner_form().unwrap_or(OwnerForm::Address);
    let latest = wall_clock(now, zone.map_or(EASTERNMOST, |z| z.offset_minutes));
    let read = |text: &String| {
        let claim = read_claim(&p.name, form, text, zone, said_by)?;
        // What a mistyped year would cover is what runs now.
        match claim.before.as_ref().filter(|before| **before > latest) {
            Some(before) => Err(Error::usage(format!(
                "--{}: `{}` speaks of a moment to come: it is {latest} on the scheduler's clock, not {before}",
                p.name,
                safe(text, 80)
            ))
            .hint("nobody can know by then who is dead; give the moment of the death, or leave the time out if the owner is dead now")),
            None => Ok(claim),
        }
    };
    texts.iter().map(read).collect()
}

fn cutoff(name: &str, text: &str, now: Timestamp, zone: Option<&Zone>) -> Result<String> {
    let age = duration(text).ok_or_else(|| {
        let why = if text.starts_with('-') { ": it counts back from now, without a minus" } else { "" };
        Error::usage(format!("--{name}: `{}` is not a duration{why}", safe(text, 80)))
            .hint("write a number and m, h or d: 30m, 2h, 1d")
    })?;
    if age.is_zero() {
        // Whatever lives has shown it before this moment.
        return Err(Error::usage(format!("--{name}: {text} would take in everything that lives"))
            .hint("give an age that nothing alive reaches: several heartbeats, or the longest run"));
    }
    let zone = zone.ok_or_else(|| zone_needed(&format!("--{name} becomes a cut-off on the scheduler's clock")))?;
    let moment = now.checked_sub(age).map_err(|_| Error::usage(format!("--{name}: `{text}` is too long")))?;
    Ok(wall_clock(moment, zone.offset_minutes))
}

/// The error for a zone that is needed and not known.
#[must_use]
pub fn zone_needed(why: &str) -> Error {
    Error::usage(format!(
        "the time zone of the scheduler's clock is needed and cannot be measured from the newest rows: {why}"
    ))
    .hint("it is the zone that the scheduler's processes are set to (of a JVM: -Duser.timezone), else what `date +%:z` says on their host; Asia/Shanghai will do, too")
    .hint("add --zone, or say it once for all commands; for a scheduler eight hours east of UTC: export FLOWMEND_ZONE=+08:00")
}

/// A moment on a clock that many minutes east of UTC, to the second.
#[must_use]
pub fn wall_clock(moment: Timestamp, offset_minutes: i64) -> String {
    let shifted = moment.checked_add(SignedDuration::from_mins(offset_minutes)).unwrap_or(moment);
    shifted.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// `30m`, `2h`, `1d`, or several of them.
#[must_use]
pub fn duration(text: &str) -> Option<SignedDuration> {
    let mut total = SignedDuration::ZERO;
    let mut digits = String::new();
    if text.is_empty() {
        return None;
    }
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let seconds = match c {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            _ => return None,
        };
        let number: i64 = digits.parse().ok()?;
        total = total.checked_add(SignedDuration::from_secs(number.checked_mul(seconds)?))?;
        digits.clear();
    }
    digits.is_empty().then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("90m"), Some(SignedDuration::from_mins(90)));
        assert_eq!(duration("1d12h"), Some(SignedDuration::from_hours(36)));
        for bad in ["", "5", "m", "5x", "-1h", "1 h", "99999999999999999999d"] {
            assert_eq!(duration(bad), None, "{bad}");
        }
    }
}

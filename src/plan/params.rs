//! What the operator said, read according to the recipe's parameters.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::Zone;
use crate::recipe::{Parameter, ParameterKind, Recipe};
use crate::{Error, Result};

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
}

/// Whether the text in an owner's column names an owner: some schedulers write
/// the word NULL where there is none.
#[must_use]
pub fn names_an_owner(address: &str) -> bool {
    !address.trim().is_empty() && !address.eq_ignore_ascii_case("null")
}

/// An address without what a row or a registry may wrap it in: `http://HOST:PORT/`.
#[must_use]
pub fn bare_address(address: &str) -> &str {
    let wrapped = ["http://", "https://"].into_iter().find_map(|scheme| address.strip_prefix(scheme));
    wrapped.map_or(address, |rest| rest.strip_suffix('/').unwrap_or(rest))
}

/// Somebody's word that an owner is dead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnerClaim {
    /// The host, or `*` for every owner.
    pub host: String,
    /// The port, if one is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Only what started before this moment on the scheduler's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Who said so.
    pub said_by: String,
    /// The registry outside the database that showed it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
}

/// What showed that an owner is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Whose word it is, and on what it stands.
    pub said_by: String,
    /// The registry outside the database that showed it, if one did.
    pub registry: Option<String>,
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
        let mut params = Self::default();
        for parameter in &recipe.file.parameters {
            let texts = given.get(&parameter.name).cloned().unwrap_or_default();
            if !texts.is_empty() {
                params.given.insert(parameter.name.clone(), texts.join(","));
            }
            let value = read_one(parameter, &texts, now, zone, said_by)?;
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

/// An empty value is most likely a variable that was not set; it must not widen a plan.
fn refuse_empty(p: &Parameter, texts: &[String]) -> Result<()> {
    if texts.iter().all(|t| !t.trim().trim_matches(',').is_empty()) {
        return Ok(());
    }
    Err(Error::usage(format!("--{}: the value is empty", p.name)).hint("leave the flag out to name nothing"))
}

fn read_one(p: &Parameter, texts: &[String], now: Timestamp, zone: Option<&Zone>, said_by: &str) -> Result<ParamValue> {
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
        ParameterKind::Numbers => {
            let parts = texts.iter().flat_map(|t| t.split(',')).map(str::trim).filter(|t| !t.is_empty());
            let numbers: Result<Vec<i64>> = parts
                .map(|t| t.parse().map_err(|_| Error::usage(format!("--{}: `{t}` is not a whole number", p.name))))
                .collect();
            ParamValue::Numbers(numbers?)
        }
        ParameterKind::Owners => {
            ParamValue::Owners(texts.iter().map(|t| owner(&p.name, t, zone, said_by)).collect::<Result<_>>()?)
        }
    })
}

fn cutoff(name: &str, text: &str, now: Timestamp, zone: Option<&Zone>) -> Result<String> {
    let age = duration(text).ok_or_else(|| {
        Error::usage(format!("--{name}: `{text}` is not a duration")).hint("write a number and m, h or d: 30m, 2h, 1d")
    })?;
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

/// `HOST[:PORT][@TIME]`, or `*`.
fn owner(name: &str, text: &str, zone: Option<&Zone>, said_by: &str) -> Result<OwnerClaim> {
    let bad = |why: &str| {
        Error::usage(format!("--{name}: `{text}` cannot be used: {why}")).hint(
            "write HOST, HOST:PORT, or HOST:PORT@2026-01-31T23:15:00 (on the scheduler's clock, or with an offset)",
        )
    };
    let (address, before) = match text.split_once('@') {
        None => (text, None),
        Some((address, time)) => (address, Some(moment(time, zone).map_err(|e| bad(&e))?)),
    };
    let address = bare_address(address);
    let (host, port) = match address.rsplit_once(':') {
        _ if address.ends_with(']') || address.parse::<Ipv6Addr>().is_ok() => (address, None),
        Some((host, port)) => (host, Some(port.parse::<u16>().map_err(|_| bad("the port is not a number"))?)),
        None => (address, None),
    };
    // Rows hold an IPv6 address bare, also before a port.
    let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_*:".contains(c);
    if host == "*" && port.is_some() {
        return Err(bad("* stands for every owner and takes no port"));
    }
    if host != "*" && host.contains('*') {
        return Err(bad("* stands alone, for every owner"));
    }
    if host.contains(':') && host.parse::<Ipv6Addr>().is_err() {
        return Err(bad("it is no IPv6 address with a port: [fe80::1]:5678"));
    }
    if port == Some(0) {
        return Err(bad("no owner has the port 0"));
    }
    if host.is_empty() || !host.chars().all(plain) {
        return Err(bad("the host is empty or holds characters that no host has"));
    }
    Ok(OwnerClaim { host: host.to_owned(), port, before, said_by: said_by.to_owned(), registry: None })
}

/// The claim of an address as a row holds it, if it is a host with or without a
/// port. A row's text is no word of the operator's: it is never read as
/// `HOST[:PORT][@TIME]`.
#[must_use]
pub fn shown_claim(address: &str, proof: &Proof) -> Option<OwnerClaim> {
    let address = bare_address(address);
    let (host, port) = match address.rsplit_once(':') {
        Some((host, port)) => (host, Some(port.parse::<u16>().ok()?)),
        None => (address, None),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
    let whole = port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    (whole == address && !host.is_empty() && host.chars().all(plain)).then(|| OwnerClaim {
        host: host.to_owned(),
        port,
        before: None,
        said_by: proof.said_by.clone(),
        registry: proof.registry.clone(),
    })
}

/// A moment on the scheduler's clock, from a civil time or one with an offset.
fn moment(text: &str, zone: Option<&Zone>) -> std::result::Result<String, String> {
    if let Ok(instant) = text.parse::<Timestamp>() {
        let zone = zone.ok_or("a time with an offset needs --zone")?;
        return Ok(wall_clock(instant, zone.offset_minutes));
    }
    let civil: jiff::civil::DateTime = text.parse().map_err(|_| format!("`{text}` is not a date and time"))?;
    Ok(civil.strftime("%Y-%m-%d %H:%M:%S").to_string())
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

    #[test]
    fn owners() {
        let claim = owner("dead-owner", "10.0.0.1:5678@2026-01-31T23:15:00", None, "ann").unwrap();
        assert_eq!((claim.host.as_str(), claim.port), ("10.0.0.1", Some(5678)));
        assert_eq!(claim.before.as_deref(), Some("2026-01-31 23:15:00"));
        for (text, host, port) in [
            ("[fe80::1]:5678", "fe80::1", Some(5678)),
            ("[fe80::1]", "fe80::1", None),
            ("fe80::1", "fe80::1", None),
            ("fd00:0:0:0:0:0:0:1:5678", "fd00:0:0:0:0:0:0:1", Some(5678)),
        ] {
            let claim = owner("dead-owner", text, None, "ann").unwrap();
            assert_eq!((claim.host.as_str(), claim.port), (host, port), "{text}");
        }
        let zone = Zone { offset_minutes: 480, known_by: String::new() };
        let claim = owner("dead-owner", "h@2026-01-31T23:15:00Z", Some(&zone), "ann").unwrap();
        assert_eq!(claim.before.as_deref(), Some("2026-02-01 07:15:00"));
        for bad in ["", ":1", "h:x", "h@noon", "a'b", "h;x", "h@2026-01-31T23:15:00Z"] {
            assert!(owner("dead-owner", bad, None, "ann").is_err(), "{bad}");
        }
        assert_eq!(owner("dead-owner", "*", None, "ann").unwrap().host, "*");
        for text in [
            "10.0.0.1:5678",
            "http://10.0.0.1:5678/",
            "https://10.0.0.1:5678",
            "http://10.0.0.1:5678/@2026-01-31T23:15:00",
        ] {
            let claim = owner("dead-owner", text, None, "ann").unwrap();
            assert_eq!((claim.host.as_str(), claim.port), ("10.0.0.1", Some(5678)), "{text}");
        }
        assert!(owner("dead-owner", "http://10.0.0.1:5678/x", None, "ann").is_err());
    }
}

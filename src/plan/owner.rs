//! Owners of rows: their names, and somebody's word that one is dead. Pure.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};
use std::net::Ipv6Addr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Zone, wall_clock};
use crate::recipe::OwnerForm;
use crate::{Error, Result};

/// The word that stands for every owner that the heartbeats, or the registry, show dead.
pub const HEARTBEAT: &str = "heartbeat";

/// Whether the text in an owner's column names an owner: some schedulers write
/// the word NULL where there is none.
#[must_use]
pub fn names_an_owner(address: &str) -> bool {
    !address.trim().is_empty() && !address.eq_ignore_ascii_case("null")
}

/// An owner as the database names it. Shown in the form in which a claim names it literally.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerName {
    /// What tells it from other owners of the same address, where the release has such a column.
    pub scope: Option<String>,
    /// Its address or name, as the rows hold it.
    pub address: String,
}

impl OwnerName {
    /// The name for people: as it is shown, and unmistakable.
    #[must_use]
    pub fn for_people(&self) -> String {
        told_apart(self.to_string(), &self.address)
    }
}

impl Display for OwnerName {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match &self.scope {
            Some(scope) => write!(f, "{}/{}", quoted(scope), quoted(&self.address)),
            None if is_plain(&self.address) => f.write_str(&self.address),
            None => f.write_str(&quoted(&self.address)),
        }
    }
}

/// Whether a name needs no quotes on the command line, whatever its scheduler.
fn is_plain(name: &str) -> bool {
    name != HEARTBEAT && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:".contains(c))
}

/// A name that reads like a word of the command line, told apart for people.
fn told_apart(shown: String, address: &str) -> String {
    let word = match address {
        "*" => "all of them",
        HEARTBEAT => "a question to the heartbeats",
        _ => return shown,
    };
    format!("{shown} (the one of this very name, not {word})")
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// An address without what a row or a registry may wrap it in: `http://HOST:PORT/`.
#[must_use]
pub fn bare_address(address: &str) -> &str {
    let web = |scheme: &str| ["http", "https"].into_iter().any(|known| scheme.eq_ignore_ascii_case(known));
    match address.split_once("://").filter(|(scheme, _)| web(scheme)) {
        Some((_, rest)) => rest.strip_suffix('/').unwrap_or(rest),
        None => address,
    }
}

/// Somebody's word that an owner is dead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnerClaim {
    /// Only the owner of this scope; left out, of every scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The host, or `*` for every owner.
    pub host: String,
    /// Whether `host` is the owner's whole name, and not a host of any port.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub literal: bool,
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
    /// Whether heartbeats or a registry showed it, and nobody said it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shown: bool,
}

/// What showed that an owner is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// Whose word it is, and on what it stands.
    pub said_by: String,
    /// The registry outside the database that showed it, if one did.
    pub registry: Option<String>,
}

impl OwnerClaim {
    /// Whether every owner is meant, of its scope if it has one.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.host == "*" && !self.literal
    }

    /// The host with its port, if one is named.
    #[must_use]
    pub fn name(&self) -> String {
        self.port.map_or_else(|| self.host.clone(), |port| format!("{}:{port}", self.host))
    }

    /// The owner as people write it: `HOST:PORT`, `'SCOPE'/'NAME'`, `*`.
    #[must_use]
    pub fn who(&self) -> String {
        let quotes = self.literal && (self.scope.is_some() || !is_plain(&self.host));
        let who = if quotes { quoted(&self.host) } else { self.name() };
        self.scope.as_ref().map_or_else(|| who.clone(), |scope| format!("{}/{who}", quoted(scope)))
    }

    /// The owner for people: as it is written, and unmistakable.
    #[must_use]
    pub fn for_people(&self) -> String {
        if self.literal { told_apart(self.who(), &self.host) } else { self.who() }
    }

    /// Whether the claim speaks of an owner.
    #[must_use]
    pub fn speaks_of(&self, owner: &OwnerName) -> bool {
        if self.scope.is_some() && self.scope != owner.scope {
            return false;
        }
        self.is_any() || self.names(&owner.address)
    }

    fn names(&self, address: &str) -> bool {
        if self.literal {
            return address == self.host;
        }
        let address = bare_address(address);
        match (address.rsplit_once(':'), self.port) {
            (Some((host, port)), Some(claimed)) => host == self.host && port == claimed.to_string(),
            (_, None) if address == self.host => true,
            (Some((host, _)), None) => host == self.host,
            (None, _) => false,
        }
    }
}

/// Whether somebody says that an owner is dead now. A claim with a time speaks of
/// earlier work only.
#[must_use]
pub fn said_dead_now(claims: &[OwnerClaim], owner: &OwnerName) -> bool {
    claims.iter().any(|claim| claim.before.is_none() && claim.speaks_of(owner))
}

/// Reads `[SCOPE/]OWNER[@TIME]`, where SCOPE stands in single quotes and OWNER is
/// `*`, a name in single quotes, or a text of the scheduler's form.
pub(super) fn read_claim(
    flag: &str,
    form: OwnerForm,
    text: &str,
    zone: Option<&Zone>,
    said_by: &str,
) -> Result<OwnerClaim> {
    let written = Written { flag, form, text };
    let (first, rest) = written.quoted(text)?;
    let (scope, literal, rest) = match (first, rest.strip_prefix('/')) {
        (Some(_), Some(_)) if form == OwnerForm::Address => {
            return Err(written.bad("this scheduler's owners are of no scope"));
        }
        (Some(scope), Some(rest)) => {
            let (name, rest) = written.quoted(rest)?;
            (Some(scope), name, rest)
        }
        (name, _) => (None, name, rest),
    };
    let is_literal = literal.is_some();
    let (host, port, time) = match (literal, rest.strip_prefix('@')) {
        (Some(name), Some(time)) => (name, None, Some(time)),
        (Some(name), None) if rest.is_empty() => (name, None, None),
        (Some(_), None) => return Err(written.bad("something follows the closing quote")),
        (None, _) => written.plain(rest)?,
    };
    let before = time.map(|time| moment(time, zone).map_err(|why| written.bad(&why))).transpose()?;
    let literal = is_literal || (form == OwnerForm::Name && host != "*");
    Ok(OwnerClaim { scope, host, literal, port, before, said_by: said_by.to_owned(), registry: None, shown: false })
}

/// Whether an owner is written with its scope: `'SCOPE'/…`.
#[must_use]
pub fn writes_scope(text: &str) -> bool {
    let written = Written { flag: "", form: OwnerForm::Name, text };
    written.quoted(text).is_ok_and(|(scope, rest)| scope.is_some() && rest.starts_with('/'))
}

/// A shell takes the quotes of `'SCOPE'/'NAME'` away: how `SCOPE/NAME` or `SCOPE/*` is to be
/// written, if it names one of these owners so; none if it stands for itself.
///
/// # Errors
/// It can be read in more than one way.
pub fn with_scope(flag: &str, text: &str, owners: &BTreeSet<OwnerName>) -> Result<Option<String>> {
    let written = Written { flag, form: OwnerForm::Name, text };
    if text.starts_with('\'') || !text.contains('/') {
        return Ok(None);
    }
    let (name, _, time) = written.plain(text)?;
    let as_it_is = owners.iter().filter(|o| o.address == name).map(|_| quoted(&name));
    let scoped = owners.iter().filter_map(|o| {
        let scope = o.scope.as_ref()?;
        match name.strip_prefix(scope)?.strip_prefix('/')? {
            "*" => Some(format!("{}/*", quoted(scope))),
            rest => (rest == o.address).then(|| o.to_string()),
        }
    });
    let ways: BTreeSet<String> = as_it_is.chain(scoped).collect();
    let time = time.map_or_else(String::new, |time| format!("@{time}"));
    match ways.iter().collect::<Vec<_>>().as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(format!("{one}{time}"))),
        several => {
            let shown: Vec<String> = several.iter().map(|way| format!("\"{way}\"")).collect();
            Err(Error::usage(format!("--{flag}: `{text}` may mean more than one owner"))
                .hint(format!("write, with the double quotes, one of {}", shown.join(", "))))
        }
    }
}

/// A claim as it was written, for messages.
struct Written<'a> {
    flag: &'a str,
    form: OwnerForm,
    text: &'a str,
}

impl Written<'_> {
    fn bad(&self, why: &str) -> Error {
        let hint = match self.form {
            OwnerForm::Address => {
                "write HOST, HOST:PORT, or HOST:PORT@2026-01-31T23:15:00 (on the scheduler's clock, or with an offset)"
            }
            OwnerForm::Name => {
                "write NAME, or NAME@2026-01-31T23:15:00Z for what started before; a name with signs of its own stands in single quotes, its scope before it: \"'SCOPE'/'NAME'\""
            }
        };
        Error::usage(format!("--{}: `{}` cannot be used: {why}", self.flag, self.text)).hint(hint)
    }

    /// A text in single quotes at the beginning, in which two of them stand for one, and what follows it.
    fn quoted<'t>(&self, text: &'t str) -> Result<(Option<String>, &'t str)> {
        let Some(mut rest) = text.strip_prefix('\'') else { return Ok((None, text)) };
        let mut name = String::new();
        loop {
            let (part, after) = rest.split_once('\'').ok_or_else(|| self.bad("the closing quote is missing"))?;
            name.push_str(part);
            match after.strip_prefix('\'') {
                Some(more) => {
                    name.push('\'');
                    rest = more;
                }
                None if name.is_empty() => return Err(self.bad("there is nothing between the quotes")),
                None => return Ok((Some(name), after)),
            }
        }
    }

    /// Host, port and time of an owner without quotes.
    fn plain<'t>(&self, text: &'t str) -> Result<(String, Option<u16>, Option<&'t str>)> {
        match self.form {
            OwnerForm::Name => {
                // A name may hold an @ of its own, so only a time makes it a claim with a time.
                let timed = text.rsplit_once('@').filter(|(_, time)| is_time(time));
                let (name, time) = timed.map_or((text, None), |(name, time)| (name, Some(time)));
                if name.is_empty() {
                    return Err(self.bad("the name is empty"));
                }
                Ok((name.to_owned(), None, time))
            }
            OwnerForm::Address => {
                let timed = text.split_once('@');
                let (address, time) = timed.map_or((text, None), |(address, time)| (address, Some(time)));
                let (host, port) = self.address(bare_address(address))?;
                Ok((host, port, time))
            }
        }
    }

    fn address(&self, address: &str) -> Result<(String, Option<u16>)> {
        let (host, port) = match address.rsplit_once(':') {
            _ if address.ends_with(']') || address.parse::<Ipv6Addr>().is_ok() => (address, None),
            Some((host, port)) => (host, Some(port.parse::<u16>().map_err(|_| self.bad("the port is not a number"))?)),
            None => (address, None),
        };
        // Rows hold an IPv6 address bare, also before a port.
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-_*:".contains(c);
        let why = match host {
            "*" if port.is_some() => "* stands for every owner and takes no port",
            "*" => "",
            _ if host.contains('*') => "* stands alone, for every owner",
            _ if host.contains(':') && host.parse::<Ipv6Addr>().is_err() => {
                "it is no IPv6 address with a port: [fe80::1]:5678"
            }
            _ if port == Some(0) => "no owner has the port 0",
            _ if host.is_empty() || !host.chars().all(plain) => {
                "the host is empty or holds characters that no host has (a name that does stands in single quotes)"
            }
            _ => "",
        };
        if why.is_empty() { Ok((host.to_owned(), port)) } else { Err(self.bad(why)) }
    }
}

/// The claim of an owner that was shown dead, by the name that the rows hold; none
/// if an address is no host with or without a port. A row's text is no word of the
/// operator's: it is never read as a claim.
#[must_use]
pub fn shown_claim(form: OwnerForm, owner: &OwnerName, proof: &Proof) -> Option<OwnerClaim> {
    let literal = form == OwnerForm::Name;
    let address = if literal { owner.address.as_str() } else { bare_address(&owner.address) };
    let (host, port) = match (form, address.rsplit_once(':')) {
        (OwnerForm::Address, Some((host, port))) => (host, Some(port.parse::<u16>().ok()?)),
        _ => (address, None),
    };
    let whole = port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    (literal || (whole == address && is_plain(host))).then(|| OwnerClaim {
        scope: owner.scope.clone(),
        host: host.to_owned(),
        literal,
        port,
        before: None,
        said_by: proof.said_by.clone(),
        registry: proof.registry.clone(),
        shown: true,
    })
}

fn is_time(text: &str) -> bool {
    text.parse::<Timestamp>().is_ok() || text.parse::<jiff::civil::DateTime>().is_ok()
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

    fn claim(form: OwnerForm, text: &str) -> Result<OwnerClaim> {
        read_claim("dead-owner", form, text, None, "ann")
    }

    fn owner(scope: Option<&str>, address: &str) -> OwnerName {
        OwnerName { scope: scope.map(ToOwned::to_owned), address: address.to_owned() }
    }

    #[test]
    fn addresses() {
        let timed = claim(OwnerForm::Address, "10.0.0.1:5678@2026-01-31T23:15:00").unwrap();
        assert_eq!((timed.host.as_str(), timed.port), ("10.0.0.1", Some(5678)));
        assert_eq!(timed.before.as_deref(), Some("2026-01-31 23:15:00"));
        for (text, host, port) in [
            ("[fe80::1]:5678", "fe80::1", Some(5678)),
            ("[fe80::1]", "fe80::1", None),
            ("fe80::1", "fe80::1", None),
            ("fd00:0:0:0:0:0:0:1:5678", "fd00:0:0:0:0:0:0:1", Some(5678)),
        ] {
            let claim = claim(OwnerForm::Address, text).unwrap();
            assert_eq!((claim.host.as_str(), claim.port), (host, port), "{text}");
        }
        let zone = Zone { offset_minutes: 480, known_by: String::new() };
        let east = read_claim("dead-owner", OwnerForm::Address, "h@2026-01-31T23:15:00Z", Some(&zone), "ann").unwrap();
        assert_eq!(east.before.as_deref(), Some("2026-02-01 07:15:00"));
        for bad in
            ["", ":1", "h:x", "h@noon", "a'b", "h;x", "h@2026-01-31T23:15:00Z", "'a", "''", "'a'b", "'a'/", "'a'/b"]
        {
            assert!(claim(OwnerForm::Address, bad).is_err(), "{bad}");
        }
        assert!(claim(OwnerForm::Address, "*").unwrap().is_any());
        for text in [
            "10.0.0.1:5678",
            "http://10.0.0.1:5678/",
            "https://10.0.0.1:5678",
            "http://10.0.0.1:5678/@2026-01-31T23:15:00",
            "HTTP://10.0.0.1:5678/",
            "Https://10.0.0.1:5678",
        ] {
            let claim = claim(OwnerForm::Address, text).unwrap();
            assert_eq!((claim.host.as_str(), claim.port), ("10.0.0.1", Some(5678)), "{text}");
        }
        assert!(claim(OwnerForm::Address, "http://10.0.0.1:5678/x").is_err());
    }

    #[test]
    fn names() {
        let name = |text: &str| claim(OwnerForm::Name, text).unwrap();
        for plain in ["node_1", "host:5678", "pid@host", "a/b", "two words", "it's", "x@2026"] {
            assert_eq!((name(plain).host.as_str(), name(plain).before), (plain, None), "{plain}");
        }
        let timed = name("pid@host@2026-01-31T23:15:00");
        assert_eq!((timed.host.as_str(), timed.before.as_deref()), ("pid@host", Some("2026-01-31 23:15:00")));
        assert_eq!(name("'x@2026-01-31T23:15:00'").before, None);
        assert!(name("*").is_any() && !name("'*'").is_any() && name("'A'/*").is_any());
        assert_eq!(name("'A'/node").scope.as_deref(), Some("A"));
        for bad in ["", "'a", "''", "'a'b", "'a'/", "@2026-01-31T23:15:00", "'a'@noon"] {
            assert!(claim(OwnerForm::Name, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn whom_a_claim_speaks_of() {
        let speaks = |form, text: &str, scope: Option<&str>, address: &str| {
            claim(form, text).unwrap().speaks_of(&owner(scope, address))
        };
        let address = |text: &str, address: &str| speaks(OwnerForm::Address, text, None, address);
        assert!(address("10.0.0.1", "10.0.0.1:5678") && address("10.0.0.1:5678", "10.0.0.1:5678"));
        assert!(!address("10.0.0.1:5679", "10.0.0.1:5678") && !address("10.0.0.1", "10.0.0.11:5678"));
        assert!(address("10.0.0.1", "10.0.0.1") && address("*", "x:1"));
        assert!(address("10.0.0.1:9999", "http://10.0.0.1:9999/"));
        assert!(address("HTTP://10.0.0.1:9999/", "Http://10.0.0.1:9999/"));
        assert!(!address("10.0.0.1:9999", "http://10.0.0.11:9999/"));
        assert!(address("'a:b@c'", "a:b@c") && !address("'a'", "a:1"));
        let name = |text: &str, scope, address: &str| speaks(OwnerForm::Name, text, scope, address);
        assert!(name("node", Some("A"), "node") && name("node", None, "node"));
        assert!(!name("node", Some("A"), "node:1") && !name("NODE", Some("A"), "node"));
        assert!(name("'A'/node", Some("A"), "node") && !name("'A'/node", Some("B"), "node"));
        assert!(name("'A'/*", Some("A"), "x") && !name("'A'/*", Some("B"), "x"));
        assert!(name("a/", None, "a/") && !name("a", None, "a/"));
    }

    /// What is shown can be given back, and means this owner alone.
    #[test]
    fn a_name_that_is_shown_can_be_given_back() {
        let odd =
            ["node", "*", "heartbeat", "it's", "'", "a/b", "@file", "x@2026-01-31T23:15:00", "a b", "http://h:1/"];
        for address in odd {
            for scope in [None, Some("S"), Some("o'clock/")] {
                let owner = owner(scope, address);
                let claim = claim(OwnerForm::Name, &owner.to_string()).unwrap();
                assert_eq!((claim.scope.as_deref(), claim.host.as_str()), (scope, address));
                assert!(claim.literal && claim.speaks_of(&owner) && claim.before.is_none());
            }
        }
    }
}

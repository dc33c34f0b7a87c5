//! Addresses of registries: read, complete, show without secrets.

use secrecy::{ExposeSecret as _, SecretString};

use crate::db::percent_decode;
use crate::manifest::RegistryKind;
use crate::{Error, Result};

/// Where a registry is. `Debug` and `Display` never show the password.
#[derive(Clone, Debug)]
pub struct Address {
    /// What it speaks.
    pub kind: RegistryKind,
    /// Whether the connection is encrypted.
    pub secure: bool,
    /// Its servers, `host:port` each; at least one.
    pub servers: Vec<String>,
    /// The user, if one is given.
    pub user: Option<String>,
    /// The password, if one is given.
    password: Option<SecretString>,
    /// What stands before every path, if it is not the one that the scheduler takes by itself.
    pub namespace: Option<String>,
    /// Certificates of authorities, in a file (PEM).
    pub ca: Option<String>,
    /// The certificate with which this client shows itself, in a file (PEM).
    pub cert: Option<String>,
    /// Its key, in a file (PEM).
    pub key: Option<String>,
}

const FORM: &str = "write zk://HOST:PORT,HOST:PORT/NAMESPACE or etcd://USER@HOST:PORT/NAMESPACE; \
etcds:// encrypts, with ?ca=FILE&cert=FILE&key=FILE where needed; the password may stand in FLOWMEND_REGISTRY_PASSWORD";

impl Address {
    /// Reads `zk://host:port,host:port/namespace`, `etcd://…`, and `etcds://…` with
    /// TLS. The password may come from the environment.
    ///
    /// # Errors
    /// The text is no such address. The message never repeats the text, which may hold a password.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |why: &str| Error::usage(format!("the registry's address cannot be used: {why}")).hint(FORM);
        let (scheme, rest) = text.split_once("://").ok_or_else(|| bad("it has no scheme"))?;
        let (kind, secure, port) = match scheme.to_ascii_lowercase().as_str() {
            "zk" | "zookeeper" => (RegistryKind::ZooKeeper, false, 2181),
            "zks" => return Err(bad("flowmend speaks with ZooKeeper without TLS only; make a tunnel to it")),
            "etcd" => (RegistryKind::Etcd, false, 2379),
            "etcds" => (RegistryKind::Etcd, true, 2379),
            _ => return Err(bad("its scheme is none of zk, etcd and etcds")),
        };
        // A password may hold a slash or a question mark, so the user comes off first.
        let (login, rest) = rest.rsplit_once('@').map_or((None, rest), |(login, rest)| (Some(login), rest));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, namespace) = rest.split_once('/').unwrap_or((rest, ""));
        let servers = hosts.split(',').map(|host| server(host, port)).collect::<Option<Vec<_>>>();
        let (user, password) = match login.map(|l| l.split_once(':').map_or((l, None), |(u, p)| (u, Some(p)))) {
            None => (None, None),
            Some((user, password)) => {
                (Some(percent_decode(user)), password.map(|p| SecretString::from(percent_decode(p))))
            }
        };
        let from_environment = || std::env::var("FLOWMEND_REGISTRY_PASSWORD").ok().map(SecretString::from);
        let mut address = Self {
            kind,
            secure,
            servers: servers.ok_or_else(|| bad("a host or a port in it cannot be read"))?,
            password: password.or_else(|| user.as_ref().and_then(|_| from_environment())),
            user,
            namespace: Some(percent_decode(namespace.trim_end_matches('/'))).filter(|n| !n.is_empty()),
            ca: None,
            cert: None,
            key: None,
        };
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let option = match name.as_ref() {
                "ca" => &mut address.ca,
                "cert" => &mut address.cert,
                "key" => &mut address.key,
                _ => return Err(bad("it has an option that is none of ca, cert and key")),
            };
            *option = Some(value.into_owned());
        }
        if !secure && (address.ca.is_some() || address.cert.is_some() || address.key.is_some()) {
            return Err(bad("ca, cert and key need etcds://"));
        }
        if address.cert.is_some() != address.key.is_some() {
            return Err(bad("cert and key go together"));
        }
        Ok(address)
    }

    /// The password, for the clients only.
    pub(super) fn password_text(&self) -> Option<&str> {
        self.password.as_ref().map(SecretString::expose_secret)
    }
}

fn server(host: &str, default_port: u16) -> Option<String> {
    let bare = host.rsplit_once(']').map_or(host, |(_, after)| after);
    match bare.rsplit_once(':') {
        Some((name, port)) => {
            let named = !name.is_empty() || host.starts_with('[');
            (named && port.parse::<u16>().is_ok()).then(|| host.to_owned())
        }
        None => (!host.is_empty()).then(|| format!("{host}:{default_port}")),
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = match (self.kind, self.secure) {
            (RegistryKind::ZooKeeper, _) => "zk",
            (RegistryKind::Etcd, false) => "etcd",
            (RegistryKind::Etcd, true) => "etcds",
        };
        write!(f, "{scheme}://{}", self.servers.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let a = Address::parse("zk://a:2181,b,[::1]:2182/teams/ds").unwrap();
        assert_eq!(a.servers, ["a:2181", "b:2181", "[::1]:2182"]);
        assert_eq!((a.namespace.as_deref(), a.user, a.secure), (Some("teams/ds"), None, false));
        let a = Address::parse("etcds://ann:p%40s/s?w@e1/?ca=/etc/ca.pem").unwrap();
        assert_eq!((a.user.as_deref(), a.password_text()), (Some("ann"), Some("p@s/s?w")));
        assert_eq!((a.servers, a.namespace, a.ca.as_deref()), (vec!["e1:2379".to_owned()], None, Some("/etc/ca.pem")));
        for (upper, shown) in
            [("ZK://a/ds", "zk://a:2181"), ("Etcd://a", "etcd://a:2379"), ("ETCDS://a", "etcds://a:2379")]
        {
            assert_eq!(Address::parse(upper).unwrap().to_string(), shown);
        }
        let slashed = Address::parse("etcd://e1:2379//ds").unwrap();
        assert_eq!(slashed.namespace.as_deref(), Some("/ds"));
    }

    #[test]
    fn passwords_are_never_shown() {
        let a = Address::parse("zk://ann:secret@a/ds").unwrap();
        assert_eq!(a.to_string(), "zk://a:2181");
        assert!(!format!("{a:?}").contains("secret"));
        for wrong in [
            "redis://ann:secret@a",
            "zk://ann:secret@a:99999",
            "zk://ann:secret@/x",
            "ann:secret@a",
            "zk://ann:secret@a?ca=x",
            "etcds://ann:secret@a?cert=x",
            "etcds://ann:secret@a?what=secret",
            "zks://ann:secret@a",
        ] {
            let error = Address::parse(wrong).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
